package scan

import (
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// PhaseImports is reading a migration's import updates.
const PhaseImports stream.Phase = "imports"

// Status is a snapshot for progress bars, logs and metrics. The counts are those of this
// Ingester, not of the stream; Bytes is an estimate. Fraction is the part of the upstream's
// record time that is stored.
type Status struct {
	stream.Status
	Source Source
	// UpstreamEnd is the last history the upstream is known to have.
	UpstreamEnd schemas.Position
	// Lag is the record time between Position and UpstreamEnd.
	Lag time.Duration
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

// progress keeps a Status up to date. It is safe for concurrent use.
type progress struct {
	*stream.Progress
	// The rest is guarded by Change. Of status only what it adds is kept here.
	status Status
	chain  *chain
	// held has the reasons for which requests are being held back, and how many are.
	held map[string]int
	// found are the keys of the disagreements shown.
	found []string
}

func newProgress(now func() time.Time) *progress {
	return &progress{Progress: stream.NewProgress(now), held: map[string]int{}, status: Status{
		UpstreamEnd: schemas.Start, Side: SideStatus{Position: schemas.Start},
	}}
}

// change makes a change that other goroutines must not see half of.
func (p *progress) change(change func(s *Status)) {
	p.Change(func(*stream.Status) { change(&p.status) })
}

func (p *progress) chose(source Source) { p.change(func(s *Status) { s.Source = source }) }

func (p *progress) side(change func(*SideStatus)) { p.change(func(s *Status) { change(&s.Side) }) }

// hold notes that a request is held back for a reason until release is called.
func (p *progress) hold(reason string) (release func()) {
	p.change(func(*Status) { p.held[reason]++ })
	return func() {
		p.change(func(*Status) {
			if p.held[reason]--; p.held[reason] == 0 {
				delete(p.held, reason)
			}
		})
	}
}

// disagreed notes d and reports whether it is new.
func (p *progress) disagreed(d Disagreement) (isNew bool) {
	p.change(func(s *Status) {
		key := d.key()
		if isNew = !slices.Contains(p.found, key); !isNew {
			return
		}
		p.found = append(p.found, key)
		s.Disagreements = append(slices.Clone(s.Disagreements), d)
		if n := len(p.found) - keptDisagreements; n > 0 {
			p.found, s.Disagreements = p.found[n:], s.Disagreements[n:]
		}
	})
	return isNew
}

func (p *progress) overview(ch *chain) {
	p.change(func(s *Status) {
		if p.chain = ch; s.UpstreamEnd.Before(ch.end()) {
			s.UpstreamEnd = ch.end()
		}
	})
}

func (p *progress) snapshot() Status {
	var all Status
	all.Status = p.Snapshot(func(s *stream.Status, beganAt schemas.Position) (began, done, total float64) {
		all = p.status
		if s.Phase == PhaseImports || s.Phase == stream.PhaseHistory {
			for reason := range p.held {
				s.Phase, s.Detail = stream.PhaseWaiting, reason
			}
		}
		if all.UpstreamEnd.Before(s.Position) {
			all.UpstreamEnd = s.Position
		}
		if s.Position.RecordTime != schemas.MinMicros && s.Position.MigrationID == all.UpstreamEnd.MigrationID {
			all.Lag = time.Duration(all.UpstreamEnd.RecordTime-s.Position.RecordTime) * time.Microsecond
		}
		return p.covered(beganAt, s.Position)
	})
	return all
}

// covered is how much record time of the overview's history had been stored when the run
// began, is stored now, and exists; total is 0 while that is unknown.
func (p *progress) covered(beganAt, at schemas.Position) (began, done, total float64) {
	if p.chain == nil {
		return 0, 0, 0
	}
	before, _ := p.chain.elapsed(beganAt)
	now, all := p.chain.elapsed(at)
	switch {
	case !p.chain.end().Before(at) && all > 0:
		return float64(before), float64(now), float64(all)
	case at == schemas.Start:
		return 0, 0, 0
	}
	return 1, 1, 1
}
