package wallet_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// signingIn is refused with tokens that are not good, and ends.
func (w *world) signingIn(t *testing.T) {
	b := newBrowser(t, w.url)
	p := b.open("/login?back=/wallet/history")
	good, err := token("ann", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	old, err := token("ann", -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for text, problem := range map[string]string{"": "no token", "nonsense": "no token", old: "not accepted", good + "x": "not accepted", "a.b.c": "no token"} {
		if got := b.press(p, "/login/token", "token", text).wants(400, "/login/token").problemOf("token"); !strings.Contains(got, problem) {
			t.Errorf("the problem of token %q is %q", text, got)
		}
	}
	b.press(p, "/login/user", "user", strings.Repeat("u", 200)).wants(400, "/login/user")
	in := b.press(p, "/login/token", "token", good).wants(200, "/wallet/history", "History")
	for _, c := range b.client.Jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(w.url, "http://"), Path: "/"}) {
		if strings.Contains(c.Value, "ann") || strings.Contains(c.Value, good[:20]) {
			t.Errorf("cookie %s tells the token", c.Name)
		}
	}
	b.press(in, "/logout").wants(200, "/login?out=1", "signed out")
	b.open("/wallet").wants(200, "/login?back=%2Fwallet")
	// Nowhere else is gone to after signing in.
	for _, back := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"} {
		p = newBrowser(t, w.url).open("/login?back=" + url.QueryEscape(back))
		if got := p.fields("/login/token").Get("back"); got != "/" {
			t.Errorf("after %q the way is %q", back, got)
		}
	}
	w.sessionsEnd(t, good)
}

// sessionsEnd with their tokens, and are not taken from cookies that were tampered with.
func (w *world) sessionsEnd(t *testing.T, good string) {
	short, err := token("ann", 1500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, w.url)
	b.press(b.open("/login"), "/login/token", "token", short).wants(200, "/wallet", "Balance")
	cookie := w.cookie(b)
	w.Await("the session to end", func() bool { return w.cookie(b) == "" }) // the browser drops it
	again := newBrowser(t, w.url)
	again.do("GET", "/login", nil, "Cookie", "ledgerlake_session="+cookie).wants(200, "/login", "Your session is over.")
	again.do("POST", "/wallet/send", url.Values{"form": {"x"}}, "Cookie", "ledgerlake_session="+cookie).wants(401, "/wallet/send", "Nothing was sent")

	b.press(b.open("/login"), "/login/token", "token", good).wants(200, "/wallet", "Balance")
	cookie = w.cookie(b)
	for i := 0; i < len(cookie); i += len(cookie)/7 + 1 {
		flipped := cookie[:i] + string(cookie[i]^1) + cookie[i+1:]
		again.do("GET", "/wallet", nil, "Cookie", "ledgerlake_session="+flipped).wants(200, "/login?back=%2Fwallet")
	}
	// Nor does a cookie of one kind pass for one of another.
	again.do("GET", "/wallet", nil, "Cookie", "ledgerlake_entry="+cookie+"; ledgerlake_session=x").wants(200, "/login?back=%2Fwallet")
}

// cookie is the session of a browser.
func (w *world) cookie(b *browser) string {
	for _, c := range b.client.Jar.Cookies(&url.URL{Scheme: "http", Host: strings.TrimPrefix(w.url, "http://"), Path: "/"}) {
		if c.Name == "ledgerlake_session" {
			return c.Value
		}
	}
	return ""
}

