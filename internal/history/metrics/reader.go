package metrics

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

//go:embed sql/history_begins.sql
var historyBegins string

// Errors of a request.
var (
	ErrTooMany      = fmt.Errorf("these are more than %d rows", MaxRows)
	ErrTooExpensive = errors.New("the metric takes too long")
)

// Limits of an answer, and of the engine for it.
const (
	MaxRows   = 10_000
	maxTime   = 5 * time.Second
	maxMemory = 1 << 30
)

// Request is what is wanted of a metric.
type Request struct {
	Metric *Metric
	// Grain is one of the metric's, GroupBy are some of its columns.
	Grain   string
	GroupBy []string
	// From and To are the start of the first bucket, and that behind the last one, of which the bucket that they lie in
	// counts: microseconds since 1970, or numbers of rounds. They are nil for the last buckets.
	From, To *int64

	// most is how many of the largest groups are told apart, 0 for all; the rest are one group, named others.
	most int
}

// others is the group of all that are not told apart. No ledger has such a text.
const others = "\x01others"

// Row is a metric in a bucket.
type Row struct {
	Start  int64 // of the bucket, as From
	Groups []string
	// Value is an int64 or a decimal.Decimal; nil where history does not say.
	Value any
	// Provisional says that the value may change: the bucket is not over, or decisions on transactions are missing.
	Provisional bool
}

// Answer is what a metric was, by bucket and group. Buckets in which nothing happened are there unless it is grouped.
type Answer struct {
	Rows []Row
	// First is the start of the first bucket, End that behind the last one, both 0 while there is no history.
	First, End int64
	// Through is the position up to which history counts.
	Through schemas.Position

	open int64 // start of the first bucket that is not over
}

// Reader reads metrics of public history. It is safe for concurrent use.
type Reader struct{ db *store.DB }

// NewReader returns a reader of a store.
func NewReader(db *store.DB) *Reader { return &Reader{db} }

// part is what there is of a stream: the hours before Closed are in the tables, and Open follows.
type part struct {
	stream  string
	closed  schemas.Position
	open    *rollups.Range
	through schemas.Position
}

// part finds out what there is of a stream whose rollups follow another one.
func (r *Reader) part(ctx context.Context, stream, follows string) (p part, err error) {
	p.stream, p.through = stream, schemas.Start
	mark, err := journal.Watermark(ctx, r.db, follows)
	if err != nil || mark == schemas.Start {
		return p, err
	}
	if p.closed, err = journal.Watermark(ctx, r.db, journal.RollupsStream(stream)); err != nil {
		return p, err
	}
	if p.through = p.closed; !p.closed.Before(mark) {
		return p, nil
	}
	hours, err := journal.HoursAfter(ctx, r.db, follows, p.closed, mark)
	if err != nil || len(hours) == 0 {
		return p, err
	}
	if p.through = hours[0].End(); mark.Before(p.through) {
		p.through = mark
	}
	open := rollups.Between(stream, p.closed, p.through)
	p.open = &open
	return p, nil
}

// parts are those of public history and, if there are any, of its late verdicts.
func (r *Reader) parts(ctx context.Context) (list []part, err error) {
	late := journal.SideStream(schemas.ScanStream)
	for stream, follows := range map[string]string{schemas.ScanStream: journal.MovementsStream(schemas.ScanStream), late: late} {
		p, err := r.part(ctx, stream, follows)
		if err != nil {
			return nil, err
		}
		if stream == schemas.ScanStream || p.through != schemas.Start {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.stream, b.stream) })
	return list, nil
}

// source is a query for all rows of a table, and adds its parameters.
func source(t rollups.Table, parts []part, params store.Params) string {
	if t.Name == movements.Name {
		at := parts[0].through
		through := store.Params{"stream": store.Text(parts[0].stream), "migration": store.Int(at.MigrationID), "time": store.Time(store.Clamp(at.RecordTime)), "id": store.Text(at.UpdateID)}
		return "(\n" + prefixed(t.Rows, "movements_", through, params) + "\n)"
	}
	var queries []string
	for i, p := range parts {
		if !slices.ContainsFunc(rollups.Tables(p.stream), func(of rollups.Table) bool { return of.Name == t.Name }) {
			continue
		}
		prefix := fmt.Sprintf("p%d_", i)
		own := store.Params{"stream": store.Text(p.stream), "migration": store.Int(p.closed.MigrationID), "hour": store.Time(store.Clamp(p.closed.RecordTime))}
		queries = append(queries, prefixed("SELECT * FROM "+t.Name+" WHERE stream = {stream:String} AND (migration_id, hour) < ({migration:Int64}, fromUnixTimestamp64Micro({hour:Int64}, 'UTC'))", prefix, own, params))
		if p.open != nil {
			queries = append(queries, "SELECT * FROM (\n"+prefixed(t.Rows, prefix+"open_", p.open.Params(), params)+"\n)")
		}
	}
	return "(" + strings.Join(queries, " UNION ALL ") + ")"
}

