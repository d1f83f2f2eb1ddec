package wallet

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
)

// kind is a kind of contracts that users decide on.
type kind struct {
	name, title string
	// nothing is what its empty list says.
	nothing string
	list    func(ctx context.Context, v *visit) ([]walletapi.Item, error)
	actions []action
	// back is the page that has the list.
	back string
}

// action is something that a user can do with one of them.
type action struct {
	name, label string
	// effect is what will happen.
	effect string
	bad    bool
	// by says who may: the "sender", the "receiver", or both for "".
	by string
	do func(ctx context.Context, v *visit, i walletapi.Item) error
	// after is where to go once it is done, "" for the list.
	after func(i walletapi.Item) string
}

// below does an action of the interface, whose operations are below a path.
func below(path, name string) func(context.Context, *visit, walletapi.Item) error {
	return func(ctx context.Context, v *visit, i walletapi.Item) error { return v.user.Act(ctx, path, i.ID, name) }
}

func offerPage(i walletapi.Item) string {
	return "/wallet/offer/" + url.PathEscape(i.Tracking) + "?new=1"
}
func transferPage(i walletapi.Item) string {
	return "/wallet/transfer/" + url.PathEscape(i.ID) + "?new=1"
}

// own lists what a method of the interface gives.
func own(list func(*walletapi.User, context.Context) ([]walletapi.Item, error)) func(context.Context, *visit) ([]walletapi.Item, error) {
	return func(ctx context.Context, v *visit) ([]walletapi.Item, error) {
		items, err := list(v.user, ctx)
		return newest(items), err
	}
}

const (
	offersPath     = "/v0/wallet/transfer-offers"
	tokensPath     = "/v2/wallet/token-standard/transfers"
	paymentsPath   = "/v0/wallet/app-payment-requests"
	subscribePath  = "/v0/wallet/subscription-requests"
	proposalsPath  = "/v0/wallet/minting-delegation-proposals"
	delegatesPath  = "/v0/wallet/minting-delegations"
	transfersBack  = "/wallet/transfers"
	requestsBack   = "/wallet/requests"
	delegatesBack  = "/wallet/delegations"
	senderDoes     = "sender"
	receiverDoes   = "receiver"
	withdrawEffect = "It ends, and the coins that are locked for it come back to you."
)

