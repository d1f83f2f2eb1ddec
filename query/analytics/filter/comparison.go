package filter

import (
	"strconv"
	"strings"
)

// Comparison is a simple condition on a column, such as a parameter of a query string has.
type Comparison struct {
	Column string
	// Operator is eq, ne, lt, le, gt, ge, in (one of a list with commas), has (a list has the value),
	// prefix or null; "" is eq.
	Operator string
	Value    string
}

// Operators are those of comparisons.
var Operators = []string{"eq", "ne", "lt", "le", "gt", "ge", "in", "has", "prefix", "null"}

var orders = map[string]string{"": "=", "eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

func (b *builder) comparison(c Comparison) (term, error) {
	column, err := b.columns.find(c.Column)
	if err != nil {
		return term{}, err
	}
	t, err := b.compared(columnTerm(column), c)
	if err != nil {
		return t, invalid("%s, in the filter by %s", err, c.Column)
	}
	return t, nil
}

func (b *builder) compared(column term, c Comparison) (term, error) {
	if operator, ok := orders[c.Operator]; ok {
		value, err := written(column.kind, c.Value)
		if err != nil {
			return value, err
		}
		return b.compare(column, operator, value)
	}
	switch c.Operator {
	case "in":
		list := term{constant: &constant{items: []term{}}}
		for text := range strings.SplitSeq(c.Value, ",") {
			value, err := written(column.kind, text)
			if err != nil {
				return value, err
			}
			list.constant.items = append(list.constant.items, value)
		}
		return b.among(column, list)
	case "has":
		value, err := written(column.kind, c.Value)
		if err != nil {
			return value, err
		}
		return b.among(value, column)
	case "prefix":
		return b.matches("startsWith", column, term{kind: Text, constant: &constant{text: c.Value}})
	case "null":
		missing, err := strconv.ParseBool(c.Value)
		if err != nil {
			return term{}, invalid("null is true or false, not %.80q", c.Value)
		}
		return nothing(column, map[bool]string{true: "=", false: "!="}[missing])
	}
	return term{}, Unknown("operator", c.Operator, Operators)
}

// written is a value of a kind that stands without quotes.
func written(kind Kind, text string) (term, error) {
	if kind == Truth && text != "true" && text != "false" {
		return term{}, invalid("%.80q is neither true nor false", text)
	}
	return term{kind: kind, constant: &constant{text: text}}, nil
}
