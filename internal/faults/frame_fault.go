package faults

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// FrameKind is a way of passing a frame of a websocket on wrongly.
type FrameKind string

const (
	// FrameCut ends the connection in place of the frame.
	FrameCut FrameKind = "cut websocket"
	// FrameHalf gives the first part of the frame as if it were all.
	FrameHalf FrameKind = "half a frame"
	// FrameTwice gives the frame two times.
	FrameTwice FrameKind = "frame twice"
	// FrameSwap gives the frame behind the next one.
	FrameSwap FrameKind = "reorder frames"
	// FrameSlow gives the frame after a wait.
	FrameSlow FrameKind = "delay frame"
	// FrameError gives an error of the node that will go away in place of the frame, and
	// ends the connection.
	FrameError FrameKind = "error frame"
	// FrameStale gives the error of a token that is no longer good, which it is not from
	// then on: see HTTPConfig.Tokens.
	FrameStale FrameKind = "token refused"
)

// FrameKinds are all ways of passing a frame on wrongly.
func FrameKinds() []FrameKind {
	return []FrameKind{FrameCut, FrameHalf, FrameTwice, FrameSwap, FrameSlow, FrameError, FrameStale}
}

// damaging are the kinds after which a frame is not the node's word. A client is right to
// believe it when it comes several times in a row.
var damaging = map[FrameKind]bool{FrameHalf: true, FrameTwice: true, FrameSwap: true}

// FrameFault is one planned fault.
type FrameFault struct {
	// Frame is when: frames from the upstream are counted from 1 on, over all connections.
	Frame int
	Kind  FrameKind
	// Part is where FrameHalf cuts, from 0 to 1; Wait the length of FrameSlow.
	Part float64
	Wait time.Duration
}

// String is one line.
func (f FrameFault) String() string {
	s := fmt.Sprintf("frame %d: %s", f.Frame, f.Kind)
	switch f.Kind {
	case FrameHalf:
		s += fmt.Sprintf(" at %.0f%%", 100*f.Part)
	case FrameSlow:
		s += fmt.Sprintf(" of %s", f.Wait)
	}
	return s
}

// PlanFrames draws n faults within the first frames, in order. No more than most of them
// damage a frame.
func PlanFrames(r *rand.Rand, n, frames, most int) []FrameFault {
	kinds := FrameKinds()
	faults := make([]FrameFault, 0, n)
	for _, frame := range distinct(r, n, frames) {
		f := FrameFault{Frame: frame, Kind: kinds[r.IntN(len(kinds))], Part: r.Float64(), Wait: time.Duration(1+r.IntN(40)) * time.Millisecond}
		if damaging[f.Kind] {
			if most--; most < 0 {
				f.Kind = FrameCut
			}
		}
		faults = append(faults, f)
	}
	return faults
}