// kinds are all, in the order of their pages.
var kinds = []kind{
	{name: "offers", title: "Offers", nothing: "No open offers.", list: own((*walletapi.User).Offers), back: transfersBack, actions: []action{
		{name: "accept", label: "Accept", by: receiverDoes, effect: "You accept the offer. The sender's validator pays you as soon as it can, if the sender has the coins then.", do: below(offersPath, "accept"), after: offerPage},
		{name: "reject", label: "Reject", by: receiverDoes, bad: true, effect: "You reject the offer. Nothing is paid.", do: below(offersPath, "reject"), after: offerPage},
		{name: "withdraw", label: "Withdraw", by: senderDoes, bad: true, effect: "You withdraw the offer. Nothing is paid.", do: below(offersPath, "withdraw"), after: offerPage},
	}},
	{name: "transfers", title: "Transfers by the token standard", nothing: "No open transfers.", list: own((*walletapi.User).Transfers), back: transfersBack, actions: []action{
		{name: "accept", label: "Accept", by: receiverDoes, effect: "You accept the transfer, and have its coins at once.", do: below(tokensPath, "accept"), after: transferPage},
		{name: "reject", label: "Reject", by: receiverDoes, bad: true, effect: "You reject the transfer. The coins go back to the sender.", do: below(tokensPath, "reject"), after: transferPage},
		{name: "withdraw", label: "Withdraw", by: senderDoes, bad: true, effect: "You withdraw the transfer. " + withdrawEffect, do: below(tokensPath, "withdraw"), after: transferPage},
	}},
	{name: "accepted", title: "Accepted offers", nothing: "No accepted offers wait to be paid.", list: own((*walletapi.User).AcceptedOffers), back: transfersBack},
	{name: "payments", title: "Payments that apps ask for", nothing: "No app asks for a payment.", list: own((*walletapi.User).AppPayments), back: requestsBack, actions: []action{
		{name: "accept", label: "Pay", by: senderDoes, effect: "You pay. The coins are locked until the app collects them, or gives them back.", do: below(paymentsPath, "accept")},
		{name: "reject", label: "Reject", by: senderDoes, bad: true, effect: "You do not pay. The request is gone.", do: below(paymentsPath, "reject")},
	}},
	{name: "paid", title: "Payments that wait to be collected", nothing: "No payment waits.", list: own((*walletapi.User).AcceptedAppPayments), back: requestsBack},
	{name: "subscription-requests", title: "Subscriptions that you are asked to pay for", nothing: "No subscription waits for you.", list: own((*walletapi.User).SubscriptionRequests), back: requestsBack, actions: []action{
		{name: "accept", label: "Subscribe", by: senderDoes, effect: "You make the first payment, whose coins are locked until they are collected. From then on your validator pays each time it is due, until you cancel.", do: below(subscribePath, "accept")},
		{name: "reject", label: "Reject", by: senderDoes, bad: true, effect: "You do not subscribe. The request is gone.", do: below(subscribePath, "reject")},
	}},
	{name: "first-payments", title: "First payments that wait to be collected", nothing: "No first payment waits.", list: own((*walletapi.User).FirstPayments), back: requestsBack},
	{name: "subscriptions", title: "Subscriptions", nothing: "You have no subscriptions.", list: own((*walletapi.User).Subscriptions), back: requestsBack, actions: []action{
		{name: "cancel", label: "Cancel", bad: true, effect: "Nothing more is paid. What was paid for stays until it ends.", do: func(ctx context.Context, v *visit, i walletapi.Item) error {
			return v.user.CancelSubscription(ctx, i.ID)
		}},
	}},
	{name: "allocation-requests", title: "Settlements that ask for coins", nothing: "No app asks for an allocation.", list: allocationRequests, back: requestsBack, actions: []action{
		{name: "allocate", label: "Allocate", effect: "Your coins for its legs are locked until it is settled, or its time is over.", do: allocate},
		{name: "reject", label: "Reject", bad: true, effect: "You refuse. Nothing is locked.", do: rejectRequest},
	}},
	{name: "allocations", title: "Coins allocated to settlements", nothing: "No coins are allocated.", list: own((*walletapi.User).Allocations), back: requestsBack, actions: []action{
		{name: "withdraw", label: "Withdraw", bad: true, effect: withdrawEffect, do: below("/v2/allocations", "withdraw")},
	}},
	{name: "proposals", title: "Proposals to collect rewards for others", nothing: "Nobody proposes a delegation.", list: own((*walletapi.User).MintingProposals), back: delegatesBack, actions: []action{
		{name: "accept", label: "Accept", effect: "Your wallet collects the rewards of the beneficiary and merges their coins, until the delegation expires or is ended. One that you have for the same beneficiary is replaced.", do: below(proposalsPath, "accept")},
		{name: "reject", label: "Reject", bad: true, effect: "The proposal is gone.", do: below(proposalsPath, "reject")},
	}},
	{name: "delegations", title: "Delegations", nothing: "You collect rewards for nobody else.", list: own((*walletapi.User).MintingDelegations), back: delegatesBack, actions: []action{
		{name: "end", label: "End", bad: true, effect: "Your wallet does not collect rewards for the beneficiary any more.", do: below(delegatesPath, "reject")},
	}},
}

