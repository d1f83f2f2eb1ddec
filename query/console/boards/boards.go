// Package boards has the pages for questions: metrics as charts, the library of questions with answers, and how to open
// the data with other tools.
package boards

import (
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct {
	Metrics *metrics.Reader // required
}

// Boards makes the pages.
type Boards struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Boards { return &Boards{cfg} }

// Routes are the pages.
func (b *Boards) Routes(p *page.Pages) []query.Route {
	return []query.Route{
		p.Stream("/analytics/series/{metric}", "series", query.Page, b.series),
	}
}
