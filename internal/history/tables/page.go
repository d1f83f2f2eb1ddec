package tables

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ErrTooExpensive says that a page would take longer, or more memory, than one may.
var ErrTooExpensive = errors.New("the query takes too long")

// Limits of the engine for a page.
const (
	maxTime   = 5 * time.Second
	maxMemory = 1 << 30
)

// Request is what rows are wanted.
type Request struct {
	// Columns are those of the page, at least one.
	Columns []Column
	// Condition is an SQL expression over columns of the table with parameters, "" for all rows.
	Condition string
	Params    store.Params
	// After is the key of the last row of the page before, nil for the first page: see Page.Last.
	After []string
	// Through is the offset of the first page's Through on a node's stream, where updates of several
	// synchronizers are not stored in the order of the tables; 0 for a first page.
	Through int64
	// Descending reads from the end of history.
	Descending bool
	Limit      int
}

// Page is some rows.
type Page struct {
	Columns []Column
	Rows    [][]any
	// Last is the key of the last row, nil without rows. More says that there may be rows behind it.
	Last []string
	More bool
	// Through is the position up to which the table is complete; there are no rows above it.
	Through schemas.Position
}

// Page reads rows in the order of the table's key. A row is a value of each column: a string, an
// int64, a bool, a decimal.Decimal, a schemas.Micros, or a list of them. Nothing below the watermark
// changes, but for contracts, which end. ErrTooExpensive says that it takes too much.
func (r *Reader) Page(ctx context.Context, t *Table, q Request) (Page, error) {
	columns := slices.Clone(q.Columns)
	places := make([]int, len(t.Key)) // of the key among them
	for i, name := range t.Key {
		if places[i] = slices.IndexFunc(columns, func(c Column) bool { return c.Name == name }); places[i] < 0 {
			key, _ := t.Column(name)
			columns, places[i] = append(columns, key), len(columns)
		}
	}
	through, err := journal.Watermark(ctx, r.db, t.journal(r.stream))
	if err != nil {
		return Page{}, err
	}
	if q.Through > 0 {
		through.Offset = min(through.Offset, q.Through)
	}
	params := store.Params{
		"stream": store.Text(r.stream), "limit": store.Int(int64(q.Limit)), "through_migration": store.Int(through.MigrationID),
		"through_time": store.Time(store.Clamp(through.RecordTime)), "through_id": store.Text(through.UpdateID), "through_offset": store.Int(through.Offset),
	}
	if t.readers != nil {
		params["readers"] = store.Texts(t.readers)
	}
	maps.Copy(params, q.Params)
	page, read := Page{Columns: q.Columns, Through: through}, 0
	block, err := store.NewColumns(typesOf(t, columns))
	if err != nil {
		return page, err
	}
	err = r.db.SelectWithin(ctx, t.statement(columns, q, params), params, maxTime, maxMemory, block, func() error {
		for row := range block.Rows() {
			values := make([]any, len(columns))
			for i := range columns {
				values[i] = block.Value(i, row)
			}
			key := make([]string, len(places))
			for i, place := range places {
				key[i] = keyText(values[place])
			}
			if read++; slices.Equal(key, page.Last) {
				continue // a row may stand in two parts for a moment
			}
			page.Rows, page.Last = append(page.Rows, values[:len(q.Columns):len(q.Columns)]), key
		}
		return nil
	})
	if err != nil {
		return Page{}, fmt.Errorf("reading a page of %s: %w", t.Name, tooExpensive(err))
	}
	page.More = read == q.Limit
	return page, nil
}

// journal names the journal that says how far the table is complete.
func (t *Table) journal(stream string) string {
	if t.derived == nil {
		return stream
	}
	return t.derived(stream)
}

func typesOf(t *Table, columns []Column) []store.TableColumn {
	list := make([]store.TableColumn, len(columns))
	for i, c := range columns {
		list[i] = store.TableColumn{Table: t.Name, Name: c.Name, Type: c.Type}
	}
	return list
}

func tooExpensive(err error) error {
	if store.IsOverBudget(err) {
		return fmt.Errorf("%w: %w", ErrTooExpensive, err)
	}
	return err
}

// keyText is a value of a key as a parameter.
func keyText(value any) string {
	switch v := value.(type) {
	case int64:
		return store.Int(v)
	case schemas.Micros:
		return store.Time(v)
	case string:
		return store.Text(v)
	}
	panic(fmt.Sprintf("a key has a value of type %T", value)) // the tables are constants
}

// statement is the query of a page. Its text consists of names of columns and tables that the store
// has, and of the condition.
func (t *Table) statement(columns []Column, q Request, params store.Params) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoted(c.Name)
	}
	conditions := []string{"stream = {stream:String}", t.bound()}
	if t.readers != nil {
		conditions = append(conditions, t.seen)
	}
	if q.After != nil {
		conditions = append(conditions, t.behind(q, params))
	}
	if q.Condition != "" {
		conditions = append(conditions, q.Condition)
	}
	direction := ""
	if q.Descending {
		direction = " DESC"
	}
	selected, order := strings.Join(names, ", "), strings.Join(t.Key, direction+", ")+direction
	from := func(part string) string {
		return "SELECT " + selected + " FROM " + part + " WHERE " + strings.Join(conditions, " AND ") + " ORDER BY stream" + direction + ", " + order + " LIMIT {limit:UInt64}"
	}
	if t.sources == nil {
		return from(t.Name)
	}
	parts := make([]string, len(t.sources))
	for i, source := range t.sources {
		parts[i] = from(source)
	}
	return "SELECT " + selected + " FROM (" + strings.Join(parts, " UNION ALL ") + ") ORDER BY " + order + " LIMIT {limit:UInt64}"
}

// bound leaves out what is not complete. Contracts stand in the order of their creation as contracts
// say it, and became part of history at another time.
func (t *Table) bound() string {
	if t.offset != "" {
		return t.offset + " <= {through_offset:Int64}"
	}
	if slices.Contains(t.Key, "record_time") {
		return "(migration_id, record_time, update_id) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'), {through_id:String})"
	}
	return "(migration_id, created_time) <= ({through_migration:Int64}, fromUnixTimestamp64Micro({through_time:Int64}, 'UTC'))"
}

// behind is the condition for rows behind a key. The store finds its place by the first two columns.
func (t *Table) behind(q Request, params store.Params) string {
	values := make([]string, len(t.Key))
	for i, name := range t.Key {
		parameter := "after" + strconv.Itoa(i)
		params[parameter] = q.After[i]
		c, _ := t.Column(name)
		switch {
		case strings.HasPrefix(c.Type, "DateTime64"):
			values[i] = "fromUnixTimestamp64Micro({" + parameter + ":Int64}, 'UTC')"
		case strings.HasPrefix(c.Type, "Int"):
			values[i] = "{" + parameter + ":Int64}"
		default:
			values[i] = "{" + parameter + ":String}"
		}
	}
	operator := ">"
	if q.Descending {
		operator = "<"
	}
	place := strings.NewReplacer("FIRST", t.Key[0], "SECOND", t.Key[1], "BEHIND", operator, "ONE", values[0], "TWO", values[1]).
		Replace("(FIRST BEHIND ONE OR FIRST = ONE AND SECOND BEHIND= TWO)")
	return place + " AND (" + strings.Join(t.Key, ", ") + ") " + operator + " (" + strings.Join(values, ", ") + ")"
}

func quoted(name string) string { return "`" + name + "`" }
