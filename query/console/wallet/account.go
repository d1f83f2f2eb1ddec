package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// overviewView is the first page of a wallet.
type overviewView struct {
	balance walletapi.Balance
	market  walletapi.Market
	total   string
	dollars string // "" where no price is known
	waiting int    // offers and transfers to decide on
	entries []entryRow
	tap     tapView
	canTap  bool
}

// latestEntries is how many entries of the history the overview shows.
const latestEntries = 8

// overview is what a user owns and what waits for them.
func (w *Wallet) overview(ctx context.Context, v *visit) (page.Page, error) {
	view, err := w.overviewOf(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	view.tap = tapView{id: page.Once(), amount: "100"}
	return made(v, "Balance", overview(v, view))
}

func (w *Wallet) overviewOf(ctx context.Context, v *visit) (view overviewView, err error) {
	view.canTap = w.cfg.Development
	var offers, transfers []walletapi.Item
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		if view.balance, err = v.user.Balance(ctx); err != nil {
			return err
		}
		// Without public history there is a balance, but no price.
		view.market, err = v.user.Market(ctx, view.balance.Round)
		if walletapi.Is(err, query.NotFound) || walletapi.Is(err, query.Unavailable) {
			return nil
		}
		return err
	})
	group.Go(func() (err error) { offers, err = v.user.Offers(ctx); return err })
	group.Go(func() (err error) { transfers, err = v.user.Transfers(ctx); return err })
	group.Go(func() error {
		entries, err := v.user.History(ctx, "", latestEntries)
		if err == nil {
			view.entries, err = rowsOf(v.party, entries)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return view, err
	}
	for _, i := range append(offers, transfers...) {
		if i.To == v.party {
			view.waiting++
		}
	}
	view.total, view.dollars, err = worth(view.balance, view.market.Price)
	return view, err
}

// worth adds up a balance, and tells it in dollars if there is a price.
func worth(b walletapi.Balance, price string) (total, dollars string, err error) {
	unlocked, err := decimal.Parse(b.Unlocked)
	if err != nil {
		return "", "", err
	}
	locked, err := decimal.Parse(b.Locked)
	if err != nil {
		return "", "", err
	}
	sum := unlocked.Plus(locked)
	if price == "" {
		return sum.Short(), "", nil
	}
	each, err := decimal.Parse(price)
	if err != nil {
		return "", "", err
	}
	return sum.Short(), cents(sum.Times(each)), nil
}

// cents is an amount of dollars with two digits after the point, rounded down: dollars are not paid here.
func cents(d decimal.Decimal) string {
	text := d.String()
	return text[:len(text)-8]
}

// coins are the coins that the balance is made of.
func (w *Wallet) coins(ctx context.Context, v *visit) (page.Page, error) {
	coins, _, err := v.user.Coins(ctx)
	if err != nil {
		return page.Page{}, err
	}
	shown := min(len(coins), maxCoins)
	return made(v, "Coins", coinsPage(v, coins[:shown], len(coins)))
}

// maxCoins is how many coins are shown; automations keep wallets far below.
const maxCoins = 500

// tapView is the form by which a development network gives coins.
type tapView struct{ id, amount, problem string }

// tap asks for coins on a development network.
func (w *Wallet) tap(ctx context.Context, v *visit) (page.Page, error) {
	form := tapView{id: onceOf(v), amount: v.Field("amount")}
	if form.problem = amountProblem(form.amount); form.problem == "" {
		err := v.user.Tap(ctx, form.amount, form.id)
		if err == nil || walletapi.Is(err, query.AlreadyExists) {
			return see("/wallet", "tap")
		}
		var ok bool
		if form.problem, ok = told(err); !ok {
			return page.Page{}, err
		}
	}
	view, err := w.overviewOf(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	view.tap = form
	return failed(v, "Balance", overview(v, view))
}

// welcome offers a wallet to a user who has none.
func (w *Wallet) welcome(ctx context.Context, v *visit) (page.Page, error) {
	status, err := v.user.Status(ctx)
	switch {
	case err != nil:
		return page.Page{}, err
	case status.Onboarded && status.Installed:
		return page.Page{See: "/wallet"}, nil
	}
	return page.Page{Title: "Welcome · Wallet", Section: page.Wallet, Body: welcome(v)}, nil
}

// register gives a user a wallet. One who has one keeps it.
func (w *Wallet) register(ctx context.Context, v *visit) (page.Page, error) {
	if err := v.user.Register(ctx); err != nil {
		return page.Page{}, err
	}
	return see("/wallet", "registered")
}
