package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/analytics/filter"
)

// Sizes of pages, in rows.
const (
	defaultLimit = 100
	maxLimit     = 10_000
)

// columnAnswer describes a column.
type columnAnswer struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Meaning string `json:"meaning,omitempty"`
	// Operators are those by which rows can be filtered by the column.
	Operators []string `json:"operators,omitempty"`
}

type tableAnswer struct {
	Name    string         `json:"name"`
	Title   string         `json:"title"`
	Order   []string       `json:"order"`
	Columns []columnAnswer `json:"columns"`
}

// list describes the tables.
func (a *API) list(ctx context.Context, r *query.Request) error {
	_, list, err := a.open(ctx, r)
	if err != nil {
		return err
	}
	answer := make([]tableAnswer, len(list))
	for i, t := range list {
		answer[i] = tableAnswer{Name: t.Name, Title: t.Title, Order: t.Key}
		for _, c := range t.Columns {
			answer[i].Columns = append(answer[i].Columns, columnAnswer{c.Name, c.Type, c.Meaning, filter.NewColumn(c.Name, c.Type).Operators()})
		}
	}
	return r.JSON(map[string]any{"tables": answer})
}

// open returns what the caller asks, with the tables that they may read.
func (a *API) open(ctx context.Context, r *query.Request) (Source, []tables.Table, error) {
	source, access, err := a.cfg.Open(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	list, err := source.Tables(ctx)
	if err != nil {
		return nil, nil, err
	}
	var own []tables.Table
	for i := range list {
		if t, ok := list[i].For(access); ok {
			own = append(own, t)
		}
	}
	return source, own, nil
}

// request is what a caller wants of a table.
type request struct {
	source  Source
	table   *tables.Table
	columns []tables.Column
	filter  filter.Filter
	order   string // asc or desc
	limit   int
	format  format
	token   string
}

// reserved are the parameters that are no columns.
var reserved = []string{"columns", "filter", "order", "limit", "format", "page_token"}

// rows serves a page of a table.
func (a *API) rows(ctx context.Context, r *query.Request) error {
	q, err := a.request(ctx, r)
	if err != nil {
		return err
	}
	condition, err := q.filter.Compile(columnsOf(q.table), a.cfg.Now())
	if err != nil {
		return refused(err)
	}
	read := tables.Request{Columns: q.columns, Condition: condition.Text, Params: condition.Params, Descending: q.order == "desc", Limit: q.limit}
	if q.token != "" {
		payload, ok := a.tokens.Open(q.identity(), q.token)
		var last place
		if !ok || json.Unmarshal(payload, &last) != nil {
			return query.Errorf(query.Invalid, "Query parameter page_token does not belong to this request: it must come from an answer to the same one.")
		}
		read.After, read.Through = last.Key, last.Through
	}
	if ctx, err = r.Reserve(ctx, rowFactor*a.sizes.Of(q.limit)); err != nil {
		return err
	}
	page, err := q.source.Page(ctx, q.table, read)
	if errors.Is(err, tables.ErrGone) {
		return &query.Error{Code: query.NotFound, Msg: "There is no table " + q.table.Name + " any more.", Err: err}
	}
	if errors.Is(err, tables.ErrTooExpensive) {
		return &query.Error{Code: query.Invalid, Msg: "This takes more time or memory than a request may: filter by the time, or ask for fewer rows or columns.", Err: err}
	}
	if err != nil {
		return err
	}
	next := ""
	if page.More {
		payload, err := json.Marshal(place{page.Last, page.Through.Offset})
		if err != nil {
			return err
		}
		next = a.tokens.Seal(q.identity(), payload)
	}
	return a.answer(r, q, page, next)
}

// place is where a page ends: what its token has.
type place struct {
	Key     []string `json:"key"`
	Through int64    `json:"through,omitempty"`
}

// rowFactor is how many times the size of their text rows take: their values, and the answer.
const rowFactor = 4

// answer writes a page in the form that was asked for.
func (a *API) answer(r *query.Request, q *request, page tables.Page, next string) error {
	text, err := q.format.encode(r.Buffer(), []string{"table", q.table.Name}, page, next)
	if err != nil {
		return err
	}
	a.sizes.Saw(len(page.Rows), len(text))
	if next != "" {
		r.SetHeader(nextPageHeader, next)
	}
	return q.format.send(r, text)
}

// nextPageHeader has the page token, for forms that have no place for it.
const nextPageHeader = "Ledger-Next-Page"

func columnsOf(t *tables.Table) filter.Columns {
	columns := make(filter.Columns, len(t.Columns))
	for _, c := range t.Columns {
		columns[c.Name] = filter.NewColumn(c.Name, c.Type)
	}
	return columns
}

// refused is the answer to a filter that is wrong.
func refused(err error) error {
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		text := err.Error()
		return query.Errorf(query.Invalid, "%s.", strings.ToUpper(text[:1])+text[1:])
	}
	return err
}

// request reads the path and the query string.
func (a *API) request(ctx context.Context, r *query.Request) (*request, error) {
	q, err := a.requested(ctx, r)
	if err != nil {
		return nil, err
	}
	p := r.Query()
	q.order = p.OneOf("order", "asc", "desc")
	q.format = formats[p.OneOf("format", "json", "csv", "arrow")]
	q.filter.Expression, _ = p.OptionalText("filter")
	q.token, _ = p.OptionalText("page_token")
	if q.limit = defaultLimit; p.Has("limit") {
		q.limit = p.Limit("limit", maxLimit)
	}
	q.columns = q.table.Columns
	if text, ok := p.OptionalText("columns"); ok {
		q.columns = nil
		for name := range strings.SplitSeq(text, ",") {
			c, ok := q.table.Column(name)
			if !ok {
				p.Fail("Query parameter columns: %s.", filter.UnknownColumn(name, columnsOf(q.table)))
			}
			q.columns = append(q.columns, c)
		}
	}
	for _, name := range p.Names() {
		if slices.Contains(reserved, name) {
			continue
		}
		column, operator, _ := strings.Cut(name, ".")
		for _, value := range p.Texts(name) {
			q.filter.Comparisons = append(q.filter.Comparisons, filter.Comparison{Column: column, Operator: operator, Value: value})
		}
	}
	return q, p.Err()
}

// requested finds the table.
func (a *API) requested(ctx context.Context, r *query.Request) (*request, error) {
	name, err := r.Path("table")
	if err != nil {
		return nil, err
	}
	source, list, err := a.open(ctx, r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(t tables.Table) bool { return t.Name == name })
	if i < 0 {
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		return nil, query.Errorf(query.NotFound, "There is no table %.80q; there are %s.", name, strings.Join(names, ", "))
	}
	return &request{source: source, table: &list[i]}, nil
}

// identity is what a page token belongs to.
func (q *request) identity() []byte {
	comparisons := slices.Clone(q.filter.Comparisons)
	slices.SortFunc(comparisons, func(a, b filter.Comparison) int {
		return cmp.Or(strings.Compare(a.Column, b.Column), strings.Compare(a.Operator, b.Operator), strings.Compare(a.Value, b.Value))
	})
	return fmt.Appendf(nil, "analytics %s %q %q %q %q", q.source.Stream(), q.table.Name, q.filter.Expression, comparisons, q.order)
}
