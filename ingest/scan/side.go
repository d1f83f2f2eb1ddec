package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// SideStream is the stream of verdicts, traffic and app activity that came after the
// items they belong to. Its items have no update.
const SideStream = schemas.ScanStream + "/side"

// Gaps knows of which items of public history the store has no verdict; *history.Reader is one.
type Gaps interface {
	// NextGap returns the first stretch without verdicts, from after (exclusive) to through, that
	// reaches beyond a position; ok is false if there is none up to the watermark. It may begin
	// before the position, and lies in one migration, behind its import updates. What the side
	// stream added does not make it smaller.
	NextGap(ctx context.Context, position schemas.Position) (after, through schemas.Position, ok bool, err error)
}

const (
	// sidePause is the default of Config.sidePause.
	sidePause = 30 * time.Second
	// sidePage is how many items are asked for at a time: few, as following goes first.
	sidePage = 200
)

// sideStream is the state of the search for late side data.
type sideStream struct {
	ing   *Ingester
	pages *pageSizer
	// at is the end of the stream; seen is how far gaps were gone through, which may be
	// further where there was nothing to hand on.
	at, seen schemas.Position
}

// fillGaps looks for late side data until ctx ends. A gap is gone through once, in
// order, with any upstream that has events: what none has by then is not requested again.
// Its failures are logged and do not concern the stream itself.
func (ing *Ingester) fillGaps(ctx context.Context) {
	s := &sideStream{ing: ing, pages: newPageSizer(), at: schemas.Start, seen: schemas.Start}
	for resumed, failures := false, 0; ctx.Err() == nil; {
		wait := ing.cfg.BusyPoll
		more, err := true, error(nil)
		if !resumed {
			err = s.resume(ctx)
			resumed = err == nil
		} else {
			more, err = s.step(ctx)
		}
		ing.status.side(func(st *SideStatus) {
			if st.Position, st.LastError = s.seen, ""; err != nil {
				st.LastError = err.Error()
			}
		})
		if failures++; err == nil {
			failures = 0
		}
		if err != nil && ctx.Err() == nil {
			if remote.Growing(failures) || schemas.NeedsPerson(err) {
				ing.log.WarnContext(ctx, "looking for late side data failed", "position", s.seen.String(), "failures", failures, "err", err)
			}
			if schemas.NeedsPerson(err) {
				return
			}
			resumed = false // how much of the batch was written is unknown
		}
		if err != nil || !more {
			wait = max(ing.cfg.sidePause, ing.cfg.Poll)
		}
		_ = remote.Sleep(ctx, wait) // returns early when ctx ends; the loop condition stops us
	}
}

// resume reads the position of the side stream and repeats an announced batch.
func (s *sideStream) resume(ctx context.Context) error {
	resume, err := s.ing.cfg.Sink.Resume(ctx, SideStream)
	if err != nil {
		return fmt.Errorf("reading the position of stream %s: %w", SideStream, err)
	}
	s.at = resume.Committed
	if s.seen.Before(s.at) {
		s.seen = s.at
	}
	in := resume.Pending
	if in == nil {
		return nil
	}
	var differs error
	for _, p := range s.ing.peers.list {
		b := &schemas.Batch{Stream: SideStream, After: in.After, Through: in.Through}
		if b.Items, err = s.again(ctx, p, in); err != nil {
			return fmt.Errorf("reading the announced batch again: %w", err)
		}
		if differs = stream.CheckAnnounced(in, b, p.client.Upstream()); differs == nil {
			return s.write(ctx, b)
		}
	}
	return differs
}

// again reads what an announced batch has from the gaps within it.
func (s *sideStream) again(ctx context.Context, p *peer, in *schemas.Intent) (items []schemas.Item, err error) {
	for at := in.After; at.Before(in.Through); {
		after, through, ok, err := s.ing.cfg.Gaps.NextGap(ctx, at)
		if err != nil {
			return nil, err
		}
		if !ok || !after.Before(in.Through) {
			return items, nil
		}
		if at.Before(after) {
			at = after
		}
		if in.Through.Before(through) {
			through = in.Through
		}
		more, end, err := s.read(ctx, p, at, through, true)
		if err != nil {
			return nil, err
		}
		if end.Before(through) {
			return nil, fmt.Errorf("%s ends at %s", p.client.Upstream(), end)
		}
		items, at = append(items, more...), through
	}
	return items, nil
}

// step reads one page of the next gap. more is false when there is none.
func (s *sideStream) step(ctx context.Context) (more bool, err error) {
	after, through, ok, err := s.ing.cfg.Gaps.NextGap(ctx, s.seen)
	if err != nil || !ok {
		return false, err
	}
	if after.Before(s.seen) {
		after = s.seen
	}
	p := s.choose(after)
	if p == nil {
		return false, errors.New("no upstream returns events at the moment")
	}
	items, end, err := s.read(ctx, p, after, through, false)
	if err != nil {
		return false, err
	}
	if !after.Before(end) {
		return false, fmt.Errorf("%s ends before the gap at %s does", p.client.Upstream(), after)
	}
	if len(items) > 0 {
		b := &schemas.Batch{Stream: SideStream, After: s.at, Through: items[len(items)-1].Position(), Items: items}
		if err := s.write(ctx, b); err != nil {
			return false, err
		}
	}
	s.seen = detached(end)
	return true, nil
}

// choose returns the upstream to ask for events after a position, nil if there is none.
func (s *sideStream) choose(after schemas.Position) *peer {
	peers := s.ing.peers
	if !peers.several() {
		return peers.list[0]
	}
	w := want{operation: eventsOperation, after: after, through: schemas.Start}
	return fastest(peers.able(w, func(*peer) bool { return false }), s.ing.cfg.Now())
}

// read returns the verdicts of a page, or of the whole range, and how far they go.
func (s *sideStream) read(ctx context.Context, p *peer, after, through schemas.Position, whole bool) (items []schemas.Item, end schemas.Position, err error) {
	plain := &historyTrack{client: p.client, migrationID: through.MigrationID, page: p.client.EventsPage, operation: eventsOperation}
	t := &retryTrack{track: plain, tries: 1, pages: s.pages, log: s.ing.log, backoff: s.ing.cfg.Backoff}
	for end = after; end.Before(through); {
		from := end
		if from.MigrationID != through.MigrationID {
			from = schemas.Position{MigrationID: through.MigrationID, RecordTime: schemas.MinMicros}
		}
		c, err := t.fetch(ctx, from, through, fetchOptions{size: sidePage, once: true})
		if err != nil {
			return nil, end, err
		}
		for _, it := range c.items {
			if it.Update = nil; it.Verdict != nil {
				items = append(items, it)
			}
		}
		if end = c.covered; c.done && !c.end {
			end = through
		}
		if c.end || !whole {
			break
		}
	}
	return items, end, nil
}

func (s *sideStream) write(ctx context.Context, b *schemas.Batch) error {
	if err := s.ing.writer.WriteOnce(ctx, b); err != nil {
		return fmt.Errorf("writing %d verdicts through %s: %w", len(b.Items), b.Through, err)
	}
	s.at = detached(b.Through)
	if s.seen.Before(s.at) {
		s.seen = s.at
	}
	s.ing.status.side(func(st *SideStatus) { st.Verdicts += int64(len(b.Items)) })
	return nil
}
