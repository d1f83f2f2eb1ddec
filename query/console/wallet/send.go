package wallet

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// The ways to send coins.
const (
	byOffer = "offer"
	byToken = "token"
	direct  = "direct"
)

// way is a way to send.
type way struct{ name, label, hint string }

var ways = []way{
	{byToken, "Transfer by the token standard", "At once to a receiver with a preapproval; else your coins are locked until the receiver accepts, or until it expires."},
	{direct, "In one step", "For receivers with a preapproval only. It is done when you send it."},
	{byOffer, "Offer", "The receiver accepts first, then your validator pays. Nothing is locked meanwhile."},
}

// lasting is how long something may wait for its receiver.
type lasting struct {
	hours int
	label string
}

var lastings = []lasting{{1, "1 hour"}, {24, "1 day"}, {7 * 24, "7 days"}, {30 * 24, "30 days"}}

// sendForm is what is sent, as it was entered, with what is wrong about it.
type sendForm struct {
	once                            string
	way, receiver, amount, memo     string
	hours                           int
	receiverProblem, amountProblem  string
	memoProblem, wayProblem, denied string
	available                       string
}

func (f *sendForm) bad() bool {
	return f.receiverProblem+f.amountProblem+f.memoProblem+f.wayProblem+f.denied != ""
}

// maxMemo is the longest memo, in bytes; the interface allows as much.
const maxMemo = 4096

// send is the form to send coins with.
func (w *Wallet) send(ctx context.Context, v *visit) (page.Page, error) {
	form := sendForm{once: page.Once(), way: byToken, hours: 24, receiver: v.Param("to")}
	return showSend(ctx, v, form)
}

// showSend shows a form, with status 400 if something is wrong about it.
func showSend(ctx context.Context, v *visit, form sendForm) (page.Page, error) {
	balance, err := v.user.Balance(ctx)
	if err != nil {
		return page.Page{}, err
	}
	form.available = balance.Unlocked
	if form.bad() {
		return failed(v, "Send", sendPage(v, form))
	}
	return made(v, "Send", sendPage(v, form))
}

// enteredSend reads the form.
func enteredSend(v *visit) sendForm {
	form := sendForm{once: onceOf(v), way: v.Field("way"), receiver: v.Field("receiver"), amount: v.Field("amount"), memo: v.Field("memo")}
	form.hours, _ = strconv.Atoi(v.Field("hours"))
	return form
}

// confirmView is what will happen once the user says so.
type confirmView struct {
	form sendForm
	// party is the receiver; named says that the form has a name of it.
	party     string
	named     bool
	expires   schemas.Micros
	effect    string
	fees      []string
	dollars   string
	remaining string
}

// checkSend shows what will happen, or the form again with what is wrong.
func (w *Wallet) checkSend(ctx context.Context, v *visit) (page.Page, error) {
	form := enteredSend(v)
	view := confirmView{form: form}
	if err := w.check(ctx, v, &view); err != nil {
		return page.Page{}, err
	}
	if view.form.bad() {
		return showSend(ctx, v, view.form)
	}
	return made(v, "Confirm", confirmSend(v, view))
}

// check fills in what will happen, or the problems of the form.
func (w *Wallet) check(ctx context.Context, v *visit, view *confirmView) error {
	form := &view.form
	form.amountProblem = amountProblem(form.amount)
	if len(form.memo) > maxMemo {
		form.memoProblem = fmt.Sprintf("The memo may have %d bytes.", maxMemo)
	}
	view.expires = w.expiry(v, form)
	if err := resolve(ctx, v, view); err != nil || form.bad() {
		return err
	}
	preapproved, err := isPreapproved(ctx, v, view.party)
	if err != nil {
		return err
	}
	switch {
	case form.way == direct && !preapproved:
		form.receiverProblem = "This receiver has no preapproval: choose another way to send."
	case form.way == direct, form.way == byToken && preapproved:
		view.effect, view.expires = "The receiver has the coins at once. This cannot be taken back.", 0
	case form.way == byToken:
		view.effect = "The coins are locked until the receiver accepts. You can withdraw the transfer until then, and get them back if it expires."
	default:
		view.effect = "The receiver is offered the coins. Nothing is locked; once the receiver accepts, your validator pays. You can withdraw the offer until then."
	}
	return afford(ctx, v, view)
}

