package indexer

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/rewind_history.sql
	rewindHistory string
	//go:embed sql/rewind_verdicts.sql
	rewindVerdicts string
	//go:embed sql/rewind_imports.sql
	rewindImports string
	//go:embed sql/rewind_places.sql
	rewindPlaces string
	//go:embed sql/rewind_lookup_rows.sql
	rewindLookupRows string
	//go:embed sql/rewind_node_lookup_rows.sql
	rewindNodeLookupRows string
	//go:embed sql/clear_table.sql
	clearTable string
	//go:embed sql/rewind_batches.sql
	rewindBatches string
	//go:embed sql/lift_stops.sql
	liftStops string
	//go:embed sql/table_exists.sql
	tableExists string
)

// ErrBusy means that a writer has committed to a stream a moment ago.
var ErrBusy = errors.New("the stream has an active writer")

// rewinding is why a stream must not continue while it is taken back.
const rewinding = "it is being taken back, or a rewind was interrupted: ledgerlake rewind finishes it"

// Rewind takes a stream back to the end of an earlier batch, as if nothing behind it had ever
// been written. Each step can be repeated, so that one that was cut off is finished by another
// Run; until then the stream does not continue.
//
// The sequence numbers of the journal are never used again: the engine drops an insert whose
// token it has seen, also of rows that were deleted since, and tokens are made of them. A line
// of the journal that begins and ends at the same position, the mark, stands for what was
// taken back and carries the count on.
type Rewind struct {
	db     *store.DB
	stream string
	keep   func(through schemas.Position) bool
	log    *slog.Logger
	writer string

	// Withdraw, when set, takes back what was published of history after a position, before
	// anything is dropped. It may be repeated.
	Withdraw func(ctx context.Context, to schemas.Position) error
	// Quiet is for how long nothing may have been committed, 0 where no other process can
	// write. A writer that only waits steps down.
	Quiet time.Duration

	// done is called after each statement; tests end the run there.
	done func() error
}

// NewRewind returns a rewind of a stream that keeps its batches up to the first whose end keep
// refuses.
func NewRewind(db *store.DB, stream string, keep func(through schemas.Position) bool, log *slog.Logger) *Rewind {
	return &Rewind{db: db, stream: stream, keep: keep, log: log.With("stream", stream), writer: uuid.NewString(),
		done: func() error { return nil }}
}

// RewindPlan says what a rewind takes back.
type RewindPlan struct {
	Stream   string
	From, To schemas.Position
	// Batches, Items and Events are what was committed behind To.
	Batches, Items, Events uint64
	// Pending is a batch that was announced and not committed; it goes in any case.
	Pending bool
	// Stopped is why the stream must not continue at present, "" if it may.
	Stopped string
}

// Nothing reports whether there is nothing to take back.
func (p *RewindPlan) Nothing() bool { return p.Batches == 0 && !p.Pending && p.Stopped == "" }

// Plan says what Run would do.
func (r *Rewind) Plan(ctx context.Context) (RewindPlan, error) {
	plan := RewindPlan{Stream: r.stream}
	lines, err := journals.Read(ctx, r.db, r.stream)
	if err != nil {
		return plan, err
	}
	if plan.Stopped, err = stoppedReason(ctx, r.db, r.stream); err != nil {
		return plan, err
	}
	standing, last := standingCommits(lines)
	plan.From, plan.To = endOf(standing), r.target(standing)
	for _, c := range standing {
		if plan.To.Before(c.Through) {
			plan.Batches, plan.Items, plan.Events = plan.Batches+1, plan.Items+c.Items, plan.Events+c.Events
		}
	}
	plan.Pending = pendingAfter(lines, last)
	return plan, nil
}

// target is the end of the last batch to keep.
func (r *Rewind) target(standing []store.BatchRow) schemas.Position {
	n := slices.IndexFunc(standing, func(c store.BatchRow) bool { return !r.keep(c.Through) })
	if n < 0 {
		n = len(standing)
	}
	return endOf(standing[:n])
}

// standingCommits are the commits that no mark has taken back, and the last sequence number.
func standingCommits(lines []store.BatchRow) (standing []store.BatchRow, last int64) {
	for _, l := range lines {
		if l.State != store.Commit || l.Sequence == last {
			continue
		}
		last = l.Sequence
		if !l.IsMark() {
			standing = append(standing, l)
			continue
		}
		for len(standing) > 0 && l.Through.Before(standing[len(standing)-1].Through) {
			standing = standing[:len(standing)-1]
		}
	}
	return standing, last
}

