package explorer

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// latestUpdates is how many updates the overview shows.
const latestUpdates = 12

// homeView is the overview.
type homeView struct {
	cards   []card
	updates []explore.Row
}

// card is a number with its name.
type card struct{ label, value, note string }

// home is the overview: what the network is and does at an instant.
func (e *Explorer) home(ctx context.Context, v *page.View) (page.Page, error) {
	view := homeView{}
	var err error
	if !v.Status.Empty() {
		if view.cards, err = e.numbers(ctx, v); err != nil {
			return page.Page{}, err
		}
		if view.updates, err = e.latest(ctx, v); err != nil {
			return page.Page{}, err
		}
	}
	return page.Page{Title: "Overview", Section: page.Home, Body: home(v, view)}, nil
}

// numbers are those of the day that the instant is in.
func (e *Explorer) numbers(ctx context.Context, v *page.View) ([]card, error) {
	var cards []card
	for _, shown := range []struct{ label, metric string }{{"Coins", "supply"}, {"Holders", "holders"}, {"Updates today", "updates"}, {"Active parties today", "active_users"}} {
		value, err := e.valueAt(ctx, shown.metric, v.Instant())
		if err != nil {
			return nil, err
		}
		cards = append(cards, card{label: shown.label, value: value})
	}
	return cards, nil
}

// valueAt is a metric of the day that an instant is in, "" where history does not say.
func (e *Explorer) valueAt(ctx context.Context, name string, at schemas.Micros) (string, error) {
	metric, ok := metrics.Named(name)
	if !ok {
		return "", fmt.Errorf("there is no metric %s", name)
	}
	from, to := int64(at.DayStart()), int64(at)
	answer, err := e.cfg.Metrics.Read(ctx, metrics.Request{Metric: metric, Grain: metrics.ByDay, From: &from, To: &to})
	if err != nil || len(answer.Rows) == 0 || answer.Rows[len(answer.Rows)-1].Value == nil {
		return "", err
	}
	return fmt.Sprint(answer.Rows[len(answer.Rows)-1].Value), nil
}

// latest are the last updates at or before the instant, the newest first.
func (e *Explorer) latest(ctx context.Context, v *page.View) ([]explore.Row, error) {
	filter := explore.Filter{From: schemas.MinMicros, To: schemas.MaxMicros}
	if v.At != nil {
		filter.To = *v.At
	}
	feed, err := e.cfg.Explore.Updates(ctx, filter, explore.Cursor{}, latestUpdates)
	return feed.Rows, err
}
