package scan

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// anchor is an update that the stream holds. An upstream that has another one in its
// place, or none although its history goes further, is not the one it was.
type anchor struct {
	position schemas.Position
	// hash is that of the update without side data, "" while only its place is known.
	hash string
	// source is the operation to look for it with.
	source Source
}

// tail keeps the end of the stream and the latest anchor. It is safe for concurrent use.
type tail struct {
	log *slog.Logger

	mu     sync.Mutex
	end    schemas.Position
	anchor anchor
}

func newTail(log *slog.Logger) *tail {
	return &tail{log: log, end: schemas.Start, anchor: anchor{position: schemas.Start}}
}

func (t *tail) get() (anchor anchor, end schemas.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.anchor, t.end
}

// place takes the end of the stream, of which nothing else is known, as the anchor. Where
// several upstreams give events it may have been a verdict that one of them alone has.
func (t *tail) place(end schemas.Position, source Source, several bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end, t.anchor = end, anchor{position: end, source: source}
	if source == Events && several {
		t.anchor.position = schemas.Start
	}
}

// largestAnchor is the size up to which an update is used: hashing takes memory.
const largestAnchor = 256 << 10

// moved notes that b was stored. Its last update is the anchor; an earlier one stays if b has
// none that can be used.
func (t *tail) moved(b *schemas.Batch) {
	t.mu.Lock()
	t.end = b.Through
	t.mu.Unlock()
	for i := len(b.Items) - 1; i >= 0; i-- {
		u := b.Items[i].Update
		if u == nil || u.IsImport() || wireSize(&b.Items[i]) > largestAnchor {
			continue
		}
		hash := stream.HashUpdate(u)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.anchor.position, t.anchor.hash = detached(u.Position()), hash
		return
	}
}

// anchorPage is how many items are asked for in search of an anchor: more than share a
// record time in practice.
const anchorPage = 16

// check compares the update that p has where the anchor is. It returns an error
// that wraps schemas.ErrDiverged if that is another one or none, and other errors if
// that can't be decided.
func (t *tail) check(ctx context.Context, p *peer) error {
	a, _ := t.get()
	if a.position.RecordTime == schemas.MinMicros {
		return nil
	}
	c, err := a.around(ctx, p)
	if err != nil {
		return err
	}
	found, err := a.among(c.items, p.client)
	switch {
	case found || err != nil || !a.position.Before(c.last): // the last if history does not reach that far
		return err
	case a.hash == "" && a.source == Events:
		// It may have been a verdict, of which each upstream has its own.
		t.log.WarnContext(ctx, "the upstream does not have the item that the stream ends with; this is harmless if the item is a verdict that another upstream recorded",
			"from", p.client.Upstream(), "position", a.position.String(), "update_id", a.position.UpdateID)
		return nil
	}
	return a.missing(p.client)
}

// among looks for the anchor. It returns an error that wraps schemas.ErrDiverged if
// another update is there.
func (a anchor) among(items []schemas.Item, c *Client) (found bool, err error) {
	for i := range items {
		if items[i].Position() != a.position {
			continue
		}
		if u := items[i].Update; a.hash != "" && (u == nil || stream.HashUpdate(u) != a.hash) {
			return false, fmt.Errorf("%w: %s returns other content for update %s, %s, than the stream has",
				schemas.ErrDiverged, c.Upstream(), a.position.UpdateID, a.position)
		}
		return true, nil
	}
	return false, nil
}

func (a anchor) missing(c *Client) error {
	return fmt.Errorf("%w: %s does not have update %s, %s, which the stream has",
		schemas.ErrDiverged, c.Upstream(), a.position.UpdateID, a.position)
}

// anchoredTrack asks for what follows on the stream's end from the last update on that
// the stream holds, which must come again. An upstream that was exchanged or has
// rewritten its history is found out before anything of it is stored.
type anchoredTrack struct {
	track
	client    *Client
	operation string
	anchor    anchor
	// start is the end of the stream. Behind the anchor it has but verdicts.
	start schemas.Position
}

func (t *anchoredTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	if after != t.start {
		return t.track.fetch(ctx, after, upTo, o)
	}
	before := historyBound(t.anchor.position.MigrationID, int64(t.anchor.position.RecordTime-1))
	c, err := t.track.fetch(ctx, before, upTo, o)
	if err != nil {
		return c, err
	}
	found, err := t.anchor.among(c.items, t.client)
	if reaches := t.anchor.position.Before(c.last); err == nil && !found && reaches && (len(c.items) > 0 || c.done) {
		err = t.anchor.missing(t.client)
	}
	if err != nil {
		return chunk{}, &Error{Upstream: t.client.Upstream(), Operation: t.operation, Cursor: after.String(), Err: err}
	}
	known := 0
	for known < len(c.items) && !timeBefore(after, c.items[known].Position()) { // as a cursor does
		known++
	}
	c.items = c.items[known:]
	if c.covered.Before(after) {
		c.covered = after
	}
	if len(c.items) > 0 || c.done {
		return c, nil
	}
	return t.track.fetch(ctx, after, upTo, o) // the page had but what is known
}

// around fetches the items from the record time of the anchor on.
func (a anchor) around(ctx context.Context, p *peer) (chunk, error) {
	m, at := a.position.MigrationID, a.position.RecordTime
	before := historyBound(m, int64(at-1))
	o := fetchOptions{size: anchorPage}
	t := &historyTrack{client: p.client, migrationID: m, page: p.client.EventsPage, operation: eventsOperation}
	switch a.source {
	case UpdatesBefore:
		return a.aroundBefore(ctx, p)
	case Updates:
		t.page, t.operation = p.client.UpdatesPage, updatesOperation
	}
	return t.fetch(ctx, before, historyBound(m, maxCoordinate), o)
}

// aroundBefore is around for the operation that goes backwards. Whether there is anything
// after the anchor is known from the overview.
func (a anchor) aroundBefore(ctx context.Context, p *peer) (chunk, error) {
	m, at := a.position.MigrationID, a.position.RecordTime
	ch := p.overview()
	t := &beforeTrack{client: p.client, migrationID: m, first: at}
	if info := ch.infos[m]; info != nil {
		for _, r := range info.Ranges {
			t.synchronizers = append(t.synchronizers, r.SynchronizerID)
		}
	}
	c, err := t.fetch(ctx, historyBound(m, int64(at-1)), historyBound(m, int64(at)), fetchOptions{size: anchorPage})
	c.last = ch.end()
	return c, err
}
