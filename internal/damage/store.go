package damage

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/journal_sums.sql
	journalSumsQuery string
	//go:embed sql/stream_rows.sql
	streamRowsQuery string
	//go:embed sql/rows_through.sql
	rowsThroughQuery string
	//go:embed sql/table_rows.sql
	tableRowsQuery string
	//go:embed sql/lifetime_rows.sql
	lifetimeRowsQuery string
	//go:embed sql/detached_parts.sql
	detachedPartsQuery string
	//go:embed sql/parts.sql
	partsQuery string
	//go:embed sql/check_table.sql
	checkTableQuery string
)

// The tables whose rows are counted. Lifetimes are in two, between which they move.
const (
	events    = "events"
	updates   = "updates"
	imports   = "imports"
	verdicts  = "verdicts"
	places    = "places"
	journals  = "batches"
	lifetimes = "contracts_live, contracts_archived"
)

// Store is looked at for damage. It is safe for concurrent use.
type Store struct {
	conn    driver.Conn // reads all rows
	servers []server
	away    []error // servers that do not answer; replicas of theirs may
}

// server has rows of a store; its name is "" if there is one only.
type server struct {
	name string
	conn driver.Conn
}

// Open connects to a store, which the caller closes. Of a cluster a server may be away: Check does
// without its parts if all rows can be counted, and Parts does not.
func Open(ctx context.Context, dsn, cluster string) (_ *Store, err error) {
	s := new(Store)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.conn, err = engine.Open(ctx, dsn); err != nil {
		return nil, err
	}
	servers, err := store.Servers(ctx, dsn, cluster)
	if err != nil {
		return nil, err
	}
	for _, named := range servers {
		switch conn, err := engine.Open(ctx, named.DSN); {
		case err == nil:
			s.servers = append(s.servers, server{named.Name, conn})
		case named.Name == "":
			return nil, err
		default:
			s.away = append(s.away, err)
		}
	}
	return s, nil
}

// Close closes all connections.
func (s *Store) Close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	for _, server := range s.servers {
		errs = append(errs, server.conn.Close())
	}
	return errors.Join(errs...)
}

// Check compares the rows of all tables with the journals, and looks for parts that the engine
// has set aside. It returns an *Error if rows are missing, or may be: parts of tables whose rows
// nobody counts. Parts that were set aside and of which no row is missing are leftovers.
// It may run beside an ingest.
func (s *Store) Check(ctx context.Context) (leftovers []Finding, err error) {
	c := check{store: s}
	if err := c.run(ctx); err != nil {
		return nil, fmt.Errorf("looking for damage in the store: %w", store.Explain(err))
	}
	if len(c.findings) > 0 {
		return c.leftovers, &Error{c.findings}
	}
	return c.leftovers, nil
}

// sums are what a journal says.
type sums struct {
	stream                   string
	batches, last, announced int64
	known                    bool // whether all commits say how many rows they have
	rows                     map[string]int64
	through                  schemas.Position
}

// check is one look at the store.
type check struct {
	store *Store
	// complete are tables of which no row is missing.
	complete            map[string]bool
	findings, leftovers []Finding
}

func (c *check) run(ctx context.Context) error {
	before, err := c.store.rows(ctx, tableRowsQuery, nil)
	if err != nil {
		return err
	}
	all, err := c.store.journals(ctx, "", math.MaxInt64)
	if err != nil {
		return err
	}
	c.complete = map[string]bool{events: true, updates: true, imports: true, verdicts: true, places: true, "contracts_archived": true}
	counted := make(map[string]int64)
	for i := range all {
		j := &all[i]
		if j.batches != j.last {
			c.add(Finding{Table: journals, Stream: j.stream, Expected: j.last, Found: j.batches, After: schemas.Start, Through: j.through})
		}
		switch {
		case strings.HasSuffix(j.stream, journal.ContractsStream("")):
			err = c.lifetimes(ctx, j)
		case !journal.IsDerived(j.stream):
			err = c.history(ctx, j, counted)
		}
		if err != nil {
			return err
		}
	}
	c.strangers(before, counted)
	return c.detached(ctx)
}

func (c *check) add(f Finding) {
	c.findings = append(c.findings, f)
	c.complete[f.Table] = false
}

