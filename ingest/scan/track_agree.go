package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// agreeTrack passes on only what k upstreams returned alike. Their pages end at different
// places, so what one of them returned as a page is requested from the others as a range.
type agreeTrack struct {
	*sharedTrack
	k  int
	on AgreeOn
	// proof is how the others are asked: by updates when only those are compared, which
	// takes less and does not end at the last verdict.
	proof  *sharedTrack
	stream string
	poll   time.Duration
	record func(context.Context, Disagreement)
}

// disagreeTries is how often upstreams are asked again before their disagreement
// counts. One of them may have been caught while it was loading.
const disagreeTries = 4

// answer is what one upstream has of a range, up to reached.
type answer struct {
	from  *peer
	items []schemas.Item
	// reached is how far the answer is complete.
	reached schemas.Position

	// sum is the digest of count items through summed, kept as it is asked for often.
	summed schemas.Position
	count  int
	sum    string
}

// digest counts and hashes the items up to and including through.
func (a *answer) digest(through schemas.Position, on AgreeOn) (n int, sum string) {
	if a.sum == "" || a.summed != through {
		a.summed = through
		a.count, a.sum = digest(a.items, through, on)
	}
	return a.count, a.sum
}

func (t *agreeTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	rejected := map[*peer]bool{} // gave what the others did not
	for tries := 1; ; {
		c, err := t.fetchWithout(ctx, rejected, after, upTo, o)
		if err != nil || c.end && len(c.items) == 0 {
			return c, err
		}
		through := c.covered
		if c.done && !c.end {
			through = upTo
		}
		answers, err := t.collectAnswers(ctx, &answer{from: c.from, items: c.items, reached: through}, after, through, o, c.bytes)
		if err != nil {
			return chunk{}, err
		}
		end, agreed := t.agreement(answers, through)
		if d, found := t.compare(answers, agreed, after, end); found {
			t.record(ctx, d)
			if len(agreed) == 0 && tries == disagreeTries {
				return chunk{}, fmt.Errorf("%w: %d must agree, but %s", schemas.ErrDisagreement, t.k, d)
			}
		}
		switch {
		case slices.ContainsFunc(agreed, func(a *answer) bool { return a.from == c.from }):
			return c.upTo(after, end, through), nil
		case len(agreed) > 0:
			rejected[c.from] = true
			continue
		case len(answers) < t.k || !after.Before(end):
			return chunk{covered: after, next: schemas.Start, done: true, end: true}, nil // the rest is yet to come
		}
		if err := t.pause(ctx, tries, after); err != nil {
			return chunk{}, err
		}
		clear(rejected)
		tries++
	}
}

// pause waits before upstreams that disagree are asked again.
func (t *agreeTrack) pause(ctx context.Context, tries int, after schemas.Position) error {
	release := t.status.hold(fmt.Sprintf("upstreams disagree on the history after %s", after))
	defer release()
	return remote.Sleep(ctx, max(t.poll, t.backoff(tries)))
}

// collectAnswers asks for the range until k answers are equal or no upstream is left. It
// waits for upstreams that fail only while there are too few answers to decide.
func (t *agreeTrack) collectAnswers(ctx context.Context, first *answer, after, through schemas.Position, o fetchOptions, held int64) ([]*answer, error) {
	answers, faults := []*answer{first}, map[*peer]error{}
	without := func(p *peer) bool {
		return faults[p] != nil || slices.ContainsFunc(answers, func(a *answer) bool { return a.from == p })
	}
	w, began := t.proof.want(after, through), t.peers.now()
	release := t.status.hold(fmt.Sprintf("%d upstreams must agree on the history after %s", t.k, after))
	defer release()
	for tries := 0; len(answers) < t.k || len(t.alike(answers, through)) < t.k; {
		p, err := t.peers.pick(ctx, w, without, nil, len(answers) < t.k)
		if err != nil {
			return nil, err
		}
		if p == nil && len(answers) >= t.k {
			return answers, nil
		}
		if p == nil {
			if err := allFaulty(faults, len(t.peers.list)-len(answers)); err != nil {
				return nil, fmt.Errorf("%d upstreams must agree on the history after %s: %w", t.k, after, err)
			}
			if err := remote.SleepOr(ctx, time.Second, t.peers.change()); err != nil {
				return nil, err
			}
			continue
		}
		a, bytes, err := t.read(ctx, p, after, through, o, held)
		if err == nil {
			answers, held = append(answers, a), held+bytes
			continue
		}
		f := sharedFetch{t: t.proof, w: w, o: fetchOptions{stripe: -1}, faults: faults, began: began, tries: tries}
		if err := f.failed(ctx, p, err); err != nil {
			return nil, err
		}
		tries = f.tries
	}
	return answers, nil
}

