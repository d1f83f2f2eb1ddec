// Package explorer has the pages of public history: the overview, search, updates, contracts, parties,
// templates, rounds, rewards, validators, names and governance, each as of any instant.
package explorer

import (
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the explorer reads.
type Config struct {
	History *history.Reader // required
	Metrics *metrics.Reader // required
	Tables  *tables.Reader  // required
}

// Explorer makes the pages.
type Explorer struct{ cfg Config }

// New returns the explorer of some readers.
func New(cfg Config) *Explorer { return &Explorer{cfg} }

// Routes are the pages.
func (e *Explorer) Routes(p *page.Pages) []query.Route {
	return []query.Route{
		p.Get("/", "home", e.home),
	}
}
