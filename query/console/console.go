package console

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/boards"
	"github.com/ledgerlake/ledgerlake/query/console/bulk"
	"github.com/ledgerlake/ledgerlake/query/console/explorer"
	"github.com/ledgerlake/ledgerlake/query/console/login"
	"github.com/ledgerlake/ledgerlake/query/console/network"
	"github.com/ledgerlake/ledgerlake/query/console/operations"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/parties"
	"github.com/ledgerlake/ledgerlake/query/console/wallet"
)

// Config says what the console reads and offers.
type Config struct {
	Pages      page.Config
	Explorer   explorer.Config
	Parties    parties.Config
	Network    network.Config
	Boards     boards.Config
	Bulk       bulk.Config
	Operations operations.Config
	Login      login.Config
	Wallet     wallet.Config
}

// Console is the pages of a server. It is safe for concurrent use.
type Console struct {
	pages  *page.Pages
	routes []query.Route
}

// New checks the configuration.
func New(cfg Config) (*Console, error) {
	signIn := login.New(cfg.Login)
	cfg.Pages.Renew = signIn.Renew
	pages, err := page.New(cfg.Pages)
	if err != nil {
		return nil, err
	}
	return &Console{pages, slices.Concat(
		page.Assets(), []query.Route{pages.Theme()},
		explorer.New(cfg.Explorer).Routes(pages),
		parties.New(cfg.Parties).Routes(pages),
		network.New(cfg.Network).Routes(pages),
		boards.New(cfg.Boards).Routes(pages),
		bulk.New(cfg.Bulk).Routes(pages),
		operations.New(cfg.Operations).Routes(pages),
		signIn.Routes(pages),
		wallet.New(cfg.Wallet).Routes(pages),
	)}, nil
}

// Mount returns the pages, which are at the root of their listener.
func (c *Console) Mount() query.Mount { return query.Mount{Prefixes: []string{""}, Routes: c.routes} }

// Errors is the form of answers to paths that nobody has.
func (c *Console) Errors(r *query.Request, err error) query.ErrorAnswer {
	return c.pages.Unrouted(r, err)
}
