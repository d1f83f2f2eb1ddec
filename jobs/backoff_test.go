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

func TestEstimate(t *testing.T) {
	for _, test := range []struct {
		name               string
		done, total, since int64
		elapsed            time.Duration
		want               Progress
	}{
		{"just begun", 0, 10, 0, 0, Progress{0, 10, 0, -1}},
		{"half way", 50, 100, 50, 5 * time.Second, Progress{50, 100, 10, 5}},
		{"begun at a checkpoint", 90, 100, 5, 5 * time.Second, Progress{90, 100, 1, 10}},
		{"unknown total", 50, 0, 50, 5 * time.Second, Progress{50, 0, 10, -1}},
		{"stalled", 50, 100, 0, 5 * time.Second, Progress{50, 100, 0, -1}},
		{"done", 100, 100, 100, 5 * time.Second, Progress{100, 100, 20, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := estimate(test.done, test.total, test.since, test.elapsed); got != test.want {
				t.Errorf("estimate(%d, %d, %d, %v) = %+v, want %+v", test.done, test.total, test.since, test.elapsed, got, test.want)
			}
		})
	}
}
