package parties

import (
	"context"
	"net/url"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxID is more bytes than an id of the network has.
const maxID = 1000

// head is what all pages of a party begin with.
type head struct {
	account accounts.Account
	// balances are those of all instruments, held or not, and now is that of the account.
	balances []accounts.Balance
	now      accounts.Balance
	// first and last are when the party was seen in an event, zero if it never was.
	first, last schemas.Micros
	tab         string
}

// tabs are the pages of a party: the end of the path, and what it is called.
var tabs = [][2]string{{"", "Overview"}, {"/updates", "Updates"}, {"/movements", "Movements"}, {"/counterparties", "Counterparties"}, {"/rewards", "Rewards"}}

// path is the address of a page of the party, for the same instrument.
func (h *head) path(tab string, more ...string) string {
	params := url.Values{}
	for i := 0; i < len(more); i += 2 {
		params.Set(more[i], more[i+1])
	}
	if len(h.balances) > 0 && h.account.Instrument != preferred(h.balances) {
		params.Set("instrument", h.account.Instrument)
	}
	path := page.PartyPath(h.account.Party) + tab
	if len(params) > 0 {
		path += "?" + params.Encode()
	}
	return path
}

// preferred is the instrument that is shown where none is named: the coin, if there is one.
func preferred(list []accounts.Balance) string {
	if coin, ok := accounts.Coin(list); ok {
		return coin.Instrument
	}
	if len(list) > 0 {
		return list[0].Instrument
	}
	return ""
}

// open reads which party, instrument and instant a page is for. A party that history does not have is an error.
func (s *Parties) open(ctx context.Context, v *page.View, tab string) (h head, err error) {
	if h, err = s.account(ctx, v); err != nil {
		return h, err
	}
	h.tab = tab
	if h.first, h.last, err = s.seen(ctx, h); err != nil {
		return h, err
	}
	if h.first == 0 && len(h.balances) == 0 {
		return h, page.Missing("History does not have this party at this time. A party's id is its name, two colons and a fingerprint.")
	}
	return h, nil
}

// account reads the balances of the party that the path names, and chooses the instrument.
func (s *Parties) account(ctx context.Context, v *page.View) (h head, err error) {
	party, err := v.Path("party")
	if err != nil {
		return h, err
	}
	instrument := v.Param("instrument")
	if len(party) > maxID || len(instrument) > 2*maxID {
		return h, query.Errorf(query.Invalid, "An id has at most %d characters.", maxID)
	}
	if h.balances, err = s.cfg.Accounts.Balances(ctx, party, v.Instant()); err != nil {
		return h, err
	}
	if instrument == "" {
		instrument = preferred(h.balances)
	}
	h.account = accounts.Account{Party: party, Instrument: instrument, At: v.Instant()}
	if i := slices.IndexFunc(h.balances, func(b accounts.Balance) bool { return b.Instrument == instrument }); i >= 0 {
		h.now = h.balances[i]
	} else if v.Param("instrument") != "" {
		return h, page.Missing("This party has never held this instrument.")
	}
	return h, nil
}

// seen is when the party was seen first and last, in an event or by a change of what it holds.
func (s *Parties) seen(ctx context.Context, h head) (first, last schemas.Micros, err error) {
	first, last, _, err = s.cfg.Accounts.Span(ctx, h.account.Party, h.account.At)
	for _, b := range h.balances {
		if b.First > store.BeforeHistory && (first == 0 || b.First < first) {
			first = b.First
		}
		last = max(last, b.Last)
	}
	return first, last, err
}

// overviewView is the first page of a party.
type overviewView struct {
	head
	roles    []role
	names    []network.Name
	holdings []network.Holding
	older    string
	points   []accounts.Point
	at       schemas.Micros
}

// role is what a party is in the network.
type role struct{ label, note, path string }

// overview is what a party is and holds.
func (s *Parties) overview(ctx context.Context, v *page.View) (page.Page, error) {
	h, err := s.open(ctx, v, "")
	if err != nil {
		return page.Page{}, err
	}
	before, ok := network.ParseKey(v.Param("before"))
	if !ok {
		return page.Page{}, errPlace
	}
	view := overviewView{head: h, at: h.account.At}
	at, ok, err := s.cfg.Network.Instant(ctx, v.Instant())
	if err != nil {
		return page.Page{}, err
	}
	group, groupCtx := guard.WithContext(ctx)
	if ok {
		group.Go(func() (err error) { view.roles, err = s.roles(groupCtx, at, h.account.Party); return err })
		group.Go(func() (err error) { view.names, err = s.cfg.Network.NamesOf(groupCtx, at, h.account.Party); return err })
		group.Go(func() (err error) {
			var next *network.Key
			view.holdings, next, err = s.cfg.Network.Holdings(groupCtx, at, h.account.Party, before, pageRows)
			if next != nil {
				view.older = h.path("", "before", next.String())
			}
			return err
		})
	}
	group.Go(func() (err error) {
		view.points, err = s.cfg.Accounts.Series(groupCtx, h.account, shownPoints)
		return err
	})
	if err := group.Wait(); err != nil {
		return page.Page{}, err
	}
	slices.Reverse(view.points)
	return page.Page{Title: page.Name(h.account.Party), Body: overview(v, view)}, nil
}

// errPlace answers for a place in a list that no page has named.
var errPlace = query.Errorf(query.Invalid, "This is not the address of a part of the list. Start at its beginning.")

// roles are what a party is in the network at an instant.
func (s *Parties) roles(ctx context.Context, at network.Instant, party string) ([]role, error) {
	var list []role
	rules, err := s.cfg.Network.Rules(ctx, at)
	if err != nil {
		return nil, err
	}
	if rules.Governance == party {
		list = append(list, role{"Governance", "the party that governs the network", "/governance"})
	}
	if o, ok := rules.Operator(party); ok {
		list = append(list, role{"Operator", o.Name, "/governance"})
	}
	licenses, err := s.cfg.Network.LicensesOf(ctx, at, party)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(licenses, func(l network.License) bool { return l.Validator == party }) {
		list = append(list, role{"Validator", "has a licence", "/validators"})
	}
	rights, err := s.cfg.Network.FeaturedApps(ctx, at, party)
	if err == nil && len(rights) > 0 {
		list = append(list, role{"Featured app", "its app is featured", page.ContractPath(rights[0].ID())})
	}
	return list, err
}

const (
	// shownPoints are about how many balances the table of the overview has, and drawnPoints the chart.
	shownPoints = 30
	drawnPoints = 500
)

// chartAnswer is what charts draw: see console.js.
type chartAnswer struct {
	Times  []int64     `json:"times"`
	Series []chartLine `json:"series"`
}

type chartLine struct {
	Label  string   `json:"label"`
	Values []string `json:"values"`
}

// balance serves the balance of an account over time to its chart.
func (s *Parties) balance(ctx context.Context, v *page.View) error {
	h, err := s.account(ctx, v)
	if err != nil {
		return err
	}
	points, err := s.cfg.Accounts.Series(ctx, h.account, drawnPoints)
	if err != nil {
		return err
	}
	answer := chartAnswer{[]int64{}, []chartLine{{"Unlocked", []string{}}, {"Locked", []string{}}, {"Total", []string{}}}}
	for _, p := range points {
		answer.Times = append(answer.Times, int64(p.Time)/1e6)
		for i, amount := range []string{p.Unlocked.String(), p.Locked.String(), p.Unlocked.Plus(p.Locked).String()} {
			answer.Series[i].Values = append(answer.Series[i].Values, amount)
		}
	}
	v.SetHeader("Cache-Control", "no-store")
	return v.JSON(answer)
}