// forms are refused that are not of the session, and send once.
func (w *world) forms(t *testing.T, ann, ben *browser) {
	bens := w.party(t, "ben")
	before, _ := w.Balance(w.actor(t, "ben"))
	confirm := ann.sendBy("direct", bens, "1", "once")
	fields := confirm.fields("/wallet/send")
	ben.do("POST", "/wallet/send", fields).wants(403, "/wallet/send", "another session")
	ann.do("POST", "/wallet/send", fields, "Origin", "https://evil.example").wants(403, "/wallet/send")
	without := url.Values{"receiver": fields["receiver"], "amount": fields["amount"], "way": fields["way"], "hours": fields["hours"]}
	ann.do("POST", "/wallet/send", without).wants(403, "/wallet/send")
	newBrowser(t, w.url).do("POST", "/wallet/send", fields).wants(401, "/wallet/send")
	newBrowser(t, w.url).do("POST", "/login/user", url.Values{"user": {"ann"}}).wants(403, "/login/user")
	done := make(chan *shown, 3)
	for range 3 {
		go func() { done <- ann.do("POST", "/wallet/send", fields) }()
	}
	for range 3 {
		if p := <-done; p.status != 200 && p.status != http.StatusTooManyRequests {
			t.Errorf("a double click is answered %d: %s", p.status, p.text())
		}
	}
	ann.do("POST", "/wallet/send", fields).wants(200, "/wallet/history")
	w.offeredOnce(t, ann, bens)
	w.Await("the coin to arrive", func() bool { after, _ := w.Balance(w.actor(t, "ben")); return after.Cmp(before) != 0 })
	if after, _ := w.Balance(w.actor(t, "ben")); after.Minus(before).String() != "1.0000000000" {
		t.Errorf("ben had %s, has %s", before, after)
	}
	for field, values := range map[string][]string{
		"amount":   {"", "0", "0.00", "-1", "1e3", "1,5", "NaN", "0.00000000001", strings.Repeat("9", 29), "1000000", "<b>1</b>"},
		"receiver": {"", "nobody.unverified.cns", "a::", "x::y z", "../../v0/admin/users", `"><script>`},
		"way":      {"", "gift"},
	} {
		for _, value := range values {
			form := ann.open("/wallet/send")
			p := ann.press(form, "/wallet/send/check", append([]string{"receiver", bens, "amount", "1", "memo", "kept"}, field, value)...).wants(400, "/wallet/send/check")
			if p.problemOf(field) == "" || p.fields("/wallet/send/check").Get("memo") != "kept" || field != "way" && p.fields("/wallet/send/check").Get(field) != value {
				t.Errorf("%s %q: the problem is %q, entered is %v", field, value, p.problemOf(field), p.fields("/wallet/send/check"))
			}
			if strings.Contains(p.body, `"><script>`) {
				t.Error("what was entered is markup")
			}
		}
	}
	tap := ann.press(ann.open("/wallet"), "/wallet/tap", "amount", "many").wants(400, "/wallet/tap")
	if tap.problemOf("amount") == "" {
		t.Error("a tap of many has no problem")
	}
}

// offeredOnce sends an offer by the same form three times.
func (w *world) offeredOnce(t *testing.T, ann *browser, bens string) {
	confirm := ann.sendBy("offer", bens, "2", "offered once")
	first := ann.press(confirm, "/wallet/send").wants(200, "/wallet/offer/", "waiting")
	for range 2 {
		ann.press(confirm, "/wallet/send").wants(200, first.path, "waiting")
	}
	list := ann.open("/wallet/transfers")
	if n := strings.Count(list.text(), "offered once"); n != 1 {
		t.Errorf("there are %d offers", n)
	}
	ask := ann.open(list.link("Withdraw"))
	ann.press(ask, pathOf(ask)).wants(200, "/wallet/offer/", "withdrawn")
}

// others see and decide nothing of what is not theirs.
func (w *world) others(t *testing.T, ann, ben *browser) {
	eve := w.joined(t, "eve")
	bens := w.party(t, "ben")
	ann.press(ann.sendBy("offer", bens, "4", "secret"), "/wallet/send")
	list := ben.open("/wallet/transfers").wants(200, "/", "secret")
	accept, state := list.link("Accept"), list.link("State")
	withdraw := strings.Replace(accept, "/accept/", "/withdraw/", 1)
	for _, b := range []*browser{eve, ann} { // the sender does not accept
		b.open(accept).wants(404, accept, "not yours to decide")
	}
	ben.open(withdraw).wants(404, withdraw)
	eve.open(withdraw).wants(404, withdraw)
	form := ben.open(accept).fields(accept)
	form.Set("form", eve.open("/wallet").fields("/logout").Get("form"))
	if p := eve.do("POST", accept, form); p.status != 404 || strings.Contains(p.text(), "secret") {
		t.Errorf("somebody else's offer is %d: %s", p.status, p.text())
	}
	path, _, _ := strings.Cut(state, "?")
	eve.open(path).wants(404, path)
	for _, path := range []string{"/wallet", "/wallet/transfers", "/wallet/history", "/wallet/coins", "/wallet?party=" + url.QueryEscape(bens)} {
		if p := eve.open(path); strings.Contains(p.text(), "secret") || strings.Contains(p.body, bens) {
			t.Errorf("%s tells eve about ben", path)
		}
	}
	for _, path := range []string{"/wallet/do/offers/steal/00ab", "/wallet/do/nothing/accept/00ab", "/wallet/offer/nonsense", "/wallet/transfer/00ab", "/wallet/traffic/nonsense", "/wallet/do/transfers/accept/" + strings.Repeat("ab", 3000)} {
		if p := eve.open(path); p.status != 404 {
			t.Errorf("%.60s is %d", path, p.status)
		}
	}
	ask := ben.open(list.link("Reject"))
	ben.press(ask, pathOf(ask)).wants(200, "/wallet/offer/", "rejected")
}

