package ledger

import (
	"context"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/memo"
)

// replayCursor reads a stretch of updates for a websocket: in runs of several pages, which
// cost the store little more than one, and the next run while one is sent.
type replayCursor struct {
	*updateCursor
	api *API
	// run is what is being sent; ahead is the next one, nil when none is under way.
	run   *nodehistory.Run
	ahead *memo.Read[*nodehistory.Run]
	// size is how many updates the next run may have.
	size int
}

// firstRun is how many updates a run has while nothing is known of their size, and runPages
// about how many pages: as columns a run takes a quarter of what its texts do.
const (
	firstRun = maxRead / 20
	runPages = 6
	// fewStreams may have such runs.
	fewStreams = 8
)

func newReplay(a *API, c *updateCursor) *replayCursor {
	return &replayCursor{updateCursor: c, api: a, size: firstRun}
}

// next implements cursor. A page ends where its text is long enough.
func (c *replayCursor) next(ctx context.Context, p *page, limit int) (bool, error) {
	p.covered = c.position()
	if c.run == nil {
		if c.after >= c.through {
			return false, nil
		}
		if err := c.nextRun(ctx); err != nil {
			return false, err
		}
	}
	most := pageBytes(c.api.streams.count())
	for len(p.texts) < most && len(p.ends) < limit {
		u, err := c.run.Next()
		if err != nil {
			return false, err
		}
		if u == nil {
			c.endRun(p)
			break
		}
		offset := u.Local.Offset
		var visible bool
		if p.texts, visible, err = c.format.AppendUpdate(p.texts, u); err != nil {
			return false, err
		}
		if visible {
			p.add()
		}
		if p.covered = offset; c.descending {
			p.covered--
		}
	}
	c.size = runLimit(c.api.streams.count(), len(p.ends), len(p.texts))
	return c.run != nil || c.after < c.through, nil
}

// runLimit is how many updates the next run may have, given a page of so many elements and
// bytes before. Many streams read no more at a time than they send.
func runLimit(streams, elements, bytes int) int {
	limit := pageLimit(pageBytes(streams), elements, bytes)
	if streams > fewStreams {
		return limit
	}
	return min(limit*runPages, maxRead)
}

// nextRun takes the run that is being read, or reads one, and begins with the one after it.
func (c *replayCursor) nextRun(ctx context.Context) error {
	if c.ahead == nil {
		c.readAhead(ctx, c.after, c.through)
	}
	run, err := c.ahead.Wait(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // close gives up what is being read
	}
	if c.ahead = nil; err != nil {
		return err
	}
	c.run = run
	after, through := c.rest()
	if after < through {
		c.readAhead(ctx, after, through)
	}
	return nil
}

// rest is what is left of the stretch behind the run.
func (c *replayCursor) rest() (after, through int64) {
	if c.descending {
		return c.after, c.run.Covered()
	}
	return c.run.Covered(), c.through
}

// endRun goes on behind a run of which everything is in pages.
func (c *replayCursor) endRun(p *page) {
	p.covered = c.run.Covered()
	c.after, c.through = c.rest()
	c.run.Close()
	c.run = nil
}

// readAhead begins to read a run, when it is the stream's turn.
func (c *replayCursor) readAhead(ctx context.Context, after, through int64) {
	rg := nodehistory.Range{After: after, Through: through, Descending: c.descending, Limit: c.size}
	c.ahead = memo.Start(ctx, func(ctx context.Context) (*nodehistory.Run, error) {
		end, err := c.api.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		return c.node.Source.LedgerRun(ctx, c.sel, rg)
	}, nil)
}

// turn waits until it is a websocket's turn to read from the store. The caller must call end.
func (a *API) turn(ctx context.Context) (end func(), err error) {
	select {
	case a.reads <- struct{}{}:
		return func() { <-a.reads }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inTurn is a cursor of a websocket that reads from the store in each call of next.
type inTurn struct {
	cursor
	api *API
}

func (c inTurn) next(ctx context.Context, p *page, limit int) (bool, error) {
	end, err := c.api.turn(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	return c.cursor.next(ctx, p, limit)
}

// close gives up what was read and not sent.
func (c *replayCursor) close() {
	if c.ahead != nil {
		c.ahead.Stop()
		if run, _ := c.ahead.Wait(context.Background()); run != nil {
			run.Close()
		}
	}
	if c.run != nil {
		c.run.Close()
	}
}