// read reads all that p has of (after, through].
func (t *agreeTrack) read(ctx context.Context, p *peer, after, through schemas.Position, o fetchOptions, held int64) (*answer, int64, error) {
	a, bytes := &answer{from: p, reached: after}, int64(0)
	o.whole = true
	for reserve := o.reserve; ; {
		if reserve != nil {
			o.reserve = func(size int64) error { return reserve(held + bytes + size) }
		}
		c, err := t.proof.ask(ctx, p, t.proof.want(a.reached, through), through, o)
		if err != nil {
			return a, bytes, err
		}
		a.items, a.reached, bytes = append(a.items, c.items...), c.covered, bytes+c.bytes
		switch {
		case c.done && !c.end:
			a.reached = through
			return a, bytes, nil
		case c.end || !a.reached.Before(through):
			return a, bytes, nil
		}
	}
}

// alike returns the largest group of answers that reach through and are equal up to it.
func (t *agreeTrack) alike(answers []*answer, through schemas.Position) (most []*answer) {
	groups := map[string][]*answer{}
	for _, a := range answers {
		if a.reached.Before(through) {
			continue
		}
		_, sum := a.digest(through, t.on)
		groups[sum] = append(groups[sum], a)
		if len(groups[sum]) > len(most) {
			most = groups[sum]
		}
	}
	return most
}

// agreement returns how far k answers go, and those that agree up to there: at least k
// or none. It is less than through while too few upstreams have the rest.
func (t *agreeTrack) agreement(answers []*answer, through schemas.Position) (end schemas.Position, agreed []*answer) {
	reached := make([]schemas.Position, len(answers))
	for i, a := range answers {
		reached[i] = a.reached
	}
	slices.SortFunc(reached, func(a, b schemas.Position) int { return b.Compare(a) })
	end = through
	if k := min(t.k, len(reached)); reached[k-1].Before(through) {
		end = reached[k-1]
	}
	if agreed = t.alike(answers, end); len(agreed) < t.k {
		agreed = nil
	}
	return end, agreed
}

// compare describes how the answers differ; found is false if they do not.
func (t *agreeTrack) compare(answers, agreed []*answer, after, end schemas.Position) (d Disagreement, found bool) {
	if !after.Before(end) {
		return d, false
	}
	d = Disagreement{
		At: t.peers.now(), Stream: t.stream, On: t.on, After: detached(after), Through: detached(end), Resolved: len(agreed) > 0,
	}
	for _, a := range answers {
		if a.reached.Before(end) {
			continue
		}
		entry := DisagreementAnswer{Upstream: a.from.client.Upstream()}
		entry.Items, entry.Digest = a.digest(end, t.on)
		entry.Agreed = slices.ContainsFunc(agreed, func(b *answer) bool { return b.from == a.from })
		found = found || len(d.Answers) > 0 && entry.Digest != d.Answers[0].Digest
		d.Answers = append(d.Answers, entry)
	}
	return d, found
}

// upTo cuts off what lies behind end, unless that is all. Items that share a record time
// stay together, as no cursor leads between them.
func (c chunk) upTo(after, end, through schemas.Position) chunk {
	if end == through {
		return c
	}
	n := len(c.items)
	for n > 0 && end.Before(c.items[n-1].Position()) {
		n--
	}
	if n < len(c.items) {
		next := c.items[n].Position()
		for n > 0 && next.RecordTime != schemas.MinMicros && sameTime(c.items[n-1].Position(), next) {
			n--
		}
	}
	if c.covered = after; n > 0 {
		c.covered = c.items[n-1].Position()
	}
	c.items, c.next, c.done, c.end = c.items[:n:n], schemas.Start, true, true
	return c
}

// disagreed counts, logs and records a disagreement, the first time that it is found.
func (ts *tracks) disagreed(ctx context.Context, d Disagreement) {
	if !ts.status.disagreed(d) {
		return
	}
	for _, p := range ts.peers.list {
		for _, a := range d.Answers {
			if a.Upstream == p.client.Upstream() && !a.Agreed {
				p.disagreed()
			}
		}
	}
	ts.log.ErrorContext(ctx, "upstreams disagree", "after", d.After.String(), "through", d.Through.String(),
		"resolved", d.Resolved, "answers", d.String())
	if ts.cfg.Disagreements == nil {
		return
	}
	if err := ts.cfg.Disagreements.Disagreed(ctx, d); err != nil && !errors.Is(err, remote.Ended(ctx)) {
		ts.log.ErrorContext(ctx, "recording a disagreement", "err", err)
	}
}

func (p *peer) disagreed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disagreements++
}