// pendingAfter reports whether a batch behind a sequence number was announced.
func pendingAfter(lines []store.BatchRow, last int64) bool {
	return slices.ContainsFunc(store.StandingIntents(lines), func(l store.BatchRow) bool { return l.Sequence > last })
}

func endOf(commits []store.BatchRow) schemas.Position {
	if len(commits) == 0 {
		return schemas.Start
	}
	return commits[len(commits)-1].Through
}

// Run takes the stream back and returns what it did. The lifetimes of contracts, wallets, movements
// rollups and typed tables are derived again from the start when the stream is next followed.
func (r *Rewind) Run(ctx context.Context) (RewindPlan, error) {
	if err := r.checkQuiet(ctx); err != nil {
		return RewindPlan{}, err
	}
	typed, err := r.typed(ctx)
	if err != nil {
		return RewindPlan{}, err
	}
	epochs := make(map[string]int64)
	for _, stream := range append(r.journals(), typed...) {
		epoch, err := journal.Claim(ctx, r.db, stream, r.writer)
		if err != nil {
			return RewindPlan{}, err
		}
		epochs[stream] = epoch
	}
	plan, err := r.Plan(ctx)
	if err != nil {
		return plan, err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"stopping it", func() error { return r.stop(ctx) }},
		{"withdrawing published objects", func() error { return r.withdraw(ctx, plan.To) }},
		{"dropping lookup copies", func() error { return r.dropCopies(ctx, plan.To) }},
		{"moving the watermark", func() error { return r.mark(ctx, r.stream, plan.To, epochs) }},
		{"dropping rows", func() error { return r.dropRows(ctx, r.stream, plan.To) }},
		{"removing late verdicts", func() error { return r.side(ctx, plan.To, epochs) }},
		{"emptying lifetimes", func() error { return r.contracts(ctx, epochs) }},
		{"taking back derived streams", func() error { return r.followers(ctx, plan.To, epochs) }},
		{"taking back typed tables", func() error { return r.again(ctx, typed...) }},
		{"dropping journal lines", func() error { return r.dropLines(ctx, r.stream, plan.To) }},
		{"letting it continue", func() error { return r.lift(ctx) }},
	} {
		if err := step.do(); err != nil {
			return plan, fmt.Errorf("taking %s back to %s, %s: %w", r.stream, plan.To, step.name, err)
		}
	}
	r.log.InfoContext(ctx, "took the stream back", "from", plan.From.String(), "to", plan.To.String(), "batches", plan.Batches, "items", plan.Items)
	return plan, nil
}

// journals are all streams that the rewind writes to.
func (r *Rewind) journals() []string {
	own := []string{r.stream, journals.ContractsStream(r.stream), journals.LookupsStream(r.stream)}
	if r.isNode() {
		return append(own, r.derived()...)
	}
	return append(append(own, journals.SideStream(r.stream)), r.derived()...)
}

// derived are the journals of what is derived from the start again, the last one first of what follows others.
func (r *Rewind) derived() []string {
	if r.isNode() {
		return []string{journals.WalletStream(r.stream), journals.MovementsStream(r.stream)}
	}
	return []string{journals.RollupsStream(journals.SideStream(r.stream)), journals.RollupsStream(r.stream), journals.MovementsStream(r.stream)}
}

func (r *Rewind) isNode() bool { return r.stream != schemas.ScanStream }

// checkQuiet refuses a stream that is being written to.
func (r *Rewind) checkQuiet(ctx context.Context) error {
	if r.Quiet == 0 {
		return nil
	}
	rows, err := journals.Streams(ctx, r.db)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if age := time.Since(row.WrittenAt.Time()); slices.Contains(r.journals(), row.Stream) && age < r.Quiet {
			return fmt.Errorf("%w: %s was committed to %s ago; stop ingest and try again in %s",
				ErrBusy, row.Stream, age.Round(time.Second), (r.Quiet - age).Round(time.Second))
		}
	}
	return nil
}

// exec runs a statement that changes a table and can be repeated.
func (r *Rewind) exec(ctx context.Context, table, statement string, params store.Params) error {
	if err := r.db.Change(ctx, table, statement, "", params); err != nil {
		return err
	}
	return r.done()
}

