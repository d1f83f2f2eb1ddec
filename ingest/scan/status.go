package scan

import (
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Phase is what an Ingester is doing.
type Phase string

const (
	// PhaseStarting is the time before the upstream was reached.
	PhaseStarting Phase = "starting"
	// PhaseWaiting means that the upstream is not ready; Status.Detail says for what.
	PhaseWaiting Phase = "waiting"
	// PhaseImports is reading a migration's import updates.
	PhaseImports Phase = "imports"
	// PhaseHistory is reading history that is there.
	PhaseHistory Phase = "history"
	// PhaseCaughtUp means that Backfill has returned.
	PhaseCaughtUp Phase = "caught up"
	// PhaseFollowing means that new history is read as it appears.
	PhaseFollowing Phase = "following"
	// PhaseStopped means that Status.LastError ended the ingest.
	PhaseStopped Phase = "stopped"
)

// Status is a snapshot for progress bars, logs and metrics. The counts are those of
// this Ingester, not of the stream.
type Status struct {
	Phase Phase
	// Detail explains the phase, "" when there is nothing to explain.
	Detail string
	Source Source
	// MigrationID and Position are what the sink has; -1 before the first batch.
	MigrationID int64
	Position    schemas.Position
	// UpstreamEnd is the last history the upstream is known to have.
	UpstreamEnd schemas.Position

	// Updates, Imports, Events and Verdicts count what was written. Bytes is its size
	// on the wire, about.
	Updates, Imports, Events, Verdicts, Batches, Bytes int64
	// Rate is updates and imports a second of late.
	Rate float64
	// Fraction is the part of the upstream's record time that is covered, 0 to 1.
	Fraction float64
	// ETA is how long the history that is there will still take; negative while
	// nothing is known.
	ETA time.Duration
	// Lag is the record time between Position and UpstreamEnd.
	Lag time.Duration

	// Retries counts failures that were tried again; LastError is the latest failure,
	// of LastErrorAt.
	Retries     int64
	LastError   string
	LastErrorAt time.Time

	// Side is how the search for late side data is doing.
	Side SideStatus

	// Upstreams has each of them, in the order of the configuration.
	Upstreams []UpstreamStatus
	// Disagreements has the latest ranges of which upstreams gave different content,
	// at most keptDisagreements.
	Disagreements []Disagreement
}

// SideStatus is a snapshot of the search for late side data.
type SideStatus struct {
	// Position is how far gaps have been gone through.
	Position schemas.Position
	// Verdicts counts what was found and written.
	Verdicts int64
	// LastError is why the search made no headway the last time, "" if it did.
	LastError string
}

// keptDisagreements is how many a Status shows: enough to see what it is about.
const keptDisagreements = 16

// progress gathers what Status shows. It is safe for concurrent use.
type progress struct {
	now func() time.Time

	mu     sync.Mutex
	status Status
	chain  *chain
	meter  remote.Meter
	// held has the reasons for which requests are being held back, and how many are.
	held map[string]int
	// found are the keys of the disagreements shown.
	found []string
	// begun is when the first history of this run was written, at beganAt.
	begun   time.Time
	beganAt schemas.Position
}

func newProgress(now func() time.Time) *progress {
	return &progress{now: now, held: map[string]int{}, status: Status{
		Phase: PhaseStarting, MigrationID: -1, Position: schemas.Start, UpstreamEnd: schemas.Start,
		Side: SideStatus{Position: schemas.Start},
	}}
}

func (p *progress) phase(phase Phase, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Phase, p.status.Detail = phase, detail
}

func (p *progress) chose(source Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Source = source
}

func (p *progress) retried(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Retries++
	p.fail(err)
}

// hold notes that a request is held back for a reason until release is called.
func (p *progress) hold(reason string) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[reason]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.held[reason]--; p.held[reason] == 0 {
			delete(p.held, reason)
		}
	}
}

func (p *progress) side(change func(*SideStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status.Side)
}

// disagreed notes d and reports whether it is new.
func (p *progress) disagreed(d Disagreement) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := d.key()
	if slices.Contains(p.found, key) {
		return false
	}
	p.found = append(p.found, key)
	p.status.Disagreements = append(slices.Clone(p.status.Disagreements), d)
	if n := len(p.found) - keptDisagreements; n > 0 {
		p.found, p.status.Disagreements = p.found[n:], p.status.Disagreements[n:]
	}
	return true
}

func (p *progress) stopped(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Phase, p.status.Detail = PhaseStopped, err.Error()
	p.fail(err)
}

func (p *progress) fail(err error) {
	p.status.LastError, p.status.LastErrorAt = err.Error(), p.now()
}

func (p *progress) overview(ch *chain) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chain = ch
	p.seen(ch.end())
}

// moved notes where the run begins.
func (p *progress) moved(at schemas.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Position, p.status.MigrationID = at, at.MigrationID
	p.begun, p.beganAt = p.now(), at
	p.meter.Restart(p.begun, p.written())
	p.seen(at)
}

func (p *progress) seen(end schemas.Position) {
	if p.status.UpstreamEnd.Before(end) {
		p.status.UpstreamEnd = end
	}
}

func (p *progress) written() int64 { return p.status.Updates + p.status.Imports }

func (p *progress) wrote(f filled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.status
	for i := range f.batch.Items {
		it := &f.batch.Items[i]
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
	s.Bytes += f.bytes
	s.Position, s.MigrationID = f.batch.Through, f.batch.Through.MigrationID
	p.seen(s.Position)
	p.meter.Sample(p.now(), p.written())
}

func (p *progress) snapshot() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.ETA = -1
	if s.Phase == PhaseImports || s.Phase == PhaseHistory {
		for reason := range p.held {
			s.Phase, s.Detail = PhaseWaiting, reason
		}
	}
	now := p.now()
	s.Rate = p.meter.Rate(now, p.written())
	if s.Position.RecordTime != schemas.MinMicros && s.Position.MigrationID == s.UpstreamEnd.MigrationID {
		s.Lag = time.Duration(s.UpstreamEnd.RecordTime-s.Position.RecordTime) * time.Microsecond
	}
	if p.chain == nil {
		return s
	}
	began, _ := p.chain.elapsed(p.beganAt)
	done, total := p.chain.elapsed(s.Position)
	if !p.chain.end().Before(s.Position) && total > 0 {
		s.Fraction = float64(done) / float64(total)
	} else if s.Position != schemas.Start {
		s.Fraction = 1
	}
	switch {
	case s.Fraction == 1:
		s.ETA = 0
	case done > began:
		s.ETA = time.Duration(float64(now.Sub(p.begun)) * float64(total-done) / float64(done-began))
	}
	return s
}
