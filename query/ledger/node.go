package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
)

// node is the stream that is served, with what is remembered of it.
type node struct {
	Node
	// ends and actives follow the end of the stream and that of what active sets are known of.
	ends, actives *ends
	times         checkpoints
	known         knownNames
}

// node returns the stream to serve.
func (a *API) node(ctx context.Context) (*node, error) {
	if n := a.found.Load(); n != nil {
		return n, nil
	}
	a.finding.Lock()
	defer a.finding.Unlock()
	if n := a.found.Load(); n != nil {
		return n, nil
	}
	found, err := a.cfg.Node(ctx)
	if err != nil {
		return nil, err
	}
	n := &node{
		Node:    found,
		ends:    newEnds(found.Source.LedgerEnd, found.Source.NextEnd, a.cfg.EndInterval, a.cfg.Now, a.cfg.Log),
		actives: newEnds(found.Source.LedgerActiveEnd, found.Source.NextActiveEnd, a.cfg.EndInterval, a.cfg.Now, a.cfg.Log),
		times:   checkpoints{read: found.Source.SynchronizerTimes},
		known:   knownNames{source: found.Source, catalog: a.cfg.Catalog, now: a.cfg.Now},
	}
	a.found.Store(n)
	return n, nil
}

// participant is the id of the node, "" while it is not known.
func (a *API) participant() string {
	if n := a.found.Load(); n != nil {
		return n.Participant
	}
	return ""
}

// Participant is the id of the node that is served, "" while it is not known. A Verifier
// needs it to know whom tokens are for.
func (a *API) Participant() string { return a.participant() }

// checkpoints makes offset checkpoints. All who follow the end of the stream ask for the
// same one: the last is kept.
type checkpoints struct {
	read func(ctx context.Context, offset int64) ([]nodehistory.SynchronizerTime, error)

	mu     sync.Mutex
	offset int64
	times  []nodehistory.SynchronizerTime
}

// append appends the element for an offset.
func (c *checkpoints) append(ctx context.Context, dst []byte, offset int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.offset != offset {
		times, err := c.read(ctx, offset)
		if err != nil {
			return dst, err
		}
		c.offset, c.times = offset, times
	}
	return view.AppendCheckpoint(dst, offset, c.times), nil
}

// bounds are the offsets that requests may name: what came up to begin is not there.
type bounds struct{ begin, end int64 }

// bounds returns those of updates for a request that names offsets.
func (n *node) bounds(ctx context.Context, named ...int64) (b bounds, err error) {
	// In this order: a stream that has an end has its final begin.
	if b.end, err = n.ends.reaching(ctx, slices.Max(append(named, 0))); err != nil {
		return b, err
	}
	b.begin, err = n.Source.LedgerBegin(ctx)
	return b, err
}

// boundsOf returns those for a request for updates after begin, up to end if it is not open.
func (n *node) boundsOf(ctx context.Context, begin int64, end *int64) (bounds, error) {
	if end != nil {
		return n.bounds(ctx, begin, *end)
	}
	return n.bounds(ctx, begin)
}

// checkRange checks the offsets of a request for updates; end is nil when it is open. That
// they are neither negative nor in the wrong order is known.
func (b bounds) checkRange(begin int64, end *int64) error {
	switch {
	case begin > b.end:
		return failure(offsetAfterEnd, "Begin offset (%d) is after ledger end (%d)", begin, b.end)
	case end != nil && *end > b.end:
		return failure(offsetAfterEnd, "End offset (%d) is after ledger end (%d)", *end, b.end)
	case begin < b.begin:
		return b.pruned("Updates after offset", begin)
	}
	return nil
}

// checkActive checks the offset of an active set.
func (b bounds) checkActive(at int64) error {
	switch {
	case at > b.end:
		return failure(offsetAfterEnd, "active_at_offset (%d) is after ledger end (%d)", at, b.end)
	case at < b.begin:
		return b.pruned("Active contracts at offset", at)
	}
	return nil
}

func (b bounds) pruned(what string, at int64) error {
	return failure(prunedDataAccessed, "%s %d are not available: the history of the participant begins after offset %d", what, at, b.begin)
}

// activeCatchUp is how long a request for active contracts waits for them to be derived.
const activeCatchUp = 5 * time.Second

// awaitActive waits until active sets are known up to an offset, which is at or below the
// end of the stream. They follow it within moments.
func (n *node) awaitActive(ctx context.Context, at int64) error {
	ctx, cancel := context.WithTimeout(ctx, activeCatchUp)
	defer cancel()
	if _, err := n.actives.after(ctx, at-1); err != nil {
		return &Failure{Code: serviceNotRunning, Cause: "The active contracts at the offset are not available yet.", Err: err}
	}
	return nil
}