// expiry is when what is sent expires, by the choice of the form.
func (w *Wallet) expiry(v *visit, form *sendForm) schemas.Micros {
	for _, l := range lastings {
		if l.hours == form.hours {
			return w.now(v) + schemas.Micros(time.Duration(l.hours)*time.Hour/time.Microsecond)
		}
	}
	form.hours = lastings[1].hours
	form.wayProblem = "Choose how long it may wait for the receiver."
	return 0
}

// resolve finds the receiver, and checks the way.
func resolve(ctx context.Context, v *visit, view *confirmView) error {
	form := &view.form
	known := false
	for _, way := range ways {
		known = known || way.name == form.way
	}
	if !known {
		form.wayProblem = "Choose how to send."
	}
	switch {
	case form.receiver == "":
		form.receiverProblem = "Enter whom to send to."
	case parties.MatchString(form.receiver):
		view.party = form.receiver
	case strings.Contains(form.receiver, "::"):
		form.receiverProblem = "A party is a name and a fingerprint with two colons between them, without spaces."
	default:
		party, err := v.user.Named(ctx, form.receiver)
		if walletapi.Is(err, query.NotFound) || walletapi.Is(err, query.Invalid) {
			form.receiverProblem = "Nobody has this name. Enter a name of the name service, or the id of a party."
			return nil
		}
		if err != nil {
			return err
		}
		view.party, view.named = party, true
	}
	return nil
}

func isPreapproved(ctx context.Context, v *visit, party string) (bool, error) {
	_, err := v.user.Preapproval(ctx, party)
	if walletapi.Is(err, query.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// afford compares the amount with the balance, and tells what the network takes.
func afford(ctx context.Context, v *visit, view *confirmView) error {
	if view.form.bad() {
		return nil
	}
	balance, err := v.user.Balance(ctx)
	if err != nil {
		return err
	}
	more, err := exceeds(view.form.amount, balance.Unlocked)
	if err != nil {
		return err
	}
	if more && view.form.way != byOffer {
		view.form.amountProblem = "You have " + page.Grouped(balance.Unlocked) + " coins that are not locked."
		return nil
	}
	if more {
		view.effect += " You do not have as many coins now: without them the offer is withdrawn when the receiver accepts."
	}
	market, err := v.user.Market(ctx, balance.Round)
	if err != nil {
		return err
	}
	if view.fees, err = feesOf(market); err != nil {
		return err
	}
	view.remaining, view.dollars, err = leftOver(balance.Unlocked, view.form.amount, market.Price)
	return err
}

// transfer is what the confirmed form says.
func (w *Wallet) transfer(ctx context.Context, v *visit) (walletapi.Transfer, string, *sendForm, error) {
	view := confirmView{form: enteredSend(v)}
	form := &view.form
	form.amountProblem = amountProblem(form.amount)
	if err := resolve(ctx, v, &view); err != nil {
		return walletapi.Transfer{}, "", nil, err
	}
	expires := w.expiry(v, form)
	// The instant of the confirmation page, so that the same form is the same request.
	if at, err := strconv.ParseInt(v.Field("expires"), 10, 64); err == nil && at > 0 && schemas.Micros(at) <= expires {
		expires = schemas.Micros(at)
	}
	return walletapi.Transfer{Receiver: view.party, Amount: form.amount, Description: form.memo, Expires: expires, ID: form.once}, form.way, form, nil
}

// doSend sends, once for each form, and goes on to a page that tells what has become of it.
func (w *Wallet) doSend(ctx context.Context, v *visit) (page.Page, error) {
	t, by, form, err := w.transfer(ctx, v)
	if err != nil {
		return page.Page{}, err
	}
	if form.bad() {
		return showSend(ctx, v, *form)
	}
	to := "/wallet/history?done=sent"
	switch by {
	case direct:
		err = v.user.Pay(ctx, t)
	case byOffer:
		to = "/wallet/offer/" + url.PathEscape(t.ID) + "?new=1"
		err = v.user.Offer(ctx, t)
	case byToken:
		var result walletapi.TokenResult
		if result, err = v.user.Transfer(ctx, t); result.Output.Pending != "" {
			to = "/wallet/transfer/" + url.PathEscape(result.Output.Pending) + "?new=1"
		}
	}
	// What was sent before is shown as it stands: a form that comes twice sends once.
	if err == nil || walletapi.Is(err, query.AlreadyExists) || walletapi.Is(err, query.RateLimited) && by == byOffer {
		return page.Page{See: to}, nil
	}
	text, ok := told(err)
	if !ok {
		return page.Page{}, err
	}
	form.denied = text
	return showSend(ctx, v, *form)
}
