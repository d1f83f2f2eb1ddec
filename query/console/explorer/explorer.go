// Package explorer has the pages of public history: the overview, search, updates and contracts, each as of
// any instant.
package explorer

import (
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
)

// Config says what the explorer reads.
type Config struct {
	History *history.Reader // required
	Explore *explore.Reader // required
	Metrics *metrics.Reader // required
	Labels  values.Labels   // required
	// Scan is the prefix of the scan interface on the same listener, such as "/api/scan": raw JSON is there.
	Scan string
}

// Explorer makes the pages. It is safe for concurrent use.
type Explorer struct {
	cfg   Config
	state *history.State
}

// New returns the explorer of some readers.
func New(cfg Config) *Explorer {
	return &Explorer{cfg: cfg, state: cfg.History.State()}
}

// Routes are the pages.
func (e *Explorer) Routes(p *page.Pages) []query.Route {
	return []query.Route{
		p.Get("/", "home", e.home),
		p.Get("/updates", "updates", e.updates),
		p.Get("/update/{id}", "update", e.update),
		p.Get("/contract/{id}", "contract", e.contract),
		p.Get("/search", "search", e.search),
	}
}

// maxInput is how long what people type may be: the longest ids have some 400 characters.
const maxInput = 600

// pageRows is how many rows a list has.
const pageRows = 50
