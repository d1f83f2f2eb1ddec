package wallet_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
)

// later sends requests to a server that is made after the pages.
type later func() *query.Server

func (l later) RoundTrip(r *http.Request) (*http.Response, error) { return l().Local().RoundTrip(r) }

// TestWallet has people use the pages over one network.
func TestWallet(t *testing.T) {
	w := newWorld(t)
	w.Tap(w.Operator, "1000") // it pays for preapprovals
	ann, ben := w.joined(t, "ann"), w.joined(t, "ben")
	t.Run("SigningIn", w.signingIn)
	t.Run("Tour", func(t *testing.T) { w.tour(t, ann.in(t), ben.in(t)) })
	t.Run("Forms", func(t *testing.T) { w.forms(t, ann.in(t), ben.in(t)) })
	t.Run("Others", func(t *testing.T) { w.others(t, ann.in(t), ben.in(t)) })
	t.Run("Requests", func(t *testing.T) { w.requestsOf(t, ann.in(t), ben.in(t)) })
	t.Run("Settlements", func(t *testing.T) { w.settlements(t, ann.in(t), ben.in(t)) })
	t.Run("Delegations", w.delegations)
	t.Run("Expiry", func(t *testing.T) { w.expiry(t, ann.in(t)) })
	t.Run("Automations", func(t *testing.T) { w.dryRun(t, ann.in(t)) })
}

// joined is a new user with a wallet and some coins, who has done all of that by the pages.
func (w *world) joined(t *testing.T, user string) *browser {
	t.Helper()
	b := newBrowser(t, w.url)
	p := b.open("/wallet").wants(200, "/login?back=%2Fwallet", "simulated network", "With a token")
	p = b.press(p, "/login/user", "user", user).wants(200, "/wallet/welcome", "Welcome, "+user)
	p = b.press(p, "/wallet/register").wants(200, "/wallet?done=registered", "You have a wallet now.", "Nothing has happened here yet.")
	b.press(p, "/wallet/tap", "amount", "100").wants(200, "/wallet?done=tap", "The coins are yours.", "≈ 100 USD", "Tap")
	return b
}

// party is that of a user.
func (w *world) party(t *testing.T, user string) string {
	t.Helper()
	rights, err := w.users.Rights(t.Context(), user)
	if err != nil || rights.PrimaryParty == "" {
		t.Fatalf("the rights of %s are %+v, %v", user, rights, err)
	}
	return rights.PrimaryParty
}

// sendBy fills in the form for sending and goes as far as the page that confirms it.
func (b *browser) sendBy(way, receiver, amount, memo string) *shown {
	b.Helper()
	form := b.open("/wallet/send").wants(200, "/wallet/send")
	return b.press(form, "/wallet/send/check", "way", way, "receiver", receiver, "amount", amount, "memo", memo)
}

