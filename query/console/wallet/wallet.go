// Package wallet has the pages of the wallet. It works through the validator interface with the token of who has signed
// in, so that rights and rules are those of that interface.
package wallet

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Config says what the pages work through.
type Config struct {
	// Client is the validator interface; nil where there is none, and then there are no pages.
	Client *walletapi.Client
	// Development says that coins can be had for nothing.
	Development bool
	// Automations tells what the automations of all wallets would do; nil where none can be asked.
	Automations func(ctx context.Context) ([]Step, error)
	// Now defaults to time.Now.
	Now func() time.Time
}

// Step is something that an automation would do, or leaves, and why.
type Step struct {
	Automation, User string
	Do               bool
	What, Why        string
}

// Wallet makes the pages.
type Wallet struct{ cfg Config }

// New returns the pages over an interface.
func New(cfg Config) *Wallet {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Wallet{cfg}
}

// Routes are the pages.
func (w *Wallet) Routes(p *page.Pages) []query.Route {
	if w.cfg.Client == nil {
		return nil
	}
	routes := []query.Route{
		p.Get("/wallet/welcome", "wallet.welcome", w.signedIn(w.welcome)),
		p.Post("/wallet/register", "wallet.register", w.signedIn(w.register)),
		p.Stream("/wallet/history.csv", "wallet.history_csv", query.Dump, w.export),
	}
	for path, h := range map[string]visitor{
		"": w.overview, "/coins": w.coins, "/send": w.send, "/offer/{id}": w.offerState, "/transfer/{id}": w.transferState,
		"/transfers": w.transfers, "/requests": w.requests, "/delegations": w.delegations, "/do/{kind}/{action}/{id}": w.decide,
		"/history": w.history, "/traffic": w.traffic, "/traffic/{id}": w.trafficState, "/preapproval": w.preapproval,
		"/names": w.names, "/rewards": w.rewards, "/automations": w.automations,
	} {
		routes = append(routes, p.Get("/wallet"+path, "wallet"+routeName(path), w.owner(h)))
	}
	for path, h := range map[string]visitor{
		"/tap": w.tap, "/send/check": w.checkSend, "/send": w.doSend, "/do/{kind}/{action}/{id}": w.doDecide, "/traffic/check": w.checkTraffic, "/traffic": w.buyTraffic,
		"/preapproval": w.requestPreapproval, "/names": w.requestName,
	} {
		routes = append(routes, p.Post("/wallet"+path, "wallet"+routeName(path)+".post", w.owner(h)))
	}
	return routes
}

// visit is a request of somebody who has signed in.
type visit struct {
	*page.View
	user *walletapi.User
	// party is that of the user's own wallet, "" before there is one. No page takes a party from its address.
	party string
}

// visitor answers a visit.
type visitor func(ctx context.Context, v *visit) (page.Page, error)

// signedIn sends those who have no session to sign in, and back here.
func (w *Wallet) signedIn(h visitor) page.Handler {
	return func(ctx context.Context, v *page.View) (page.Page, error) {
		if v.Who == nil {
			return page.Page{See: "/login?back=" + url.QueryEscape(v.Way())}, nil
		}
		return h(ctx, &visit{View: v, user: w.cfg.Client.As(v.Who.Token)})
	}
}

// owner sends those who have no wallet to get one.
func (w *Wallet) owner(h visitor) page.Handler {
	return w.signedIn(func(ctx context.Context, v *visit) (page.Page, error) {
		status, err := v.user.Status(ctx)
		switch {
		case walletapi.Is(err, query.Unauthenticated) && v.Method() == "GET":
			return page.Page{See: "/login?back=" + url.QueryEscape(v.Way())}, nil
		case err != nil:
			return page.Page{}, err
		case !status.Onboarded || !status.Installed:
			return page.Page{See: "/wallet/welcome"}, nil
		}
		v.party = status.Party
		return h(ctx, v)
	})
}

// made is a page of the wallet.
func made(v *visit, title string, body templ.Component) (page.Page, error) {
	return page.Page{Title: title + " · Wallet", Section: page.Wallet, Body: screen(v, body)}, nil
}

// failed is the page of a form that was not accepted.
func failed(v *visit, title string, body templ.Component) (page.Page, error) {
	p, err := made(v, title, body)
	p.Code = 400
	return p, err
}

// see goes to another page of the wallet, which tells that something is done; see doneTexts.
func see(path, done string) (page.Page, error) {
	if done != "" {
		path += "?done=" + done
	}
	return page.Page{See: path}, nil
}

// now is the time of the ledger, as near as it is known: expiries are compared with it.
func (w *Wallet) now(v *visit) schemas.Micros {
	return max(schemas.MicrosOf(w.cfg.Now()), v.Status.Through)
}

// tab is an entry of the wallet's own navigation.
type tab struct{ label, path string }

// tabs are those that a visitor has.
func tabs(v *visit) []tab {
	list := []tab{
		{"Balance", "/wallet"}, {"Send", "/wallet/send"}, {"Offers and transfers", "/wallet/transfers"}, {"History", "/wallet/history"},
		{"Requests", "/wallet/requests"}, {"Preapproval", "/wallet/preapproval"}, {"Names", "/wallet/names"}, {"Traffic", "/wallet/traffic"},
		{"Rewards", "/wallet/rewards"}, {"Delegations", "/wallet/delegations"},
	}
	if v.Who.Admin {
		list = append(list, tab{"Automations", "/wallet/automations"})
	}
	return list
}

// current reports whether a tab is the one of a visit.
func current(v *visit, t tab) bool { return v.Way() == t.path || pathOf(v) == t.path }

// pathOf is the path of a visit without parameters.
func pathOf(v *visit) string {
	u, err := url.Parse(v.Way())
	if err != nil {
		return ""
	}
	return u.Path
}

// doneTexts are what pages say after something was done.
var doneTexts = map[string]string{
	"registered": "You have a wallet now.", "tap": "The coins are yours.", "sent": "Sent. It is the first entry below as soon as the network has told so.",
	"preapproval": "You have asked for a preapproval.", "preapproval-there": "You have a preapproval already.",
	"requested": "Done. What waits for you is below.", "done": "Done.",
}

// doneText is what this page says.
func doneText(v *visit) string { return doneTexts[v.Param("done")] }

// newest sorts items so that the newest come first.
func newest(items []walletapi.Item) []walletapi.Item {
	slices.SortStableFunc(items, func(a, b walletapi.Item) int { return int(min(max(b.Created-a.Created, -1), 1)) })
	return items
}