// prefixed is a query with other names for its parameters, which are added to all.
func prefixed(query, prefix string, own, all store.Params) string {
	for name, value := range own {
		query = strings.ReplaceAll(query, "{"+name+":", "{"+prefix+name+":")
		all[prefix+name] = value
	}
	return query
}

// Read reads a metric. ErrTooMany and ErrTooExpensive say that the request must be for less.
func (r *Reader) Read(ctx context.Context, q Request) (Answer, error) {
	parts, err := r.parts(ctx)
	if err != nil {
		return Answer{}, err
	}
	at := parts[0].through
	if at.RecordTime == schemas.MinMicros {
		return Answer{Through: at}, nil // there is no history yet
	}
	span, err := r.span(ctx, q, parts)
	if err != nil {
		return Answer{}, err
	}
	params := store.Params{"from": store.Int(span.from), "to": store.Int(span.to)}
	maps.Copy(params, r.db.Readers())
	query, columns := q.statement(parts, params)
	block, err := store.NewColumns(columns)
	if err != nil {
		return Answer{}, err
	}
	fill := filler{q: q, span: span, sums: make(map[string]any)}
	err = r.db.SelectWithin(ctx, query, params, maxTime, maxMemory, block, func() error {
		for row := range block.Rows() {
			fill.add(block, row)
		}
		return nil
	})
	switch {
	case store.IsOverBudget(err):
		return Answer{}, fmt.Errorf("%w: %w", ErrTooExpensive, err)
	case err != nil:
		return Answer{}, fmt.Errorf("reading metric %s: %w", q.Metric.Name, err)
	}
	rows := fill.end()
	if len(rows) > MaxRows {
		return Answer{}, ErrTooMany
	}
	if q.Metric.submitters {
		if err := r.cover(ctx, q, span, parts, rows); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Rows: rows, First: span.from, End: max(span.to, span.from), Through: at, open: span.open}, nil
}

// statement is the query of a metric: its text consists of what the catalogue has.
func (q Request) statement(parts []part, params store.Params) (string, []store.TableColumn) {
	m, bucket := q.Metric, bucketOf[q.Grain]
	from := source(m.tables[0], parts, params)
	if len(m.tables) > 1 { // of parties
		from = "(SELECT party, hour, active FROM " + from + " UNION ALL SELECT party, hour, true FROM " + source(m.tables[1], parts, params) + " WHERE hour >= '1970-01-01')"
	}
	kind := "Int64"
	if m.Unit == Coin {
		kind = "Decimal(38, 10)"
	}
	columns := []store.TableColumn{{Table: m.Name, Name: "bucket", Type: "Int64"}}
	selected, groups := "toInt64("+bucket+") AS bucket", "bucket"
	if m.running { // what was before the first bucket is one
		selected = "toInt64(greatest(" + bucket + ", {from:Int64} - 1)) AS bucket"
	}
	for _, name := range q.GroupBy {
		selected += ", " + q.group(name, from) + " AS group_" + name
		groups += ", group_" + name
		columns = append(columns, store.TableColumn{Table: m.Name, Name: "group_" + name, Type: "String"})
	}
	columns = append(columns, store.TableColumn{Table: m.Name, Name: "value", Type: kind}, store.TableColumn{Table: m.Name, Name: "known", Type: "Bool"}, store.TableColumn{Table: m.Name, Name: "pending", Type: "Bool"})
	if m.rolling > 0 {
		return rolling(m, from), columns
	}
	known, pending := "true", "false"
	if m.known != "" {
		known = m.known
	}
	if m.verdicts {
		pending = "sum(m.transactions) > sum(m.accepted) - sum(m.private)"
	}
	return fmt.Sprintf("SELECT %s, CAST(%s AS %s) AS value, toBool(%s) AS known, toBool(%s) AS pending FROM %s AS m WHERE %s GROUP BY %s ORDER BY %s LIMIT %d",
		selected, m.value, kind, known, pending, from, q.wanted(), groups, groups, MaxRows+1), columns
}

// wanted is the condition on the rows of a metric m, which have a column bucket.
func (q Request) wanted() string {
	where := "bucket < {to:Int64}"
	if !q.Metric.running {
		where += " AND bucket >= {from:Int64}"
	}
	if q.Metric.where != "" {
		where += " AND (" + q.Metric.where + ")"
	}
	return where
}

// group is a column by which a metric is told apart. Of the largest groups there are q.most.
func (q Request) group(name, from string) string {
	group := "CAST(m." + name + " AS String)"
	if q.most == 0 {
		return group
	}
	return fmt.Sprintf("if(%s GLOBAL IN (SELECT key FROM (SELECT %s AS key, %s AS bucket, m.* FROM %s AS m) AS m WHERE %s GROUP BY key ORDER BY abs(%s) DESC, key LIMIT %d), %s, char(1) || 'others')",
		group, group, bucketOf[q.Grain], from, q.wanted(), q.Metric.value, q.most, group)
}

