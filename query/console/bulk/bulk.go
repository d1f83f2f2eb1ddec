// Package bulk has the pages of the published files: what is covered by which, with sizes and digests, and what is in them.
package bulk

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct{}

// Bulk makes the pages.
type Bulk struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Bulk { return &Bulk{cfg} }

// Routes are the pages.
func (s *Bulk) Routes(p *page.Pages) []query.Route { return nil }
