// Package network has the pages of what the network is: rounds, rewards, validators, traffic, names and governance.
package network

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct{}

// Network makes the pages.
type Network struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Network { return &Network{cfg} }

// Routes are the pages.
func (s *Network) Routes(p *page.Pages) []query.Route { return nil }