// requestsOf has an app ask for payments, and a name be asked for.
func (w *world) requestsOf(t *testing.T, ann, ben *browser) {
	anns, shop := w.party(t, "ann"), w.party(t, "ben")
	for _, about := range []string{"a hat", "a coat"} {
		w.created(t, template.AppPaymentRequest, map[string]any{
			"sender": anns, "provider": shop, "dso": w.Ledger.GovernanceParty(), "expiresAt": w.Soon(), "description": about,
			"receiverAmounts": []any{map[string]any{"receiver": shop, "amount": map[string]any{"amount": "4", "unit": "USDUnit"}}},
		}, anns, shop)
	}
	list := ann.open("/wallet/requests").wants(200, "/", "a hat", "a coat", "4 USD")
	ask := ann.open(list.link("Pay")).wants(200, "/wallet/do/payments/accept/", "Amount in USD 4", "coins are locked")
	ben.open(pathOf(ask)).wants(404, "/")
	ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests?done=done", "Payments that wait to be collected")
	ask = ann.open(ann.open("/wallet/requests").link("Reject"))
	ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests", "No app asks for a payment.")

	form := ann.open("/wallet/names").wants(200, "/", "You have no names.")
	bad := ann.press(form, "/wallet/names", "name", "Ann", "description", "kept").wants(400, "/wallet/names", "unverified")
	if bad.fields("/wallet/names").Get("description") != "kept" {
		t.Error("what was entered is gone")
	}
	ask = ann.press(form, "/wallet/names", "name", "ann.unverified.cns", "url", "javascript:alert(1)").wants(200, "/wallet/do/subscription-requests/accept/", "first payment")
	ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests", "First payments that wait")
	w.Advance(time.Second)
	w.Await("the name to be paid for", func() bool { return strings.Contains(ann.open("/wallet/names").text(), "ann.unverified.cns 1 USD") })
	ben.sendBy("token", "ann.unverified.cns", "1", "").wants(200, "/", "ann.unverified.cns", "Send this?")
	ask = ann.open(ann.open("/wallet/requests").wants(200, "/", "Paid every").link("Cancel"))
	ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests", "You have no subscriptions.")
}

// settlements have an app ask for coins, which are locked and taken back.
func (w *world) settlements(t *testing.T, ann, ben *browser) {
	anns, venue := w.party(t, "ann"), w.party(t, "ben")
	now := w.Ledger.Now()
	deal := map[string]any{
		"venue": venue, "createdAt": now.Format(time.RFC3339Nano), "prepareUntil": now.Add(time.Hour).Format(time.RFC3339Nano), "settleBefore": now.Add(2 * time.Hour).Format(time.RFC3339Nano),
		"transferLegs": map[string]any{"leg-1": map[string]any{"sender": anns, "receiver": venue, "amount": "2.5",
			"instrumentId": map[string]any{"admin": w.Ledger.GovernanceParty(), "id": "Amulet"}, "meta": map[string]any{"values": map[string]any{"note": "hat"}}}},
	}
	for range 2 {
		w.created(t, "harbor-exchange:Harbor.Exchange.Deal:Deal", deal, venue)
	}
	w.Await("the requests", func() bool { return strings.Count(ann.open("/wallet/requests").text(), "Leg leg-1") == 2 })
	ask := ann.open(ann.open("/wallet/requests").link("Allocate")).wants(200, "/wallet/do/allocation-requests/allocate/", "Leg leg-1", "are locked until it is settled")
	ben.open(pathOf(ask)).wants(404, "/")
	list := ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests", "Coins allocated to settlements")
	again := ann.press(ask, pathOf(ask)).wants(200, "/wallet/requests")
	if n := strings.Count(again.body, "/wallet/do/allocations/withdraw/"); n != 1 {
		t.Errorf("there are %d allocations", n)
	}
	ben.open(list.link("Withdraw")).wants(404, "/")
	back := ann.open(list.link("Withdraw")).wants(200, "/wallet/do/allocations/withdraw/", "come back to you", "2.5")
	ann.press(back, pathOf(back)).wants(200, "/wallet/requests", "No coins are allocated.")
	refuse := ann.open("/wallet/do/allocation-requests/reject/" + strings.TrimPrefix(pathOf(ask), "/wallet/do/allocation-requests/allocate/"))
	ann.press(refuse, pathOf(refuse)).wants(200, "/wallet/requests")
	ann.open(pathOf(ask)).wants(404, "/")
}

