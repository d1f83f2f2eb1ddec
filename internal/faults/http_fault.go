package faults

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// HTTPKind is a way of answering a request wrongly, or not at all.
type HTTPKind string

const (
	// Unheard ends the connection and asks the upstream nothing.
	Unheard HTTPKind = "drop before request"
	// Unanswered asks the upstream and ends the connection without a reply.
	Unanswered HTTPKind = "ask and lose reply"
	// Twice asks the upstream twice and gives the second reply.
	Twice HTTPKind = "duplicate request"
	// Later holds the reply back until that of a later request has gone out.
	Later HTTPKind = "reorder replies"
	// Slow gives the reply after a wait.
	Slow HTTPKind = "delay"
	// Drip gives the reply in pieces with waits between them.
	Drip HTTPKind = "slow drip"
	// Silent gives nothing for longer than the client waits.
	Silent HTTPKind = "stall"
	// TooMany is status 429 with Retry-After.
	TooMany HTTPKind = "status 429"
	// Broken is status 500, Unavailable 503, Missing 404.
	Broken      HTTPKind = "status 500"
	Unavailable HTTPKind = "status 503"
	Missing     HTTPKind = "status 404"
	// HalfBody announces the whole body and ends the connection in the middle.
	HalfBody HTTPKind = "half a body"
	// EmptyBody is status 200 without a body, Garbage one with a page of something else.
	EmptyBody HTTPKind = "empty body"
	Garbage   HTTPKind = "garbage"
	// BadGzip is a compressed body with some of its bytes changed.
	BadGzip HTTPKind = "gzip damage"
)

// HTTPKinds are all ways of answering wrongly.
func HTTPKinds() []HTTPKind {
	return []HTTPKind{
		Unheard, Unanswered, Twice, Later, Slow, Drip, Silent,
		TooMany, Broken, Unavailable, Missing, HalfBody, EmptyBody, Garbage, BadGzip,
	}
}

// misleading are the kinds that a client may take for the upstream's true word when
// they come several times in a row.
var misleading = map[HTTPKind]bool{Missing: true, EmptyBody: true, Garbage: true, BadGzip: true}

// mostMisleading is how many of them a plan has: twice may be chance, and a client is
// right to believe what it is told three times.
const mostMisleading = 2

// HTTPFault is one planned fault.
type HTTPFault struct {
	// Request is when: requests are counted from 1 on.
	Request int
	Kind    HTTPKind
	// Part is where a body is cut or damaged, from 0 to 1.
	Part float64
	// Wait is the length of Slow, Drip and Later.
	Wait time.Duration
}

// String is one line.
func (f HTTPFault) String() string {
	s := fmt.Sprintf("request %d: %s", f.Request, f.Kind)
	switch f.Kind {
	case HalfBody, BadGzip:
		s += fmt.Sprintf(" at %.0f%%", 100*f.Part)
	case Slow, Drip, Later:
		s += fmt.Sprintf(" of %s", f.Wait)
	}
	return s
}

// PlanHTTP draws n faults of the given kinds within the first requests, in order. No
// more than two of them are of the kinds that a client believes when they go on: a
// status 404, or a body that is damaged in a way that no length reveals.
func PlanHTTP(r *rand.Rand, n, requests int, kinds ...HTTPKind) []HTTPFault {
	var plain []HTTPKind
	for _, kind := range kinds {
		if !misleading[kind] {
			plain = append(plain, kind)
		}
	}
	faults := make([]HTTPFault, 0, n)
	misled := 0
	for _, request := range distinct(r, n, requests) {
		f := HTTPFault{Request: request, Kind: kinds[r.IntN(len(kinds))], Part: r.Float64(), Wait: time.Duration(1+r.IntN(40)) * time.Millisecond}
		if misleading[f.Kind] && misled == mostMisleading && len(plain) > 0 {
			f.Kind = plain[r.IntN(len(plain))]
		}
		if misleading[f.Kind] {
			misled++
		}
		faults = append(faults, f)
	}
	return faults
}
