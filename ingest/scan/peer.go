package scan

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// peer is one upstream: its client, and what is known of its health and its history.
// It is safe for concurrent use.
type peer struct {
	client *Client
	now    func() time.Time
	// timeout is the longest that a request may make no progress; hasAlternatives means that
	// others could answer in its place.
	timeout         time.Duration
	hasAlternatives bool
	// backoff is the wait after n failures in a row.
	backoff func(n int) time.Duration
	// onChange is called when something changed that a choice may depend on.
	onChange func()

	mu sync.Mutex
	// failingSince is when the failures began that last until now, zero while the
	// upstream answers. failures counts those of history, which an answer to a mere
	// question for its overview does not make undone.
	failingSince time.Time
	failures     int
	failedAt     time.Time
	// retryAt is when it may be asked again, and avoidUntil when it is again as good as
	// the others.
	retryAt, avoidUntil time.Time
	latency             time.Duration // of requests for history, a moving average
	stalls              int           // in a row
	inFlight            int
	requests, retries   int64
	lastError           string
	lastErrorAt         time.Time
	// excluded is why it is not asked any more, nil while it is.
	excluded error

	// chain is its overview, nil while unknown; refused is why it has none.
	chain   *chain
	refused error
	// seen is the last item it ever gave. ends has where an operation's history ended,
	// as of the last answer that said so and until the next overview.
	seen schemas.Position
	ends map[string]ending
	// tailAt is when it was last chosen to be asked for new history.
	tailAt time.Time
	// unsupportedUntil has the operations that it refused as unknown, with the time until which
	// that counts.
	unsupportedUntil map[string]time.Time
	// behind means that it knows less than the stream holds.
	behind        bool
	disagreements int64
	// reading is closed when the reading of the overview that is going on since
	// readingSince ends.
	reading      chan struct{}
	readingSince time.Time
	// anchoredAt is when its history was last compared with what it is known to be.
	anchoredAt time.Time
}

// attempted notes how a request that began at the given time ended.
func (p *peer) attempted(operation string, began time.Time, err error) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	var e *Error
	if err == nil || !errors.As(err, &e) || !e.retryable {
		p.answered(operation, now.Sub(began), err)
		return
	}
	p.lastError, p.lastErrorAt = err.Error(), now
	if e.Status != http.StatusTooManyRequests && !loading(err) && p.failingSince.IsZero() {
		p.failingSince = now
	}
	if errors.Is(err, remote.ErrStalled) {
		p.stalls++
	}
	p.rest(began, now, e.retryAfter)
}

// answered notes a request that the upstream answered, be it with a refusal.
func (p *peer) answered(operation string, took time.Duration, err error) {
	p.failingSince = time.Time{}
	if err != nil || operation == migrationInfoOperation || operation == versionOperation {
		return
	}
	p.failures, p.stalls, p.retryAt, p.avoidUntil = 0, 0, time.Time{}, time.Time{}
	if p.latency == 0 {
		p.latency = took
	}
	p.latency += (took - p.latency) / 4
}

// rest keeps requests away after a failure. Those that were on their way already when
// the last failure came do not count again.
func (p *peer) rest(began, now time.Time, retryAfter time.Duration) {
	if began.Before(p.failedAt) {
		return
	}
	p.failures++
	p.failedAt, p.retryAt = now, now.Add(max(p.backoff(p.failures), retryAfter))
	// A failure that took long is as dear the next time.
	const share, longest = 10, 5 * time.Minute
	p.avoidUntil = later(p.retryAt, now.Add(min(share*now.Sub(began), longest)))
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// fault notes an unusable answer, which an immediate retry would not fix.
func (p *peer) fault(began time.Time, err error) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastError, p.lastErrorAt = err.Error(), now
	if p.failingSince.IsZero() {
		p.failingSince = now
	}
	p.rest(began, now, 0)
}

func (p *peer) retried() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retries++
}

// exclude takes the upstream out for good.
func (p *peer) exclude(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.excluded, p.lastError, p.lastErrorAt = err, err.Error(), p.now()
	p.onChange()
}

// noteUnsupported notes that the upstream refused an operation as unknown. That may be the
// word of a gateway whose scan is starting, so it counts for a while only.
func (p *peer) noteUnsupported(operation string, err error) {
	const counts = 30 * time.Second
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsupportedUntil[operation] = p.now().Add(counts)
	p.lastError, p.lastErrorAt = err.Error(), p.now()
}

// minStallTimeout is how long a request may make no progress, at the least, while
// another upstream could take it over.
const minStallTimeout = 3 * time.Second

// stallTimeout is how long a request may make no progress. Where others could answer it is
// a multiple of what is usual here, so that one dead upstream delays no request; each
// time it runs out it doubles, so that a slow one gets through in the end.
func (p *peer) stallTimeout() time.Duration {
	if !p.hasAlternatives {
		return p.timeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(minStallTimeout, 10*p.latency)<<min(p.stalls, 5), p.timeout)
}

// ending is where history ended as of a time.
type ending struct {
	schemas.Position
	as time.Time
}

func (p *peer) lastTurn() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tailAt
}

func (p *peer) takeTurn(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tailAt = now
}

// up reports whether the upstream answers and has not asked for a rest.
func (p *peer) up(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.excluded == nil && p.failingSince.IsZero() && !now.Before(p.avoidUntil)
}

// failing reports whether the last that was heard of the upstream is a failure.
func (p *peer) failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.failingSince.IsZero()
}

