package boards

import (
	"context"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// seriesAnswer is what charts draw: see console.js.
type seriesAnswer struct {
	// Times are the starts of the buckets, in seconds since 1970 or as numbers of rounds.
	Times  []int64      `json:"times"`
	Round  bool         `json:"round"`
	Series []seriesLine `json:"series"`
}

// seriesLine is a line of a chart. Its values are exact, as texts; null where history does not say.
type seriesLine struct {
	Label  string    `json:"label"`
	Values []*string `json:"values"`
}

// series serves a metric to charts.
func (b *Boards) series(ctx context.Context, v *page.View) error {
	q, err := requested(v)
	if err != nil {
		return err
	}
	if ctx, err = v.Reserve(ctx, seriesBytes); err != nil {
		return err
	}
	s, err := b.cfg.Metrics.Series(ctx, q)
	if err != nil {
		return refused(err)
	}
	v.SetHeader("Cache-Control", "no-store")
	return v.JSON(seriesOf(&q, s))
}

// seriesOf is what charts draw of lines.
func seriesOf(q *metrics.SeriesRequest, s metrics.Series) seriesAnswer {
	answer := seriesAnswer{Times: []int64{}, Round: s.Round, Series: []seriesLine{}}
	for _, start := range s.Starts {
		if !s.Round {
			start /= 1e6
		}
		answer.Times = append(answer.Times, start)
	}
	for _, line := range s.Lines {
		drawn := seriesLine{Label: label(q.Metric, len(q.GroupBy) > 0, line), Values: make([]*string, len(line.Values))}
		for i, value := range line.Values {
			if value != nil {
				text := fmt.Sprint(value)
				drawn.Values[i] = &text
			}
		}
		answer.Series = append(answer.Series, drawn)
	}
	return answer
}

// label names a line of a metric that may be grouped.
func label(m *metrics.Metric, grouped bool, line metrics.Line) string {
	switch {
	case line.Others:
		return "others"
	case line.Before:
		return "the period before"
	case !grouped:
		return title(m.Name)
	case line.Group == "":
		return "none"
	}
	if strings.Contains(line.Group, "::") { // a party
		return page.Short(line.Group)
	}
	return line.Group
}
