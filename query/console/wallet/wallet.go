// Package wallet has the pages of the wallet. It works through the validator interface with the token of who has signed
// in, so that rights and rules are those of that interface.
package wallet

import (
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages read.
type Config struct{}

// Wallet makes the pages.
type Wallet struct{ cfg Config }

// New returns the pages over some readers.
func New(cfg Config) *Wallet { return &Wallet{cfg} }

// Routes are the pages.
func (s *Wallet) Routes(p *page.Pages) []query.Route { return nil }
