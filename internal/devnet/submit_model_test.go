package devnet

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// walletModel is what must be after a sequence of commands: who has how many coins, and what
// is open between the parties.
type walletModel struct {
	*desk
	random   random
	parties  []string
	wallets  map[string]string
	funds    map[string]decimal // unlocked
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
	amount           decimal
	ends             time.Time // of the token standard
}

// TestCommandModel has parties act at random, also in ways that must be refused, while the
// simulated users go on, and compares each outcome with the model.
func TestCommandModel(t *testing.T) {
	m := &walletModel{desk: newDesk(t, Config{Updates: 600, Seed: 71}), random: random{7}, wallets: map[string]string{},
		funds: map[string]decimal{}, done: map[string]int{}}
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
		{"time", func() { m.advance(time.Duration(m.random.below(900)) * time.Second) }},
		{"others", func() {
			if err := m.l.Advance(t.Context(), 1+m.random.below(6)); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for m.steps = range 260 {
		a := actions[m.random.below(len(actions))]
		m.done[a.name]++
		a.run()
		m.expirePending(a.name == "time")
		m.compare(a.name)
	}
	for range 6 { // offers that nobody answers
		m.tapSome()
		m.tokensSome()
	}
	m.advance(time.Hour + m.l.config.tick())
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

func (m *walletModel) someone() string { return m.parties[m.random.below(len(m.parties))] }

// some is an amount that a party mostly has.
func (m *walletModel) some(party string) decimal {
	return 1 + m.funds[party].times(m.random.decimalBetween(0, one*12/10))
}

// expect submits commands that must succeed if ok is true, and be refused else.
func (m *walletModel) expect(ok bool, actAs []string, commands ...Command) (Committed, bool) {
	m.t.Helper()
	s := m.submission(actAs, commands...)
	if ok {
		return m.mustSubmit(s), true
	}
	m.refused(s)
	m.refusals++
	return Committed{}, false
}

func (m *walletModel) tapSome() {
	p, amount := m.someone(), m.random.decimalBetween(1, coins(100))
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
	from, to, amount := m.someone(), m.someone(), decimal(0)
	amount = m.some(from)
	id := m.offer(m.wallets[from], from, to, amount.String(), fmt.Sprint("model-", m.steps))
	m.offers = append(m.offers, openOffer{id: id, sender: from, receiver: to, amount: amount})
}

// take removes a random element; false if there is none.
func (m *walletModel) take(list *[]openOffer) (openOffer, bool) {
	if len(*list) == 0 {
		return openOffer{}, false
	}
	at := m.random.below(len(*list))
	o := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return o, true
}

func (m *walletModel) expired(id string) bool {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	n, _ := m.l.names.ids.contractNumber(id)
	c := m.l.executor.tx.byNumber[n]
	return c != nil && trackedOffer(c).expiresAt <= m.l.executor.clock.recordTime+submissionGap
}

func (m *walletModel) acceptSome() {
	o, ok := m.take(&m.offers)
	if !ok {
		return
	}
	as, may := o.receiver, !m.expired(o.id)
	if m.random.percent(20) {
		as = m.someone()
	}
	may = may && as == o.receiver
	done, ok := m.expect(may, []string{as}, exercise(transferOfferTemplate, o.id, "TransferOffer_Accept"))
	if !ok {
		m.offers = append(m.offers, o)
		return
	}
	o.id = in(m.t, done.Results[0], "acceptedTransferOffer")
	m.accepted = append(m.accepted, o)
}

func (m *walletModel) endSome() {
	if o, ok := m.take(&m.offers); ok {
		m.must([]string{o.receiver}, exercise(transferOfferTemplate, o.id, "TransferOffer_Reject"))
	}
}

func (m *walletModel) completeSome() {
	o, ok := m.take(&m.accepted)
	if !ok {
		return
	}
	if m.expired(o.id) {
		m.must([]string{o.sender}, exercise(acceptedOfferTemplate, o.id, "AcceptedTransferOffer_Expire", "actor", o.sender))
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
		done.RecordTime.Add(time.Hour - submissionGap*time.Microsecond + m.l.config.tick())})
}

// expirePending gives the senders of offers that the governance party has ended, a tick after
// their time was over, their coins back. After time has moved none of those may be left.
func (m *walletModel) expirePending(moved bool) {
	now := m.l.Now()
	m.pending = slices.DeleteFunc(m.pending, func(o openOffer) bool {
		m.l.mu.Lock()
		n, _ := m.l.names.ids.contractNumber(o.id)
		gone := m.l.executor.tx.byNumber[n] == nil
		m.l.mu.Unlock()
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
	choice := []string{"TransferInstruction_Accept", "TransferInstruction_Reject", "TransferInstruction_Withdraw"}[m.random.below(3)]
	as, to := o.receiver, o.sender
	if choice == "TransferInstruction_Withdraw" {
		as = o.sender
	}
	m.l.mu.Lock()
	n, _ := m.l.names.ids.contractNumber(o.id)
	late := m.l.executor.tx.byNumber[n].payload.(transferInstruction).transfer.executeBefore <= m.l.executor.clock.recordTime+submissionGap
	m.l.mu.Unlock()
	if choice == "TransferInstruction_Accept" {
		to = o.receiver
	}
	may := !late || choice != "TransferInstruction_Accept"
	if _, ok := m.expect(may, []string{as}, exercise(transferInstructionTemplate, o.id, choice, "extraArgs", emptyExtraArgs)); !ok {
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
	cost := decimal(minTopUp * 1e4).times(trafficPrice).over(m.price())
	_, ok := m.expect(cost <= m.funds[p], []string{p}, exercise(amuletRulesTemplate, m.rules(), "AmuletRules_BuyMemberTraffic",
		"inputs", m.inputs(p), "context", m.context(), "provider", p, "memberId", m.l.view.uid(), "synchronizerId", m.l.names.synchronizers[0],
		"migrationId", 1, "trafficAmount", minTopUp))
	if ok {
		m.funds[p] -= cost
	}
}

func (m *walletModel) price() decimal {
	now := m.l.Now().UnixMicro()
	all := m.l.ofTemplate(openRoundTemplate, func(c *contract) bool { return c.payload.(openRound).opensAt <= now })
	return all[len(all)-1].payload.(openRound).price
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
	locked := map[string]decimal{}
	for _, o := range m.pending {
		locked[o.sender] += o.amount
	}
	for _, c := range m.l.ofTemplate(lockedAmuletTemplate, nil) {
		locked[m.l.names.name(c.payload.(lockedAmulet).owner)] -= c.payload.(lockedAmulet).amount
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
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	m.l.store.mu.RLock()
	defer m.l.store.mu.RUnlock()
	active := m.l.store.node.active
	for n, c := range m.l.executor.tx.byNumber {
		signatories, observers := c.payload.stakeholders(nil, nil)
		if _, ok := active[n]; ok != slices.ContainsFunc(append(signatories, observers...), m.l.view.hostsParty) {
			m.t.Errorf("contract %d of %s is active on the node: %v", n, c.template.name, ok)
		}
	}
	for n := range active {
		flying := slices.ContainsFunc(m.l.executor.harbor.inFlight, func(f flight) bool { return f.contract.number == n })
		if m.l.executor.tx.byNumber[n] == nil && !flying {
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
	c := serveNode(t, m.l, NodeOptions{})
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
