package scan

import (
	"context"
	"errors"
	"net/http"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// chooseSource finds out how history can be read from this upstream, unless the
// configuration says it. A pending batch must be read in the way it was read first,
// which may have had verdicts, so it rules out the way round an incomplete upstream.
func (ing *Ingester) chooseSource(ctx context.Context, pending *schemas.Intent) error {
	ing.source = ing.cfg.Source
	if ing.source != Auto {
		ing.status.chose(ing.source)
		return nil
	}
	source, err := ing.findSource(ctx, pending != nil)
	if err != nil {
		return err
	}
	if source != Events {
		ing.log.WarnContext(ctx, "the upstream gives no events: verdicts, traffic and app activity will be missing", "source", source)
	}
	ing.source = source
	ing.status.chose(source)
	return nil
}

func (ing *Ingester) findSource(ctx context.Context, pending bool) (Source, error) {
	probes := []struct {
		source Source
		page   func(context.Context, PageRequest) (Page, error)
	}{{Events, ing.client.EventsPage}, {Updates, ing.client.UpdatesPage}}
	begin := ing.cfg.Now()
	for i, tries := 0, 1; i < len(probes); {
		_, err := probes[i].page(ctx, PageRequest{After: ing.at, Size: 1, once: true})
		if err == nil || errors.Is(err, errTooLarge) {
			return probes[i].source, nil
		}
		if reason := ended(ctx); reason != nil {
			return Auto, reason
		}
		if unsupported(err) {
			i++
			continue
		}
		var e *Error
		if !errors.As(err, &e) || !e.retryable {
			return Auto, err
		}
		if ing.cfg.GiveUpAfter > 0 && ing.cfg.Now().Sub(begin) > ing.cfg.GiveUpAfter {
			return Auto, err
		}
		ing.status.retried(err)
		reason := err.Error()
		if e.Status == http.StatusServiceUnavailable {
			ch, err := readChain(ctx, ing.client, ing.at.MigrationID)
			if err != nil {
				return Auto, err
			}
			newest := ch.newest()
			wait := ch.waitReason(ing.at)
			if newest != nil && !newest.Complete && wait == "" && !pending {
				return UpdatesBefore, nil
			}
			if wait != "" {
				reason = wait
			}
		}
		if err := ing.wait(ctx, tries, reason); err != nil {
			return Auto, err
		}
		tries++
	}
	return UpdatesBefore, nil
}
