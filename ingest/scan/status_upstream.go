package scan

import (
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// UpstreamState is how an upstream is doing.
type UpstreamState string

const (
	// UpstreamUnknown is an upstream that has not been asked yet.
	UpstreamUnknown UpstreamState = "unknown"
	// UpstreamUp is one that answers.
	UpstreamUp UpstreamState = "up"
	// UpstreamResting is one that asked for a pause in requests.
	UpstreamResting UpstreamState = "resting"
	// UpstreamFailing is one that does not answer, or only with unusable answers.
	UpstreamFailing UpstreamState = "failing"
	// UpstreamLoading is one whose own history is not complete yet.
	UpstreamLoading UpstreamState = "loading"
	// UpstreamBehind is one that knows less than the stream holds.
	UpstreamBehind UpstreamState = "behind"
	// UpstreamDiverged is one whose history is not that of the stream. It is not asked
	// any more.
	UpstreamDiverged UpstreamState = "diverged"
)

// UpstreamStatus is a snapshot of one upstream.
type UpstreamStatus struct {
	// URL has no user, password and query.
	URL   string
	State UpstreamState
	// Complete means that it reports its own history as complete.
	Complete bool
	// End is the last history it is known to have, schemas.Start if none.
	End schemas.Position
	// Lag is the record time between End and the furthest End of all, 0 across
	// migrations.
	Lag time.Duration
	// Latency is how long a request for history has taken recently.
	Latency time.Duration
	// Requests counts all attempts; Retries those failures after which the request was
	// made again, here or elsewhere. Disagreements counts the ranges of which it gave
	// other content than the rest.
	Requests, Retries, Disagreements int64
	// FailingSince is zero while it answers. RetryAt is when it is asked again, zero if
	// any time.
	FailingSince, RetryAt time.Time
	// LastError is the latest failure, of LastErrorAt.
	LastError   string
	LastErrorAt time.Time
}

// status takes a snapshot.
func (p *peer) status() UpstreamStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := UpstreamStatus{
		URL: p.client.Upstream(), State: UpstreamUp, End: schemas.Start, Latency: p.latency,
		Requests: p.requests, Retries: p.retries, Disagreements: p.disagreements,
		FailingSince: p.failingSince, LastError: p.lastError, LastErrorAt: p.lastErrorAt,
	}
	if p.seen != schemas.Start {
		s.End = p.seen
	}
	resting := p.now().Before(p.retryAt)
	if resting {
		s.RetryAt = p.retryAt
	}
	if p.chain != nil {
		newest := p.chain.newest()
		s.Complete = newest != nil && newest.Complete
		if end := p.chain.end(); s.End.Before(end) {
			s.End = end
		}
	}
	switch {
	case p.excluded != nil:
		s.State = UpstreamDiverged
	case !p.failingSince.IsZero():
		s.State = UpstreamFailing
	case p.requests == 0:
		s.State = UpstreamUnknown
	case p.chain != nil && p.chain.newest() != nil && !s.Complete:
		s.State = UpstreamLoading
	case resting:
		s.State = UpstreamResting
	case p.behind:
		s.State = UpstreamBehind
	}
	return s
}