// rolling counts a party from the first day of each stretch of days on, and no longer once it was away for so long.
func rolling(m *Metric, from string) string {
	return strings.NewReplacer("DAYS", fmt.Sprint(m.rolling), "PARTIES", m.where, "SOURCE", from).Replace(rollingCounts)
}

//go:embed sql/rolling_counts.sql
var rollingCounts string

// span is which buckets are wanted: from inclusive, to exclusive. Nothing is before first, and what is at or after open
// is provisional.
type span struct{ from, to, first, open int64 }

func (r *Reader) span(ctx context.Context, q Request, parts []part) (s span, err error) {
	at := int64(parts[0].through.RecordTime)
	params := store.Params{"stream": store.Text(schemas.ScanStream)}
	maps.Copy(params, r.db.Readers())
	query := historyBegins
	if q.Grain == ByRound {
		query = "SELECT min(round) AS first, max(round) AS last FROM " + source(rollups.MovementHours, parts, params) + " WHERE round >= 0"
	}
	ends, _, err := store.SelectOne(ctx, r.db, query, params, store.NewRecords[struct {
		First int64 `column:"first"`
		Last  int64 `column:"last"`
	}]())
	if err != nil {
		return s, fmt.Errorf("reading where metric %s begins: %w", q.Metric.Name, err)
	}
	if s.first, s.open = ends.First, ends.Last; q.Grain != ByRound {
		s.first, s.open = begin(q.Grain, ends.First-1), begin(q.Grain, at) // a bucket that ends there is over
	}
	last := s.open
	if q.Grain != ByRound {
		last = begin(q.Grain, at-1)
	}
	s.to = step(q.Grain, last, 1)
	if q.To != nil {
		if s.to = begin(q.Grain, *q.To); s.to < *q.To {
			s.to = step(q.Grain, s.to, 1)
		}
	}
	s.from = step(q.Grain, s.to, -usual[q.Grain])
	if q.From != nil {
		s.from = begin(q.Grain, *q.From)
	}
	s.to, s.from = min(s.to, step(q.Grain, last, 1)), max(s.from, s.first)
	return s, nil
}

// filler makes rows of what a query returns, in the order of buckets and groups.
type filler struct {
	q    Request
	span span
	sums map[string]any // of running metrics, by group
	at   int64          // bucket of the last row
	rows []Row
}

// add takes a row of the result.
func (f *filler) add(block *store.Columns, row int) {
	n := len(f.q.GroupBy)
	r := Row{Start: block.Value(0, row).(int64), Groups: make([]string, n), Value: block.Value(n+1, row)}
	for i := range n {
		r.Groups[i] = block.Value(i+1, row).(string)
	}
	if block.Value(n+2, row) == false {
		r.Value = nil
	}
	r.Provisional = r.Start >= f.span.open || block.Value(n+3, row) == true
	if f.q.Metric.running {
		f.upTo(max(r.Start, f.span.from))
		key := strings.Join(r.Groups, "\x00")
		f.sums[key] = plus(f.sums[key], r.Value)
		return
	}
	if n == 0 {
		f.empty(r.Start)
		f.at = step(f.q.Grain, r.Start, 1)
	}
	f.rows = append(f.rows, r)
}

// upTo adds the rows of a running metric for the buckets before one.
func (f *filler) upTo(start int64) {
	for f.at = max(f.at, f.span.from); f.at < start && len(f.rows) <= MaxRows; f.at = step(f.q.Grain, f.at, 1) {
		keys := slices.Sorted(maps.Keys(f.sums))
		if len(keys) == 0 && len(f.q.GroupBy) == 0 {
			keys, f.sums[""] = []string{""}, zero(f.q.Metric)
		}
		for _, key := range keys {
			r := Row{Start: f.at, Value: f.sums[key], Provisional: f.at >= f.span.open}
			if len(f.q.GroupBy) > 0 {
				r.Groups = strings.Split(key, "\x00")
			}
			f.rows = append(f.rows, r)
		}
	}
}

// empty adds rows for the buckets before one in which nothing happened.
func (f *filler) empty(start int64) {
	for f.at = max(f.at, f.span.from); f.at < start && len(f.rows) <= MaxRows; f.at = step(f.q.Grain, f.at, 1) {
		r := Row{Start: f.at, Value: zero(f.q.Metric), Provisional: f.at >= f.span.open}
		if f.q.Metric.known != "" {
			r.Value = nil
		}
		f.rows = append(f.rows, r)
	}
}

// end adds the rows behind the last one of the result, and returns all.
func (f *filler) end() []Row {
	switch {
	case f.q.Metric.running:
		f.upTo(f.span.to)
	case len(f.q.GroupBy) == 0:
		f.empty(f.span.to)
	}
	return f.rows
}

func zero(m *Metric) any {
	if m.Unit == Coin {
		return decimal.Decimal{}
	}
	return int64(0)
}

func plus(sum, change any) any {
	switch c := change.(type) {
	case decimal.Decimal:
		s, _ := sum.(decimal.Decimal)
		return s.Plus(c)
	default:
		s, _ := sum.(int64)
		return s + c.(int64)
	}
}
