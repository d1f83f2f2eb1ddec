// Package parties has the pages of parties, with their holdings, history and statements, and of templates and packages.
package parties

import (
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/inventory"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read. All members are required.
type Config struct {
	Accounts  *accounts.Reader
	Network   *network.Reader
	Explore   *explore.Reader
	Inventory *inventory.Reader
	Tables    *tables.Reader
}

// Parties makes the pages.
type Parties struct {
	cfg    Config
	counts *counts
}

// New returns the pages over some readers.
func New(cfg Config) *Parties { return &Parties{cfg, newCounts(cfg)} }

// pageRows is how many rows a page of a list has.
const pageRows = 50

// Routes are the pages.
func (s *Parties) Routes(p *page.Pages) []query.Route {
	const party, template = "/party/{party}", "/template/{template}"
	return []query.Route{
		p.Get(party, "party", s.overview),
		p.Stream(party+"/balance.json", "party.balance", query.Light, s.balance),
		p.Get(party+"/updates", "party.updates", s.updates),
		p.Get(party+"/movements", "party.movements", s.movements),
		p.Get(party+"/counterparties", "party.counterparties", s.counterparties),
		p.Get(party+"/rewards", "party.rewards", s.rewards),
		p.Stream(party+"/statement.csv", "party.statement", query.Dump, s.statement(newCSV)),
		p.Stream(party+"/statement.parquet", "party.statement_parquet", query.Dump, s.statement(newParquet)),
		p.Get("/templates", "templates", s.templates),
		p.Get(template, "template", s.template),
		p.Get("/packages", "packages", s.packages),
	}
}