// tour sends coins in every way, and decides on them in every way.
func (w *world) tour(t *testing.T, ann, ben *browser) {
	bens, anns := w.party(t, "ben"), w.party(t, "ann")
	memo := `<script>alert(1)</script> & "rent"`
	confirm := ann.sendBy("token", bens, "12.5", memo).wants(200, "/wallet/send/check", "Send this?", "12.5 coins", memo, "locked until the receiver accepts", "None by the rules")
	if strings.Contains(confirm.body, "<script>alert") {
		t.Error("a memo is markup")
	}
	state := ann.press(confirm, "/wallet/send").wants(200, "/wallet/transfer/", "waiting for the receiver", memo)
	inbox := ben.open("/wallet/transfers").wants(200, "/wallet/transfers", "Transfers to you", "12.5", memo)
	if strings.Contains(inbox.body, "<script>alert") {
		t.Error("a memo is markup")
	}
	ask := ben.open(inbox.link("Accept")).wants(200, "/wallet/do/transfers/accept/", "have its coins at once", "12.5")
	ben.press(ask, pathOf(ask)).wants(200, "/wallet/transfer/", "done", "The receiver has the coins.")
	ann.open(state.path).wants(200, "/wallet/transfer/", "done")
	// The same page again goes where the first one went.
	ben.press(ask, pathOf(ask)).wants(200, "/wallet/transfer/", "done")

	for _, end := range []struct{ who, button, state string }{{"ben", "Reject", "rejected"}, {"ann", "Withdraw", "withdrawn"}} {
		ann.press(ann.sendBy("token", bens, "1", ""), "/wallet/send")
		b := map[string]*browser{"ann": ann, "ben": ben}[end.who]
		ask := b.open(b.open("/wallet/transfers").link(end.button))
		b.press(ask, pathOf(ask)).wants(200, "/wallet/transfer/", end.state)
	}

	offer := ann.press(ann.sendBy("offer", bens, "3", "lunch").wants(200, "/", "Nothing is locked"), "/wallet/send").wants(200, "/wallet/offer/", "waiting for the receiver")
	ask = ben.open(ben.open("/wallet/transfers").link("Accept"))
	ben.press(ask, pathOf(ask)).wants(200, "/wallet/offer/", "accepted", "The sender's validator pays now.")
	ben.open("/wallet/transfers").wants(200, "/", "Accepted offers", "UTC 3 ann")
	w.automate(t, "complete-offers")
	ann.open(offer.path).wants(200, "/wallet/offer/", "paid", "The receiver has the coins.")
	for _, end := range []struct{ who, button, state string }{{"ben", "Reject", "rejected"}, {"ann", "Withdraw", "withdrawn"}} {
		ann.press(ann.sendBy("offer", bens, "1", ""), "/wallet/send")
		b := map[string]*browser{"ann": ann, "ben": ben}[end.who]
		ask := b.open(b.open("/wallet/transfers").link(end.button))
		b.press(ask, pathOf(ask)).wants(200, "/wallet/offer/", end.state)
	}

	p := ann.sendBy("direct", bens, "7", "").wants(400, "/wallet/send/check")
	if got := p.problemOf("receiver"); !strings.Contains(got, "no preapproval") {
		t.Errorf("the receiver's problem is %q", got)
	}
	p = ben.open("/wallet/preapproval").wants(200, "/", "You have none.")
	asked := ben.press(p, "/wallet/preapproval").wants(200, "/wallet/preapproval?done=preapproval", "You have asked for a preapproval.")
	w.Await("the preapproval", func() bool { return strings.Contains(ben.open(asked.path).text(), "You have one.") })
	ben.press(p, "/wallet/preapproval").wants(200, "/wallet/preapproval", "You have a preapproval already.")
	ann.press(ann.sendBy("direct", bens, "7", "rent").wants(200, "/", "has the coins at once"), "/wallet/send").wants(200, "/wallet/history", "Sent in one step", "rent", "−7")
	ann.press(ann.sendBy("token", bens, "2", "").wants(200, "/", "has the coins at once"), "/wallet/send").wants(200, "/wallet/history")

	ann.open("/wallet/coins").wants(200, "/", "coins, those that are not locked first", "free")
	w.traffic(t, ann, anns)
	w.historyOf(t, ann)
}

func pathOf(p *shown) string { path, _, _ := strings.Cut(p.path, "?"); return path }

// traffic is bought by the operator's automation.
func (w *world) traffic(t *testing.T, ann *browser, party string) {
	form := ann.open("/wallet/traffic").wants(200, "/", "A megabyte costs 60 USD", "At least 200,000")
	bad := ann.press(form, "/wallet/traffic/check", "bytes", "10").wants(400, "/", "from 200000 to")
	if bad.fields("/wallet/traffic/check").Get("bytes") != "10" {
		t.Error("what was entered is gone")
	}
	confirm := ann.press(form, "/wallet/traffic/check", "bytes", "400000").wants(200, "/", "400,000", "24 USD", "you")
	state := ann.press(confirm, "/wallet/traffic").wants(200, "/wallet/traffic/", "waiting")
	ann.press(confirm, "/wallet/traffic").wants(200, state.path, "waiting")
	w.automate(t, "complete-traffic")
	ann.open(state.path).wants(200, "/wallet/traffic/", "bought")
}

// historyOf pages through a history and exports it.
func (w *world) historyOf(t *testing.T, ann *browser) {
	ann.open("/wallet/history").wants(200, "/", "Traffic bought", "Transfer begun", "Offer paid", "Tap")
	p := ann.open("/wallet/history?show=received").wants(200, "/", "Tap")
	if strings.Contains(p.text(), "Traffic bought") {
		t.Error("what was paid is among what was received")
	}
	ann.open("/wallet/history?after=nonsense").wants(400, "/")
	export := ann.open("/wallet/history.csv")
	rows, err := csv.NewReader(strings.NewReader(export.body)).ReadAll()
	if err != nil || len(rows) < 10 || rows[0][2] != "change" || rows[len(rows)-1][1] != "Tap" {
		t.Errorf("the export is %q, %v", rows, err)
	}
	if kind := export.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") {
		t.Errorf("its type is %s", kind)
	}
	newBrowser(t, w.url).open("/wallet/history.csv").wants(401, "/")
}
