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

func TestPagesOfASequenceAreReadAhead(t *testing.T) {
	source := &countedUpdates{last: 45}
	a := newReadAhead(source.read)
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

func TestPagesReadAheadEndAtTheWatermark(t *testing.T) {
	source := &countedUpdates{last: 100}
	a := newReadAhead(source.read)
	mustPage(t, a, 0, 100, 10)
	mustPage(t, a, 10, 100, 10)
	mustPage(t, a, 20, 25, 5)
}

func TestPagesReadAheadAreFewAndForgotten(t *testing.T) {
	source := &countedUpdates{last: 10_000}
	a := newReadAhead(source.read)
	a.life = 200 * time.Millisecond
	for client := range schemas.Micros(3 * aheadPages) {
		mustPage(t, a, client*100, 10_000, 10)
		mustPage(t, a, client*100+10, 10_000, 10)
		a.mu.Lock()
		kept := len(a.pages)
		a.mu.Unlock()
		if kept > aheadPages {
			t.Fatalf("%d pages are kept", kept)
		}
	}
	eventually(t, "pages are forgotten", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.pages) == 0
	})
}

func TestAPageThatCouldNotBeReadAheadIsReadAgain(t *testing.T) {
	source := &countedUpdates{last: 100}
	a := newReadAhead(source.read)
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
