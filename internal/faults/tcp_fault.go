package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// TCPKind is a way of breaking a connection. A turn is what a client sends between two
// replies: a request, or a part of one that the server has to answer.
type TCPKind string

const (
	// DropBefore ends the connection before a byte of the turn has passed.
	DropBefore TCPKind = "drop before request"
	// DropInside passes a part of the turn and ends the connection.
	DropInside TCPKind = "drop inside request"
	// LoseReply passes the turn, waits until the server has done what it was asked, and
	// ends the connection without a byte of the reply.
	LoseReply TCPKind = "apply and lose reply"
	// DropInReply passes the turn and some bytes of the reply, and resets the connection.
	DropInReply TCPKind = "drop inside reply"
	// TruncateReply is DropInReply with an orderly end of the connection.
	TruncateReply TCPKind = "truncate reply"
	// HalfClose passes the turn and then closes the direction to the client only.
	HalfClose TCPKind = "half-close"
	// Delay passes the turn after a wait.
	Delay TCPKind = "delay"
	// Stall passes a part of the turn, then nothing in either direction, and ends the
	// connection after a wait.
	Stall TCPKind = "stall"
	// Outage ends all connections and refuses new ones for a while, as a restart of the
	// server does.
	Outage TCPKind = "outage"
)

// TCPKinds are all ways of breaking a connection.
func TCPKinds() []TCPKind {
	return []TCPKind{DropBefore, DropInside, LoseReply, DropInReply, TruncateReply, HalfClose, Delay, Stall, Outage}
}

// TCPFault is one planned fault.
type TCPFault struct {
	// Turn is when: turns are counted over all connections, from 1 on.
	Turn int
	Kind TCPKind
	// Bytes pass before a cut, of the turn (DropInside, Stall) or of the reply
	// (DropInReply, TruncateReply). If there are fewer, the cut comes at their end.
	Bytes int
	// Wait is the length of Delay, Stall and Outage.
	Wait time.Duration
}

// String is one line.
func (f TCPFault) String() string {
	s := fmt.Sprintf("turn %d: %s", f.Turn, f.Kind)
	switch f.Kind {
	case DropInside, DropInReply, TruncateReply:
		s += fmt.Sprintf(" after %d bytes", f.Bytes)
	case Delay, Outage:
		s += fmt.Sprintf(" of %s", f.Wait)
	case Stall:
		s += fmt.Sprintf(" after %d bytes of %s", f.Bytes, f.Wait)
	}
	return s
}

// PlanTCP draws n faults of the given kinds within the first turns, in order. Two never
// fall on one turn.
func PlanTCP(r *rand.Rand, n, turns int, kinds ...TCPKind) []TCPFault {
	faults := make([]TCPFault, 0, n)
	for _, turn := range distinct(r, n, turns) {
		faults = append(faults, TCPFault{
			Turn: turn, Kind: kinds[r.IntN(len(kinds))],
			// Small cuts and large ones alike: headers are a few bytes, blocks many.
			Bytes: 1 + r.IntN(1<<(2+r.IntN(14))),
			Wait:  time.Duration(2+r.IntN(60)) * time.Millisecond,
		})
	}
	return faults
}

// distinct draws n different numbers from 1 to most, ascending; fewer if there are fewer.
func distinct(r *rand.Rand, n, most int) []int {
	n = min(n, most)
	drawn := make(map[int]bool, n)
	for len(drawn) < n {
		drawn[1+r.IntN(most)] = true
	}
	numbers := make([]int, 0, n)
	for number := range drawn {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}
