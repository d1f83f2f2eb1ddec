package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// malformedTries is how often a malformed answer is asked for before it counts as
// the upstream's true word: a proxy that cuts answers short may heal.
const malformedTries = 3

// retryTrack wraps a track: it asks again after malformed pages, and for smaller
// pages after pages that are too large.
type retryTrack struct {
	track
	// tries is how often a malformed page is asked for: once when others can be asked.
	tries   int
	pages   *pageSizer
	log     *slog.Logger
	onRetry func(error)
	backoff func(n int) time.Duration
}

func (t *retryTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	for tries := 1; ; {
		o.size = min(o.size, t.pages.size())
		c, err := t.track.fetch(ctx, after, upTo, o)
		switch {
		case err == nil:
			t.pages.observe(c.seen, c.bytes)
			return c, nil
		case remote.Ended(ctx) != nil:
			return c, remote.Ended(ctx)
		case errors.Is(err, remote.ErrTooLarge) && o.size == 1:
			return c, fmt.Errorf("a single update does not fit: %w", err)
		case errors.Is(err, remote.ErrTooLarge):
			t.pages.shrink(o.size)
			t.log.DebugContext(ctx, "page too large", "page_size", o.size, "after", after)
			continue
		case tooManyItems(err) > 0 && tooManyItems(err) < o.size:
			t.pages.limit(tooManyItems(err))
			continue
		case !errors.Is(err, schemas.ErrMalformed) || tries >= t.tries:
			return c, err
		}
		t.onRetry(err)
		t.log.WarnContext(ctx, "malformed page, asking again", "err", err, "attempts", tries)
		if err := remote.Sleep(ctx, t.backoff(tries)); err != nil {
			return c, err
		}
		tries++
	}
}
