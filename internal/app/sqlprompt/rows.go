package sqlprompt

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/columnar"
)

// Formats are how rows can be printed.
var Formats = []string{"table", "csv", "tsv", "json", "parquet", "arrow"}

// IsBinary reports whether a format is for programs only, and has the rows of one statement.
func IsBinary(format string) bool { return format == "parquet" || format == "arrow" }

// rowWriter prints the rows of a query.
type rowWriter func(out io.Writer, rows driver.Rows) error

// rowWriters are by the name of the format.
var rowWriters = map[string]rowWriter{
	"table": writeTable, "csv": writeCSV, "tsv": writeTSV, "json": writeJSONRows, "parquet": writeParquet, "arrow": writeArrow,
}

// tableRows is how many rows of a table have their columns aligned together: all of them
// would have to be held.
const tableRows = 500

// writeTable prints a line of names and then the rows, in columns.
func writeTable(out io.Writer, rows driver.Rows) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	n := 0
	err := writeLines(w, rows, func() error {
		if n++; n%tableRows == 0 {
			return w.Flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// writeTSV prints a line of names and then the rows, with tabs between values.
func writeTSV(out io.Writer, rows driver.Rows) error {
	w := bufio.NewWriter(out)
	if err := writeLines(w, rows, func() error { return nil }); err != nil {
		return err
	}
	return w.Flush()
}

// writeLines prints names and rows with tabs between them, and calls after each row.
func writeLines(w io.Writer, rows driver.Rows, after func() error) error {
	if _, err := fmt.Fprintln(w, strings.Join(rows.Columns(), "\t")); err != nil {
		return err
	}
	return eachTextRow(rows, "NULL", func(texts []string) error {
		for i, text := range texts {
			texts[i] = escapeCell.Replace(text)
		}
		if _, err := fmt.Fprintln(w, strings.Join(texts, "\t")); err != nil {
			return err
		}
		return after()
	})
}

// writeCSV prints a line of names and then the rows, as RFC 4180 has it. NULL is an empty cell.
func writeCSV(out io.Writer, rows driver.Rows) error {
	w := csv.NewWriter(out)
	if err := w.Write(rows.Columns()); err != nil {
		return err
	}
	if err := eachTextRow(rows, "", w.Write); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// eachTextRow calls so with each row as texts, which are valid until it returns.
func eachTextRow(rows driver.Rows, null string, so func(texts []string) error) error {
	texts := make([]string, len(rows.Columns()))
	return eachRow(rows, func(values []any) (err error) {
		for i, v := range values {
			texts[i] = null
			if v == nil {
				continue
			}
			if texts[i], err = columnar.Text(v); err != nil {
				return fmt.Errorf("column %s: %w", rows.Columns()[i], err)
			}
		}
		return so(texts)
	})
}

// escapeCell keeps a value in its cell.
var escapeCell = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// writeJSONRows prints each row as an object on a line of its own, members in the order of
// the columns.
func writeJSONRows(out io.Writer, rows driver.Rows) error {
	w := bufio.NewWriter(out)
	names := make([][]byte, len(rows.Columns()))
	for i, name := range rows.Columns() {
		var err error
		if names[i], err = json.Marshal(name); err != nil {
			return err
		}
	}
	var line []byte
	err := eachRow(rows, func(values []any) error {
		line = append(line[:0], '{')
		for i, v := range values {
			if i > 0 {
				line = append(line, ',')
			}
			text, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("column %s: %w", rows.Columns()[i], err)
			}
			line = append(append(append(line, names[i]...), ':'), text...)
		}
		_, err := w.Write(append(line, '}', '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// eachRow calls so with the values of each row, nil for NULL. They are valid until it returns.
func eachRow(rows driver.Rows, so func(values []any) error) error {
	types := rows.ColumnTypes()
	places, values := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		places[i] = reflect.New(t.ScanType()).Interface()
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		for i, place := range places {
			v := reflect.ValueOf(place).Elem()
			if v.Kind() == reflect.Pointer && v.IsNil() {
				values[i] = nil
				continue
			}
			values[i] = v.Interface()
			if strings.Contains(types[i].DatabaseTypeName(), "Array(UInt8)") {
				values[i] = numbers(v)
			}
			if at, ok := reflect.Indirect(v).Interface().(time.Time); ok {
				if values[i] = unwrapped(at); isDate(types[i]) {
					values[i] = at.Format(time.DateOnly)
				}
			}
		}
		if err := so(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// unwrapped is a time as the server sent it: the client counts nanoseconds since 1970 in 64 bits, by which times
// after 2262, such as the end of a contract that has not ended, come out before 1716. The server has none
// before 1900.
func unwrapped(at time.Time) time.Time {
	if at.Year() >= 1900 {
		return at
	}
	return at.Add(math.MaxInt64).Add(math.MaxInt64).Add(2)
}

// numbers is a value in which lists of small numbers are not taken for bytes.
func numbers(v reflect.Value) any {
	if v.Kind() != reflect.Slice {
		return v.Interface()
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = numbers(v.Index(i))
	}
	return list
}

// isDate reports whether a column has days, which are no instants.
func isDate(t driver.ColumnType) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(t.DatabaseTypeName(), "Nullable("), ")")
	return name == "Date" || name == "Date32"
}
