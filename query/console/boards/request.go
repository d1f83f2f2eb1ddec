package boards

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// mostLines is how many groups of a chart have lines of their own.
const mostLines = 6

// seriesBytes is the memory that a request for a metric reserves.
const seriesBytes = metrics.MaxRows * 400

// requested reads which part of a metric is wanted: grain, from, to, group_by and compare. Parameters that are empty,
// as forms send them, are absent. Without to, history ends at the instant of the page.
func requested(v *page.View) (q metrics.SeriesRequest, err error) {
	name, err := v.Path("metric")
	if err != nil {
		return q, err
	}
	m, ok := metrics.Named(name)
	if !ok {
		return q, query.Errorf(query.NotFound, "There is no metric %.40q.", name)
	}
	q.Metric, q.Most, q.Grain = m, mostLines, usualGrain(m)
	if grain := v.Param("grain"); grain != "" {
		if q.Grain = grain; !slices.Contains(m.Grains, grain) {
			return q, query.Errorf(query.Invalid, "Metric %s has no grain %.40q.", m.Name, grain)
		}
	}
	if group := v.Param("group_by"); group != "" {
		if q.GroupBy = []string{group}; !slices.Contains(m.GroupBy, group) {
			return q, query.Errorf(query.Invalid, "Metric %s is not told apart by %.40q.", m.Name, group)
		}
	}
	switch compare := v.Param("compare"); compare {
	case "", "previous":
		q.Compare = compare != ""
	default:
		return q, query.Errorf(query.Invalid, "compare may be previous, not %.40q.", compare)
	}
	return q, bounds(v, &q)
}

// usualGrain is a metric's by day, if it has that.
func usualGrain(m *metrics.Metric) string {
	if slices.Contains(m.Grains, metrics.ByDay) {
		return metrics.ByDay
	}
	return m.Grains[0]
}

// bounds reads from and to.
func bounds(v *page.View, q *metrics.SeriesRequest) (err error) {
	if q.From, err = bound(v.Param("from"), q.Grain); err != nil {
		return err
	}
	if q.To, err = bound(v.Param("to"), q.Grain); err != nil {
		return err
	}
	if q.To == nil && v.At != nil && q.Grain != metrics.ByRound {
		at := int64(*v.At)
		q.To = &at
	}
	if q.From != nil && q.To != nil && *q.From >= *q.To {
		return query.Errorf(query.Invalid, "The first time must be before the last one.")
	}
	return nil
}

// bound reads where buckets begin or end: a day, an instant or the number of a round; nil for "".
func bound(text, grain string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	if grain == metrics.ByRound {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n >= 1<<53 {
			return nil, query.Errorf(query.Invalid, "%.40q is no number of a round.", text)
		}
		return &n, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339Nano, text)
	}
	if err != nil || at.Year() < 1970 || at.Year() >= 2200 {
		return nil, query.Errorf(query.Invalid, "%.40q is no day such as 2026-07-01 and no instant such as 2026-07-01T12:00:00Z, from 1970 on.", text)
	}
	micros := at.UnixMicro()
	return &micros, nil
}

// refused is what the reader of metrics refuses, for the person who asks.
func refused(err error) error {
	switch {
	case errors.Is(err, metrics.ErrTooMany):
		return query.Errorf(query.Invalid, "These are more than %d rows: ask for a shorter time, or a coarser grain.", metrics.MaxRows)
	case errors.Is(err, metrics.ErrTooExpensive):
		return &query.Error{Code: query.Invalid, Msg: "This takes more time or memory than a page may: ask for a shorter time or a coarser grain.", Err: err}
	}
	return err
}
