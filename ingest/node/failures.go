package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// malformedTries is how often a malformed answer is asked for before it counts as
	// the node's answer: a proxy that cuts answers short may recover.
	malformedTries = 3
	// refusalTries is the same for refusals of what was asked: a gateway that restarts
	// may say anything for a while.
	refusalTries = 3
	// authTries is how often a token is replaced before a refusal of it counts.
	authTries = 2
	// lostTries is how often a node may say that its ledger ends before the stream
	// does: one of several replicas may be behind.
	lostTries = 5
)

// failures counts what goes wrong in a row and decides what is tried again.
type failures struct {
	ing   *Ingester
	since time.Time // of the first

	total, malformed, refused, auth, lost int
}

func (ing *Ingester) newFailures() *failures { return &failures{ing: ing} }

// reset is called when something was achieved.
func (f *failures) reset() { *f = failures{ing: f.ing} }

// again waits before the next attempt, or returns why there should be none.
func (f *failures) again(ctx context.Context, err error) error {
	if reason := remote.Ended(ctx); reason != nil {
		return reason
	}
	if f.total++; f.total == 1 {
		f.since = f.ing.cfg.Now()
	}
	wait := f.ing.cfg.Backoff(f.total)
	if stop := f.decide(ctx, err, &wait); stop != nil {
		return stop
	}
	if f.ing.cfg.GivesUp(f.since) {
		return fmt.Errorf("giving up after %d attempts: %w", f.total, err)
	}
	f.ing.status.Retried(err)
	if remote.Growing(f.total) {
		f.ing.log.WarnContext(ctx, "the node's stream failed", "err", err, "attempts", f.total, "retry_in", wait)
	}
	return remote.Sleep(ctx, wait)
}

// decide returns the error to stop with, or nil; it may change the wait.
func (f *failures) decide(ctx context.Context, err error, wait *time.Duration) error {
	var stop final
	if errors.As(err, &stop) {
		return stop.error
	}
	var e *Error
	isError := errors.As(err, &e)
	switch {
	case errors.Is(err, errBeyond):
		*wait = min(*wait, beyondWait)
	case errors.Is(err, schemas.ErrMalformed):
		if f.malformed++; f.malformed >= malformedTries {
			return err
		}
	case schemas.NeedsPerson(err), isError && errors.Is(e.Err, remote.ErrTooLarge):
		return err
	case !isError:
		return nil
	case e.Code == codePruned:
		return f.ing.prunedNow(ctx, err)
	case e.Code == codeAfterEnd:
		if f.lost++; f.lost >= lostTries {
			return f.ing.lostError(f.ing.batches.through, err)
		}
	case e.foreign() && f.ing.streamed:
		// The address and the token were good: a proxy in front of the node comes and goes.
		if e.unauthenticated() && f.auth < authTries {
			return f.renew(ctx, err, wait)
		}
		*wait = max(*wait, e.retryAfter)
	case e.unauthenticated():
		return f.renew(ctx, err, wait)
	case e.denied():
		if f.refused++; e.Code == codeDenied || f.refused >= refusalTries {
			return fmt.Errorf("%w: the token lacks the right to read this stream (CanReadAs of each configured party, or CanReadAsAnyParty): %w", ErrDenied, err)
		}
	case !e.Retryable(), errors.Is(e.Err, remote.ErrPage):
		if f.refused++; f.refused >= refusalTries {
			return err
		}
	default:
		*wait = max(*wait, e.retryAfter)
	}
	return nil
}

// renew replaces a token that was refused; the first time it is tried at once.
func (f *failures) renew(ctx context.Context, err error, wait *time.Duration) error {
	if f.auth++; f.auth > authTries {
		return fmt.Errorf("%w: the token is refused, even after it was renewed: %w", ErrDenied, err)
	}
	tokens := f.ing.client.tokens
	old := tokens.Current()
	if err := tokens.Refuse(ctx, old); err != nil {
		f.ing.log.WarnContext(ctx, "renewing the token failed", "err", err)
		return nil
	}
	if tokens.Current() != old {
		*wait = 0
	}
	return nil
}

// prunedNow asks how far the node has pruned and explains it.
func (ing *Ingester) prunedNow(ctx context.Context, cause error) error {
	if ing.batches == nil {
		return cause
	}
	if err := ing.checkNode(ctx); errors.Is(err, ErrPruned) {
		return err
	}
	return fmt.Errorf("%w (%w)", ing.prunedError(ing.batches.through), cause)
}
