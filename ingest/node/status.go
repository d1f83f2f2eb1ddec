package node

import (
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Phase is what an Ingester is doing.
type Phase string

const (
	// PhaseStarting is the time before the node was reached.
	PhaseStarting Phase = "starting"
	// PhaseActive is reading the contracts that the stream of a pruned node begins with.
	PhaseActive Phase = "active contracts"
	// PhaseHistory is reading updates that are there.
	PhaseHistory Phase = "history"
	// PhaseCaughtUp means that Backfill has returned.
	PhaseCaughtUp Phase = "caught up"
	// PhaseFollowing means that updates are read as they appear.
	PhaseFollowing Phase = "following"
	// PhaseWaiting means that what the node gives next cannot be stored at present;
	// Status.Detail says why.
	PhaseWaiting Phase = "waiting"
	// PhaseStopped means that Status.LastError ended the ingest.
	PhaseStopped Phase = "stopped"
)

// Status is a snapshot for progress bars, logs and metrics. The counts are those of
// this Ingester, not of the stream.
type Status struct {
	Phase Phase
	// Detail explains the phase, "" when there is nothing to explain.
	Detail string
	// ParticipantID and Stream are "" before the node was reached.
	ParticipantID, Stream string
	Source                Source
	// Position is what the sink has.
	Position schemas.Position
	// LedgerEnd is the highest offset the node is known to have.
	LedgerEnd int64

	// Updates, Imports, Events and Checkpoints count what was written. Bytes is its size
	// on the wire.
	Updates, Imports, Events, Checkpoints, Batches, Bytes int64
	// RecordTime is that of the last update written, 0 before there was one.
	RecordTime schemas.Micros
	// Rate is updates and imports a second of late.
	Rate float64
	// Fraction is the part of the node's offsets that is covered, 0 to 1.
	Fraction float64
	// ETA is how long the updates that are there will still take; negative while
	// nothing is known.
	ETA time.Duration

	// Retries counts failures that were tried again, Reconnects the sessions after the
	// first; LastError is the latest failure, of LastErrorAt.
	Retries, Reconnects int64
	LastError           string
	LastErrorAt         time.Time
	// Unmapped names members of updates that are not stored, as "where: member".
	Unmapped []string
}

// progress gathers what Status shows. It is safe for concurrent use.
type progress struct {
	now func() time.Time

	mu     sync.Mutex
	status Status
	meter  remote.Meter
	waited Phase // the phase before PhaseWaiting
	// begun is when the first update of this run was written, at beganAt.
	begun   time.Time
	beganAt int64
}

func newProgress(now func() time.Time) *progress {
	return &progress{now: now, status: Status{Phase: PhaseStarting, Position: schemas.Start}}
}

// change makes a change that others must not see half of.
func (p *progress) change(change func(s *Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status)
}

func (p *progress) phase(phase Phase, detail string) {
	p.change(func(s *Status) { s.Phase, s.Detail = phase, detail })
}

// wait says why nothing can be stored at present, until resume.
func (p *progress) wait(reason string) {
	p.change(func(s *Status) {
		if s.Phase != PhaseWaiting {
			p.waited = s.Phase
		}
		s.Phase, s.Detail = PhaseWaiting, reason
	})
}

// resume returns to the phase before wait.
func (p *progress) resume() {
	p.change(func(s *Status) {
		if s.Phase == PhaseWaiting {
			s.Phase, s.Detail = p.waited, ""
		}
	})
}

func (p *progress) chose(source Source) { p.change(func(s *Status) { s.Source = source }) }

func (p *progress) participant(id string) {
	p.change(func(s *Status) { s.ParticipantID, s.Stream = id, schemas.NodeStream(id) })
}

func (p *progress) end(offset int64) {
	p.change(func(s *Status) { s.LedgerEnd = max(s.LedgerEnd, offset) })
}

func (p *progress) reconnected() { p.change(func(s *Status) { s.Reconnects++ }) }

func (p *progress) unmapped(what string) {
	p.change(func(s *Status) { s.Unmapped = append(s.Unmapped[:len(s.Unmapped):len(s.Unmapped)], what) })
}

func (p *progress) retried(err error) {
	p.change(func(s *Status) {
		s.Retries++
		s.LastError, s.LastErrorAt = err.Error(), p.now()
	})
}

func (p *progress) stopped(err error) {
	p.change(func(s *Status) {
		s.Phase, s.Detail = PhaseStopped, err.Error()
		s.LastError, s.LastErrorAt = err.Error(), p.now()
	})
}

// moved notes where the run begins.
func (p *progress) moved(at schemas.Position) {
	p.change(func(s *Status) {
		s.Position, s.LedgerEnd = at, max(s.LedgerEnd, at.Offset)
		p.begun, p.beganAt = p.now(), at.Offset
		p.meter.Restart(p.begun, s.Updates+s.Imports)
	})
}

func (p *progress) wrote(f filled) {
	p.change(func(s *Status) {
		for i := range f.batch.Items {
			u := f.batch.Items[i].Update
			s.Events += int64(len(u.Events))
			if u.IsImport() {
				s.Imports++
				continue
			}
			s.Updates++
			s.RecordTime = u.RecordTime
		}
		s.Batches++
		s.Checkpoints += f.checkpoints
		s.Bytes += f.bytes
		s.Position, s.LedgerEnd = f.batch.Through, max(s.LedgerEnd, f.batch.Through.Offset)
		p.meter.Sample(p.now(), s.Updates+s.Imports)
	})
}

func (p *progress) snapshot() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.ETA = -1
	now := p.now()
	s.Rate = p.meter.Rate(now, s.Updates+s.Imports)
	at := s.Position.Offset
	if isImport(s.Position) {
		return s // how many contracts there are is not known
	}
	switch {
	case at >= s.LedgerEnd:
		if s.Position != schemas.Start {
			s.Fraction, s.ETA = 1, 0
		}
	default:
		s.Fraction = float64(at) / float64(s.LedgerEnd)
		if at > p.beganAt {
			s.ETA = time.Duration(float64(now.Sub(p.begun)) * float64(s.LedgerEnd-at) / float64(at-p.beganAt))
		}
	}
	return s
}
