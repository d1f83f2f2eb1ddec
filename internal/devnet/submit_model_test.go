package devnet

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// walletModel is what must be after a sequence of commands: who has how many coins, and what
// is open between the parties.
type walletModel struct {
	*desk
	random   model.Random
	parties  []string
	wallets  map[string]string
	funds    map[string]model.Decimal // unlocked
	offers   []openOffer
	accepted []openOffer
	pending  []openOffer // of the token standard: the coins are locked
	steps    int
	refusals int
	done     map[string]int
}

// openOffer is something that waits for an answer.
type openOffer struct {
	id               string
	sender, receiver string
	amount           model.Decimal
	ends             time.Time // of the token standard
}

// TestCommandModel has parties act at random, also in ways that must be refused, while the
// simulated users go on, and compares each outcome with the model.
func TestCommandModel(t *testing.T) {
	m := &walletModel{desk: newDesk(t, sim.Config{Updates: 600, Seed: 71}), random: model.Random{State: 7}, wallets: map[string]string{},
		funds: map[string]model.Decimal{}, done: map[string]int{}}
	for i := range 4 {
		p := m.party(fmt.Sprint("party-", i), nil)
		m.parties, m.wallets[p] = append(m.parties, p), m.onboard(p)
	}
	actions := []struct {
		name string
		run  func()
	}{
		{"tap", m.tapSome}, {"transfer", m.transferSome}, {"offer", m.offerSome}, {"accept", m.acceptSome}, {"reject", m.endSome},
		{"complete", m.completeSome}, {"tokens", m.tokensSome}, {"answer", m.answerSome}, {"merge", m.mergeSome}, {"traffic", m.trafficSome},
		{"time", func() { m.advance(time.Duration(m.random.Below(900)) * time.Second) }},
		{"others", func() {
			if err := m.l.Advance(t.Context(), 1+m.random.Below(6)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for m.steps = range 260 {
		a := actions[m.random.Below(len(actions))]
		m.done[a.name]++
		a.run()
		m.expirePending(a.name == "time")
		m.compare(a.name)
	}
	for range 6 { // offers that nobody answers
		m.tapSome()
		m.tokensSome()
	}
	m.advance(time.Hour + m.l.Config.Tick())
	m.expirePending(true)
	m.compare("the end")
	if m.refusals < 10 || m.done["complete"] < 5 || m.done["expired"] == 0 {
		t.Errorf("%d refusals, %v", m.refusals, m.done)
	}
	m.finish()
	m.checkPublic()
	m.checkNode()
	m.checkServed()
}

func (m *walletModel) someone() string { return m.parties[m.random.Below(len(m.parties))] }

// some is an amount that a party mostly has.
func (m *walletModel) some(party string) model.Decimal {
	return 1 + m.funds[party].Times(m.random.DecimalBetween(0, model.One*12/10))
}

// expect submits commands that must succeed if ok is true, and be refused else.
func (m *walletModel) expect(ok bool, actAs []string, commands ...choices.Command) (ledger.Committed, bool) {
	m.t.Helper()
	s := m.submission(actAs, commands...)
	if ok {
		return m.mustSubmit(s), true
	}
	m.refused(s)
	m.refusals++
	return ledger.Committed{}, false
}

func (m *walletModel) tapSome() {
	p, amount := m.someone(), m.random.DecimalBetween(1, model.Coins(100))
	m.tap(p, amount.String())
	m.funds[p] += amount
}

func (m *walletModel) transferSome() {
	from, to := m.someone(), m.someone()
	ids, _ := m.coins(from)
	a, b := m.some(from), m.some(from)
	if _, ok := m.expect(a+b <= m.funds[from], []string{from, to}, m.transfer(from, ids, to, a.String(), b.String())); ok {
		m.funds[from] -= a + b
		m.funds[to] += a + b
	}
}

func (m *walletModel) offerSome() {
	from, to, amount := m.someone(), m.someone(), model.Decimal(0)
	amount = m.some(from)
	id := m.offer(m.wallets[from], from, to, amount.String(), fmt.Sprint("model-", m.steps))
	m.offers = append(m.offers, openOffer{id: id, sender: from, receiver: to, amount: amount})
}

// take removes a random element; false if there is none.
func (m *walletModel) take(list *[]openOffer) (openOffer, bool) {
	if len(*list) == 0 {
		return openOffer{}, false
	}
	at := m.random.Below(len(*list))
	o := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return o, true
}

func (m *walletModel) expired(id string) bool {
	m.l.Mu.Lock()
	defer m.l.Mu.Unlock()
	n, _ := m.l.Names.IDs.ContractNumber(id)
	c := m.l.Executor.Tx.ByNumber[n]
	return c != nil && choices.TrackedOffer(c).ExpiresAt <= m.l.Executor.Clock.RecordTime+choices.SubmissionGap
}

func (m *walletModel) acceptSome() {
	o, ok := m.take(&m.offers)
	if !ok {
		return
	}
	as, may := o.receiver, !m.expired(o.id)
	if m.random.Percent(20) {
		as = m.someone()
	}
	may = may && as == o.receiver
	done, ok := m.expect(may, []string{as}, exercise(model.TransferOfferTemplate, o.id, "TransferOffer_Accept"))
	if !ok {
		m.offers = append(m.offers, o)
		return
	}
	o.id = in(m.t, done.Results[0], "acceptedTransferOffer")
	m.accepted = append(m.accepted, o)
}

func (m *walletModel) endSome() {
	if o, ok := m.take(&m.offers); ok {
		m.must([]string{o.receiver}, exercise(model.TransferOfferTemplate, o.id, "TransferOffer_Reject"))
	}
}

func (m *walletModel) completeSome() {
	o, ok := m.take(&m.accepted)
	if !ok {
		return
	}
	if m.expired(o.id) {
		m.must([]string{o.sender}, exercise(model.AcceptedOfferTemplate, o.id, "AcceptedTransferOffer_Expire", "actor", o.sender))
		return
	}
	outcome := m.batch(m.wallets[o.sender], o.sender, operation("CO_CompleteAcceptedTransfer", o.id), operation("CO_MergeTransferInputs", nil))
	if o.amount > m.funds[o.sender] {
		if in(m.t, outcome[0], "tag") != "COO_Error" || in(m.t, outcome[0], "value", "value", "missingAmount") != (o.amount-m.funds[o.sender]).String() {
			m.t.Fatalf("outcome is %s, the sender has %s of %s", outcome[0], m.funds[o.sender], o.amount)
		}
		m.refusals++
		m.accepted = append(m.accepted, o)
		return
	}
	m.funds[o.sender] -= o.amount
	m.funds[o.receiver] += o.amount
}

func (m *walletModel) tokensSome() {
	from, to := m.someone(), m.someone()
	amount, ids := m.some(from), []string(nil)
	ids, _ = m.coins(from)
	done, ok := m.expect(amount <= m.funds[from] && len(ids) > 0, []string{from}, m.tokenCommand(from, to, amount.String()))
	if !ok {
		return
	}
	if from == to {
		return
	}
	m.funds[from] -= amount
	m.pending = append(m.pending, openOffer{in(m.t, done.Results[0], "output", "value", "transferInstructionCid"), from, to, amount,
		done.RecordTime.Add(time.Hour - choices.SubmissionGap*time.Microsecond + m.l.Config.Tick())})
}

// expirePending gives the senders of offers that the governance party has ended, a tick after
// their time was over, their coins back. After time has moved none of those may be left.
func (m *walletModel) expirePending(moved bool) {
	now := m.l.Now()
	m.pending = slices.DeleteFunc(m.pending, func(o openOffer) bool {
		m.l.Mu.Lock()
		n, _ := m.l.Names.IDs.ContractNumber(o.id)
		gone := m.l.Executor.Tx.ByNumber[n] == nil
		m.l.Mu.Unlock()
		if gone && o.ends.After(now) || !gone && moved && !o.ends.After(now) {
			m.t.Fatalf("step %d: at %s the offer that ends at %s is gone: %v", m.steps, now, o.ends, gone)
		}
		if gone {
			m.funds[o.sender] += o.amount
			m.done["expired"]++
		}
		return gone
	})
}

func (m *walletModel) answerSome() {
	o, ok := m.take(&m.pending)
	if !ok {
		return
	}
	choice := []string{"TransferInstruction_Accept", "TransferInstruction_Reject", "TransferInstruction_Withdraw"}[m.random.Below(3)]
	as, to := o.receiver, o.sender
	if choice == "TransferInstruction_Withdraw" {
		as = o.sender
	}
	m.l.Mu.Lock()
	n, _ := m.l.Names.IDs.ContractNumber(o.id)
	late := m.l.Executor.Tx.ByNumber[n].Payload.(model.TransferInstruction).Transfer.ExecuteBefore <= m.l.Executor.Clock.RecordTime+choices.SubmissionGap
	m.l.Mu.Unlock()
	if choice == "TransferInstruction_Accept" {
		to = o.receiver
	}
	may := !late || choice != "TransferInstruction_Accept"
	if _, ok := m.expect(may, []string{as}, exercise(model.TransferInstructionTemplate, o.id, choice, "extraArgs", emptyExtraArgs)); !ok {
		m.pending = append(m.pending, o)
		return
	}
	m.funds[to] += o.amount
}

func (m *walletModel) mergeSome() {
	p := m.someone()
	if ids, _ := m.coins(p); len(ids) > 0 {
		m.must([]string{p}, m.transfer(p, ids, p))
		if left, _ := m.coins(p); len(left) != 1 {
			m.t.Fatalf("a merge leaves %d coins", len(left))
		}
	}
}

func (m *walletModel) trafficSome() {
	p := m.someone()
	cost := model.Decimal(model.MinTopUp * 1e4).Times(model.TrafficPrice).Over(m.price())
	_, ok := m.expect(cost <= m.funds[p], []string{p}, exercise(model.AmuletRulesTemplate, m.rules(), "AmuletRules_BuyMemberTraffic",
		"inputs", m.inputs(p), "context", m.context(), "provider", p, "memberId", m.l.View.Member(), "synchronizerId", m.l.Names.Synchronizers[0],
		"migrationId", 1, "trafficAmount", model.MinTopUp))
	if ok {
		m.funds[p] -= cost
	}
}

func (m *walletModel) price() model.Decimal {
	now := m.l.Now().UnixMicro()
	all := m.l.OfTemplate(model.OpenRoundTemplate, func(c *model.Contract) bool { return c.Payload.(model.OpenRound).OpensAt <= now })
	return all[len(all)-1].Payload.(model.OpenRound).Price
}

// compare compares the ledger with the model.
func (m *walletModel) compare(action string) {
	m.t.Helper()
	m.check()
	for _, p := range m.parties {
		if got := m.balance(p); got != m.funds[p] {
			m.t.Fatalf("step %d, %s: %s has %s, want %s", m.steps, action, p, got, m.funds[p])
		}
	}
	locked := map[string]model.Decimal{}
	for _, o := range m.pending {
		locked[o.sender] += o.amount
	}
	for _, c := range m.l.OfTemplate(model.LockedAmuletTemplate, nil) {
		locked[m.l.Names.Name(c.Payload.(model.LockedAmulet).Owner)] -= c.Payload.(model.LockedAmulet).Amount
	}
	for _, p := range m.parties {
		if locked[p] != 0 {
			m.t.Fatalf("step %d, %s: %s lacks %s locked coins", m.steps, action, p, locked[p])
		}
	}
}

// checkPublic replays the public history and compares what it leaves.
func (m *walletModel) checkPublic() {
	m.t.Helper()
	t := m.t.(*testing.T)
	r := newReplay(t)
	for _, it := range serveScan(t, m.l).allUpdates("/v2/updates", "protobuf_json", 1000) {
		r.add(it)
	}
	var sum rowSum
	for _, e := range r.active {
		sum.add(e.row())
	}
	sum.compare(t, "active_contracts", m.l.Digests())
	compareSupply(t, r, m.l)
}

// checkNode compares what is active on the node with what its parties are stakeholders of.
func (m *walletModel) checkNode() {
	m.t.Helper()
	m.l.Mu.Lock()
	defer m.l.Mu.Unlock()
	m.l.Store.Mu.RLock()
	defer m.l.Store.Mu.RUnlock()
	active := m.l.Store.Node.Active
	for n, c := range m.l.Executor.Tx.ByNumber {
		signatories, observers := c.Payload.Stakeholders(nil, nil)
		if _, ok := active[n]; ok != slices.ContainsFunc(append(signatories, observers...), m.l.View.HostsParty) {
			m.t.Errorf("contract %d of %s is active on the node: %v", n, c.Template.Name, ok)
		}
	}
	for n := range active {
		flying := slices.ContainsFunc(m.l.Executor.Harbor.InFlight, func(f sim.Flight) bool { return f.Contract.Number == n })
		if m.l.Executor.Tx.ByNumber[n] == nil && !flying {
			m.t.Errorf("contract %d is active on the node only", n)
		}
	}
}

// checkServed compares what scan and node send with what the ledger says of it.
func (m *walletModel) checkServed() {
	m.t.Helper()
	t := m.t.(*testing.T)
	if err := m.l.Advance(t.Context(), 1); err != nil { // up to a public update all is shown
		t.Fatal(err)
	}
	digestsMatch(t, serveScan(t, m.l))
	c := serveNode(t, m.l, nodeapi.NodeOptions{})
	frames := c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything))
	if got, d := digestsOf(t, decodeNodeUpdates(t, frames), 0), m.l.NodeDigests(); !maps.Equal(got, d.Tables) {
		t.Errorf("what was sent digests to %v, the node says %v", got, d.Tables)
	}
	for i, f := range frames {
		if canonical, err := jsonscan.AppendCanonical(nil, f); err != nil || string(canonical) != string(f) {
			t.Fatalf("frame %d is not canonical: %v, %.300s", i, err, f)
		}
	}
	text := string(bytes.Join(frames, nil))
	for _, p := range m.parties {
		if !strings.Contains(text, `"partyId":"`+p+`"`) {
			t.Errorf("the stream does not tell of the allocation of %s", p)
		}
	}
}
