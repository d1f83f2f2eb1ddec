// Package parties has the pages of parties, with their holdings, history and statements, and of templates and packages.
package parties

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct{}

// Parties makes the pages.
type Parties struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Parties { return &Parties{cfg} }

// Routes are the pages.
func (s *Parties) Routes(p *page.Pages) []query.Route { return nil }
