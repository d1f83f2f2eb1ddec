package scan

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// countedUpdates is a history of one update a microsecond that notes what is read of it.
type countedUpdates struct {
	last schemas.Micros

	mu    sync.Mutex
	reads []schemas.Micros // the starts of the ranges
	err   error
}

func (c *countedUpdates) read(_ context.Context, rg history.Range) (rows []schemas.Update, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads = append(c.reads, rg.After.RecordTime)
	for at := rg.After.RecordTime + 1; at <= min(c.last, rg.Through.RecordTime) && len(rows) < rg.Limit; at++ {
		rows = append(rows, schemas.Update{RecordTime: at, UpdateID: "id"})
	}
	return rows, c.err
}

func (c *countedUpdates) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.reads)
}

// mustPage reads a page of ten and checks its place.
func mustPage(t *testing.T, a *readAhead, after, through schemas.Micros, want int) {
	t.Helper()
	rows, err := a.page(t.Context(), history.Range{After: schemas.EndOf(0, after), Through: schemas.EndOf(0, through), Limit: 10})
	if err != nil || len(rows) != want || want > 0 && rows[0].RecordTime != after+1 {
		t.Fatalf("after %d: %d rows, %v; want %d that begin at %d", after, len(rows), err, want, after+1)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: ", what)
		}
	}
}

// alone has one page read ahead at a time.
func alone(wanted int) int { return wanted / aheadPages }

func TestPagesOfASequenceAreReadAhead(t *testing.T) {
	source := &countedUpdates{last: 45}
	a := newReadAhead(source.read, alone)
	mustPage(t, a, 0, 45, 10)
	mustPage(t, a, 10, 45, 10)
	eventually(t, "the third page is read ahead", func() bool { return source.count() == 3 })
	mustPage(t, a, 20, 45, 10)
	mustPage(t, a, 30, 45, 10)
	eventually(t, "the fifth page is read ahead", func() bool { return source.count() == 5 })
	// It is short, so it is read again: there may be more by now.
	source.mu.Lock()
	source.last = 48
	source.mu.Unlock()
	mustPage(t, a, 40, 48, 8)
	if n := source.count(); n != 6 {
		t.Errorf("%d reads for five pages, the last of them read twice", n)
	}
}

func TestSeveralPagesAreReadAheadAtOnce(t *testing.T) {
	source := &countedUpdates{last: 1000}
	a := newReadAhead(source.read, func(wanted int) int { return wanted - 1 }) // three pages and nearly a fourth
	for after := schemas.Micros(0); after < 200; after += 10 {
		mustPage(t, a, after, 1000, 10)
	}
	// Two pages are read for themselves, then three at a time. Behind the last page that
	// was given there may be as many again.
	if n := source.count(); n < 2+6 || n > 2+7 {
		t.Errorf("%d reads for 20 pages", n)
	}
}

// Several updates of one record time: the cursor behind a page is behind all of them,
// also behind those that were read with it.
func TestPagesReadAheadBeginBehindTheirCursor(t *testing.T) {
	row := func(at schemas.Micros, id string) schemas.Update { return schemas.Update{RecordTime: at, UpdateID: id} }
	all := []schemas.Update{row(1, "a"), row(2, "a"), row(3, "a"), row(4, "a"), row(4, "b"), row(5, "a"), row(6, "a"), row(7, "a"), row(8, "a")}
	a := newReadAhead(func(_ context.Context, rg history.Range) (rows []schemas.Update, err error) {
		for _, u := range all {
			if rg.After.Before(u.Position()) && len(rows) < rg.Limit {
				rows = append(rows, u)
			}
		}
		return rows, nil
	}, func(wanted int) int { return wanted })
	at, end := schemas.EndOf(0, 0), schemas.EndOf(0, 8)
	for _, want := range [][2]schemas.Micros{{1, 2}, {3, 4}, {5, 6}, {7, 8}} {
		rows, err := a.page(t.Context(), history.Range{After: at, Through: end, Limit: 2})
		if err != nil || len(rows) != 2 || rows[0].RecordTime != want[0] || rows[1].RecordTime != want[1] {
			t.Fatalf("behind %s: %v, %v; want record times %v", at, rows, err, want)
		}
		at = endOfPage(rows)
	}
}

func TestPagesReadAheadEndAtTheWatermark(t *testing.T) {
	source := &countedUpdates{last: 100}
	a := newReadAhead(source.read, alone)
	mustPage(t, a, 0, 100, 10)
	mustPage(t, a, 10, 100, 10)
	mustPage(t, a, 20, 25, 5)
}

func TestPagesReadAheadAreFewAndForgotten(t *testing.T) {
	source := &countedUpdates{last: 10_000}
	a := newReadAhead(source.read, alone)
	a.life = 200 * time.Millisecond
	for client := range schemas.Micros(3 * aheadReads) {
		mustPage(t, a, client*100, 10_000, 10)
		mustPage(t, a, client*100+10, 10_000, 10)
		a.mu.Lock()
		kept := len(a.kept)
		a.mu.Unlock()
		if kept > aheadReads {
			t.Fatalf("%d pages are kept", kept)
		}
	}
	eventually(t, "pages are forgotten", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.kept) == 0
	})
}

func TestAPageThatCouldNotBeReadAheadIsReadAgain(t *testing.T) {
	source := &countedUpdates{last: 100}
	a := newReadAhead(source.read, alone)
	mustPage(t, a, 0, 100, 10)
	mustPage(t, a, 10, 100, 10)
	eventually(t, "the third page is read ahead", func() bool { return source.count() == 3 })
	source.mu.Lock()
	source.err = errors.New("gone")
	source.mu.Unlock()
	mustPage(t, a, 20, 100, 10) // from memory
	eventually(t, "the fourth page fails", func() bool { return source.count() == 4 })
	source.mu.Lock()
	source.err = nil
	source.mu.Unlock()
	mustPage(t, a, 30, 100, 10)
	if n := source.count(); n < 5 {
		t.Errorf("%d reads: a page that failed was given", n)
	}
}
