package stream

import (
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Phase is what an ingester is doing. Each kind of ingester may add phases.
type Phase string

const (
	// PhaseStarting is the time before the upstream was reached.
	PhaseStarting Phase = "starting"
	// PhaseWaiting means that nothing can be read or stored at present; Status.Detail says
	// why.
	PhaseWaiting Phase = "waiting"
	// PhaseHistory is reading history that exists already.
	PhaseHistory Phase = "history"
	// PhaseCaughtUp means that Backfill has returned.
	PhaseCaughtUp Phase = "caught up"
	// PhaseFollowing means that new history is read as it appears.
	PhaseFollowing Phase = "following"
	// PhaseStopped means that Status.LastError ended the ingester.
	PhaseStopped Phase = "stopped"
)

// Status is a snapshot for progress bars, logs and metrics. The counts are those of one
// ingester, not of its stream.
type Status struct {
	Phase Phase
	// Detail explains the phase, "" when there is nothing to explain.
	Detail string
	// Position is that of the last committed batch.
	Position schemas.Position

	// Updates, Imports, Events and Verdicts count what was written. Bytes is its size on
	// the wire.
	Updates, Imports, Events, Verdicts, Batches, Bytes int64
	// Rate is the recent number of updates and imports per second.
	Rate float64
	// Fraction is the part of the upstream's history that is stored, 0 to 1.
	Fraction float64
	// ETA is how long the existing history will still take; negative while unknown.
	ETA time.Duration

	// Retries counts failures that were tried again; LastError is the latest failure,
	// at LastErrorAt.
	Retries     int64
	LastError   string
	LastErrorAt time.Time
}

// Written counts updates and imports.
func (s *Status) Written() int64 { return s.Updates + s.Imports }

// Progress keeps a Status up to date. It is safe for concurrent use.
type Progress struct {
	now func() time.Time

	mu     sync.Mutex
	status Status
	meter  remote.Meter
	// The first batch of this run follows beganAt, where the run stood at begun.
	begun   time.Time
	beganAt schemas.Position
}

// NewProgress is that of an ingester that has not started.
func NewProgress(now func() time.Time) *Progress {
	return &Progress{now: now, status: Status{Phase: PhaseStarting, Position: schemas.Start}}
}

// Change calls change with the status, which no other call sees half changed. An ingester
// guards what it adds to the status by it as well.
func (p *Progress) Change(change func(s *Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status)
}

// SetPhase notes what is being done, with an explanation or "".
func (p *Progress) SetPhase(phase Phase, detail string) {
	p.Change(func(s *Status) { s.Phase, s.Detail = phase, detail })
}

// Retried counts a failure that is tried again.
func (p *Progress) Retried(err error) {
	p.Change(func(s *Status) {
		s.Retries++
		s.LastError, s.LastErrorAt = err.Error(), p.now()
	})
}

// Stopped notes the error that ended the ingester.
func (p *Progress) Stopped(err error) {
	p.Change(func(s *Status) {
		s.Phase, s.Detail = PhaseStopped, err.Error()
		s.LastError, s.LastErrorAt = err.Error(), p.now()
	})
}

// Moved notes the position that a run starts from.
func (p *Progress) Moved(at schemas.Position) {
	p.Change(func(s *Status) {
		s.Position = at
		p.begun, p.beganAt = p.now(), at
		p.meter.Restart(p.begun, s.Written())
	})
}

// Wrote counts a batch that was stored.
func (p *Progress) Wrote(b Batch) {
	p.Change(func(s *Status) {
		for i := range b.Items {
			it := &b.Items[i]
			if it.Verdict != nil {
				s.Verdicts++
			}
			switch {
			case it.Update == nil:
				continue
			case it.Update.IsImport():
				s.Imports++
			default:
				s.Updates++
			}
			s.Events += int64(len(it.Update.Events))
		}
		s.Batches++
		s.Bytes += b.Bytes
		s.Position = b.Through
		p.meter.Sample(p.now(), s.Written())
	})
}

// Snapshot returns the status. estimate completes it; it gets the position that the run
// started from and returns how much was done there, how much is done now, and how much
// there is in all, in any unit; a total of 0 means unknown.
func (p *Progress) Snapshot(estimate func(s *Status, beganAt schemas.Position) (began, done, total float64)) Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	now := p.now()
	s.Rate, s.ETA = p.meter.Rate(now, s.Written()), -1
	began, done, total := estimate(&s, p.beganAt)
	if total == 0 {
		return s
	}
	s.Fraction = done / total
	switch {
	case done >= total:
		s.ETA = 0
	case done > began:
		s.ETA = time.Duration(float64(now.Sub(p.begun)) * (total - done) / (done - began))
	}
	return s
}