// created has some parties create a contract together.
func (w *world) created(t *testing.T, name string, arguments any, parties ...string) string {
	t.Helper()
	tx, err := w.Client.Submit(t.Context(), node.Submission{ActAs: parties, Commands: []node.Command{node.Create("#"+name, arguments)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	return tx.CreatedOf(node.Entity(name)).ContractID
}

// delegations are accepted, rejected and ended by the operator.
func (w *world) delegations(t *testing.T) {
	operator := newBrowser(t, w.url)
	operator.press(operator.open("/login"), "/login/user", "user", "operator").wants(200, "/wallet", "Automations")
	anns := w.party(t, "ann")
	propose := func(limit string) {
		w.created(t, template.MintingDelegationProposal, map[string]any{"delegation": map[string]any{
			"beneficiary": anns, "delegate": w.Operator.Party, "dso": w.Ledger.GovernanceParty(), "expiresAt": w.Soon().Format(time.RFC3339Nano), "amuletMergeLimit": limit,
		}}, anns)
	}
	propose("17")
	list := operator.open("/wallet/delegations").wants(200, "/", "Coins are merged down to: 17", "You collect rewards for nobody else.")
	ask := operator.open(list.link("Accept")).wants(200, "/", "until the delegation expires")
	list = operator.press(ask, pathOf(ask)).wants(200, "/wallet/delegations", "Nobody proposes a delegation.", "17")
	ask = operator.open(list.link("End"))
	operator.press(ask, pathOf(ask)).wants(200, "/wallet/delegations", "You collect rewards for nobody else.")
	propose("18")
	ask = operator.open(operator.open("/wallet/delegations").link("Reject"))
	operator.press(ask, pathOf(ask)).wants(200, "/wallet/delegations", "Nobody proposes a delegation.")
	operator.open("/wallet/rewards").wants(200, "/", "Activity of users")
	operator.open("/wallet/automations").wants(200, "/", "collect-rewards", "Why")
}

// expiry ends what nobody decided on.
func (w *world) expiry(t *testing.T, ann *browser) {
	eves := w.party(t, "eve") // without a preapproval
	hour := func(way, memo string) *shown {
		form := ann.open("/wallet/send")
		confirm := ann.press(form, "/wallet/send/check", "way", way, "receiver", eves, "amount", "1", "memo", memo, "hours", "1")
		return ann.press(confirm, "/wallet/send").wants(200, "/wallet/", "waiting")
	}
	offer, transfer := hour("offer", "too late"), hour("token", "late, too")
	w.Advance(2 * time.Hour)
	ann.open("/wallet/transfers").wants(200, "/", "late, too", "UTC expired")
	ann.open(transfer.path).wants(200, "/wallet/transfer/", "expired", "cannot accept it any more")
	w.automate(t, "expire")
	ann.open(offer.path).wants(200, "/wallet/offer/", "expired", "Nothing was paid.")
	back := ann.open(ann.open("/wallet/transfers").link("Withdraw"))
	ann.press(back, pathOf(back)).wants(200, "/wallet/transfer/", "withdrawn")
}

// dryRun is not for ordinary users.
func (w *world) dryRun(t *testing.T, ann *browser) {
	ann.open("/wallet/automations").wants(403, "/", "operators")
	if strings.Contains(ann.open("/wallet").body, "/wallet/automations") {
		t.Error("ann is offered the automations")
	}
	ann.open("/wallet/rewards").wants(200, "/", "Rewards")
}
