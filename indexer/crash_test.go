package indexer

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestCrashBetweenSteps stops the writer and the lifetimes by a cancelled context after
// every possible delay, resumes as a new process would, and compares what is stored.
func TestCrashBetweenSteps(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 3, Items: 120})
	list := batches(h.Items, 20)
	var l *Lifetimes
	for attempt := 0; ; attempt++ {
		if attempt%3 == 0 { // else the same process goes on after an error
			l = NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
		}
		if attempt > 500 {
			t.Fatal("no progress in 500 attempts")
		}
		// Twice as long in each round of delays, for a busy machine.
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(attempt%60)*time.Millisecond<<(attempt/60))
		done := f.attempt(ctx, t, list, l)
		cancel()
		if done {
			break
		}
	}
	if err := l.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
	f.checkActive(t, h, "after crashes")
}

// attempt is one life of the process; it reports whether everything is written.
func (f *fixture) attempt(ctx context.Context, t *testing.T, list []*schemas.Batch, l *Lifetimes) bool {
	t.Helper()
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	resume, err := w.Resume(ctx, schemas.ScanStream)
	if err != nil {
		return false
	}
	if resume.Pending != nil && resume.Pending.After != resume.Committed {
		t.Fatalf("pending batch starts after %s, committed is %s", resume.Pending.After, resume.Committed)
	}
	for _, b := range list {
		if b.Through.Compare(resume.Committed) <= 0 {
			continue
		}
		if err := w.Write(ctx, b); err != nil {
			if errors.Is(err, schemas.ErrDiverged) {
				t.Fatal(err)
			}
			return false
		}
		if err := l.Step(ctx); err != nil && !errors.Is(err, journal.ErrCaughtUp) {
			return false
		}
	}
	return true
}

// TestForgottenTokens repeats a batch that another process has begun, of which the engine has forgotten
// the tokens, or lost rows and not the tokens.
func TestForgottenTokens(t *testing.T) {
	for name, damage := range map[string]func(f *fixture, after schemas.Position) error{
		"forgotten": func(f *fixture, _ schemas.Position) (err error) {
			for _, table := range []string{"updates", "events", "verdicts", "imports", "places"} { // each keeps that of the other stream
				err = errors.Join(err, f.db.Exec(t.Context(), "ALTER TABLE "+table+" MODIFY SETTING non_replicated_deduplication_window = 1", "", nil))
			}
			return err
		},
		"lost rows": func(f *fixture, after schemas.Position) error {
			return NewRewind(f.db, schemas.ScanStream, nil, f.log).dropRows(t.Context(), schemas.ScanStream, after)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			h := schematest.New(schematest.Config{Seed: 5, Items: 60, Migrations: 2})
			list := batches(h.Items, 20)
			last := len(list) - 1
			first := NewWriter(f.db, schemas.ScanStream, f.log)
			for _, b := range list[:last] {
				if err := first.Write(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			begin(t, f, first, list[last])
			if err := damage(f, list[last].After); err != nil {
				t.Fatal(err)
			}
			other := schematest.New(schematest.Config{Seed: 6, Items: 60, Migrations: 2})
			for _, b := range batches(other.Items, 60) {
				b.Stream = "other"
				if err := NewWriter(f.db, "other", f.log).Write(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), list[last]); err != nil {
				t.Fatal(err)
			}
			if got, want := f.stored(t), digestItems(h.Items); got != want {
				t.Fatalf("stored %s, want %s", got, want)
			}
		})
	}
}

// begin announces a batch and writes its rows, but does not commit it.
func begin(t *testing.T, f *fixture, w *Writer, b *schemas.Batch) {
	t.Helper()
	row := store.BatchRow{Stream: w.stream, Sequence: w.sequence + 1, After: b.After, Through: b.Through,
		Items: uint64(len(b.Items)), Hash: w.rows.Fill(b), Writer: w.name, Epoch: w.epoch}
	if err := journal.Announce(t.Context(), f.db, row); err != nil {
		t.Fatal(err)
	}
	if err := w.insert(t.Context(), row.Sequence); err != nil {
		t.Fatal(err)
	}
}

func TestChangedHistoryStopsTheStream(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 40, Migrations: 1})
	list := batches(h.Items, 20)
	first := NewWriter(f.db, schemas.ScanStream, f.log)
	if err := first.Write(t.Context(), list[0]); err != nil {
		t.Fatal(err)
	}
	// An intent without a commit, as a crash leaves it.
	row := store.BatchRow{Stream: schemas.ScanStream, Sequence: 2, After: list[1].After, Through: list[1].Through,
		Items: uint64(len(list[1].Items)), Hash: store.HashBatch(list[1]), Writer: "crashed"}
	if err := journal.Insert(t.Context(), f.db, row, store.Intent); err != nil {
		t.Fatal(err)
	}
	changed := *list[1]
	changed.Items = slices.Clone(changed.Items)
	changed.Items = changed.Items[:len(changed.Items)-1]
	if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), &changed); !errors.Is(err, schemas.ErrDiverged) {
		t.Fatalf("a batch that changed was written: %v", err)
	}
	if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), list[1]); err != nil {
		t.Fatalf("the announced batch was refused: %v", err)
	}
	// A writer that others took the stream over from gives way, also with equal content.
	if err := first.Write(t.Context(), list[1]); !errors.Is(err, schemas.ErrDiverged) {
		t.Fatalf("a writer that was replaced goes on: %v", err)
	}
	if err := NewWriter(f.db, schemas.ScanStream, f.log).Write(t.Context(), list[1]); err != nil {
		t.Fatalf("repeating an equal batch: %v", err)
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
}