func (r *Rewind) stop(ctx context.Context) error {
	if err := NewSinks(r.db, r.log).Stop(ctx, r.stream, rewinding); err != nil {
		return err
	}
	return r.done()
}

func (r *Rewind) withdraw(ctx context.Context, to schemas.Position) error {
	if r.Withdraw == nil {
		return nil
	}
	return r.Withdraw(ctx, to)
}

// mark moves the watermark of a journal back, unless it is there already: what readers see ends at
// the position from then on.
func (r *Rewind) mark(ctx context.Context, stream string, to schemas.Position, epochs map[string]int64) error {
	lines, err := journals.Read(ctx, r.db, stream)
	if err != nil {
		return err
	}
	last := store.BatchRow{Through: schemas.Start}
	intended := false
	for _, l := range lines {
		switch {
		case l.State == store.Commit && l.Sequence > last.Sequence:
			last, intended = l, false
		case l.State != store.Commit && l.Sequence > last.Sequence:
			intended = true // its rows may be there, with its tokens
		}
	}
	if last.Through == to && !intended {
		return nil
	}
	row := store.BatchRow{Stream: stream, Sequence: last.Sequence + 1, After: to, Through: to, Writer: r.writer, Epoch: epochs[stream]}
	if err := journal.Insert(ctx, r.db, row, store.Commit); err != nil {
		return fmt.Errorf("marking %s as taken back: %w", stream, err)
	}
	return r.done()
}

// dropRows drops the rows of a stream above a position.
func (r *Rewind) dropRows(ctx context.Context, stream string, to schemas.Position) error {
	if err := r.exec(ctx, "events", rewindHistory, in("events", audit.Above(stream, to))); err != nil {
		return err
	}
	if err := r.exec(ctx, "verdicts", rewindVerdicts, audit.Above(stream, to)); err != nil {
		return err
	}
	if err := r.exec(ctx, "imports", rewindImports, audit.Above(stream, to)); err != nil {
		return err
	}
	if err := r.exec(ctx, "updates", rewindHistory, in("updates", audit.Above(stream, to))); err != nil {
		return err
	}
	return r.dropPlaces(ctx, stream, to)
}

// dropPlaces drops the places of what was dropped. Those at the very record time of to go with
// them, and are made again of what is left there.
func (r *Rewind) dropPlaces(ctx context.Context, stream string, to schemas.Position) error {
	if err := r.exec(ctx, "places", rewindPlaces, audit.Above(stream, to)); err != nil {
		return err
	}
	if to.Offset > 0 || to.RecordTime == schemas.MinMicros {
		return nil
	}
	from := to
	from.UpdateID = ""
	if err := fillPlaces(ctx, r.db, stream, from, to, "rewind/"+uuid.NewString()); err != nil {
		return err
	}
	return r.done()
}

// in adds the table of a statement to its parameters.
func in(table string, params store.Params) store.Params {
	params["table"] = store.Text(table)
	return params
}

// side takes the verdicts back that came late.
func (r *Rewind) side(ctx context.Context, to schemas.Position, epochs map[string]int64) error {
	if r.isNode() {
		return nil
	}
	stream := journals.SideStream(r.stream)
	lines, err := journals.Read(ctx, r.db, stream)
	if err != nil || len(lines) == 0 {
		return err
	}
	standing, _ := standingCommits(lines)
	end := schemas.Start
	for _, c := range standing {
		if to.Before(c.Through) {
			break
		}
		end = c.Through
	}
	if err := r.mark(ctx, stream, end, epochs); err != nil {
		return err
	}
	if err := r.dropRows(ctx, stream, end); err != nil {
		return err
	}
	return r.dropLines(ctx, stream, end)
}

// ClearLifetimes has the lifetimes of a stream derived from its start again, by the next that derives
// them. It may be repeated.
func ClearLifetimes(ctx context.Context, db *store.DB, stream string, log *slog.Logger) error {
	r := NewRewind(db, stream, nil, log)
	contracts := journals.ContractsStream(stream)
	epoch, err := journal.Claim(ctx, db, contracts, r.writer)
	if err != nil {
		return err
	}
	if err := r.contracts(ctx, map[string]int64{contracts: epoch}); err != nil {
		return fmt.Errorf("emptying the lifetimes of %s: %w", stream, err)
	}
	return nil
}

