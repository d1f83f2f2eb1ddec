package wallet

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// trafficForm is what traffic is bought with.
type trafficForm struct {
	once, receiver, bytes          string
	receiverProblem, bytesProblem  string
	denied                         string
	dollars, coins, least, balance string
	price                          string // of a megabyte, in words
	expires                        schemas.Micros
}

func (f *trafficForm) bad() bool { return f.receiverProblem+f.bytesProblem+f.denied != "" }

// trafficLasts is how long a request for traffic waits for the operator to buy it.
const trafficLasts = schemas.Micros(time.Hour / time.Microsecond)

// maxTraffic is the most bytes of one purchase, a terabyte.
const maxTraffic = 1_000_000_000_000

// traffic is the form to buy traffic with.
func (w *Wallet) traffic(ctx context.Context, v *visit) (page.Page, error) {
	return showTraffic(ctx, v, trafficForm{once: page.Once(), receiver: v.party, bytes: "1000000"})
}

func showTraffic(ctx context.Context, v *visit, form trafficForm) (page.Page, error) {
	market, _, err := marketOf(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	form.least = market.LeastTraffic
	if form.price, err = priceText(market); err != nil {
		return page.Page{}, err
	}
	if form.bad() {
		return failed(v, "Traffic", trafficPage(v, form))
	}
	return made(v, "Traffic", trafficPage(v, form))
}

// marketOf is what things cost, and what the user has.
func marketOf(ctx context.Context, v *visit) (m walletapi.Market, b walletapi.Balance, err error) {
	if b, err = v.user.Balance(ctx); err != nil {
		return m, b, err
	}
	m, err = v.user.Market(ctx, b.Round)
	return m, b, err
}

// priceText says what a megabyte costs.
func priceText(m walletapi.Market) (string, error) {
	dollars, coins, err := trafficCost(1_000_000, m)
	switch {
	case err != nil || dollars == "":
		return "", err
	case coins == "":
		return "A megabyte costs " + page.Grouped(dollars) + " USD.", nil
	}
	return "A megabyte costs " + page.Grouped(dollars) + " USD, which is " + page.Grouped(coins) + " coins now.", nil
}

// entered reads the form, and what it asks for.
func (w *Wallet) entered(ctx context.Context, v *visit) (form trafficForm, t walletapi.Traffic, market walletapi.Market, err error) {
	form = trafficForm{once: onceOf(v), receiver: v.Field("receiver"), bytes: v.Field("bytes")}
	market, balance, err := marketOf(ctx, v)
	if err != nil {
		return form, t, market, err
	}
	form.balance = balance.Unlocked
	bytes, err := strconv.ParseInt(form.bytes, 10, 64)
	least, _ := strconv.ParseInt(market.LeastTraffic, 10, 64) // 0 if the network does not say
	if err != nil || bytes < max(least, 1) || bytes > maxTraffic {
		form.bytesProblem = fmt.Sprintf("Enter a number of bytes, from %d to %d.", max(least, 1), int64(maxTraffic))
	}
	if !parties.MatchString(form.receiver) {
		form.receiverProblem = "Enter the id of a party: traffic is for the validator that hosts it."
	}
	form.expires = w.now(v) + trafficLasts
	if at, err := strconv.ParseInt(v.Field("expires"), 10, 64); err == nil && schemas.Micros(at) <= form.expires {
		form.expires = schemas.Micros(at)
	}
	return form, walletapi.Traffic{Receiver: form.receiver, Synchronizer: market.Synchronizer, ID: form.once, Bytes: bytes, Expires: form.expires}, market, nil
}

// checkTraffic shows what it costs.
func (w *Wallet) checkTraffic(ctx context.Context, v *visit) (page.Page, error) {
	form, t, market, err := w.entered(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if form.bad() {
		return showTraffic(ctx, v, form)
	}
	if form.dollars, form.coins, err = trafficCost(t.Bytes, market); err != nil {
		return page.Page{}, err
	}
	return made(v, "Confirm", confirmTraffic(v, form))
}

// buyTraffic asks for it, once for each form.
func (w *Wallet) buyTraffic(ctx context.Context, v *visit) (page.Page, error) {
	form, t, _, err := w.entered(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if !form.bad() {
		err = v.user.BuyTraffic(ctx, t)
		if err == nil || walletapi.Is(err, query.AlreadyExists) || walletapi.Is(err, query.RateLimited) {
			return page.Page{See: "/wallet/traffic/" + url.PathEscape(t.ID) + "?new=1"}, nil
		}
		var ok bool
		if form.denied, ok = told(err); !ok {
			return page.Page{}, err
		}
	}
	return showTraffic(ctx, v, form)
}

// trafficStates are the states of requests for traffic, in words.
var trafficStates = map[string]stateView{
	"created":   {label: "waiting", class: "warn", text: "The operator's automation buys it as soon as it can.", waits: true},
	"completed": {label: "bought", class: "good", text: "The traffic is bought."},
	"expired":   {label: "expired", class: "bad", text: "It has expired. Nothing was bought."},
	"rejected":  {label: "rejected", class: "bad", text: "It was refused. Nothing was bought."},
}

// trafficState tells how a request stands, by its tracking id.
func (w *Wallet) trafficState(ctx context.Context, v *visit) (page.Page, error) {
	id, err := v.Path("id")
	if err != nil {
		return page.Page{}, err
	}
	status, err := v.user.TrafficStatus(ctx, id)
	if walletapi.Is(err, query.NotFound) && v.Param("new") != "" {
		return showState(v, stateView{label: "being made", class: "warn", text: "It is not on the ledger yet.", waits: true}, "Traffic")
	}
	if walletapi.Is(err, query.NotFound) {
		return page.Page{}, page.Missing("No request of yours for traffic has this tracking id. One that you have just made may take a moment: reload the page.")
	}
	if err != nil {
		return page.Page{}, err
	}
	name := status.Status
	if name == "failed" {
		name = status.Failure
	}
	view := trafficStates[name]
	view.update = status.Update
	view.facts = []fact{{label: "Tracking id", text: id}}
	if status.Rejection != "" {
		view.facts = append(view.facts, fact{label: "Reason", text: status.Rejection})
	}
	return showState(v, view, "Traffic")
}