func TestTwoWritersWithOtherContentStop(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 40, Migrations: 1})
	small, large := batches(h.Items, 10), batches(h.Items, 20)
	first, second := NewWriter(f.db, schemas.ScanStream, f.log), NewWriter(f.db, schemas.ScanStream, f.log)
	if _, err := second.Resume(t.Context(), schemas.ScanStream); err != nil {
		t.Fatal(err)
	}
	if err := first.Write(t.Context(), small[0]); err != nil {
		t.Fatal(err)
	}
	if err := second.Write(t.Context(), large[0]); !errors.Is(err, schemas.ErrDiverged) {
		t.Fatalf("a second writer with other batches went on: %v", err)
	}
	if got, want := f.stored(t), digestItems(h.Items[:10]); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
}

// TestTheLaterOfTwoGivesWay lets two processes announce other content under one number,
// for batches and for ranges of lifetimes, and starts again after that.
func TestTheLaterOfTwoGivesWay(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 9, Items: 60, Migrations: 1})
	small, large := batches(h.Items, 20), batches(h.Items, 30)
	row := func(writer string, b *schemas.Batch) store.BatchRow {
		return store.BatchRow{Stream: b.Stream, Sequence: 1, After: b.After, Through: b.Through, Items: uint64(len(b.Items)), Hash: store.HashBatch(b), Writer: writer}
	}
	if err := journal.Announce(t.Context(), f.db, row("first", small[0])); err != nil {
		t.Fatal(err)
	}
	if err := journal.Announce(t.Context(), f.db, row("second", large[0])); !errors.Is(err, schemas.ErrDiverged) {
		t.Fatalf("a second process announced other content: %v", err)
	}
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	resume, err := w.Resume(t.Context(), schemas.ScanStream)
	if err != nil || resume.Pending == nil || resume.Pending.Through != small[0].Through {
		t.Fatalf("a restart finds %+v, %v, want the first process's batch", resume, err)
	}
	for _, b := range small {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	one := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
	if err := one.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	ranged := store.BatchRow{Stream: journals.ContractsStream(schemas.ScanStream), Sequence: 1, After: schemas.Start, Through: small[0].Through, Hash: "another range", Writer: "second"}
	if err := journal.Announce(t.Context(), f.db, ranged); !errors.Is(err, schemas.ErrDiverged) {
		t.Fatalf("a second process announced another range: %v", err)
	}
	if err := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
	f.checkActive(t, h, "after two processes met")
}

// TestLateIntentOfADeadWriter has the intent of a writer that was killed arrive after its
// successor has begun, which is then killed as well.
func TestLateIntentOfADeadWriter(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 6, Items: 60, Migrations: 1})
	small, large := batches(h.Items, 20), batches(h.Items, 30)
	intent := func(writer string, epoch int64, b *schemas.Batch) {
		t.Helper()
		row := store.BatchRow{Stream: b.Stream, Sequence: 1, After: b.After, Through: b.Through, Items: uint64(len(b.Items)), Hash: store.HashBatch(b), Writer: writer, Epoch: epoch}
		if err := journal.Insert(t.Context(), f.db, row, store.Intent); err != nil {
			t.Fatal(err)
		}
	}
	dead, err := journal.Claim(t.Context(), f.db, schemas.ScanStream, "dead")
	if err != nil {
		t.Fatal(err)
	}
	successor, err := journal.Claim(t.Context(), f.db, schemas.ScanStream, "successor")
	if err != nil || successor <= dead {
		t.Fatalf("claims %d and then %d, %v", dead, successor, err)
	}
	intent("successor", successor, large[0])
	intent("dead", dead, small[0])
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	resume, err := w.Resume(t.Context(), schemas.ScanStream)
	if err != nil || resume.Pending == nil || resume.Pending.Through != large[0].Through {
		t.Fatalf("a restart finds %+v, %v, want the successor's batch", resume, err)
	}
	for _, b := range large {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := f.stored(t), digestItems(h.Items); got != want {
		t.Fatalf("stored %s, want %s", got, want)
	}
}
