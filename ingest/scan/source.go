package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// prober finds out which operations the upstreams have.
type prober struct {
	cfg    *Config
	peers  *peers
	status *progress
	log    *slog.Logger
	pacer  pacer
}

// choose finds out how history can be read from the upstreams, unless the configuration
// says so. A stream that has history, or an announced batch, continues only with events: the
// other sources have no verdicts, traffic and app activity, which would be missing from
// there on. Only a person may decide that.
func (pr *prober) choose(ctx context.Context, resume schemas.Resume) (Source, error) {
	if pr.cfg.Source != Auto {
		return pr.cfg.Source, nil
	}
	err := pr.probe(ctx, Events, resume.Committed)
	switch {
	case err == nil:
		return Events, nil
	case !unsupported(err):
		return Auto, err
	case resume.Committed != schemas.Start || resume.Pending != nil:
		return Auto, fmt.Errorf("the stream has history through %s, but %s returns no events to continue with (--scan-source %s "+
			"would continue without verdicts, traffic and app activity): %w",
			resume.Committed, strings.Join(pr.peers.names(), ", "), Updates, err)
	}
	source := Updates
	if err := pr.probe(ctx, Updates, resume.Committed); unsupported(err) {
		source = UpdatesBefore
	} else if err != nil {
		return Auto, err
	}
	pr.log.WarnContext(ctx, "the upstream returns no events: verdicts, traffic and app activity will be missing", "source", source)
	return source, nil
}

// probe asks for a page after a position until an upstream gives one. It returns an error that is
// unsupported if all upstreams refuse the operation refusalTries times in a row.
func (pr *prober) probe(ctx context.Context, source Source, at schemas.Position) error {
	begin, probes := pr.cfg.Now(), make([]probed, len(pr.peers.list))
	for tries := 1; ; tries++ {
		if pr.probeAll(ctx, source, at, probes) {
			return nil
		}
		if reason := remote.Ended(ctx); reason != nil {
			return reason
		}
		late := pr.cfg.GivesUp(begin)
		failure, final := outcome(probes, late)
		if final {
			return failure
		}
		pr.status.Retried(failure)
		reason, err := pr.probeReason(ctx, failure, at)
		if err != nil {
			return err
		}
		if err := pr.pacer.wait(ctx, tries, reason); err != nil {
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
func (pr *prober) probeAll(ctx context.Context, source Source, at schemas.Position, probes []probed) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group := guard.NewGroup()
	var found atomic.Bool
	for i, p := range pr.peers.list {
		group.Go(func() error {
			page := p.client.EventsPage
			if source == Updates {
				page = p.client.UpdatesPage
			}
			err := guard.Call(func() error { _, err := page(ctx, PageRequest{After: at, Size: 1, once: true}); return err })
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
func (pr *prober) probeReason(ctx context.Context, failure error, at schemas.Position) (string, error) {
	var e *Error
	if !errors.As(failure, &e) || e.Status != http.StatusServiceUnavailable || pr.peers.several() {
		return failure.Error(), nil
	}
	ch, err := readChain(ctx, pr.peers.list[0].client, at.MigrationID)
	if err != nil {
		return "", err
	}
	if reason := ch.waitReason(at); reason != "" {
		return reason, nil
	}
	return failure.Error(), nil
}
