package scan

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// statedSlack is how far behind its own latest history an upstream's overview may be: good
// answers may come from replicas that have not seen the same yet.
const statedSlack = 10 * time.Minute

// horizon is where history must end at present. What an upstream returns beyond it
// is not stored: the stream would continue from there and never read what comes before.
type horizon struct {
	// clock is this machine's clock with Config.Ahead, schemas.MaxMicros for none.
	clock schemas.Micros
	// stated is the end of history that the upstreams report, schemas.MaxMicros if they report
	// none or a later migration has begun.
	stated schemas.Micros
	// begins is before the first update that they report, schemas.MinMicros if they report none.
	begins schemas.Micros
}

// limit is the last record time that may be stored.
func (h horizon) limit() schemas.Micros { return min(h.clock, h.stated) }

// horizon is that of a migration as of now.
func (v *view) horizon(migrationID int64) horizon {
	h := horizon{clock: v.cfg.Horizon(), stated: schemas.MaxMicros, begins: schemas.MinMicros}
	if v.chain == nil {
		return h
	}
	const slack = schemas.Micros(statedSlack / time.Microsecond)
	from, stated, known := v.stated(migrationID)
	if !known {
		return h
	}
	h.begins = from - slack
	if _, later := v.chain.next(migrationID); !later { // else verdicts may stand behind its last update
		h.stated = stated + slack
	}
	return h
}

// stated is the range of a migration's history that the upstreams report, taken together.
func (v *view) stated(migrationID int64) (from, to schemas.Micros, known bool) {
	chains := []*chain{v.chain}
	for _, p := range v.peers.list {
		chains = append(chains, p.overview())
	}
	for _, ch := range chains {
		if ch == nil || !ch.has(migrationID) {
			continue
		}
		first, last, ok := ch.infos[migrationID].Span()
		switch {
		case ok && !known:
			from, to, known = first, last, true
		case ok:
			from, to = min(from, first), max(to, last)
		}
	}
	return from, to, known
}

// beyond is an item that an upstream gave beyond the horizon.
type beyond struct {
	upstream, operation string
	at                  schemas.Position
	horizon             horizon
}

// reason explains what is waited for.
func (b *beyond) reason() string {
	what := fmt.Sprintf("%s of %s returns update %s, dated %s", b.operation, b.upstream, b.at.UpdateID, b.at.RecordTime)
	if b.at.UpdateID == "" {
		what = fmt.Sprintf("%s of %s says that history extends through %s", b.operation, b.upstream, b.at.RecordTime)
	}
	if b.at.RecordTime < b.horizon.begins {
		return what + ", which is before the beginning of its history according to its own overview: nothing from there on is stored"
	}
	if b.horizon.clock < b.at.RecordTime {
		return what + ", which is later than this machine's clock allows (--record-time-ahead): either the clock or the upstream is wrong; nothing from there on is stored"
	}
	return what + ", which is later than the end of its history according to its own overview: nothing from there on is stored"
}

// err is reason as the failure of an upstream.
func (b *beyond) err() error {
	return &Error{Upstream: b.upstream, Operation: b.operation, Err: fmt.Errorf("%s", b.reason()), retryable: true}
}

// earliestBeyond keeps the earliest item beyond the horizon that was seen since reset. It is safe
// for concurrent use.
type earliestBeyond struct {
	mu    sync.Mutex
	first *beyond
}

func (b *earliestBeyond) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.first = nil
}

func (b *earliestBeyond) get() *beyond {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first
}

func (b *earliestBeyond) saw(one beyond) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.at = detached(one.at); b.first == nil || one.at.Before(b.first.at) {
		b.first = &one
	}
}

// within cuts off what lies beyond the horizon, and notes that there was something.
func (t *historyTrack) within(items []schemas.Item) []schemas.Item {
	if t.beyond == nil {
		return items
	}
	for i := range items {
		p := items[i].Position()
		early := items[i].Update != nil && p.RecordTime < t.horizon.begins && p.RecordTime != schemas.MinMicros
		if p.MigrationID == t.migrationID && (early || p.RecordTime > t.horizon.limit()) {
			t.beyond.saw(beyond{upstream: t.client.Upstream(), operation: t.operation, at: p, horizon: t.horizon})
			return items[:i:i]
		}
	}
	return items
}

const (
	// heldTries is how often a backfill asks again for history that goes beyond the
	// horizon, before that is its failure.
	heldTries = 5
	// heldLongest is the longest wait between two questions while history does.
	heldLongest = 30 * time.Second
)

// heldBack decides what to do when all that the upstream has beyond the position lies
// beyond the horizon. While following it is asked again, less and less often, and the
// status says why nothing comes. It reports true when there is nothing to read at present.
func (ing *Ingester) heldBack(ctx context.Context, b *beyond) (caughtUp bool, err error) {
	if ing.held == 0 {
		// The overview may be older than what was read since.
		ing.held, ing.view.chain = 1, nil
		return false, nil
	}
	if ing.peers.noteBeyond(b) {
		return false, nil
	}
	ing.held++
	if ing.lasting {
		ing.status.Retried(b.err())
		ing.view.chain = nil
		ing.status.SetPhase(stream.PhaseWaiting, b.reason())
		if remote.Growing(ing.held) {
			ing.log.WarnContext(ctx, "waiting", "reason", b.reason(), "position", ing.at, "checks", ing.held)
		}
		return true, nil
	}
	if ing.held > heldTries {
		return false, b.err()
	}
	ing.status.Retried(b.err())
	ing.view.chain = nil
	return false, ing.pacer.wait(ctx, ing.held, b.reason())
}

// noteBeyond backs off from the upstream that returned b, and reports whether others can be
// asked.
func (ps *peers) noteBeyond(b *beyond) (others bool) {
	if !ps.several() {
		return false
	}
	now := ps.now()
	for _, p := range ps.list {
		if p.client.Upstream() == b.upstream {
			p.fault(now, b.err())
		} else if p.up(now) {
			others = true
		}
	}
	return others
}

// pause is the wait before the next question while following: wait, or longer while what
// the upstream has lies beyond the horizon.
func (ing *Ingester) pause(wait time.Duration) time.Duration {
	if ing.held < 2 {
		return wait
	}
	return max(wait, min(ing.cfg.Poll<<min(ing.held, 10), heldLongest))
}
