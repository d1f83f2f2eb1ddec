package node

import (
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// PhaseActive is reading the contracts that the stream of a pruned node begins with.
const PhaseActive stream.Phase = "active contracts"

// Status is a snapshot for progress bars, logs and metrics. The counts are those of this
// Ingester, not of the stream. Fraction is the part of the node's offsets that is stored.
type Status struct {
	stream.Status
	// ParticipantID and Stream are "" before the node was reached.
	ParticipantID, Stream string
	Source                Source
	// LedgerEnd is the highest offset the node is known to have.
	LedgerEnd int64
	// Reconnects counts the sessions after the first.
	Reconnects int64
	// Unmapped names members of updates that are not stored, as "where: member".
	Unmapped []string
}

// progress keeps a Status up to date. It is safe for concurrent use.
type progress struct {
	*stream.Progress
	// The rest is guarded by Change. Of status only what it adds is kept here.
	status Status
	waited stream.Phase // the phase before stream.PhaseWaiting
}

// change makes a change that other goroutines must not see half of.
func (p *progress) change(change func(s *Status)) {
	p.Change(func(*stream.Status) { change(&p.status) })
}

// wait says why nothing can be stored at present, until resume.
func (p *progress) wait(reason string) {
	p.Change(func(s *stream.Status) {
		if s.Phase != stream.PhaseWaiting {
			p.waited = s.Phase
		}
		s.Phase, s.Detail = stream.PhaseWaiting, reason
	})
}

// resume returns to the phase before wait.
func (p *progress) resume() {
	p.Change(func(s *stream.Status) {
		if s.Phase == stream.PhaseWaiting {
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

func (p *progress) snapshot() Status {
	var all Status
	all.Status = p.Snapshot(func(s *stream.Status, beganAt schemas.Position) (began, done, total float64) {
		all = p.status
		all.LedgerEnd = max(all.LedgerEnd, s.Position.Offset)
		switch at := s.Position.Offset; {
		case isImport(s.Position):
			return 0, 0, 0 // how many contracts there are is not known
		case at < all.LedgerEnd:
			return float64(beganAt.Offset), float64(at), float64(all.LedgerEnd)
		case s.Position == schemas.Start:
			return 0, 0, 0
		}
		return 1, 1, 1
	})
	return all
}
