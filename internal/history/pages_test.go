package history

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestEventsHangOnAcrossBlocks gives updates their events out of blocks that end anywhere:
// within an update, between two, and with events of updates that are not asked for.
func TestEventsHangOnAcrossBlocks(t *testing.T) {
	counts := []int{3, 0, 5, 1, 2, 0} // events of the updates, of which each second is asked for
	var at []schemas.Position
	var events []schemas.Event
	for i, n := range counts {
		for node := range n {
			at = append(at, schemas.Position{RecordTime: 10, UpdateID: fmt.Sprint("u", i)})
			events = append(events, schemas.Event{Node: int32(node), ContractID: fmt.Sprint("c", i)})
		}
	}
	for size := 1; size <= len(at); size++ {
		for _, all := range []bool{true, false} {
			p := eventPages{incoming: make(chan eventPage, len(at))}
			for from := 0; from < len(at); from += size {
				to := min(from+size, len(at))
				p.incoming <- eventPage{at[from:to], slices.Clone(events[from:to])}
			}
			close(p.incoming)
			var updates []schemas.Update
			for i := range counts {
				if all || i%2 == 0 {
					updates = append(updates, schemas.Update{Kind: schemas.Transaction, RecordTime: 10, UpdateID: fmt.Sprint("u", i)})
				}
			}
			for page := range slices.Chunk(updates, 2) {
				if err := p.hangOn(page); err != nil {
					t.Fatal(err)
				}
			}
			checkEvents(t, fmt.Sprintf("blocks of %d, all %v", size, all), updates, counts)
		}
	}
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

// TestActiveStreamsAreMerged has contracts in either table, and one that is being moved in
// both.
func TestActiveStreamsAreMerged(t *testing.T) {
	stream := func(keys ...int) *activeStream {
		s := &activeStream{incoming: make(chan []ActiveContract, len(keys))}
		for _, k := range keys { // each in a block of its own
			s.incoming <- []ActiveContract{{Event: schemas.Event{CreatedAt: schemas.Micros(k / 10), ContractID: fmt.Sprint(k)}}}
		}
		close(s.incoming)
		return s
	}
	for _, tt := range []struct {
		name              string
		live, ended, want []int
	}{
		{"nothing", nil, nil, nil},
		{"only contracts that live", []int{10, 11, 20}, nil, []int{10, 11, 20}},
		{"only contracts that ended", nil, []int{10, 21}, []int{10, 21}},
		{"both", []int{11, 30}, []int{10, 20, 31}, []int{10, 11, 20, 30, 31}},
		{"one that is being moved", []int{10, 20, 30}, []int{20, 21}, []int{10, 20, 21, 30}},
	} {
		live, ended := stream(tt.live...), stream(tt.ended...)
		var got []int
		for {
			c, err := nextActive(live, ended)
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				break
			}
			var k int
			if _, err := fmt.Sscan(c.Event.ContractID, &k); err != nil {
				t.Fatal(err)
			}
			got = append(got, k)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
