package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Plan is what will happen in one run.
type Plan struct {
	Seed Seed
	// Upstream are the faults of the proxy before the scan service, the others those of
	// the proxies before the services by name.
	Upstream              []HTTPFault
	Frames                []FrameFault // of the upstream's websockets
	Engine, Bucket, Redis []TCPFault
	// Stops end the product's process, one after the other.
	Stops []Stop
}

// Stop ends the product's process at a turn of the engine's proxy, counted from the
// process's start.
type Stop struct {
	Turn int
	// Gentle is an orderly stop; else the connections are cut before the process learns
	// anything, as when it is killed.
	Gentle bool
}

// String is a short phrase.
func (s Stop) String() string {
	if s.Gentle {
		return fmt.Sprintf("stop at engine turn %d", s.Turn)
	}
	return fmt.Sprintf("kill at engine turn %d", s.Turn)
}

// Extent says how long an undisturbed run is, so that faults fall into it.
type Extent struct {
	Requests                             int // of the upstream
	Frames                               int // of its websockets
	EngineTurns, BucketTurns, RedisTurns int
}

// NewPlan draws the faults of one run. What has an extent of zero stays undisturbed.
func NewPlan(seed Seed, x Extent) Plan {
	p := Plan{Seed: seed}
	if r := seed.Rand("upstream"); x.Requests > 0 {
		p.Upstream = PlanHTTP(r, 1+r.IntN(4), x.Requests, HTTPKinds()...)
	}
	if r := seed.Rand("frames"); x.Frames > 0 {
		most := mostMisleading // together with bodies that are damaged
		for _, f := range p.Upstream {
			if misleading[f.Kind] {
				most--
			}
		}
		p.Frames = PlanFrames(r, 1+r.IntN(4), x.Frames, most)
	}
	tcp := func(purpose string, most, turns int) []TCPFault {
		if turns == 0 {
			return nil
		}
		r := seed.Rand(purpose)
		return PlanTCP(r, 1+r.IntN(most), turns, TCPKinds()...)
	}
	p.Engine = tcp("engine", 4, x.EngineTurns)
	p.Bucket = tcp("bucket", 5, x.BucketTurns)
	p.Redis = tcp("redis", 4, x.RedisTurns)
	if x.EngineTurns > 0 {
		p.Stops = planStops(seed.Rand("stops"), x.EngineTurns)
	}
	return p
}

// planStops draws up to three stops. Most come early in a life, because every life
// repeats what the one before had not committed.
func planStops(r *rand.Rand, turns int) []Stop {
	stops := make([]Stop, r.IntN(4))
	for i := range stops {
		stops[i] = Stop{Turn: 1 + r.IntN(turns), Gentle: r.IntN(4) == 0}
	}
	return stops
}

// Total is the number of planned faults, stops included.
func (p Plan) Total() int {
	return len(p.Upstream) + len(p.Frames) + len(p.Engine) + len(p.Bucket) + len(p.Redis) + len(p.Stops)
}

// String lists what will happen, one line each.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", p.Seed)
	for _, f := range p.Upstream {
		fmt.Fprintf(&b, "  upstream %s\n", f)
	}
	for _, f := range p.Frames {
		fmt.Fprintf(&b, "  upstream %s\n", f)
	}
	for _, service := range []struct {
		name   string
		faults []TCPFault
	}{{"engine", p.Engine}, {"bucket", p.Bucket}, {"redis", p.Redis}} {
		for _, f := range service.faults {
			fmt.Fprintf(&b, "  %s %s\n", service.name, f)
		}
	}
	for _, s := range p.Stops {
		fmt.Fprintf(&b, "  process %s\n", s)
	}
	return b.String()
}
