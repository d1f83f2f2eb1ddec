package analytics

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// format is a form of answers.
type format struct {
	contentType string // "" for JSON
	// of are the first members of the answer, by name and value.
	encode func(dst []byte, of []string, page tables.Page, next string) ([]byte, error)
}

var formats = map[string]format{
	"json":  {"", encodeJSON},
	"csv":   {"text/csv; charset=utf-8; header=present", encodeCSV},
	"arrow": {"application/vnd.apache.arrow.stream", encodeArrow},
}

// send answers with what was encoded.
func (f format) send(r *query.Request, text []byte) error {
	if f.contentType == "" {
		return r.Pooled(text)
	}
	defer r.PutBack(text)
	return r.Content(f.contentType, text)
}

// encodeJSON writes an object with the rows as objects. Decimals are texts, as in the network's
// interfaces, and instants have six digits behind the second.
func encodeJSON(dst []byte, of []string, page tables.Page, next string) ([]byte, error) {
	dst = append(dst, '{')
	for i := 0; i < len(of); i += 2 {
		dst = jsonscan.AppendString(append(append(append(dst, '"'), of[i]...), `":`...), []byte(of[i+1]))
		dst = append(dst, ',')
	}
	dst = append(dst, `"rows":[`...)
	for i, row := range page.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		for j, value := range row {
			separator := byte(',')
			if j == 0 {
				separator = '{'
			}
			dst = append(jsonscan.AppendString(append(dst, separator), []byte(page.Columns[j].Name)), ':')
			dst = appendValue(dst, page.Columns[j], value)
		}
		dst = append(dst, '}')
	}
	dst = appendThrough(append(dst, `],"complete_to":`...), page.Through)
	if next != "" {
		dst = jsonscan.AppendString(append(dst, `,"next_page_token":`...), []byte(next))
	}
	return append(dst, '}'), nil
}

// appendThrough appends a position, on a node's stream as its offset.
func appendThrough(dst []byte, at schemas.Position) []byte {
	if at.Offset > 0 {
		return append(strconv.AppendInt(append(dst, `{"offset":`...), at.Offset, 10), '}')
	}
	dst = strconv.AppendInt(append(dst, `{"migration_id":`...), at.MigrationID, 10)
	return append(schemas.AppendRecordTime(append(dst, `,"record_time":"`...), at.RecordTime), `"}`...)
}

func appendValue(dst []byte, c tables.Column, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		switch {
		case c.JSON && v == "":
			return append(dst, "null"...)
		case c.JSON:
			return append(dst, v...)
		}
		return jsonscan.AppendString(dst, []byte(v))
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case bool:
		return strconv.AppendBool(dst, v)
	case schemas.Micros:
		return append(schemas.AppendRecordTime(append(dst, '"'), v), '"')
	case fmt.Stringer: // a number or a date
		return append(append(append(dst, '"'), v.String()...), '"')
	case []any:
		return appendList(dst, c, v)
	case map[string]any:
		return appendMap(dst, c, v)
	}
	panic(fmt.Sprintf("column %s has a value of type %T", c.Name, value)) // a test reads each type
}

func appendList(dst []byte, c tables.Column, list []any) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, c, v)
	}
	return append(dst, ']')
}

func appendMap(dst []byte, c tables.Column, entries map[string]any) []byte {
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(entries)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(append(jsonscan.AppendString(dst, []byte(key)), ':'), c, entries[key])
	}
	return append(dst, '}')
}

// encodeCSV writes a line with the names of the columns and one for each row; lists and maps are in JSON, and nothing is what is not known.
func encodeCSV(dst []byte, _ []string, page tables.Page, _ string) ([]byte, error) {
	text := bytes.NewBuffer(dst)
	w := csv.NewWriter(text)
	record := make([]string, len(page.Columns))
	for i, c := range page.Columns {
		record[i] = c.Name
	}
	if err := w.Write(record); err != nil {
		return nil, err
	}
	var cell []byte
	for _, row := range page.Rows {
		for i, value := range row {
			switch v := value.(type) {
			case nil:
				record[i] = ""
				continue
			case string:
				record[i] = v
				continue
			}
			cell = appendValue(cell[:0], page.Columns[i], value)
			record[i] = strings.Trim(string(cell), `"`)
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return text.Bytes(), w.Error()
}
