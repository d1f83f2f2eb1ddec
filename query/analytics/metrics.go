package analytics

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/analytics/filter"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// metricAnswer describes a metric.
type metricAnswer struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Meaning string   `json:"meaning"`
	Grains  []string `json:"grains"`
	GroupBy []string `json:"group_by"`
}

// listMetrics describes the metrics.
func (a *API) listMetrics(_ context.Context, r *query.Request) error {
	list := make([]metricAnswer, len(metrics.Catalog))
	for i, m := range metrics.Catalog {
		list[i] = metricAnswer{m.Name, m.Unit, m.Meaning, m.Grains, append([]string{}, m.GroupBy...)}
	}
	return r.JSON(map[string]any{"metrics": list})
}

// metric serves a metric by bucket and group.
func (a *API) metric(ctx context.Context, r *query.Request) error {
	q, as, err := requestedMetric(r)
	if err != nil {
		return err
	}
	if ctx, err = r.Reserve(ctx, rowFactor*a.sizes.Of(metrics.MaxRows)); err != nil {
		return err
	}
	answer, err := a.cfg.Metrics.Read(ctx, q)
	switch {
	case errors.Is(err, metrics.ErrTooMany):
		return query.Errorf(query.Invalid, "These are more than %d rows: ask for a shorter time, a coarser grain or fewer groups.", metrics.MaxRows)
	case errors.Is(err, metrics.ErrTooExpensive):
		return &query.Error{Code: query.Invalid, Msg: "This takes more time or memory than a request may: ask for a shorter time or a coarser grain.", Err: err}
	case err != nil:
		return err
	}
	text, err := as.encode(r.Buffer(), []string{"metric", q.Metric.Name, "unit", q.Metric.Unit, "grain", q.Grain}, metricPage(&q, answer), "")
	if err != nil {
		return err
	}
	a.sizes.Saw(len(answer.Rows), len(text))
	return as.send(r, text)
}

// requestedMetric reads the path and the query string.
func requestedMetric(r *query.Request) (q metrics.Request, as format, err error) {
	name, err := r.Path("metric")
	if err != nil {
		return q, as, err
	}
	names := make([]string, len(metrics.Catalog))
	for i := range metrics.Catalog {
		names[i] = metrics.Catalog[i].Name
	}
	m, ok := metrics.Named(name)
	if !ok {
		return q, as, refused(filter.Unknown("metric", name, names))
	}
	p := r.Query()
	q.Metric, q.Grain = m, m.Grains[0]
	if slices.Contains(m.Grains, metrics.ByDay) {
		q.Grain = metrics.ByDay
	}
	if grain, ok := p.OptionalText("grain"); ok {
		if q.Grain = grain; !slices.Contains(m.Grains, grain) {
			p.Fail("Query parameter grain: %s.", filter.Unknown("grain of "+name, grain, m.Grains))
			return q, as, p.Err()
		}
	}
	if groups, ok := p.OptionalText("group_by"); ok {
		q.GroupBy = strings.Split(groups, ",")
		for i, group := range q.GroupBy {
			if !slices.Contains(m.GroupBy, group) || slices.Contains(q.GroupBy[:i], group) {
				p.Fail("Query parameter group_by: %s.", filter.Unknown("group of "+name, group, m.GroupBy))
			}
		}
	}
	q.From, q.To = bound(p, "from", q.Grain), bound(p, "to", q.Grain)
	if q.From != nil && q.To != nil && *q.From >= *q.To {
		p.Fail("Query parameter from: it must be before to.")
	}
	as = formats[p.OneOf("format", "json", "csv", "arrow")]
	return q, as, p.Err()
}

// bound reads where buckets begin or end: an instant, a day, or the number of a round; nil if it is absent.
func bound(p *query.Params, name, grain string) *int64 {
	text, ok := p.OptionalText(name)
	if !ok {
		return nil
	}
	if grain == metrics.ByRound {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n < 1<<53 {
			return &n
		}
		p.Fail("Query parameter %s: %.40q is no number of a round.", name, text)
		return nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		at, err = time.Parse(time.RFC3339Nano, text)
	}
	if err != nil || at.Year() < 1970 || at.Year() >= 2200 {
		p.Fail("Query parameter %s: %.40q is no day such as 2026-07-01 and no instant such as 2026-07-01T12:00:00Z, from 1970 on.", name, text)
		return nil
	}
	micros := at.UnixMicro()
	return &micros
}

// metricPage has the rows of a metric as those of a table: start or round, groups, value and provisional.
func metricPage(q *metrics.Request, answer metrics.Answer) tables.Page {
	first, kind := tables.Column{Name: "start", Type: "DateTime64(6, 'UTC')"}, "Int64"
	if q.Grain == metrics.ByRound {
		first = tables.Column{Name: "round", Type: "Int64"}
	}
	if q.Metric.Unit == metrics.Coin {
		kind = "Decimal(38, 10)"
	}
	page := tables.Page{Columns: []tables.Column{first}, Through: answer.Through}
	for _, name := range q.GroupBy {
		page.Columns = append(page.Columns, tables.Column{Name: name, Type: "String"})
	}
	page.Columns = append(page.Columns, tables.Column{Name: "value", Type: "Nullable(" + kind + ")"}, tables.Column{Name: "provisional", Type: "Bool"})
	for _, row := range answer.Rows {
		values := make([]any, 0, len(page.Columns))
		if q.Grain == metrics.ByRound {
			values = append(values, row.Start)
		} else {
			values = append(values, schemas.Micros(row.Start))
		}
		for _, group := range row.Groups {
			values = append(values, group)
		}
		page.Rows = append(page.Rows, append(values, row.Value, row.Provisional))
	}
	return page
}
