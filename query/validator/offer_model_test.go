package validator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// How long the runs of models are, and what they are drawn from.
const (
	modelStepsEnv = "LEDGERLAKE_MODEL_STEPS"
	modelSeedEnv  = "LEDGERLAKE_MODEL_SEED"
)

// modelRun says how long a run of a model is: so many steps or, where they take longer than until
// then, half of them. Those of the environment are all taken, however long that is.
type modelRun struct {
	steps int
	seed  uint64
	until time.Time
	taken int
}

// modelRunOf returns the run that the tests of every day take, or that of the environment.
func modelRunOf(t *testing.T, steps int, most time.Duration) *modelRun {
	t.Helper()
	run := &modelRun{steps: schematest.Rounds(steps/4, steps), seed: 1, until: time.Now().Add(most)}
	if text := os.Getenv(modelStepsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, not a number of steps", modelStepsEnv, text)
		}
		run.steps, run.until = n, time.Now().Add(24*time.Hour)
	}
	if text := os.Getenv(modelSeedEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s is %q, not a seed", modelSeedEnv, text)
		}
		run.seed = n
	}
	return run
}

// next reports whether there is another step to take.
func (run *modelRun) next() bool {
	if run.taken == run.steps || run.taken >= run.steps/2 && time.Now().After(run.until) {
		return false
	}
	run.taken++
	return true
}

// whole reports whether all steps were taken that the run was to have.
func (run *modelRun) whole() bool { return run.taken == run.steps }

// States of an offer of the token standard. Only an open one ever changes.
const (
	offerOpen      = "offer open"
	offerCompleted = "completed"
	offerRejected  = "rejected"
	offerExpired   = "expired"
	offerWithdrawn = "withdrawn"
)

// modelOffer is an offer as the table of states has it.
type modelOffer struct {
	id, tracking     string
	version          string // of the paths at which it is made and answered
	sender, receiver int
	amount           decimal.Decimal
	expires          time.Time
	state            string
	// locked says that the amount is locked for it: while it is open, and when it has expired
	// until somebody ends it.
	locked bool
}

// closing returns the state into which an action of somebody takes an offer; ok is false if the
// table has no such step, or who asks is not the one who may.
func (o *modelOffer) closing(action string, by int) (state string, ok bool) {
	switch {
	case !o.locked:
	case action == "accept" && by == o.receiver && o.state == offerOpen:
		return offerCompleted, true
	case o.state == offerExpired && (action == "reject" && by == o.receiver || action == "withdraw" && by == o.sender):
		return offerExpired, true
	case action == "reject" && by == o.receiver:
		return offerRejected, true
	case action == "withdraw" && by == o.sender:
		return offerWithdrawn, true
	}
	return o.state, false
}

// offerModel is what some people have and offer each other.
type offerModel struct {
	*reality
	random  *rand.Rand
	trace   *trace
	people  []*chronicle
	has     []decimal.Decimal // unlocked
	offers  []*modelOffer
	drawn   int            // tracking ids
	reached map[string]int // offers by the state that they are in at the end
}

// tokenStandardOffers has people do things at random with offers of the token standard, in the
// right role and in the wrong one, in time and too late, alone and at the same time, and checks
// after each step that the table of their states holds and that no coin was lost or created.
func (r *reality) tokenStandardOffers(t *testing.T) {
	run := modelRunOf(t, 100, 15*time.Second)
	m := &offerModel{reality: r, random: rand.New(rand.NewPCG(run.seed, 1)), trace: &trace{seed: run.seed}, reached: map[string]int{}}
	defer m.trace.tell(t)
	for _, user := range []string{"olga", "omar", "otto"} {
		p := r.register(t, user, "20")
		unlocked, _ := r.funds(t, p).sums()
		m.people, m.has = append(m.people, chronicleOf(p)), append(m.has, unlocked)
	}
	m.check(t, m.people...)
	begin := time.Now()
	for run.next() {
		m.step(t)
	}
	m.check(t, m.people...)
	for _, p := range m.people {
		p.whole(t, r)
	}
	for _, o := range m.offers {
		m.reached[o.state]++
	}
	t.Logf("%d steps by seed %d in %s: %v", run.taken, run.seed, time.Since(begin).Round(time.Millisecond), m.reached)
	for _, state := range []string{offerOpen, offerCompleted, offerRejected, offerExpired, offerWithdrawn} {
		if m.reached[state] == 0 && run.whole() && run.steps >= 150 {
			t.Errorf("no offer is %s at the end: %v", state, m.reached)
		}
	}
}

