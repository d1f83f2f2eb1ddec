package rows

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestEventsHangOnAcrossBlocks gives updates their events out of blocks that end anywhere:
// within an update and between two.
func TestEventsHangOnAcrossBlocks(t *testing.T) {
	counts := []int{3, 0, 5, 1, 2, 0} // events of the updates
	for size := 1; size <= 11; size++ {
		p, updates := eventsInBlocks(counts, size)
		for page := range slices.Chunk(updates, 2) {
			if err := p.hangOn(page); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		checkEvents(t, fmt.Sprintf("blocks of %d", size), updates, counts)
	}
}

// TestLostRowsAreAnError has updates without some of their events, and events without their
// update: before others, between them, and behind all.
func TestLostRowsAreAnError(t *testing.T) {
	counts := []int{3, 1, 5, 2}
	lost := func(what string, damage func(p *eventPages, updates []schemas.Update) []schemas.Update) {
		t.Helper()
		p, updates := eventsInBlocks(counts, 100)
		page := <-p.incoming
		p.current = page
		updates = damage(&p, updates)
		err := p.hangOn(updates)
		if err == nil {
			err = p.end()
		}
		if !errors.Is(err, schemas.ErrDamaged) {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
	for i := range counts {
		lost(fmt.Sprintf("update %d", i), func(_ *eventPages, updates []schemas.Update) []schemas.Update {
			return slices.Delete(updates, i, i+1)
		})
	}
	for i := range 11 {
		lost(fmt.Sprintf("event %d of all", i), func(p *eventPages, updates []schemas.Update) []schemas.Update {
			p.current.at, p.current.events = slices.Delete(p.current.at, i, i+1), slices.Delete(p.current.events, i, i+1)
			return updates
		})
	}
}

// eventsInBlocks are updates with so many events each, all of them roots, and these events in
// blocks of a size.
func eventsInBlocks(counts []int, size int) (p eventPages, updates []schemas.Update) {
	var at []schemas.Position
	var events []schemas.Event
	for i, n := range counts {
		u := schemas.Update{Kind: schemas.Transaction, RecordTime: 10, UpdateID: fmt.Sprint("u", i)}
		for node := range n {
			u.RootEvents = append(u.RootEvents, int32(node))
			at = append(at, u.Position())
			events = append(events, schemas.Event{Node: int32(node), ContractID: fmt.Sprint("c", i)})
		}
		updates = append(updates, u)
	}
	p.incoming = make(chan eventPage, len(at))
	for from := 0; from < len(at); from += size {
		to := min(from+size, len(at))
		p.incoming <- eventPage{at[from:to], slices.Clone(events[from:to])}
	}
	close(p.incoming)
	return p, updates
}

func checkEvents(t *testing.T, name string, updates []schemas.Update, counts []int) {
	t.Helper()
	for _, u := range updates {
		var i int
		if _, err := fmt.Sscanf(u.UpdateID, "u%d", &i); err != nil {
			t.Fatal(err)
		}
		if len(u.Events) != counts[i] {
			t.Errorf("%s: update %d has %d events, want %d", name, i, len(u.Events), counts[i])
		}
		for node, e := range u.Events {
			if int(e.Node) != node || e.ContractID != fmt.Sprint("c", i) {
				t.Errorf("%s: event %d of update %d is %d of %s", name, node, i, e.Node, e.ContractID)
			}
		}
	}
}

func TestEventsThatAreNotReadAreAnError(t *testing.T) {
	broken := errors.New("broken")
	p := eventPages{incoming: make(chan eventPage), err: broken}
	close(p.incoming)
	if err := p.hangOn([]schemas.Update{{UpdateID: "u"}}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