// kindOf finds a kind by its name.
func kindOf(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// offered are the actions that a visitor has with an item.
func (k *kind) offered(v *visit, i *walletapi.Item) (list []action) {
	for _, a := range k.actions {
		mine := a.by == "" || a.by == senderDoes && i.From == v.party || a.by == receiverDoes && i.To == v.party
		// The second version of the token standard is allocated by apps.
		if mine && i.ID != "" && (a.name != "allocate" || i.Version == 1) {
			list = append(list, a)
		}
	}
	return list
}

func allocationRequests(ctx context.Context, v *visit) ([]walletapi.Item, error) {
	requests, err := v.user.AllocationRequests(ctx, v.party)
	if walletapi.Is(err, query.Disabled) {
		return nil, nil // only the node can tell, and it may not be asked
	}
	items := make([]walletapi.Item, len(requests))
	for n := range requests {
		items[n] = requests[n].Item
		for _, leg := range requests[n].Legs {
			items[n].More = append(items[n].More, "Leg "+leg.ID, leg.Amount+" coins to "+leg.Receiver)
		}
	}
	return newest(items), err
}

// allocate locks coins for all legs of a request of which the visitor is the sender. One that was
// allocated before is not allocated again: see the interface.
func allocate(ctx context.Context, v *visit, i walletapi.Item) error {
	requests, err := v.user.AllocationRequests(ctx, v.party)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(requests, func(r walletapi.AllocationRequest) bool { return r.ID == i.ID })
	if n < 0 {
		return page.Missing("The request is not open any more.")
	}
	for _, leg := range requests[n].Legs {
		if err := v.user.Allocate(ctx, &requests[n], leg); err != nil {
			return err
		}
	}
	return nil
}

func rejectRequest(ctx context.Context, v *visit, i walletapi.Item) error {
	version := "/v0"
	if i.Version == 2 {
		version = "/v2"
	}
	return v.user.Act(ctx, version+"/wallet/token-standard/allocation-requests", i.ID, "reject")
}

// listView is a list of one kind.
type listView struct {
	kind  kind
	title string
	rows  []itemRow
}

// itemRow is a row of it.
type itemRow struct {
	item    walletapi.Item
	actions []action
	// over says that its time is over.
	over bool
}

// listOf reads a list; those that keep may leave out are left out.
func (w *Wallet) listOf(ctx context.Context, v *visit, name, title string, keep func(*walletapi.Item) bool) (view listView, err error) {
	view.kind, _ = kindOf(name)
	if view.title = title; title == "" {
		view.title = view.kind.title
	}
	items, err := view.kind.list(ctx, v)
	if err != nil {
		return view, fmt.Errorf("listing %s: %w", name, err)
	}
	for n := range items {
		if keep == nil || keep(&items[n]) {
			view.rows = append(view.rows, itemRow{items[n], view.kind.offered(v, &items[n]), name != "subscriptions" && isOver(items[n].Expires, w.now(v))})
		}
	}
	return view, nil
}

// wantedList is a list that a page shows.
type wantedList struct {
	name, title string
	keep        func(*walletapi.Item) bool
}

// showLists is a page of lists, which keeps itself up to date.
func (w *Wallet) showLists(ctx context.Context, v *visit, title, about string, wanted ...wantedList) (page.Page, error) {
	lists := make([]listView, len(wanted))
	group, ctx := guard.WithContext(ctx)
	for n, l := range wanted {
		group.Go(func() (err error) {
			lists[n], err = w.listOf(ctx, v, l.name, l.title, l.keep)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return page.Page{}, err
	}
	return made(v, title, listsPage(v, title, about, lists))
}

// named are lists with the titles of their kinds.
func named(names ...string) (wanted []wantedList) {
	for _, name := range names {
		wanted = append(wanted, wantedList{name: name})
	}
	return wanted
}

// transfers are the offers and transfers that come in and go out.
func (w *Wallet) transfers(ctx context.Context, v *visit) (page.Page, error) {
	incoming := func(i *walletapi.Item) bool { return i.To == v.party }
	outgoing := func(i *walletapi.Item) bool { return i.From == v.party }
	return w.showLists(ctx, v, "Offers and transfers", "What has ended is in the history.",
		wantedList{"transfers", "Transfers to you", incoming}, wantedList{"offers", "Offers to you", incoming},
		wantedList{"transfers", "Transfers from you", outgoing}, wantedList{"offers", "Offers from you", outgoing}, wantedList{name: "accepted"})
}

// requests are what others ask the user to pay.
func (w *Wallet) requests(ctx context.Context, v *visit) (page.Page, error) {
	return w.showLists(ctx, v, "Requests", "What apps and services ask you to pay or to lock.",
		named("payments", "subscription-requests", "allocation-requests", "paid", "first-payments", "subscriptions", "allocations")...)
}

// delegations are by which the user collects rewards for others.
func (w *Wallet) delegations(ctx context.Context, v *visit) (page.Page, error) {
	return w.showLists(ctx, v, "Delegations", "A delegation lets your wallet collect the rewards of somebody else, and merge their coins down to a limit.", named("proposals", "delegations")...)
}
