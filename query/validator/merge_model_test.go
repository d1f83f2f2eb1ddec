package validator

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/node"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// fewHoldings is how many holdings somebody may have who has delegated the merging of them,
// before they are merged.
const fewHoldings = 10

// mergeOwner is somebody with the contracts that let the operator merge, or ask it to.
type mergeOwner struct {
	*chronicle
	proposals []string // oldest first
	// delegation is that which is active, "" for none.
	delegation string
	has        decimal.Decimal
	coins      int
}

// mergeModel is what some people have delegated, and the coins that they have.
type mergeModel struct {
	*reality
	random      *rand.Rand
	trace       *trace
	automations *automations.Automations
	owners      []*mergeOwner
	accepted    int
	merged      int
	splits      int // tracking ids drawn
}

// mergeDelegations has people propose to the operator that it merges their holdings, take that
// back and get coins, at random, while the operator's automations accept and merge, and checks
// after each step that the table of states holds: nobody's holdings are merged without an active
// delegation, those of others once there are more than ten, and never is a coin lost or created.
func (r *reality) mergeDelegations(t *testing.T) {
	run := modelRunOf(t, 40, 8*time.Second)
	m := &mergeModel{reality: r, random: rand.New(rand.NewPCG(run.seed, 2)), trace: &trace{seed: run.seed}}
	defer m.trace.tell(t)
	var err error
	m.automations, err = automations.New(automations.Config{Wallet: r.Wallet, Log: slog.New(slog.DiscardHandler), Only: []string{"accept-merge-delegations", "merge-delegated"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"mara", "milo"} {
		p := r.register(t, user, "10")
		has, _ := r.funds(t, p).sums()
		m.owners = append(m.owners, &mergeOwner{chronicle: chronicleOf(p), has: has, coins: 1})
	}
	m.check(t)
	begin := time.Now()
	for run.next() {
		m.step(t)
	}
	for _, o := range m.owners {
		o.whole(t, r)
	}
	t.Logf("%d steps by seed %d in %s: %d proposals accepted, holdings merged %d times", run.taken, run.seed, time.Since(begin).Round(time.Millisecond), m.accepted, m.merged)
	if run.whole() && run.steps >= 50 && (m.accepted == 0 || m.merged == 0) {
		t.Error("the run has not come through all states")
	}
}

func (m *mergeModel) step(t *testing.T) {
	t.Helper()
	o := m.owners[m.random.IntN(len(m.owners))]
	switch n := m.random.IntN(100); {
	case n < 45:
		m.tap(t, o)
	case n < 55:
		m.send(t, o)
	case n < 65:
		m.propose(t, o)
	case n < 70:
		m.endProposal(t, o)
	case n < 75:
		m.endDelegation(t, o)
	case n < 85:
		m.accept(t)
	default:
		m.merge(t)
	}
	m.check(t)
}

// tap gives somebody a few coins more.
func (m *mergeModel) tap(t *testing.T, o *mergeOwner) {
	t.Helper()
	n := 1 + m.random.IntN(4)
	m.trace.note("%s taps %d times", o.user, n)
	for range n {
		var tapped struct {
			ID string `json:"contract_id"`
		}
		m.must(t, o.user, "POST", "/v0/wallet/tap", `{"amount":"0.5"}`, &tapped)
		o.has, o.coins = o.has.Plus(m.funds(t, o.person).unlocked[tapped.ID]), o.coins+1
	}
}

// send transfers a coin to oneself, which takes the largest and leaves two.
func (m *mergeModel) send(t *testing.T, o *mergeOwner) {
	t.Helper()
	m.trace.note("%s splits a coin", o.user)
	m.splits++
	m.must(t, o.user, "POST", "/v0"+tokenPath, transferBody(o.party, "0.01", fmt.Sprintf("split-%d", m.splits), m.Soon()), nil)
	o.coins++
}

// submit has parties do something by a command, which the wallet's own interface has no
// operation for, and waits until it is shown.
func (m *mergeModel) submit(t *testing.T, party string, command node.Command) *node.Transaction {
	t.Helper()
	tx, err := m.Client.Submit(t.Context(), node.Submission{ActAs: []string{party}, Commands: []node.Command{command}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	return tx
}

func (m *mergeModel) propose(t *testing.T, o *mergeOwner) {
	t.Helper()
	m.trace.note("%s proposes", o.user)
	delegation := map[string]any{"operator": m.World.Operator.Party, "owner": o.party, "meta": map[string]any{"values": map[string]string{}}}
	tx := m.submit(t, o.party, node.Create("#"+template.MergeDelegationProposal, map[string]any{"delegation": delegation}))
	o.proposals = append(o.proposals, tx.CreatedOf("MergeDelegationProposal").ContractID)
}

// ending is who ends something by which choice.
func (m *mergeModel) ending(o *mergeOwner, withdraw, reject string) (party, choice string) {
	if m.random.IntN(2) == 0 {
		return o.party, withdraw
	}
	return m.World.Operator.Party, reject
}

func (m *mergeModel) endProposal(t *testing.T, o *mergeOwner) {
	t.Helper()
	if len(o.proposals) == 0 {
		return
	}
	at := m.random.IntN(len(o.proposals))
	party, choice := m.ending(o, "MergeDelegationProposal_Withdraw", "MergeDelegationProposal_Reject")
	m.trace.note("%s on one of %s", choice, o.user)
	m.submit(t, party, node.Exercise("#"+template.MergeDelegationProposal, o.proposals[at], choice, struct{}{}))
	o.proposals = slices.Delete(o.proposals, at, at+1)
}

func (m *mergeModel) endDelegation(t *testing.T, o *mergeOwner) {
	t.Helper()
	if o.delegation == "" {
		return
	}
	party, choice := m.ending(o, "MergeDelegation_Withdraw", "MergeDelegation_Reject")
	m.trace.note("%s on that of %s", choice, o.user)
	m.submit(t, party, node.Exercise("#"+template.MergeDelegation, o.delegation, choice, struct{}{}))
	o.delegation = ""
}

// run runs an automation and returns how much it has done.
func (m *mergeModel) run(t *testing.T, name string) int {
	t.Helper()
	done, err := m.automations.Run(t.Context(), name)
	if err != nil {
		t.Fatalf("running %s: %v", name, err)
	}
	return done
}

// accept has the operator accept what is proposed: one delegation of each owner.
func (m *mergeModel) accept(t *testing.T) {
	t.Helper()
	m.trace.note("the operator accepts")
	want := 0
	for _, o := range m.owners {
		if o.delegation == "" && len(o.proposals) > 0 {
			want++
			o.proposals, o.delegation = o.proposals[1:], "new"
		}
	}
	if done := m.run(t, "accept-merge-delegations"); done != want {
		t.Errorf("%d proposals were accepted, want %d", done, want)
	}
	m.accepted += want
	for _, o := range m.owners {
		if list := m.contracts(t, o, template.MergeDelegation); o.delegation == "new" && len(list) == 1 {
			o.delegation = list[0]
		}
	}
}

// merge has the operator merge: all coins of those who have delegated it and have many.
func (m *mergeModel) merge(t *testing.T) {
	t.Helper()
	m.trace.note("the operator merges")
	want := 0
	for _, o := range m.owners {
		if o.delegation != "" && o.coins > fewHoldings {
			want, o.coins = 1, 1 // all in one batch
			m.merged++
		}
	}
	if done := m.run(t, "merge-delegated"); done != want {
		t.Errorf("there were %d batches of merges, want %d", done, want)
	}
}

// contracts are the ids of those of a template that somebody is the owner in, oldest first.
func (m *mergeModel) contracts(t *testing.T, o *mergeOwner, template string) (ids []string) {
	t.Helper()
	list, err := m.Wallets.Contracts(t.Context(), wallethistory.Query{Parties: []string{o.party}, Templates: []string{template}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		ids = append(ids, list[i].Event.ContractID)
	}
	return ids
}

// check holds contracts, coins and histories against the model.
func (m *mergeModel) check(t *testing.T) {
	t.Helper()
	for _, o := range m.owners {
		var delegations []string
		if o.delegation != "" {
			delegations = []string{o.delegation}
		}
		if got := m.contracts(t, o, template.MergeDelegationProposal); !slices.Equal(got, o.proposals) {
			t.Errorf("%s has the proposals %v, want %v", o.user, got, o.proposals)
		}
		if got := m.contracts(t, o, template.MergeDelegation); !slices.Equal(got, delegations) {
			t.Errorf("%s has the delegations %v, want %v", o.user, got, delegations)
		}
		f := m.funds(t, o.person)
		if unlocked, locked := f.sums(); len(f.unlocked) != o.coins || unlocked.Cmp(o.has) != 0 || locked.Sign() != 0 {
			t.Errorf("%s has %d coins worth %s and %s locked, want %d worth %s", o.user, len(f.unlocked), unlocked, locked, o.coins, o.has)
		}
		if o.follow(t, m.reality); o.sum.Cmp(o.has) != 0 {
			t.Errorf("the history of %s adds up to %s, there are %s", o.user, o.sum, o.has)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
