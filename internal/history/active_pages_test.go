package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

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
