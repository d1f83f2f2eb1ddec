package scan

import (
	"context"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
)

// pacer waits for an upstream that is not ready, with Status showing why.
type pacer struct {
	poll   time.Duration
	status *progress
	log    *slog.Logger
}

// wait waits before try number n+1, saying why.
func (w pacer) wait(ctx context.Context, n int, reason string) error {
	w.status.SetPhase(stream.PhaseWaiting, reason)
	if remote.Growing(n) {
		w.log.InfoContext(ctx, "waiting", "reason", reason, "checks", n)
	}
	const longest = 30 * time.Second
	return remote.Sleep(ctx, min(w.poll<<min(n-1, 5), longest))
}
