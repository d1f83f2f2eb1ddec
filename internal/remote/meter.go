package remote

import "time"

// Meter tells how fast a count grows of late. The zero value has counted nothing.
type Meter struct{ samples []sample }

// sample is how much had been counted at an instant.
type sample struct {
	at    time.Time
	count int64
}

// Rates are taken over the last rateWindow, in samples at least sampleEvery apart.
const (
	rateWindow  = 20 * time.Second
	sampleEvery = 500 * time.Millisecond
)

// Restart forgets all samples but this one.
func (m *Meter) Restart(now time.Time, count int64) {
	m.samples = append(m.samples[:0], sample{now, count})
}

// Sample takes note of the count.
func (m *Meter) Sample(now time.Time, count int64) {
	if n := len(m.samples); n > 0 && now.Sub(m.samples[n-1].at) < sampleEvery {
		return
	}
	m.samples = append(m.samples, sample{now, count})
	for len(m.samples) > 2 && now.Sub(m.samples[1].at) > rateWindow {
		m.samples = m.samples[1:]
	}
}

// Rate is what the count grows by a second, 0 while nothing is known.
func (m *Meter) Rate(now time.Time, count int64) float64 {
	if len(m.samples) == 0 {
		return 0
	}
	d := now.Sub(m.samples[0].at).Seconds()
	if d <= 0 {
		return 0
	}
	return float64(count-m.samples[0].count) / d
}