// nextTry is when the upstream may be asked again.
func (p *peer) nextTry() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.retryAt
}

// expected is how long an answer to one more request is likely to take, with the wait
// for its turn.
func (p *peer) expected(now time.Time) time.Duration {
	turn := p.client.turn().Sub(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	return turn + p.latency*time.Duration(p.inFlight+1)
}

// addInFlight counts requests for history that are on their way.
func (p *peer) addInFlight(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight += by
}

// want is what a request asks for.
type want struct {
	operation string
	// after is where it begins. through is how far the upstream's history has to go;
	// a position at or before after means that whatever there is will do.
	after, through schemas.Position
	// ranges is what there is of each synchronizer, for the operation whose answers do
	// not show that something is missing.
	ranges []SynchronizerRange
}

// strict reports whether only those may be asked who know all of it: updates-before
// and import-updates do not say that there will be more.
func (w want) strict() bool { return w.imports() || w.operation == updatesBeforeOperation }

// gated reports whether the operation answers only once the upstream's own history is
// complete.
func (w want) gated() bool { return w.operation == eventsOperation || w.operation == updatesOperation }

// tail reports whether w asks for whatever there is.
func (w want) tail() bool { return !w.strict() && !w.after.Before(w.through) }

func (w want) imports() bool { return w.operation == importUpdatesOperation }

// knows reports whether the upstream is known to be able to answer w.
func (p *peer) knows(w want) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	migration := w.after.MigrationID
	if p.excluded != nil || p.chain == nil || p.now().Before(p.unsupportedUntil[w.operation]) ||
		!p.chain.has(migration) || p.chain.waitReason(w.after) != "" || w.gated() && !p.chain.newest().Complete {
		return false
	}
	if w.imports() {
		info := p.chain.infos[migration]
		return info.ImportsComplete && info.LastImportID >= w.through.UpdateID
	}
	if w.operation == updatesBeforeOperation {
		return p.chain.infos[migration].covers(w.ranges, w.through.RecordTime)
	}
	if w.tail() && w.through != schemas.Start {
		// What is known may be old by now. Only its own recent word is believed.
		end, known := p.ends[w.operation]
		return !known || !timeBefore(end.Position, w.through) || p.now().Sub(end.as) > shortEndCounts
	}
	return !timeBefore(p.reach(w.operation), w.through)
}

// shortEndCounts is how long an upstream is taken at its word that its history ends
// before that of others.
const shortEndCounts = 5 * time.Second

// timeBefore compares positions as the cursors of history do, by migration and record
// time.
func timeBefore(p, q schemas.Position) bool {
	p.UpdateID, q.UpdateID = "", ""
	return p.Before(q)
}

// reach is how far the history that an operation returns is known to go.
func (p *peer) reach(operation string) schemas.Position {
	end := schemas.Start
	if said, known := p.ends[operation]; known {
		end = said.Position
	} else if p.chain != nil {
		end = p.chain.end()
	}
	if end.Before(p.seen) {
		return p.seen
	}
	return end
}

// reaches is reach for those who do not hold the lock.
func (p *peer) reaches(operation string) schemas.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reach(operation)
}

// noteAnswer notes what an answer to w shows of the upstream's history.
func (p *peer) noteAnswer(w want, c *chunk) {
	if w.imports() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.seen > 0 && p.seen.Before(c.last) {
		p.seen = detached(c.last)
	}
	switch reach := p.reach(w.operation); {
	case !c.end:
	case c.seen > 0:
		p.ends[w.operation] = ending{detached(c.last), p.now()}
	case w.after.Before(reach): // it ends there or even before
		p.seen = detached(w.after)
		p.ends[w.operation] = ending{p.seen, p.now()}
	default: // still there where it was known to be
		p.ends[w.operation] = ending{reach, p.now()}
	}
}

// noteOverview notes a new overview and reports whether the upstream's history ends before
// it once did. at is where the stream stood when the reading of it began.
func (p *peer) noteOverview(ch *chain, at schemas.Position) (wentBack bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := ch.end()
	if p.chain != nil && end.Before(p.chain.end()) {
		wentBack, p.seen = true, end
	}
	p.chain, p.refused = ch, ch.refusal
	clear(p.ends)
	p.behind = at != schemas.Start && timeBefore(end, at) &&
		(p.behind || wentBack || end.MigrationID < at.MigrationID || end.RecordTime < at.RecordTime-behindAfter)
	p.onChange()
	return wentBack
}

// behindAfter is how much record time an upstream may lack before that is logged:
// good ones follow the network at different distances.
const behindAfter = schemas.Micros(time.Minute / time.Microsecond)

// overview is the latest one, nil while unknown.
func (p *peer) overview() *chain {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chain
}

// loading reports whether err is the interface's word that the upstream's own history
// is not complete yet.
func loading(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusServiceUnavailable && strings.Contains(e.Err.Error(), "not yet")
}

// covers reports whether m has what there is of each synchronizer up to the given time.
func (m *MigrationInfo) covers(ranges []SynchronizerRange, to schemas.Micros) bool {
	for _, r := range ranges {
		i := slices.IndexFunc(m.Ranges, func(own SynchronizerRange) bool { return own.SynchronizerID == r.SynchronizerID })
		if r.Min <= to && (i < 0 || m.Ranges[i].Min > r.Min || m.Ranges[i].Max < min(r.Max, to)) {
			return false
		}
	}
	return true
}
