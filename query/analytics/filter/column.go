package filter

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what values of a column are to filters.
type Kind uint8

// Kinds of values. Other columns cannot be filtered by.
const (
	Other   Kind = iota
	Text         // "a"
	Integer      // 1
	Number       // a decimal: 1 or 1.5
	Instant      // timestamp("2026-07-01T00:00:00Z"), or that text
	Day          // date("2026-07-01"), or that text
	Truth        // true
)

// String is the kind as messages name it.
func (k Kind) String() string {
	return [...]string{"a value that cannot be compared", "a text", "an integer", "a number", "an instant", "a day", "true or false"}[k]
}

// Column is one of a table.
type Column struct {
	Name string
	// Kind is that of the column's values, or of the elements of its lists.
	Kind Kind
	// List says that the column has a list of values.
	List bool
	// Nullable says that there may be no value.
	Nullable bool
	// digits are those of numbers behind the point.
	digits int
	// named says that the store keeps numbers for the texts, which have to be named first.
	named bool
}

// NewColumn returns a column of one of the store's types, such as "LowCardinality(String)".
func NewColumn(name, storeType string) Column {
	c := Column{Name: name}
	for {
		outer, inner, ok := strings.Cut(storeType, "(")
		if !ok {
			break
		}
		inner = strings.TrimSuffix(inner, ")")
		switch outer {
		case "LowCardinality":
		case "Nullable":
			c.Nullable = true
		case "Array":
			if c.List {
				return Column{Name: name} // of lists
			}
			c.List = true
		default:
			c.Kind, c.named = kindOf(outer), strings.HasPrefix(outer, "Enum")
			if c.Kind == Number {
				_, digits, _ := strings.Cut(inner, ", ")
				c.digits, _ = strconv.Atoi(digits) // the store has written it
			}
			return c
		}
		storeType = inner
	}
	c.Kind = kindOf(storeType)
	return c
}

func kindOf(name string) Kind {
	switch name {
	case "String", "FixedString", "Enum8", "Enum16":
		return Text
	case "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64":
		return Integer
	case "Decimal":
		return Number
	case "DateTime64":
		return Instant
	case "Date32":
		return Day
	case "Bool":
		return Truth
	}
	return Other
}

// Columns are those of a table, by name.
type Columns map[string]Column

// Operators are those by which values of the column can be compared.
func (c Column) Operators() []string {
	switch {
	case c.Kind == Other:
		return nil
	case c.List:
		return []string{"has"}
	case c.Kind == Truth:
		return []string{"eq", "ne"}
	case c.Kind == Text:
		return []string{"eq", "ne", "lt", "le", "gt", "ge", "in", "prefix"}
	}
	return []string{"eq", "ne", "lt", "le", "gt", "ge", "in"}
}

// UnknownColumn is the error of a name that is no column.
func UnknownColumn(name string, columns Columns) error {
	_, err := columns.find(name)
	return err
}

// find returns the column of a name, or the error of one that there is not.
func (c Columns) find(name string) (Column, error) {
	column, ok := c[name]
	if !ok {
		return column, Unknown("column", name, c.names())
	}
	return column, nil
}

func (c Columns) names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Unknown is the error of a name that there is not: it has the nearest of those that there are.
func Unknown(what, name string, known []string) error {
	if len(known) == 0 {
		return invalid("there is no %s %.80q", what, name)
	}
	nearest := slices.MinFunc(known, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return invalid("there is no %s %.80q; the nearest is %q", what, name, nearest)
}

// distance is how many letters must be added, removed or replaced to make one text of another. It
// looks at the beginning of long ones.
func distance(a, b string) int {
	a, b = a[:min(len(a), 80)], b[:min(len(b), 80)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
