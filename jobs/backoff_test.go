package jobs

import (
	"testing"
	"time"
)

func TestBackoffGrowsAndIsCapped(t *testing.T) {
	for _, test := range []struct {
		n        int
		from, to time.Duration
	}{
		{1, 500 * time.Millisecond, time.Second},
		{2, time.Second, 2 * time.Second},
		{5, 8 * time.Second, 16 * time.Second},
		{11, 5 * time.Minute, 10 * time.Minute},
		{1000, 5 * time.Minute, 10 * time.Minute},
	} {
		for range 100 {
			if got := backoff(test.n); got < test.from || got > test.to {
				t.Errorf("backoff(%d) = %v, want %v to %v", test.n, got, test.from, test.to)
			}
		}
	}
}
