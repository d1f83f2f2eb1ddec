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

// ErrGone says that there is no such table any more.
var ErrGone = errors.New("the table was dropped")

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

// Page reads rows in the order of the table's key. A row is a value of each column, as store.Columns has them.
// Nothing below the watermark changes, but for contracts, which end. ErrTooExpensive says that it takes too
// much, and ErrGone that the table was dropped.
func (r *Reader) Page(ctx context.Context, t *Table, q Request) (Page, error) {
	columns := slices.Clone(q.Columns)
	places := make([]int, len(t.Key)) // of the key among them
	for i, name := range t.Key {
		if places[i] = slices.IndexFunc(columns, func(c Column) bool { return c.Name == name }); places[i] < 0 {
			key, _ := t.Column(name)
			columns, places[i] = append(columns, key), len(columns)
		}
	}
	through, err := r.complete(ctx, t)
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
		return Page{}, fmt.Errorf("reading a page of %s: %w", t.Name, pageError(err))
	}
	page.More = read == q.Limit
	return page, nil
}

// complete is up to where the table is complete.
func (r *Reader) complete(ctx context.Context, t *Table) (through schemas.Position, err error) {
	journals := t.typed
	switch {
	case journals != nil:
	case t.derived != nil:
		journals = []string{t.derived(r.stream)}
	default:
		journals = []string{r.stream}
	}
	for i, name := range journals {
		mark, err := journal.Watermark(ctx, r.db, name)
		if err != nil {
			return through, err
		}
		if i == 0 || mark.Before(through) {
			through = mark
		}
	}
	return through, nil
}

func typesOf(t *Table, columns []Column) []store.TableColumn {
	list := make([]store.TableColumn, len(columns))
	for i, c := range columns {
		list[i] = store.TableColumn{Table: t.Name, Name: c.Name, Type: c.Type}
	}
	return list
}

func pageError(err error) error {
	switch {
	case store.IsOverBudget(err):
		return fmt.Errorf("%w: %w", ErrTooExpensive, err)
	case store.IsUnknownTable(err):
		return fmt.Errorf("%w: %w", ErrGone, err)
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
	conditions := []string{t.prefix + "stream = {stream:String}"}
	if bound := t.bound(); bound != "" {
		conditions = append(conditions, bound)
	}
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
		return "SELECT " + selected + " FROM " + quoted(part) + " WHERE " + strings.Join(conditions, " AND ") +
			" ORDER BY " + t.prefix + "stream" + direction + ", " + order + " LIMIT {limit:UInt64}"
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

// bounds are the columns that say when a row became part of history, with the position up to which rows are
// complete. Contracts stand in the order of their creation as contracts say it, and became part of it at
// another time.
var bounds = [][2]string{
	{"migration_id", "{through_migration:Int64}"},
	{"record_time", "fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')"},
	{"created_time", "fromUnixTimestamp64Micro({through_time:Int64}, 'UTC')"},
	{"update_id", "{through_id:String}"},
}

// bound leaves out what is not complete, "" of a table whose rows are sums, or do not say where on a node's
// stream they are.
func (t *Table) bound() string {
	if t.offset != "" {
		return t.offset + " <= {through_offset:Int64}"
	}
	var columns, values []string
	for _, c := range bounds {
		if name := t.prefix + c[0]; slices.Contains(t.Key, name) {
			columns, values = append(columns, name), append(values, c[1])
		}
	}
	if columns == nil || t.ofNode {
		return ""
	}
	return "(" + strings.Join(columns, ", ") + ") <= (" + strings.Join(values, ", ") + ")"
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
	all := "(" + strings.Join(t.Key, ", ") + ") " + operator + " (" + strings.Join(values, ", ") + ")"
	if len(t.Key) == 1 {
		return all
	}
	place := strings.NewReplacer("FIRST", t.Key[0], "SECOND", t.Key[1], "BEHIND", operator, "ONE", values[0], "TWO", values[1]).
		Replace("(FIRST BEHIND ONE OR FIRST = ONE AND SECOND BEHIND= TWO)")
	return place + " AND " + all
}

// escaper keeps names in their quotes: those of columns are of packages, which anybody writes.
var escaper = strings.NewReplacer("\\", "\\\\", "`", "\\`")

func quoted(name string) string { return "`" + escaper.Replace(name) + "`" }