// step does one thing and checks everything.
func (m *offerModel) step(t *testing.T) {
	t.Helper()
	switch n := m.random.IntN(100); {
	case n < 5:
		m.tap(t)
	case n < 32 || len(m.offers) == 0:
		m.offer(t)
	case n < 37:
		m.offerAgain(t)
	case n < 43:
		m.race(t)
	case n < 46:
		m.advance(t)
	default:
		m.answer(t)
	}
}

func (m *offerModel) someone() int { return m.random.IntN(len(m.people)) }

// between is a random amount from low to high units of 10^-10 CC.
func (m *offerModel) between(low, high int64) decimal.Decimal {
	units := low + m.random.Int64N(high-low)
	return decimal.Must(fmt.Sprintf("%d.%010d", units/1e10, units%1e10))
}

func (m *offerModel) tap(t *testing.T) {
	t.Helper()
	by := m.someone()
	dollars := m.between(1e9, 5e10).String()
	m.trace.note("%s taps %s USD", m.people[by].user, dollars)
	var tapped struct {
		ID string `json:"contract_id"`
	}
	m.must(t, m.people[by].user, "POST", "/v0/wallet/tap", `{"amount":"`+dollars+`"}`, &tapped)
	m.has[by] = m.has[by].Plus(m.funds(t, m.people[by].person).unlocked[tapped.ID])
	m.check(t, m.people[by])
}

// amountFor is what somebody offers: some of what is there, all of it, or more.
func (m *offerModel) amountFor(by int) decimal.Decimal {
	switch m.random.IntN(8) {
	case 0:
		return m.has[by].Plus(m.between(1, 1e10))
	case 1:
		if m.has[by].Sign() > 0 {
			return m.has[by]
		}
	}
	return m.between(1e9, 2e11)
}

func (m *offerModel) offer(t *testing.T) {
	t.Helper()
	by, to := m.someone(), m.someone()
	if to == by && m.random.IntN(3) > 0 {
		to = (to + 1) % len(m.people)
	}
	m.drawn++
	lives := []time.Duration{4 * time.Minute, 25 * time.Minute, 48 * time.Hour}[m.random.IntN(3)]
	o := &modelOffer{
		tracking: fmt.Sprintf("model-%d", m.drawn), sender: by, receiver: to, amount: m.amountFor(by), state: offerOpen, locked: true,
		expires: m.Ledger.Now().Add(lives), version: []string{"v0", "v2"}[m.random.IntN(2)],
	}
	m.trace.note("%s offers %s %s by %s for %s", m.people[by].user, m.people[to].user, o.amount, o.version, lives)
	a := m.as(m.people[by].user, "POST", "/"+o.version+tokenPath, transferBody(m.people[to].party, o.amount.String(), o.tracking, o.expires))
	switch {
	case m.has[by].Less(o.amount):
		m.wants(a, http.StatusBadRequest, "")
	case to == by:
		m.completedAtOnce(t, a)
	default:
		o.id = m.pending(t, a)
		m.has[by] = m.has[by].Minus(o.amount)
		m.offers = append(m.offers, o)
	}
	m.check(t, m.people[by], m.people[to])
}

type instructionMade struct {
	Output struct {
		ID       string   `json:"transfer_instruction_cid"`
		Holdings []string `json:"receiver_holding_cids"`
	} `json:"output"`
}

// pending returns the instruction that waits for its receiver.
func (m *offerModel) pending(t *testing.T, a answer) string {
	t.Helper()
	made := decoded[instructionMade](t, a)
	if made.Output.ID == "" || len(made.Output.Holdings) > 0 {
		t.Fatalf("an offer has the answer %s", a.body)
	}
	return made.Output.ID
}

// completedAtOnce is for transfers to oneself, which ask nobody.
func (m *offerModel) completedAtOnce(t *testing.T, a answer) {
	t.Helper()
	if made := decoded[instructionMade](t, a); made.Output.ID != "" || len(made.Output.Holdings) != 1 {
		t.Fatalf("a transfer to oneself has the answer %s", a.body)
	}
}

