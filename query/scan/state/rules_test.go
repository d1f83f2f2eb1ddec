package state

import (
	"testing"
)

func TestVotingThreshold(t *testing.T) {
	for n, want := range map[int64]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 7: 5, 10: 7, 13: 9, 16: 11} {
		if got := votingThreshold(n); got != want {
			t.Errorf("of %d members %d, want %d", n, got, want)
		}
	}
}
