package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ledgerlake/ledgerlake/internal/browser"
)

// person is somebody before a browser of their own.
type person struct {
	*testing.T
	*stage
	name string
	tab  *browser.Tab
	// been are the addresses of the wallet with ids in them that the person has seen.
	been map[string]bool
}

// newPerson signs in as a user of the simulated network, and gets a wallet.
func newPerson(t *testing.T, s *stage, name string) *person {
	t.Helper()
	p := &person{t, s, fmt.Sprintf("%s-%d", name, time.Now().UnixNano()), open(t, s), map[string]bool{}}
	if err := p.tab.Look(desk); err != nil {
		t.Fatal(err)
	}
	p.visit("/wallet").at("/login")
	p.fill("/login/user", "user", p.name)
	p.submit("/login/user").at("/wallet/welcome")
	p.submit("/wallet/register").at("/wallet")
	return p
}

// arrived is where a step has led.
type arrived struct {
	*person
	*browser.Visit
}

func (p *person) arrive(v *browser.Visit, err error) arrived {
	p.Helper()
	if err != nil {
		p.Fatalf("%s: %v", p.name, err)
	}
	for _, problem := range v.Problems {
		p.Errorf("%s at %s: %s", p.name, v.URL, problem)
	}
	if path := strings.TrimPrefix(v.URL, p.url); hasID.MatchString(path) {
		p.been[path] = true
	}
	return arrived{p, v}
}

// hasID are the addresses of the wallet that say whose offer or transfer is meant.
var hasID = regexp.MustCompile(`^/wallet/(do|offer|transfer|traffic)/[^?]`)

// at checks that the page is below a path, and no error.
func (a arrived) at(path string) arrived {
	a.Helper()
	u, err := url.Parse(a.URL)
	if err != nil || !strings.HasPrefix(u.Path, path) || a.Status != 200 {
		a.Fatalf("%s is at %s with status %d, want %s: %s", a.name, a.URL, a.Status, path, a.text())
	}
	return a
}

// wants checks that a page has texts.
func (a arrived) wants(texts ...string) arrived {
	a.Helper()
	for _, text := range texts {
		if page := a.text(); !strings.Contains(page, text) {
			a.Errorf("%s at %s does not see %q: %s", a.name, a.URL, text, page)
		}
	}
	return a
}

func (p *person) visit(path string) arrived {
	p.Helper()
	return p.arrive(p.tab.Visit(p.url + path))
}

func (p *person) fill(form, field, value string) {
	p.Helper()
	if err := p.tab.Fill(form, field, value); err != nil {
		p.Fatalf("%s: %v", p.name, err)
	}
}

func (p *person) text() string {
	p.Helper()
	text, err := p.tab.Text()
	if err != nil {
		p.Fatal(err)
	}
	return text
}

// submit clicks the button of a form twice, loads the page that follows again, goes back, and sends the
// same form once more: all of it is as if it had been clicked once.
func (p *person) submit(form string) arrived {
	p.Helper()
	first := p.arrive(p.tab.Submit(form, 2))
	again := p.arrive(p.tab.Reload())
	if again.URL != first.URL || again.Status != first.Status {
		p.Errorf("%s is at %s (%d), after loading again at %s (%d)", p.name, first.URL, first.Status, again.URL, again.Status)
	}
	// What a form was answered with, the browser does not show again by itself: that is no problem of the page.
	if _, err := p.tab.Back(); err != nil {
		p.Fatalf("%s: %v", p.name, err)
	}
	if there, err := browser.Evaluate[bool](p.tab, fmt.Sprintf("document.querySelector('form[action=%q]') !== null", form)); err != nil || !there {
		return p.visit(strings.TrimPrefix(first.URL, p.url)) // nothing is offered a second time
	}
	last := p.arrive(p.tab.Submit(form, 1))
	if last.URL != first.URL {
		p.Logf("%s sent %s again and is at %s, not at %s", p.name, form, last.URL, first.URL)
	}
	return p.visit(strings.TrimPrefix(first.URL, p.url))
}

// until loads a page until it has a text.
func (p *person) until(path, text string) arrived {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		a := p.visit(path)
		if strings.Contains(p.text(), text) {
			return a
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s does not see %q at %s after 2 minutes: %s", p.name, text, path, p.text())
		}
	}
}

// party is the id of the person's party.
func (p *person) party() string {
	p.Helper()
	p.visit("/wallet").at("/wallet")
	id, err := browser.Evaluate[string](p.tab, `document.querySelector("#wallet button[data-copy]").dataset.copy`)
	if err != nil || !strings.Contains(id, "::") {
		p.Fatalf("the party of %s is %q, %v", p.name, id, err)
	}
	return id
}

// send sends coins by the form, as far as the page that follows.
func (p *person) send(way, receiver, amount, memo string) arrived {
	p.Helper()
	p.visit("/wallet/send").at("/wallet/send")
	const check = "/wallet/send/check"
	p.fill(check, "receiver", receiver)
	p.fill(check, "amount", amount)
	p.fill(check, "memo", memo)
	if _, err := browser.Evaluate[bool](p.tab, fmt.Sprintf(`document.querySelector("[name=way][value=%s]").click(), true`, way)); err != nil {
		p.Fatal(err)
	}
	p.arrive(p.tab.Submit(check, 2)).at(check).wants("Send this?", memo)
	return p.submit("/wallet/send")
}

