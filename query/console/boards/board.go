package boards

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// boardView is a topic as charts.
type boardView struct {
	title, slug, days string
	spans             []span
	charts            []chart
}

// span is a length of time that a board can show.
type span struct{ value, text string }

// spans are those of boards: in days, "" for the usual one of 30.
var spans = []span{{"7", "7 days"}, {"", "30 days"}, {"90", "90 days"}, {"365", "a year"}}

// lengths are the spans in days.
var lengths = map[string]int{"7": 7, "": 30, "90": 90, "365": 365}

// chart is a metric on a board.
type chart struct{ id, title, data, address string }

// board shows the metrics of a topic as charts.
func (b *Boards) board(_ context.Context, v *page.View) (page.Page, error) {
	slug, err := v.Path("board")
	if err != nil {
		return page.Page{}, err
	}
	i := slices.IndexFunc(topics, func(t topic) bool { return t.slug() == slug })
	if i < 0 {
		return page.Page{}, page.Missing("There is no such board.")
	}
	view := boardView{title: topics[i].title, slug: slug, days: v.Param("days"), spans: spans}
	days, ok := lengths[view.days]
	if !ok {
		return page.Page{}, query.Errorf(query.Invalid, "days may be 7, 30, 90 or 365.")
	}
	for _, name := range topics[i].metrics {
		view.charts = append(view.charts, chartOf(v, name, days))
	}
	return page.Page{Title: view.title, Section: page.Analytics, Body: board(v, view)}, nil
}

// chartOf is a metric over so many days before the instant of the page, told apart as people usually want it.
func chartOf(v *page.View, name string, days int) chart {
	p := url.Values{}
	if !v.Status.Empty() {
		p.Set("from", v.Instant().Time().AddDate(0, 0, -days).Format(time.DateOnly))
	}
	if v.At != nil {
		p.Set("to", v.At.String())
	}
	if m, ok := metrics.Named(name); ok && len(m.GroupBy) > 0 {
		p.Set("group_by", m.GroupBy[0])
	}
	return chart{id: name, title: title(name), data: "/analytics/series/" + name + "?" + p.Encode(), address: "/analytics/" + name + "?" + p.Encode()}
}