// contracts has the lifetimes derived from the start of the stream again.
func (r *Rewind) contracts(ctx context.Context, epochs map[string]int64) error {
	for _, table := range []string{"ended_contracts", "contracts_archived", "contracts_live"} {
		if err := r.exec(ctx, table, clearTable, in(table, store.Params{"stream": store.Text(r.stream)})); err != nil {
			return err
		}
	}
	stream := journals.ContractsStream(r.stream)
	if err := r.mark(ctx, stream, schemas.Start, epochs); err != nil {
		return err
	}
	return r.dropLines(ctx, stream, schemas.Start)
}

// followers takes the copies for lookups back, which have lost the same, and has wallets, movements and rollups
// derived from the start again.
func (r *Rewind) followers(ctx context.Context, to schemas.Position, epochs map[string]int64) error {
	lookups := journals.LookupsStream(r.stream)
	lines, err := journals.Read(ctx, r.db, lookups)
	if err != nil {
		return err
	}
	if standing, _ := standingCommits(lines); to.Before(followedTo(lines)) {
		if end := endOf(standing); end.Before(to) {
			to = end
		}
		if err := r.mark(ctx, lookups, to, epochs); err != nil {
			return err
		}
		if err := r.dropLines(ctx, lookups, to); err != nil {
			return err
		}
	}
	return r.again(ctx, r.derived()...)
}

// again has what has one of some journals derived from the start again.
func (r *Rewind) again(ctx context.Context, own ...string) error {
	for _, stream := range own {
		lines, err := journals.Read(ctx, r.db, stream)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			continue
		}
		if err := journal.NewFollower(r.db, r.stream, stream, 0, r.log).BackToStart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// typed are the journals of the typed tables.
func (r *Rewind) typed(ctx context.Context) (list []string, err error) {
	rows, err := journals.Streams(ctx, r.db)
	live := journals.TypedStream(r.stream)
	for _, row := range rows {
		if row.Stream == live || strings.HasPrefix(row.Stream, live+"/") {
			list = append(list, row.Stream)
		}
	}
	return list, err
}

// followedTo is the furthest that a journal goes, announced or committed.
func followedTo(lines []store.BatchRow) schemas.Position {
	end := schemas.Start
	for _, l := range lines {
		if end.Before(l.Through) {
			end = l.Through
		}
	}
	return end
}

// dropLines drops the journal lines above a position, but for the last one, which is a mark or
// has that position itself.
func (r *Rewind) dropLines(ctx context.Context, stream string, to schemas.Position) error {
	lines, err := journals.Read(ctx, r.db, stream)
	if err != nil {
		return err
	}
	_, last := standingCommits(lines)
	return r.exec(ctx, "batches", rewindBatches, store.Params{
		"stream": store.Text(stream), "mark": store.Int(last), "offset": store.Int(to.Offset),
		"migration": store.Int(to.MigrationID), "time": store.Time(to.RecordTime), "id": store.Text(to.UpdateID),
	})
}

// dropCopies drops the copies of what is taken back. Without the engine for copies there are
// none.
func (r *Rewind) dropCopies(ctx context.Context, to schemas.Position) error {
	table, statement := "lookup_rows", rewindLookupRows
	if r.isNode() {
		table, statement = "node_lookup_rows", rewindNodeLookupRows
	}
	_, there, err := store.SelectOne(ctx, r.db, tableExists, store.Params{"name": store.Text(table)}, store.NewRecords[store.Name]())
	if err != nil || !there {
		return err
	}
	return r.exec(ctx, table, statement, audit.Above(r.stream, to))
}

// lift lets the stream continue.
func (r *Rewind) lift(ctx context.Context) error {
	return r.exec(ctx, "milestones", liftStops, store.Params{"stream": store.Text(r.stream), "prefix": store.Text(store.Stopped)})
}

// stoppedReason is why a stream must not continue, "" if it may.
func stoppedReason(ctx context.Context, db *store.DB, stream string) (reason string, err error) {
	params := store.Params{"stream": store.Text(stream), "prefix": store.Text(store.Stopped)}
	stop, _, err := store.SelectOne(ctx, db, stoppedQuery, params, store.NewRecords[store.Name]())
	if err != nil {
		return "", fmt.Errorf("reading whether %s may continue: %w", stream, err)
	}
	return strings.TrimPrefix(stop.Name, store.Stopped), nil
}
