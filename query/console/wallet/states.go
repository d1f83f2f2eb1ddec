package wallet

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// stateView is how something stands that takes its time.
type stateView struct {
	title, label, class, text string
	update                    string
	// waits says that the state will change: the page asks again.
	waits bool
	self  string
	facts []fact
	next  []tab
}

// fact is a line of a list of facts. Only one of the values is set.
type fact struct{ label, text, party, amount string }

// offerStates are the states of offers, in words.
var offerStates = map[string]stateView{
	"created":   {label: "waiting for the receiver", class: "warn", text: "The receiver has not decided yet.", waits: true},
	"accepted":  {label: "accepted", class: "warn", text: "The receiver has accepted. The sender's validator pays now.", waits: true},
	"completed": {label: "paid", class: "good", text: "The receiver has the coins."},
	"expired":   {label: "expired", class: "bad", text: "It has expired. Nothing was paid."},
	"rejected":  {label: "rejected", class: "bad", text: "The receiver has rejected it. Nothing was paid."},
	"withdrawn": {label: "withdrawn", class: "bad", text: "It was withdrawn. Nothing was paid."},
}

// offerState tells how an offer stands, by its tracking id, to its sender and receiver.
func (w *Wallet) offerState(ctx context.Context, v *visit) (page.Page, error) {
	id, err := v.Path("id")
	if err != nil {
		return page.Page{}, err
	}
	status, err := v.user.OfferStatus(ctx, id)
	if walletapi.Is(err, query.NotFound) && v.Param("new") != "" {
		return showState(v, stateView{label: "being made", class: "warn", text: "It is not on the ledger yet.", waits: true}, "Offer")
	}
	if walletapi.Is(err, query.NotFound) {
		return page.Page{}, page.Missing("No offer of yours has this tracking id. One that you have just made may take a moment: reload the page.")
	}
	if err != nil {
		return page.Page{}, err
	}
	name := status.Status
	if name == "failed" {
		name = status.Failure
	}
	view, ok := offerStates[name]
	if !ok {
		view = stateView{label: name, class: "warn", text: "The wallet does not say what this means."}
	}
	view.update = status.Update
	view.facts = []fact{{label: "Tracking id", text: id}}
	if status.Reason != "" {
		view.facts = append(view.facts, fact{label: "Reason", text: status.Reason})
	}
	return showState(v, view, "Offer")
}

// showState shows a state, and keeps asking while it may change.
func showState(v *visit, view stateView, title string) (page.Page, error) {
	view.title, view.self = title, v.Way()
	view.next = append(view.next, tab{"Offers and transfers", "/wallet/transfers"}, tab{"Send again", "/wallet/send"})
	return made(v, title, statePage(v, view))
}

// isOver reports whether an expiry has passed; 0 is none.
func isOver(expires, now schemas.Micros) bool { return expires > 0 && expires <= now }

// maxLooked is how many entries of a history are looked through for one.
const maxLooked = 1000

// transferState tells what has become of a transfer by the token standard, by its contract: from the
// open ones, else from the history.
func (w *Wallet) transferState(ctx context.Context, v *visit) (page.Page, error) {
	id, err := v.Path("id")
	if err != nil {
		return page.Page{}, err
	}
	open, err := v.user.Transfers(ctx)
	if err != nil {
		return page.Page{}, err
	}
	if i := slices.IndexFunc(open, func(i walletapi.Item) bool { return i.ID == id }); i >= 0 {
		view := stateView{label: "waiting for the receiver", class: "warn", text: "The coins are locked until the receiver accepts or rejects, the sender withdraws, or it expires.", waits: true, facts: itemFacts(&open[i])}
		if isOver(open[i].Expires, w.now(v)) {
			view.label, view.class, view.text = "expired", "bad", "The receiver cannot accept it any more. The sender has the coins back after withdrawing it."
		}
		return showState(v, view, "Transfer")
	}
	entries, err := v.user.History(ctx, "", maxLooked)
	if err != nil {
		return page.Page{}, err
	}
	i := slices.IndexFunc(entries, func(e walletapi.Entry) bool { return e.Instruction == id })
	if i < 0 && v.Param("new") != "" {
		return showState(v, stateView{label: "being made", class: "warn", text: "It is not on the ledger yet.", waits: true}, "Transfer")
	}
	if i < 0 {
		return page.Page{}, page.Missing("No transfer of yours has this id, or it is older than the last thousand entries of your history.")
	}
	return showState(v, endedTransfer(&entries[i]), "Transfer")
}

// endedTransfer is the state that the last entry about a transfer tells.
func endedTransfer(e *walletapi.Entry) stateView {
	view := stateView{update: e.Update()}
	switch e.Subtype.Choice {
	case "TransferInstruction_Accept":
		view.label, view.class, view.text = "done", "good", "The receiver has the coins."
	case "TransferInstruction_Reject":
		view.label, view.class, view.text = "rejected", "bad", "The receiver has rejected it. The coins are back with the sender."
	case "TransferInstruction_Withdraw":
		view.label, view.class, view.text = "withdrawn", "bad", "The sender has withdrawn it, and has the coins back."
	default: // it was open when the history was told, and is not any more
		view.label, view.class, view.text = "over", "warn", "It is not open any more: it has expired, or its end is about to appear in your history."
	}
	return view
}

// itemFacts are what is known of an item.
func itemFacts(i *walletapi.Item) (facts []fact) {
	if i.Amount.Amount != "" {
		unit := "coins"
		if i.Amount.InDollars() {
			unit = "USD"
		}
		facts = append(facts, fact{label: "Amount in " + unit, amount: i.Amount.Amount})
	}
	if i.From != "" {
		facts = append(facts, fact{label: "From", party: i.From})
	}
	if i.To != "" {
		facts = append(facts, fact{label: "To", party: i.To})
	}
	if i.Text != "" {
		facts = append(facts, fact{label: "Memo", text: i.Text})
	}
	for n := 0; n+1 < len(i.More); n += 2 {
		facts = append(facts, fact{label: i.More[n], text: i.More[n+1]})
	}
	return facts
}