// offerAgain repeats an offer by its tracking id, as a client does that got no answer.
func (m *offerModel) offerAgain(t *testing.T) {
	t.Helper()
	o := m.offers[m.random.IntN(len(m.offers))]
	if !o.expires.After(m.Ledger.Now()) {
		return
	}
	sender, receiver := m.people[o.sender], m.people[o.receiver]
	m.trace.note("%s repeats offer %s", sender.user, o.tracking)
	a := m.as(sender.user, "POST", "/v0"+tokenPath, transferBody(receiver.party, o.amount.String(), o.tracking, o.expires))
	if again := m.pending(t, a); again != o.id {
		t.Errorf("offer %s is %s, repeated %s", o.tracking, o.id, again)
	}
	m.check(t, sender, receiver)
}

// one is a random offer, more often a recent one.
func (m *offerModel) one() *modelOffer {
	if m.random.IntN(3) > 0 {
		return m.offers[len(m.offers)-1-m.random.IntN(min(6, len(m.offers)))]
	}
	return m.offers[m.random.IntN(len(m.offers))]
}

var tokenActions = []string{"accept", "reject", "withdraw"}

// send has somebody do something with an offer.
func (m *offerModel) send(by int, action string, o *modelOffer) answer {
	return m.as(m.people[by].user, "POST", "/"+o.version+tokenPath+"/"+o.id+"/"+action, "")
}

// answer has somebody do something with an offer, who may or may not.
func (m *offerModel) answer(t *testing.T) {
	t.Helper()
	o, by, action := m.one(), m.someone(), tokenActions[m.random.IntN(len(tokenActions))]
	if m.random.IntN(2) == 0 { // rather one who may
		by = o.receiver
		if action == "withdraw" {
			by = o.sender
		}
	}
	m.expire()
	m.trace.note("%s does %s with offer %s of %s to %s, %s", m.people[by].user, action, o.tracking, m.people[o.sender].user, m.people[o.receiver].user, o.state)
	state, ok := o.closing(action, by)
	a := m.send(by, action, o)
	switch {
	case ok:
		m.wants(a, http.StatusOK, "")
		m.close(o, state)
	case o.locked && o.state == offerExpired && action == "accept" && by == o.receiver:
		m.wants(a, http.StatusBadRequest, "") // too late
	default:
		m.wants(a, http.StatusNotFound, "") // it is gone, or not theirs
	}
	m.check(t, m.people[o.sender], m.people[o.receiver], m.people[by])
}

// race has the two parties of an offer end it at the same time: one of them does.
func (m *offerModel) race(t *testing.T) {
	t.Helper()
	m.expire()
	o := m.one()
	if o.state != offerOpen {
		return
	}
	actions := []string{tokenActions[m.random.IntN(2)], "withdraw"}
	m.trace.note("%s does %s and %s withdraws offer %s at the same time", m.people[o.receiver].user, actions[0], m.people[o.sender].user, o.tracking)
	answers := make([]answer, 2)
	var both sync.WaitGroup
	for i, by := range []int{o.receiver, o.sender} {
		both.Go(func() { answers[i] = m.send(by, actions[i], o) })
	}
	both.Wait()
	first := slices.IndexFunc(answers, func(a answer) bool { return a.status == http.StatusOK })
	if first < 0 {
		t.Fatalf("nobody has ended the offer: %+v", answers)
	}
	m.wants(answers[1-first], http.StatusNotFound, "")
	state, _ := o.closing(actions[first], []int{o.receiver, o.sender}[first])
	m.close(o, state)
	m.check(t, m.people[o.sender], m.people[o.receiver])
}

// close ends an offer: its amount is the receiver's if that has accepted, else the sender's again.
func (m *offerModel) close(o *modelOffer, state string) {
	owner := o.sender
	if state == offerCompleted {
		owner = o.receiver
	}
	m.has[owner] = m.has[owner].Plus(o.amount)
	o.state, o.locked = state, false
}

// advance moves the time of the network.
func (m *offerModel) advance(t *testing.T) {
	t.Helper()
	d := []time.Duration{3 * time.Minute, 11 * time.Minute, time.Hour}[m.random.IntN(3)]
	m.trace.note("%s pass", d)
	m.Advance(d)
	m.expire()
	m.check(t, m.people...)
}