// history compares the tables of a stream with its journal. counted takes its rows.
func (c *check) history(ctx context.Context, j *sums, counted map[string]int64) error {
	rows, err := c.store.rows(ctx, streamRowsQuery, clickhouse.Parameters{"stream": store.Text(j.stream)})
	if err != nil {
		return err
	}
	same := true // as far as the journal says how many there are
	for table, n := range rows {
		counted[table] += n
		want, known := j.rows[table]
		c.complete[table] = c.complete[table] && known
		same = same && (!known || n == want)
	}
	if same {
		return nil
	}
	// What was announced is being written, or was when its writer ended: only what was committed
	// is compared.
	committed, err := c.store.through(ctx, j)
	if err != nil {
		return err
	}
	above := int64(0)
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		want, compared := j.rows[table]
		switch {
		case !compared: // an earlier version wrote the journal
		case committed[table] != want:
			if err := c.locate(ctx, j, table, committed[table]); err != nil {
				return err
			}
		default:
			above += rows[table] - want
		}
	}
	if above > 0 && j.announced == j.last {
		return c.above(ctx, j, above)
	}
	return nil
}

// above: there are rows that nobody announced, unless somebody has since.
func (c *check) above(ctx context.Context, j *sums, rows int64) error {
	now, err := c.store.journals(ctx, j.stream, math.MaxInt64)
	if err != nil || len(now) == 0 || now[0].announced > j.last {
		return err
	}
	c.add(Finding{Table: journals, Other: fmt.Sprintf("stream %s has %d rows after %s that no batch announced: the journal has lost its last lines", j.stream, rows, j.through)})
	return nil
}

// locate says between which batches rows of a table are missing or doubled.
func (c *check) locate(ctx context.Context, j *sums, table string, found int64) error {
	f := Finding{Table: table, Stream: j.stream, Expected: j.rows[table], Found: found, After: schemas.Start, Through: j.through}
	lack := f.Expected - f.Found
	// lacking is how many rows are missing up to the end of a batch, and where that is.
	lacking := func(sequence int64) (int64, schemas.Position, error) {
		if sequence == 0 {
			return 0, schemas.Start, nil
		}
		upTo, err := c.store.journals(ctx, j.stream, sequence)
		if err != nil || len(upTo) == 0 {
			return 0, schemas.Start, err
		}
		rows, err := c.store.through(ctx, &upTo[0])
		return upTo[0].rows[table] - rows[table], upTo[0].through, err
	}
	// The first batch by whose end a row is missing, and the one by whose end all of them are.
	first, err := bisect(0, j.last, func(sequence int64) (bool, error) { n, _, err := lacking(sequence); return n != 0, err })
	if err != nil {
		return err
	}
	last, err := bisect(first-1, j.last, func(sequence int64) (bool, error) { n, _, err := lacking(sequence); return n == lack, err })
	if err != nil {
		return err
	}
	if _, f.After, err = lacking(first - 1); err != nil {
		return err
	}
	if _, f.Through, err = lacking(last); err != nil {
		return err
	}
	c.add(f)
	return nil
}

// bisect returns the first number behind no, of which so is false, up to yes, of which it is true.
func bisect(no, yes int64, so func(int64) (bool, error)) (int64, error) {
	for yes-no > 1 {
		middle := no + (yes-no)/2
		is, err := so(middle)
		if err != nil {
			return 0, err
		}
		if is {
			yes = middle
		} else {
			no = middle
		}
	}
	return yes, nil
}

// lifetimes compares the lifetimes of a stream with their journal. One that is being moved is in
// both tables, and those of an announced range are there before its commit.
func (c *check) lifetimes(ctx context.Context, j *sums) error {
	stream := strings.TrimSuffix(j.stream, journal.ContractsStream(""))
	c.complete["contracts_archived"] = c.complete["contracts_archived"] && j.known
	live, err := c.store.lifetimes(ctx, "contracts_live", stream) // first: lifetimes move away from there
	if err != nil || !j.known {
		return err
	}
	archived, err := c.store.lifetimes(ctx, "contracts_archived", stream)
	if want := j.rows[lifetimes]; err == nil && live+archived < want {
		c.add(Finding{Table: lifetimes, Stream: j.stream, Expected: want, Found: live + archived, After: schemas.Start, Through: j.through})
		c.complete["contracts_archived"] = false
	}
	return err
}

