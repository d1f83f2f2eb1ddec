package filter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Condition is a filter as the store takes it.
type Condition struct {
	// Text is an SQL expression of type UInt8, "" for no filter.
	Text   string
	Params store.Params
}

// Error is a filter that is wrong.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func invalid(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// builder gathers the parameters of a condition.
type builder struct {
	columns Columns
	params  store.Params
	now     time.Time
}

// bind makes a parameter of a type, and returns how the text refers to it.
func (b *builder) bind(storeType, value string) string {
	name := "f" + strconv.Itoa(len(b.params))
	b.params[name] = value
	return "{" + name + ":" + storeType + "}"
}

// term is a value in a condition: that of a column or of an expression over some, or a constant.
type term struct {
	kind     Kind
	list     bool
	nullable bool // of a list, its elements
	digits   int
	text     string // of what is no constant
	constant *constant
}

// constant is one that a filter has, as it was written.
type constant struct {
	text  string // of a text, a number's digits, an instant's text
	null  bool
	items []term // of a list
}

// columnTerm is the value of a column.
func columnTerm(c Column) term {
	t := term{kind: c.Kind, list: c.List, nullable: c.Nullable, digits: c.digits, text: quoted(c.Name)}
	if c.named && !c.List {
		t.text = "toString(" + t.text + ")"
	}
	return t
}

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`")

func quoted(name string) string { return "`" + escaper.Replace(name) + "`" }

// maxList is how many values a list in a filter may have.
const maxList = 1000

// value binds a constant as a value that can be compared with another term.
func (b *builder) value(c *constant, written Kind, with term) (string, error) {
	storeType, text, err := literal(c, written, with)
	if err != nil {
		return "", err
	}
	return b.bind(storeType, text), nil
}

// literal is a constant as the store reads one of a term's kind.
func literal(c *constant, written Kind, with term) (storeType, text string, err error) {
	refused := invalid("%s cannot be compared with %s", with.kind, describe(c, written))
	switch with.kind {
	case Text:
		if written == Text {
			return "String", store.Text(c.text), nil
		}
	case Integer:
		if written == Integer {
			if _, err := strconv.ParseInt(c.text, 10, 64); err != nil {
				return "", "", invalid("%.80q is no integer of 64 bits", c.text)
			}
			return "Int64", c.text, nil
		}
	case Number:
		if written == Integer || written == Number {
			return number(c.text, with.digits)
		}
	case Instant:
		if written == Text || written == Instant {
			at, err := schemas.ParseTime(c.text)
			if err != nil {
				return "", "", invalid("%.80q is no instant: write it like 2026-07-01T00:00:00Z", c.text)
			}
			return "DateTime64(6, 'UTC')", store.Clamp(at).Time().Format("2006-01-02 15:04:05.000000"), nil
		}
	case Day:
		if written == Text || written == Day {
			if _, err := time.Parse(time.DateOnly, c.text); err != nil {
				return "", "", invalid("%.80q is no day: write it like 2026-07-01", c.text)
			}
			return "Date32", c.text, nil
		}
	case Truth:
		if written == Truth {
			return "Bool", c.text, nil
		}
	}
	return "", "", refused
}

var numberParts = regexp.MustCompile(`^-?([0-9]+)(?:\.([0-9]+))?$`)

// number is one of a column with so many digits behind the point.
func number(text string, digits int) (storeType, value string, err error) {
	const all = 38
	parts := numberParts.FindStringSubmatch(text)
	if parts == nil || len(strings.TrimLeft(parts[1], "0")) > all-digits || len(strings.TrimRight(parts[2], "0")) > digits {
		return "", "", invalid("%.80s is no number with at most %d digits before the point and %d behind it", text, all-digits, digits)
	}
	return fmt.Sprintf("Decimal(%d, %d)", all, digits), text, nil
}

func describe(c *constant, written Kind) string {
	if c.null {
		return "null"
	}
	if written == Text {
		return strconv.Quote(c.text[:min(len(c.text), 80)])
	}
	return fmt.Sprintf("%.80s", c.text)
}

// compare is a condition that two terms have an order or are equal. Nothing is less than or equal to a
// value that is not there; that it is not there is asked by == null.
func (b *builder) compare(left term, operator string, right term) (term, error) {
	if left.constant != nil {
		left, right, operator = right, left, mirrored[operator]
	}
	switch {
	case left.constant != nil:
		return term{}, invalid("two constants are compared")
	case left.list || right.list:
		return term{}, invalid("a list cannot be compared: ask whether a value is in it, or for its size")
	case right.constant != nil && right.constant.null:
		return nothing(left, operator)
	case left.kind == Truth && operator != "=" && operator != "!=":
		return term{}, invalid("true and false have no order")
	}
	text := right.text
	if right.constant != nil {
		var err error
		if text, err = b.value(right.constant, right.kind, left); err != nil {
			return term{}, err
		}
	} else if left.kind != right.kind || left.kind == Other {
		return term{}, invalid("%s cannot be compared with %s", left.kind, right.kind)
	} else if left.digits != right.digits {
		return term{}, invalid("numbers with %d and %d digits behind the point cannot be compared", left.digits, right.digits)
	}
	return truth(left.text+" "+operator+" "+text, left.nullable || right.nullable), nil
}

// mirrored are the operators for operands that change sides.
var mirrored = map[string]string{"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// truth is a condition, which does not hold where there is no value.
func truth(text string, nullable bool) term {
	if nullable {
		text = "ifNull(" + text + ", false)"
	} else {
		text = "(" + text + ")"
	}
	return term{kind: Truth, text: text}
}

func nothing(t term, operator string) (term, error) {
	if operator != "=" && operator != "!=" {
		return term{}, invalid("null is only equal to something or not")
	}
	switch {
	case !t.nullable || t.list:
		return term{kind: Truth, text: strconv.FormatBool(operator == "!=")}, nil
	case operator == "=":
		return term{kind: Truth, text: "isNull(" + t.text + ")"}, nil
	}
	return term{kind: Truth, text: "isNotNull(" + t.text + ")"}, nil
}

// among is a condition that a value is one of a list.
func (b *builder) among(value, list term) (term, error) {
	switch {
	case list.constant == nil && !list.list, list.constant != nil && list.constant.items == nil:
		return term{}, invalid("what stands behind in must be a list")
	case list.constant == nil && value.constant != nil:
		text, err := b.value(value.constant, value.kind, list)
		return truth("has("+list.text+", "+text+")", false), err
	case list.constant == nil:
		if value.kind != list.kind || value.list || value.digits != list.digits {
			return term{}, invalid("a list of %s cannot have %s", list.kind, value.kind)
		}
		return truth("has("+list.text+", "+value.text+")", value.nullable), nil
	case value.constant != nil || value.list:
		return term{}, invalid("what stands before in must be a column")
	case len(list.constant.items) > maxList:
		return term{}, invalid("a list may have %d values, not %d", maxList, len(list.constant.items))
	}
	var items []string
	for _, item := range list.constant.items {
		text, err := b.value(item.constant, item.kind, value)
		if err != nil {
			return term{}, err
		}
		items = append(items, text)
	}
	if len(items) == 0 {
		return term{kind: Truth, text: "false"}, nil
	}
	return truth(value.text+" IN ("+strings.Join(items, ", ")+")", value.nullable), nil
}

// matches is a condition that a text begins with, ends with or has another one in it.
func (b *builder) matches(function string, value, part term) (term, error) {
	if value.kind != Text || value.list || value.constant != nil || part.constant == nil || part.kind != Text {
		return term{}, invalid("%s is for a column of texts and a text", function)
	}
	text := b.bind("String", store.Text(part.constant.text))
	switch function {
	case "startsWith", "endsWith":
		text = function + "(" + value.text + ", " + text + ")"
	default:
		text = "position(" + value.text + ", " + text + ") > 0"
	}
	return truth(text, value.nullable), nil
}

// size is the number of elements of a list, or of characters of a text.
func size(t term) (term, error) {
	switch {
	case t.constant != nil || t.kind != Text && !t.list:
		return t, invalid("only a list or a text has a size")
	case t.list:
		return term{kind: Integer, text: "toInt64(length(" + t.text + "))"}, nil
	}
	return term{kind: Integer, nullable: t.nullable, text: "toInt64(lengthUTF8(" + t.text + "))"}, nil
}
