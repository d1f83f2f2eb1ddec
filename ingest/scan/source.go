package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"

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
	if ing.source != Auto {
		ing.status.chose(ing.source)
		return nil
	}
	if err := ing.probe(ctx, Events, ing.client.EventsPage); err == nil {
		ing.source = Events
	} else if !unsupported(err) {
		return err
	} else if resume.Committed != schemas.Start || resume.Pending != nil {
		return fmt.Errorf("the stream has history through %s, but %s gives no events to go on with "+
			"(--scan-source %s would go on without verdicts, traffic and app activity): %w", ing.at, ing.client.Upstream(), Updates, err)
	} else if ing.source, err = ing.sourceWithoutEvents(ctx); err != nil {
		return err
	}
	ing.status.chose(ing.source)
	return nil
}

func (ing *Ingester) sourceWithoutEvents(ctx context.Context) (Source, error) {
	source := Updates
	if err := ing.probe(ctx, Updates, ing.client.UpdatesPage); unsupported(err) {
		source = UpdatesBefore
	} else if err != nil {
		return Auto, err
	}
	ing.log.WarnContext(ctx, "the upstream gives no events: verdicts, traffic and app activity will be missing", "source", source)
	return source, nil
}

// probe asks for a page until the upstream gives one. It returns an error that is
// unsupported if the upstream refuses the operation refusalTries times in a row.
func (ing *Ingester) probe(ctx context.Context, source Source, page func(context.Context, PageRequest) (Page, error)) error {
	begin, refused := ing.cfg.Now(), 0
	for tries := 1; ; tries++ {
		_, err := page(ctx, PageRequest{After: ing.at, Size: 1, once: true})
		if err == nil || errors.Is(err, errTooLarge) {
			return nil
		}
		if reason := ended(ctx); reason != nil {
			return reason
		}
		var e *Error
		switch {
		case unsupported(err):
			if refused++; refused == refusalTries {
				return err
			}
		case !errors.As(err, &e) || !e.retryable, ing.cfg.GiveUpAfter > 0 && ing.cfg.Now().Sub(begin) > ing.cfg.GiveUpAfter:
			return err
		default:
			refused = 0
		}
		ing.status.retried(err)
		reason, err := ing.probeReason(ctx, err)
		if err != nil {
			return err
		}
		if err := ing.wait(ctx, tries, reason); err != nil {
			return err
		}
	}
}

// probeReason explains a failed probe: an upstream that answers 503 may still be
// loading its history.
func (ing *Ingester) probeReason(ctx context.Context, failure error) (string, error) {
	var e *Error
	if !errors.As(failure, &e) || e.Status != http.StatusServiceUnavailable {
		return failure.Error(), nil
	}
	ch, err := readChain(ctx, ing.client, ing.at.MigrationID)
	if err != nil {
		return "", err
	}
	if reason := ch.waitReason(ing.at); reason != "" {
		return reason, nil
	}
	return failure.Error(), nil
}
