package main

import (
	"slices"
	"time"
)

// timings are those of requests of one kind.
type timings struct {
	each    []time.Duration
	elapsed time.Duration
}

func (t *timings) rate() float64 { return float64(len(t.each)) / t.elapsed.Seconds() }

// percentile is in ms.
func (t *timings) percentile(of int) float64 {
	sorted := slices.Sorted(slices.Values(t.each))
	return sorted[min(len(sorted)*of/100, len(sorted)-1)].Seconds() * 1000
}
