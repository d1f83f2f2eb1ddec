package boards

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// How the newest values of all metrics are kept: to read them takes a query for each.
const (
	newestFresh   = 5 * time.Second
	newestStale   = time.Minute
	newestMaxWait = 200 * time.Millisecond
	newestTimeout = 30 * time.Second
	// atOnce is how many of the queries run at the same time.
	atOnce = 3
)

// overviewView is the page of all metrics.
type overviewView struct{ topics []topicView }

// topicView is a topic with its metrics.
type topicView struct {
	title, slug string
	cards       []card
}

// card is a metric with its newest value.
type card struct {
	name, title, unit, meaning string
	newest
}

// note is the unit of the value, and when it was so.
func (c card) note() string {
	if c.when == "" {
		return c.unit
	}
	return c.unit + ", " + c.when
}

// newest is the value of the last bucket, "" where history does not say.
type newest struct {
	value, when string
	provisional bool
}

// newestValues remembers the newest values of all metrics, by name.
func newestValues(r *metrics.Reader) *memo.Value[map[string]newest] {
	return &memo.Value[map[string]newest]{Now: time.Now, TTL: newestFresh, Stale: newestStale, MaxWait: newestMaxWait, Timeout: newestTimeout, Load: func(ctx context.Context) (map[string]newest, error) {
		return newestOf(ctx, r, nil)
	}}
}

// newestOf reads the newest values at an instant, nil for the end of history.
func newestOf(ctx context.Context, r *metrics.Reader, at *schemas.Micros) (map[string]newest, error) {
	values := make([]newest, len(metrics.Catalog))
	group, ctx := guard.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range metrics.Catalog {
		group.Go(func() (err error) {
			values[i], err = newestOfMetric(ctx, r, &metrics.Catalog[i], at)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := make(map[string]newest, len(values))
	for i, value := range values {
		all[metrics.Catalog[i].Name] = value
	}
	return all, nil
}

// newestOfMetric reads the last bucket of a metric. One that would take too much has no value here.
func newestOfMetric(ctx context.Context, r *metrics.Reader, m *metrics.Metric, at *schemas.Micros) (newest, error) {
	q := metrics.Request{Metric: m, Grain: usualGrain(m)}
	if at != nil {
		from, to := int64(*at)-1, int64(*at)
		q.From, q.To = &from, &to
	}
	answer, err := r.Read(ctx, q)
	if errors.Is(err, metrics.ErrTooExpensive) || err == nil && len(answer.Rows) == 0 {
		return newest{}, nil
	}
	if err != nil {
		return newest{}, err
	}
	last := answer.Rows[len(answer.Rows)-1]
	found := newest{when: bucketText(q.Grain, last.Start), provisional: last.Provisional}
	if last.Value != nil {
		found.value = fmt.Sprint(last.Value)
	}
	return found, nil
}

// overview shows all metrics by topic.
func (b *Boards) overview(ctx context.Context, v *page.View) (page.Page, error) {
	values, err := b.newestAt(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	var view overviewView
	for _, t := range topics {
		shown := topicView{title: t.title, slug: t.slug()}
		for _, name := range t.metrics {
			m, ok := metrics.Named(name)
			if !ok {
				return page.Page{}, fmt.Errorf("topic %s has metric %s, which the catalogue does not have", t.title, name)
			}
			shown.cards = append(shown.cards, card{name, title(name), m.Unit, m.Meaning, values[name]})
		}
		view.topics = append(view.topics, shown)
	}
	return page.Page{Title: "Analytics", Section: page.Analytics, Body: overview(v, view)}, nil
}

// newestAt are the newest values at the instant of the page.
func (b *Boards) newestAt(ctx context.Context, v *page.View) (map[string]newest, error) {
	if v.At == nil {
		return b.newest.Get(ctx)
	}
	ctx, err := v.Reserve(ctx, seriesBytes)
	if err != nil {
		return nil, err
	}
	return newestOf(ctx, b.cfg.Metrics, v.At)
}

// bucketText names a bucket.
func bucketText(grain string, start int64) string {
	switch at := schemas.Micros(start).Time(); grain {
	case metrics.ByRound:
		return fmt.Sprint("round ", start)
	case metrics.ByHour:
		return at.Format("2006-01-02 15:04")
	case metrics.ByMonth:
		return at.Format("2006-01")
	case metrics.ByWeek:
		return "week of " + at.Format(time.DateOnly)
	default:
		return at.Format(time.DateOnly)
	}
}

// slug is the topic in an address.
func (t topic) slug() string { return strings.ReplaceAll(strings.ToLower(t.title), " ", "-") }
