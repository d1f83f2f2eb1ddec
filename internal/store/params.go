package store

import (
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Params are the bound parameters of a query, {name:Type} in its text. Values are
// never put into the query itself.
type Params map[string]string

// Int is the parameter value of an integer.
func Int(n int64) string { return strconv.FormatInt(n, 10) }

// Ints is the parameter value of an Array(Int64).
func Ints(list []int64) string {
	text := []byte{'['}
	for i, n := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return string(append(text, ']'))
}

// Text is the parameter value of a String.
func Text(s string) string { return escapeField(s) }

// Texts is the parameter value of an Array(String). Its elements are quoted, which
// takes the place of the escapes of a plain text.
func Texts(list []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\'')
		b.WriteString(quoteEscaper.Replace(s))
		b.WriteByte('\'')
	}
	b.WriteByte(']')
	return b.String()
}

// Times is the parameter value of an Array(DateTime64(6, 'UTC')). Unlike numbers that are
// converted by the query they are constants, which the server need not compute.
func Times(list []schemas.Micros) string {
	text := []byte{'['}
	for i, m := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = m.Time().AppendFormat(text, "'2006-01-02 15:04:05.000000'")
	}
	return string(append(text, ']'))
}

// Time is the parameter value of an Int64 that holds microseconds. Instants travel
// as numbers because DateTime64 cannot hold year 1.
func Time(m schemas.Micros) string { return Int(int64(m)) }

var (
	// A parameter travels as a quoted literal around the tab-separated text form of
	// its value, so a text is escaped once for each.
	fieldEscaper = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\b", `\b`, "\f", `\f`)
	quoteEscaper = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
)

func escapeField(s string) string { return fieldEscaper.Replace(s) }

func (p Params) list() []proto.Parameter {
	list := make([]proto.Parameter, 0, len(p))
	for name, value := range p {
		list = append(list, proto.Parameter{Key: name, Value: "'" + quoteEscaper.Replace(value) + "'"})
	}
	return list
}
