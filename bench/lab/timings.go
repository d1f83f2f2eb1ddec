package lab

import (
	"slices"
	"time"
)

// Timings are those of requests of one kind.
type Timings struct {
	Each    []time.Duration
	elapsed time.Duration
}

func (t *Timings) Rate() float64 { return float64(len(t.Each)) / t.elapsed.Seconds() }

// Percentile is in ms.
func (t *Timings) Percentile(of int) float64 {
	sorted := slices.Sorted(slices.Values(t.Each))
	return sorted[min(len(sorted)*of/100, len(sorted)-1)].Seconds() * 1000
}

// AddLatency adds the median of some times, and their 99th percentile, which is not to exceed a target.
func (s Section) AddLatency(what string, t Timings, target float64) {
	s.Add(what+", median", t.Percentile(50), "ms")
	s.AtMost(target, what+", 99th percentile", t.Percentile(99), "ms")
}