// strangers looks for rows of streams that no journal knows. all are the rows of tables before the
// journals were read, and counted those of the streams that they know, counted afterwards.
func (c *check) strangers(all, counted map[string]int64) {
	for _, table := range slices.Sorted(maps.Keys(all)) {
		if unknown := all[table] - counted[table]; unknown > 0 {
			c.add(Finding{Table: journals, Other: fmt.Sprintf("the journal has lost the streams of %d rows of table %s: it has no line of them", unknown, table)})
		}
	}
}

// detached looks for parts that tables do not read. What a journal counts that has lost lines says
// nothing.
func (c *check) detached(ctx context.Context) (err error) {
	var found []Finding
	for _, server := range c.store.servers {
		if found, err = server.detached(ctx, found); err != nil {
			return err
		}
	}
	inJournal := func(f Finding) bool { return f.Table == journals }
	if slices.ContainsFunc(found, inJournal) || slices.ContainsFunc(c.findings, inJournal) {
		c.complete = nil
	}
	for _, f := range found {
		if c.complete[f.Table] {
			c.leftovers = append(c.leftovers, f)
		} else {
			c.findings = append(c.findings, f)
		}
	}
	return nil
}

// detached appends the parts that the tables of a server do not read.
func (s server) detached(ctx context.Context, found []Finding) (_ []Finding, err error) {
	rows, err := s.conn.Query(ctx, detachedPartsQuery)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		f := Finding{Server: s.name}
		if err := rows.Scan(&f.Table, &f.Part, &f.Reason); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, rows.Err()
}

// journals reads what the journal of a stream, or of all if it is empty, says up to a batch.
func (s *Store) journals(ctx context.Context, stream string, sequence int64) (list []sums, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"stream": store.Text(stream), "sequence": store.Int(sequence)}))
	rows, err := s.conn.Query(ctx, journalSumsQuery)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var j sums
		var batches int64
		var uncounted, uncountedPlaces uint64
		var n struct{ events, updates, imports, verdicts, places, lifetimes int64 }
		var time int64
		p := &j.through
		if err := rows.Scan(&j.stream, &batches, &j.last, &j.announced, &uncounted, &uncountedPlaces, &n.events, &n.updates, &n.imports, &n.verdicts, &n.places,
			&n.lifetimes, &p.MigrationID, &time, &p.UpdateID, &p.Offset); err != nil {
			return nil, err
		}
		j.batches, p.RecordTime, j.known = batches, schemas.Micros(time), uncounted == 0
		if j.last == 0 { // nothing is committed yet
			j.through = schemas.Start
		}
		j.rows = map[string]int64{events: n.events}
		switch {
		case strings.HasSuffix(j.stream, journal.ContractsStream("")):
			j.rows = map[string]int64{lifetimes: n.lifetimes}
		case j.known:
			j.rows = map[string]int64{events: n.events, updates: n.updates, imports: n.imports, verdicts: n.verdicts}
			if uncountedPlaces == 0 {
				j.rows[places] = n.places
			}
		}
		list = append(list, j)
	}
	return list, rows.Err()
}

// through counts the rows of a stream up to where a journal ends.
func (s *Store) through(ctx context.Context, j *sums) (map[string]int64, error) {
	p := j.through
	return s.rows(ctx, rowsThroughQuery, clickhouse.Parameters{
		"stream": store.Text(j.stream), "places": store.Int(j.rows[places]), "migration": store.Int(p.MigrationID), "time": store.Time(store.Clamp(p.RecordTime)),
		"id": store.Text(p.UpdateID), "offset": store.Int(p.Offset), "within_imports": fmt.Sprint(p.RecordTime == schemas.MinMicros),
	})
}

// rows reads numbers of rows by table.
func (s *Store) rows(ctx context.Context, query string, params clickhouse.Parameters) (_ map[string]int64, err error) {
	rows, err := s.conn.Query(clickhouse.Context(ctx, clickhouse.WithParameters(params)), query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts := make(map[string]int64)
	for rows.Next() {
		var table string
		var n uint64
		if err := rows.Scan(&table, &n); err != nil {
			return nil, err
		}
		counts[table] = int64(n)
	}
	return counts, rows.Err()
}

// lifetimes counts the rows of a stream in one of their tables.
func (s *Store) lifetimes(ctx context.Context, table, stream string) (int64, error) {
	var n uint64
	params := clickhouse.Parameters{"table": table, "stream": store.Text(stream)}
	err := s.conn.QueryRow(clickhouse.Context(ctx, clickhouse.WithParameters(params)), lifetimeRowsQuery).Scan(&n)
	return int64(n), err
}
