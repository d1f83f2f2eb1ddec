package boards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// shownBuckets is how many of the last buckets stand in the table of a metric.
const shownBuckets = 100

// metricView is the page of a metric.
type metricView struct {
	metric             *metrics.Metric
	title, topic, slug string
	// What was asked for, as the form has it, and what is wrong with it.
	from, to, grain, group string
	compare                bool
	inputType, problem     string
	// chart is where the numbers of the chart are.
	chart             string
	ranges, downloads []link
	// lines are the columns of the table, rows the last of so many buckets.
	lines   []string
	rows    []bucketRow
	buckets int
}

// link is an address with its words.
type link struct{ text, address string }

// bucketRow is a bucket in the table.
type bucketRow struct {
	start       string
	values      []string
	provisional bool
}

// metric shows a metric as a chart and a table.
func (b *Boards) metric(ctx context.Context, v *page.View) (page.Page, error) {
	q, err := requested(v)
	if q.Metric == nil {
		return page.Page{}, err
	}
	view := b.form(v, &q)
	made := page.Page{Title: view.title, Section: page.Analytics}
	if err == nil {
		err = b.fill(ctx, v, &q, &view)
	}
	var e *query.Error
	if errors.As(err, &e) && e.Code == query.Invalid {
		view.problem, made.Code = e.Msg, http.StatusBadRequest
	} else if err != nil {
		return page.Page{}, err
	}
	made.Body = metric(v, view)
	return made, nil
}

// form is what was asked for, as the form shows it.
func (b *Boards) form(v *page.View, q *metrics.SeriesRequest) metricView {
	t := topics[slices.IndexFunc(topics, func(t topic) bool { return slices.Contains(t.metrics, q.Metric.Name) })]
	view := metricView{
		metric: q.Metric, title: title(q.Metric.Name), topic: t.title, slug: t.slug(), grain: q.Grain, compare: q.Compare,
		from: v.Param("from"), to: v.Param("to"), inputType: "date", ranges: ranges(v, q),
	}
	if q.Grain == metrics.ByRound {
		view.inputType = "number"
	}
	if len(q.GroupBy) > 0 {
		view.group = q.GroupBy[0]
	}
	p := parametersOf(q)
	view.chart = "/analytics/series/" + q.Metric.Name + "?" + p.Encode()
	p.Del("compare")
	for _, format := range []string{"csv", "json", "arrow"} {
		p.Set("format", format)
		view.downloads = append(view.downloads, link{strings.ToUpper(format), "/v0/analytics/metrics/" + q.Metric.Name + "?" + p.Encode()})
	}
	return view
}

// fill reads the values.
func (b *Boards) fill(ctx context.Context, v *page.View, q *metrics.SeriesRequest, view *metricView) error {
	ctx, err := v.Reserve(ctx, seriesBytes)
	if err != nil {
		return err
	}
	s, err := b.cfg.Metrics.Series(ctx, *q)
	if err != nil {
		return refused(err)
	}
	for _, line := range s.Lines {
		view.lines = append(view.lines, label(q.Metric, len(q.GroupBy) > 0, line))
	}
	view.buckets = len(s.Starts)
	for i := len(s.Starts) - 1; i >= max(0, len(s.Starts)-shownBuckets); i-- {
		row := bucketRow{start: bucketText(q.Grain, s.Starts[i]), provisional: s.Provisional[i]}
		for _, line := range s.Lines {
			text := ""
			if line.Values[i] != nil {
				text = fmt.Sprint(line.Values[i])
			}
			row.values = append(row.values, text)
		}
		view.rows = append(view.rows, row)
	}
	return nil
}

// parametersOf are those of a request, as addresses have them.
func parametersOf(q *metrics.SeriesRequest) url.Values {
	p := url.Values{"grain": {q.Grain}}
	for name, at := range map[string]*int64{"from": q.From, "to": q.To} {
		if at == nil {
			continue
		}
		if p.Set(name, fmt.Sprint(*at)); q.Grain != metrics.ByRound {
			p.Set(name, schemas.Micros(*at).String())
		}
	}
	if len(q.GroupBy) > 0 {
		p.Set("group_by", q.GroupBy[0])
	}
	if q.Compare {
		p.Set("compare", "previous")
	}
	return p
}

// ranges lead to the same metric over usual times before the instant of the page.
func ranges(v *page.View, q *metrics.SeriesRequest) (list []link) {
	if q.Grain == metrics.ByRound || v.Status.Empty() {
		return nil
	}
	end := v.Instant().Time()
	for _, r := range []struct {
		text string
		from time.Time
	}{
		{"7 days", end.AddDate(0, 0, -7)}, {"30 days", end.AddDate(0, 0, -30)}, {"90 days", end.AddDate(0, 0, -90)}, {"a year", end.AddDate(-1, 0, 0)}, {"all", time.Unix(0, 0).UTC()},
	} {
		p := parametersOf(q)
		p.Del("to")
		p.Set("from", r.from.Format(time.DateOnly))
		list = append(list, link{r.text, "/analytics/" + q.Metric.Name + "?" + p.Encode()})
	}
	return list
}