// decide clicks what is to be done about the first row that has it, and confirms.
func (p *person) decide(button string) arrived {
	p.Helper()
	p.until("/wallet/transfers", button)
	a := p.arrive(p.tab.Click(button)).at("/wallet/do/")
	return p.submit(strings.TrimPrefix(a.URL, p.url))
}

// TestWalletTour has two people send each other coins by clicking, a third one look at all of it, and a
// foreign site try to.
func TestWalletTour(t *testing.T) {
	s := onStage(t)
	if status, _ := get(s.url + "/wallet/send"); status != http.StatusOK {
		t.Fatalf("the wallet's pages have status %d", status)
	}
	ann, ben := newPerson(t, s, "ann"), newPerson(t, s, "ben")
	for _, p := range []*person{ann, ben} {
		p.visit("/wallet")
		p.fill("/wallet/tap", "amount", "100")
		p.submit("/wallet/tap").at("/wallet")
	}
	bens := ben.party()

	const memo = `secret & <b>rent</b>`
	ann.send("token", bens, "5.25", memo).at("/wallet/transfer/").wants("waiting for the receiver", memo)
	ben.decide("Accept").at("/wallet/transfer/").wants("The receiver has the coins.")
	ann.send("token", bens, "1", memo).at("/wallet/transfer/")
	ben.decide("Reject").at("/wallet/transfer/").wants("rejected")
	ann.send("offer", bens, "2", memo).at("/wallet/offer/").wants("waiting for the receiver")
	ann.decide("Withdraw").at("/wallet/offer/").wants("withdrawn")
	offer := ann.send("offer", bens, "3", memo).at("/wallet/offer/")
	ben.decide("Accept").at("/wallet/offer/")
	ann.until(strings.TrimPrefix(offer.URL, s.url), "The receiver has the coins.")

	// Each was done once, whatever was clicked.
	ben.until("/wallet/history", "+3")
	history := ben.text()
	for change, times := range map[string]int{"+5.25": 1, "+3": 1, "+1 ": 0, "+2 ": 0} {
		if n := strings.Count(history, change); n != times {
			t.Errorf("in ben's history %q is there %d times, want %d: %s", change, n, times, history)
		}
	}
	t.Run("Others", func(t *testing.T) { othersSeeNothing(t, s, ann, ben, memo) })
	t.Run("ForeignSite", func(t *testing.T) { foreignSite(t, s, ann) })
	t.Run("Sessions", func(t *testing.T) { sessions(t, s, ann) })
}

// othersSeeNothing has a third person open all addresses with ids of the other two.
func othersSeeNothing(t *testing.T, s *stage, ann, ben *person, memo string) {
	carol := newPerson(t, s, "carol")
	n := 0
	for _, p := range []*person{ann, ben} {
		for path := range p.been {
			path, _, _ = strings.Cut(path, "?") // with new=1 it waits for what is not there yet
			v, err := carol.tab.Visit(s.url + path)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if page := carol.text(); v.Status < 400 || strings.Contains(page, memo) || strings.Contains(page, "ann-") || strings.Contains(page, "ben-") {
				t.Errorf("%s of %s has status %d for another user: %s", path, p.name, v.Status, page)
			}
		}
	}
	if n < 6 {
		t.Errorf("only %d addresses with ids were seen", n)
	}
}

// foreignSite has pages of other sites send a form of the wallet from the browser of somebody who has signed
// in: one of another name, to which browsers give no cookies, and one of another port, to which they do.
func foreignSite(t *testing.T, s *stage, ann *person) {
	ann.visit("/wallet")
	before := ann.text()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Foreign</title><form method="post" action="%s/wallet/tap"><input name="amount" value="77"><input name="once" value="foreign"><button>Win</button></form>`, s.url)
	}))
	defer site.Close()
	for _, from := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		if _, err := ann.tab.Visit(from); err != nil {
			t.Fatal(err)
		}
		v, err := ann.tab.Submit(s.url+"/wallet/tap", 1)
		if err != nil {
			t.Fatal(err)
		}
		if v.Status != http.StatusForbidden && v.Status != http.StatusUnauthorized {
			t.Errorf("a form of %s has status %d: %s", from, v.Status, ann.text())
		}
	}
	ann.visit("/wallet")
	if after := ann.text(); after != before {
		t.Errorf("a foreign form changed the wallet from %s to %s", before, after)
	}
}

// sessions signs in with a token that ends soon, and with cookies that nobody has been given.
func sessions(t *testing.T, s *stage, ann *person) {
	claims := jwt.MapClaims{"sub": ann.name, "aud": "https://validator.ledgerlake", "exp": time.Now().Add(6 * time.Second).Unix()}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("unsafe"))
	if err != nil {
		t.Fatal(err)
	}
	dora := &person{t, s, "dora", open(t, s), map[string]bool{}}
	if err := dora.tab.Look(desk); err != nil {
		t.Fatal(err)
	}
	dora.visit("/login").at("/login")
	dora.fill("/login/token", "token", token)
	dora.arrive(dora.tab.Submit("/login/token", 2)).at("/wallet").wants("Balance")
	dora.until("/wallet", "Your session is over")
	for _, cookie := range []string{"x", strings.Repeat("A", 200), token} {
		if err := dora.tab.SetCookie(s.url, "ledgerlake_session", cookie); err != nil {
			t.Fatal(err)
		}
		dora.visit("/wallet").at("/login")
	}
	dora.fill("/login/token", "token", token)
	if v, err := dora.tab.Submit("/login/token", 1); err != nil || v.Status < 400 {
		t.Errorf("a token that is over signs in: %+v, %v", v, err)
	}
}
