package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// refusalTries is how often an upstream may refuse what a scan service has to know
// before that counts as its true word: a gateway that restarts says the same for a while.
const refusalTries = 3

// chooseSource finds out how history can be read from this upstream, unless the
// configuration says it. A stream that has history, or a batch announced, goes on with
// events only: the other sources have no verdicts, traffic and app activity, which
// would be missing from there on for good. Only a person may decide that.
func (ing *Ingester) chooseSource(ctx context.Context, resume schemas.Resume) error {
	ing.source = ing.cfg.Source
	defer func() {
		ing.status.chose(ing.source)
		ing.peers.refreshEvery(ing.refresh())
	}()
	if ing.source != Auto {
		return nil
	}
	if err := ing.probe(ctx, Events); err == nil {
		ing.source = Events
	} else if !unsupported(err) {
		return err
	} else if resume.Committed != schemas.Start || resume.Pending != nil {
		return fmt.Errorf("the stream has history through %s, but %s gives no events to go on with "+
			"(--scan-source %s would go on without verdicts, traffic and app activity): %w",
			ing.at, strings.Join(ing.peers.names(), ", "), Updates, err)
	} else if ing.source, err = ing.sourceWithoutEvents(ctx); err != nil {
		return err
	}
	return nil
}

func (ing *Ingester) sourceWithoutEvents(ctx context.Context) (Source, error) {
	source := Updates
	if err := ing.probe(ctx, Updates); unsupported(err) {
		source = UpdatesBefore
	} else if err != nil {
		return Auto, err
	}
	ing.log.WarnContext(ctx, "the upstream gives no events: verdicts, traffic and app activity will be missing", "source", source)
	return source, nil
}

// probe asks for a page until an upstream gives one. It returns an error that is
// unsupported if all upstreams refuse the operation refusalTries times in a row.
func (ing *Ingester) probe(ctx context.Context, source Source) error {
	begin, probes := ing.cfg.Now(), make([]probed, len(ing.peers.list))
	for tries := 1; ; tries++ {
		if ing.probeAll(ctx, source, probes) {
			return nil
		}
		if reason := remote.Ended(ctx); reason != nil {
			return reason
		}
		late := ing.cfg.GiveUpAfter > 0 && ing.cfg.Now().Sub(begin) > ing.cfg.GiveUpAfter
		failure, final := outcome(probes, late)
		if final {
			return failure
		}
		ing.status.retried(failure)
		reason, err := ing.probeReason(ctx, failure)
		if err != nil {
			return err
		}
		if err := ing.wait(ctx, tries, reason); err != nil {
			return err
		}
	}
}

// probed is how an upstream answered so far.
type probed struct {
	// err is the last failure; refused counts refusals of the operation in a row,
	// failures other failures in a row.
	err               error
	refused, failures int
}

// absentTries is how often an upstream that fails is asked in vain before the others'
// word is enough.
const absentTries = 6

// outcome returns the failure to go by, and whether it is final: when it will not go
// away, or has been there for long.
func outcome(probes []probed, late bool) (failure error, final bool) {
	refused, absent := 0, 0
	for _, p := range probes {
		var e *Error
		switch {
		case p.refused >= refusalTries:
			refused++
			failure = cmp.Or(failure, p.err)
		case unsupported(p.err):
		case !errors.As(p.err, &e) || !e.retryable:
			return p.err, len(probes) == 1
		case p.failures >= absentTries && len(probes) > 1:
			absent++
		}
	}
	if refused > 0 && refused+absent == len(probes) {
		return failure, true
	}
	for _, p := range probes {
		if p.refused < refusalTries {
			failure = p.err
		}
	}
	return failure, late
}

// probeAll asks all upstreams at a time and reports whether one gave a page.
func (ing *Ingester) probeAll(ctx context.Context, source Source, probes []probed) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group := guard.NewGroup()
	var found atomic.Bool
	for i, p := range ing.peers.list {
		group.Go(func() error {
			page := p.client.EventsPage
			if source == Updates {
				page = p.client.UpdatesPage
			}
			err := guard.Call(func() error { _, err := page(ctx, PageRequest{After: ing.at, Size: 1, once: true}); return err })
			switch state := &probes[i]; {
			case err == nil || errors.Is(err, remote.ErrTooLarge):
				found.Store(true)
				cancel() // the others need not be waited for
			case unsupported(err):
				*state = probed{err: err, refused: state.refused + 1}
			default:
				*state = probed{err: err, failures: state.failures + 1}
			}
			return nil
		})
	}
	_ = group.Wait() // what went wrong is in probes
	return found.Load()
}

// probeReason explains a failed probe: an upstream that answers 503 may still be
// loading its history.
func (ing *Ingester) probeReason(ctx context.Context, failure error) (string, error) {
	var e *Error
	if !errors.As(failure, &e) || e.Status != http.StatusServiceUnavailable || ing.peers.several() {
		return failure.Error(), nil
	}
	ch, err := readChain(ctx, ing.lead.client, ing.at.MigrationID)
	if err != nil {
		return "", err
	}
	if reason := ch.waitReason(ing.at); reason != "" {
		return reason, nil
	}
	return failure.Error(), nil
}
