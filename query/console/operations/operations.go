// Package operations has the pages for those who run this instance: streams, jobs, services and settings.
package operations

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct{}

// Operations makes the pages.
type Operations struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Operations { return &Operations{cfg} }

// Routes are the pages.
func (s *Operations) Routes(p *page.Pages) []query.Route { return nil }
