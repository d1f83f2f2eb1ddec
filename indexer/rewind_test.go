package indexer

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// rewound is a stream that is written, taken back and written again.
type rewound struct {
	*fixture
	stream string
	items  []schemas.Item
	cut    func(items []schemas.Item, size int) []*schemas.Batch
	side   []schemas.Item // that came late
	tables []string
}

// write writes what is missing, in batches of a size, and has all that is derived catch up.
func (r *rewound) write(t *testing.T, size int) {
	t.Helper()
	r.writeItems(t, r.stream, r.cut, r.items, size)
	if len(r.side) > 0 {
		side := journals.SideStream(r.stream)
		r.writeItems(t, side, func(items []schemas.Item, size int) []*schemas.Batch {
			list := batches(items, size)
			for _, b := range list {
				b.Stream = side
			}
			return list
		}, r.side, size/3)
	}
	r.derive(t)
}

func (r *rewound) writeItems(t *testing.T, stream string, cut func([]schemas.Item, int) []*schemas.Batch, items []schemas.Item, size int) {
	t.Helper()
	w := NewWriter(r.db, stream, r.log)
	resume, err := w.Resume(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	missing := slices.DeleteFunc(slices.Clone(items), func(it schemas.Item) bool { return !resume.Committed.Before(it.Position()) })
	for i, b := range cut(missing, size) {
		if i == 0 {
			b.After = resume.Committed
		}
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rewound) derive(t *testing.T) {
	t.Helper()
	lifetimes := NewLifetimes(r.db, r.stream, time.Millisecond, r.log)
	copies := NewLookupRows(r.db, r.stream, values.Default(), time.Millisecond, r.log)
	if r.stream != schemas.ScanStream {
		copies = NewNodeLookupRows(r.db, r.stream, time.Millisecond, r.log)
		if err := wallet.New(r.db, r.stream, time.Millisecond, r.log).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(lifetimes.CatchUp(t.Context()), lifetimes.Tidy(t.Context()), copies.CatchUp(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// sums are the counts and sums of hashes of all tables but the journal.
func (r *rewound) sums(t *testing.T) (list []string) {
	t.Helper()
	for _, table := range r.tables {
		columns := "*"
		switch table {
		case "lookup_rows", "node_lookup_rows":
			columns = "key" // bodies depend on dictionaries, which depend on what came before
		case "wallet_contracts":
			columns = "party, contract_id, template, amount" // rows of what has ended go sooner or later
		}
		where := ""
		if table == "wallet_contracts" {
			where = " WHERE contract_id NOT IN (SELECT contract_id FROM wallet_contracts WHERE ended)"
		}
		list = append(list, indexertest.Texts(t, r.dsn, "SELECT concat('"+table+" ', toString(count()), ' ', toString(sum(cityHash64("+columns+")))) FROM "+table+where)...)
	}
	return list
}

var errCutOff = errors.New("cut off")

// takeBack rewinds to the end of a batch that was written, and cuts the first attempt off after
// some statements, 0 for never. It reports whether it was cut off.
func (r *rewound) takeBack(t *testing.T, to schemas.Position, statements int) bool {
	t.Helper()
	keep := func(p schemas.Position) bool { return !to.Before(p) }
	first := NewRewind(r.db, r.stream, keep, r.log)
	first.done = func() error {
		if statements--; statements == 0 {
			return errCutOff
		}
		return nil
	}
	_, err := first.Run(t.Context())
	if err == nil {
		return false
	}
	if !errors.Is(err, errCutOff) {
		t.Fatal(err)
	}
	if _, err := NewWriter(r.db, r.stream, r.log).Resume(t.Context(), r.stream); err == nil {
		if plan, err := NewRewind(r.db, r.stream, keep, r.log).Plan(t.Context()); err != nil || !plan.Nothing() {
			t.Errorf("the stream goes on although a rewind was cut off: %+v, %v", plan, err)
		}
	}
	if _, err := NewRewind(r.db, r.stream, keep, r.log).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return true
}

func (r *rewound) ends(t *testing.T) (list []schemas.Position) {
	t.Helper()
	lines, err := journals.Read(t.Context(), r.db, r.stream)
	if err != nil {
		t.Fatal(err)
	}
	standing, _ := standingCommits(lines)
	for _, c := range standing {
		list = append(list, c.Through)
	}
	return list
}

// A stream that is taken back and read again has the rows of one that never was, wherever the
// rewind was cut off and repeated, and however often it happens: the engine, which drops
// inserts that it has seen, must not drop the rows that come again.
func (r *rewound) check(t *testing.T, size int) {
	r.write(t, size)
	want := r.sums(t)
	stride := schematest.Rounds(59, 1) // long runs cut rewinds off after each of their statements
	for n, cut := 0, true; cut; n += stride {
		ends := append(r.ends(t), schemas.Start)
		to := ends[(n*7)%len(ends)]
		if cut = r.takeBack(t, to, n); n == 0 {
			cut = true
		}
		mark, err := history.NewReader(r.db, r.stream).Watermark(t.Context())
		if err != nil || mark != to {
			t.Fatalf("cut off after %d statements the stream stands at %s, want %s: %v", n, mark, to, err)
		}
		r.write(t, size) // the same batches: the same tokens, but for their numbers
		if got := r.sums(t); !slices.Equal(got, want) {
			t.Fatalf("cut off after %d statements, back to %s: the tables have\n%q, want\n%q", n, to, got, want)
		}
	}
}

func TestScanIsTakenBack(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 11, Items: 120})
	r := &rewound{fixture: f, stream: schemas.ScanStream, cut: batches,
		tables: []string{"updates", "events", "verdicts", "imports", "places", "contracts_live", "contracts_archived", "lookup_rows"}}
	for i, it := range h.Items {
		if it.Update != nil && it.Verdict != nil && i%5 == 0 {
			r.side = append(r.side, schemas.Item{Verdict: it.Verdict, Traffic: it.Traffic, AppActivity: it.AppActivity})
			it.Verdict, it.Traffic, it.AppActivity = nil, nil, nil
		}
		r.items = append(r.items, it)
	}
	f.newLookupRows(t)
	r.check(t, 40)
}

func TestNodeStreamIsTakenBack(t *testing.T) {
	enginetest.NotOnShards(t)
	for name, pruned := range map[string]bool{"from its start": false, "of a pruned node": true} {
		t.Run(name, func(t *testing.T) {
			if pruned && !schematest.Long() {
				t.Skip("takes most of a minute: see make test-long")
			}
			stream, items := indexertest.NodeItems(t, devnet.Config{Updates: 120, Seed: 3, Days: 2, Node: &devnet.NodeConfig{}}, pruned)
			f := newFixture(t)
			f.newLookupRows(t)
			r := &rewound{fixture: f, stream: stream, items: items,
				cut: func(items []schemas.Item, size int) []*schemas.Batch {
					return indexertest.NodeBatches(stream, items, size)
				},
				tables: []string{"updates", "events", "imports", "places", "contracts_live", "contracts_archived", "ended_contracts",
					"node_lookup_rows", "wallet_contracts", "wallet_log", "wallet_status"}}
			r.check(t, 50)
		})
	}
}

// A batch that was announced, and whose rows were written in part, goes as well.
func TestPendingBatchIsTakenBack(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 12, Items: 200})
	r := &rewound{fixture: f, stream: schemas.ScanStream, cut: batches, items: h.Items,
		tables: []string{"updates", "events", "verdicts", "imports", "places", "contracts_live", "contracts_archived"}}
	undisturbed := &rewound{fixture: newFixture(t), stream: r.stream, cut: r.cut, items: r.items, tables: r.tables}
	undisturbed.newLookupRows(t)
	f.newLookupRows(t)
	undisturbed.write(t, 50)

	list := batches(h.Items, 50)
	w := NewWriter(f.db, r.stream, f.log)
	for _, b := range list[:2] {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	half := list[2]
	row := store.BatchRow{Stream: r.stream, Sequence: 3, After: half.After, Through: half.Through, Hash: store.NewBatchRows().Fill(half), Writer: w.name, Epoch: w.epoch}
	if err := w.announce(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	w.rows.Fill(half)
	if err := w.insert(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	rewind := NewRewind(f.db, r.stream, func(schemas.Position) bool { return true }, f.log)
	if plan, err := rewind.Plan(t.Context()); err != nil || !plan.Pending || plan.Nothing() || plan.Batches != 0 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if _, err := rewind.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The mark has the number of the batch: beside an intent it would look like a commit of other content.
	lines, err := journals.Read(t.Context(), f.db, r.stream)
	if err != nil {
		t.Fatal(err)
	}
	if n := slices.IndexFunc(lines, func(l store.BatchRow) bool { return l.State != store.Commit && l.Sequence == row.Sequence }); n >= 0 {
		t.Errorf("the journal still has the line %+v", lines[n])
	}
	r.write(t, 50)
	if got, want := r.sums(t), undisturbed.sums(t); !slices.Equal(got, want) {
		t.Errorf("the tables have\n%q, want\n%q", got, want)
	}
	if err := w.Write(t.Context(), half); !errors.Is(err, schemas.ErrDiverged) {
		t.Errorf("the writer of before goes on with %v", err)
	}
}

// A stream that is being written to is not taken back, where another process may be at it.
func TestBusyStreamIsNotTakenBack(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 13, Items: 20})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	if err := w.Write(t.Context(), batches(h.Items, 50)[0]); err != nil {
		t.Fatal(err)
	}
	rewind := NewRewind(f.db, schemas.ScanStream, func(schemas.Position) bool { return false }, f.log)
	rewind.Quiet = time.Hour
	if _, err := rewind.Run(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	if plan, err := rewind.Plan(t.Context()); err != nil || plan.Batches != 1 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
}

// This is why sequence numbers are not used again: the engine drops an insert with a token that
// it has seen, whether the rows of the first one are still there or not.
func TestEngineRemembersTheTokensOfDeletedRows(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 14, Items: 20})
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	b := batches(h.Items, 50)[0]
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := NewRewind(f.db, schemas.ScanStream, nil, f.log).dropRows(t.Context(), schemas.ScanStream, schemas.Start); err != nil {
		t.Fatal(err)
	}
	count := func() string {
		return indexertest.Texts(t, f.dsn, "SELECT toString((SELECT count() FROM updates) + (SELECT count() FROM imports) + (SELECT count() FROM verdicts))")[0]
	}
	w.rows.Fill(b)
	if err := w.insert(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != "0" {
		t.Errorf("under the number of before %s rows are stored: the mark is needed no more", got)
	}
	w.rows.Fill(b)
	if err := w.insert(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if count() == "0" {
		t.Error("under a new number no rows are stored")
	}
}