// expire notes the offers whose time has come.
func (m *offerModel) expire() {
	now := m.Ledger.Now()
	for _, o := range m.offers {
		if o.state == offerOpen && !o.expires.After(now) {
			o.state = offerExpired
		}
	}
}

// check holds what the interface shows of some people against the model, and the sum of all coins.
func (m *offerModel) check(t *testing.T, people ...*chronicle) {
	t.Helper()
	checked := map[string]bool{}
	for _, p := range people {
		if !checked[p.user] {
			checked[p.user] = true
			m.checkPerson(t, slices.Index(m.people, p))
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (m *offerModel) checkPerson(t *testing.T, at int) {
	t.Helper()
	p := m.people[at]
	var locked decimal.Decimal
	wanted := map[string]bool{}
	for _, o := range m.offers {
		if o.locked && (o.sender == at || o.receiver == at) {
			wanted[o.id] = true
		}
		if o.locked && o.sender == at {
			locked = locked.Plus(o.amount)
		}
	}
	unlocked, lockedHere := m.funds(t, p.person).sums()
	if unlocked.Cmp(m.has[at]) != 0 || lockedHere.Cmp(locked) != 0 {
		t.Errorf("%s has %s and %s locked, want %s and %s", p.user, unlocked, lockedHere, m.has[at], locked)
	}
	if shown := m.listed(t, p.person); !maps.Equal(shown, wanted) {
		t.Errorf("%s is shown the offers %v, want %v", p.user, shown, wanted)
	}
	p.follow(t, m.reality)
	if p.sum.Cmp(m.has[at]) != 0 {
		t.Errorf("the history of %s adds up to %s, there are %s", p.user, p.sum, m.has[at])
	}
	m.checkTold(t, at)
}

// listed are the open offers that somebody is shown.
func (m *offerModel) listed(t *testing.T, p *person) map[string]bool {
	t.Helper()
	var list struct {
		Transfers []struct {
			ID      string `json:"contract_id"`
			Payload struct {
				Transfer struct{ Sender, Receiver string } `json:"transfer"`
			} `json:"payload"`
		} `json:"transfers"`
	}
	m.must(t, p.user, "GET", "/v0"+tokenPath, "", &list)
	shown := map[string]bool{}
	for _, o := range list.Transfers {
		if parties := o.Payload.Transfer; parties.Sender != p.party && parties.Receiver != p.party {
			t.Errorf("%s is shown offer %s of %s to %s", p.user, o.ID, parties.Sender, parties.Receiver)
		}
		shown[o.ID] = true
	}
	return shown
}

// endedBy is the choice that the second entry about an offer tells of. Nobody is told that one
// has expired until somebody ends it.
var endedBy = map[string][]string{
	offerCompleted: {"TransferInstruction_Accept"},
	offerRejected:  {"TransferInstruction_Reject"},
	offerWithdrawn: {"TransferInstruction_Withdraw"},
	offerExpired:   {"TransferInstruction_Reject", "TransferInstruction_Withdraw"},
}

// checkTold checks that the history of somebody has one entry about each offer that is open and
// two about each that was ended, and none about those of others.
func (m *offerModel) checkTold(t *testing.T, at int) {
	t.Helper()
	p, mine := m.people[at], 0
	for _, o := range m.offers {
		told := p.told[o.id]
		if o.sender != at && o.receiver != at {
			if len(told) > 0 {
				t.Errorf("the history of %s tells of offer %s of others", p.user, o.tracking)
			}
			continue
		}
		mine++
		want := 2
		if o.locked {
			want = 1
		}
		if len(told) != want || told[0].Subtype.Choice != "TransferFactory_Transfer" {
			t.Errorf("the history of %s has %+v about offer %s, %s; want %d entries", p.user, told, o.tracking, o.state, want)
			continue
		}
		if want == 2 && !slices.Contains(endedBy[o.state], told[1].Subtype.Choice) {
			t.Errorf("the history of %s says %s of offer %s, which is %s", p.user, told[1].Subtype.Choice, o.tracking, o.state)
		}
	}
	if len(p.told) != mine {
		t.Errorf("the history of %s tells of %d offers, there were %d", p.user, len(p.told), mine)
	}
}
