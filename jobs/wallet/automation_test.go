package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet/wallettest"
	"github.com/ledgerlake/ledgerlake/jobs"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is a network with automations.
type world struct {
	*wallettest.World
	alice, bob wallet.Actor
	list       *automations.Automations
	traffic    *traffic
}

// traffic is the node's, of which so much is left.
type traffic struct{ left int64 }

func (t *traffic) Remaining(context.Context, string, string) (int64, error) { return t.left, nil }

func newWorld(t *testing.T, adjust ...func(*devnet.Config)) *world {
	w := &world{World: wallettest.New(t, adjust...), traffic: &traffic{}}
	w.alice, w.bob = w.Onboarded("alice", ""), w.Onboarded("bob", "")
	var err error
	w.list, err = automations.New(automations.Config{
		Wallet: w.Wallet, Log: slog.New(slog.DiscardHandler), Traffic: nodeTraffic{w.traffic, w.World}, Poll: time.Second, PollRewards: time.Second,
		AcceptFrom: map[string][]string{w.bob.Party: {w.alice.Party}},
		TopUp:      automations.TopUpRule{Throughput: 1000, MinInterval: time.Minute},
		Sweeps:     []automations.Sweep{{Sender: w.bob.Party, Receiver: w.Operator.Party, Above: decimal.FromInt(50), Keep: decimal.FromInt(10)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// nodeTraffic is automations.Traffic of the world's node.
type nodeTraffic struct {
	*traffic
	world *wallettest.World
}

func (t nodeTraffic) Member(ctx context.Context) (string, error) {
	participant, err := t.world.Client.ParticipantID(ctx)
	return wallet.ParticipantMember(participant), err
}
func (t nodeTraffic) MigrationID(ctx context.Context) (int64, error) {
	return t.world.Public.MigrationID(ctx)
}

// run runs an automation and checks how much it did, and that a second run does nothing.
func (w *world) run(t *testing.T, name string, want int) {
	t.Helper()
	for _, want := range []int{want, 0} {
		done, err := w.list.Run(t.Context(), name)
		if err != nil || done != want {
			t.Errorf("%s has done %d things, %v; want %d", name, done, err, want)
		}
	}
}

// planned returns the steps of one automation.
func (w *world) planned(t *testing.T, name string) (steps []automations.Step) {
	t.Helper()
	all, err := w.list.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.What == "" || s.Why == "" {
			t.Errorf("%+v does not say what and why", s)
		}
		if s.Automation == name {
			steps = append(steps, s)
		}
	}
	return steps
}

func TestAutomations(t *testing.T) {
	w := newWorld(t)
	w.Tap(w.alice, "10")
	w.Tap(w.Operator, "100")
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"Offers", w.offers}, {"Merging", w.merging}, {"Traffic", w.buying}, {"TopUp", w.topUp},
		{"Preapprovals", w.preapprovals}, {"MergeDelegations", w.mergeDelegations}, {"MintingDelegations", w.mintingDelegations},
		{"Sweeping", w.sweeping}, {"Subscriptions", w.subscriptions}, {"Queue", w.queue},
	} {
		w.Run(test.name, test.run)
	}
}

func (w *world) offer(t *testing.T, to, amount, tracking string) {
	t.Helper()
	r := wallet.OfferRequest{Receiver: to, Amount: decimal.Must(amount), ExpiresAt: w.Soon(), TrackingID: tracking}
	if _, err := w.Wallet.Offers.Create(t.Context(), w.alice, r); err != nil {
		t.Fatal(err)
	}
}

func (w *world) offers(t *testing.T) {
	w.offer(t, w.bob.Party, "3", "o1")
	w.offer(t, w.bob.Party, "1000000", "o2")
	w.offer(t, w.Operator.Party, "3", "o3")
	if steps := w.planned(t, "accept-offers"); len(steps) != 2 || !steps[0].Do || !steps[1].Do {
		t.Errorf("planned is %+v", steps)
	}
	before, _ := w.Balance(w.bob)
	w.run(t, "accept-offers", 2)
	w.run(t, "complete-offers", 2) // one is paid, the other ended
	if after, _ := w.Balance(w.bob); after.Minus(before).Cmp(decimal.FromInt(3)) != 0 {
		t.Errorf("bob had %s, has %s", before, after)
	}
	open, err := w.Wallet.Offers.List(t.Context(), false, w.alice.Party)
	if err != nil || len(open) != 1 || open[0].TrackingID != "o3" {
		t.Errorf("open are %+v, %v", open, err)
	}
	status, err := w.Wallets.OfferStatus(t.Context(), w.alice.Party, "o2")
	if err != nil || !strings.Contains(strings.ToLower(status.Reason), "insufficient funds") {
		t.Errorf("the offer that cannot be paid is %+v, %v", status, err)
	}
}

func (w *world) merging(t *testing.T) {
	for range 3 {
		w.Tap(w.alice, "1")
	}
	before, _ := w.Balance(w.alice)
	steps := w.planned(t, "collect-rewards")
	mine := slices.IndexFunc(steps, func(s automations.Step) bool { return s.User == "alice" })
	if mine < 0 || !steps[mine].Do || !strings.Contains(steps[mine].Why, "coins") && !strings.Contains(steps[mine].Why, "rewards") {
		t.Errorf("planned is %+v", steps)
	}
	if _, err := w.list.Run(t.Context(), "collect-rewards"); err != nil {
		t.Fatal(err)
	}
	holdings, err := w.Wallets.Holdings(t.Context(), w.alice.Party)
	if after, _ := w.Balance(w.alice); err != nil || len(holdings.Coins) != 1 || after.Less(before) {
		t.Errorf("alice has %d coins worth %s, had %s (%v)", len(holdings.Coins), after, before, err)
	}
	if done, err := w.list.Run(t.Context(), "collect-rewards"); err != nil || done != 0 {
		t.Errorf("a second run has merged %d wallets, %v", done, err)
	}
}

func (w *world) buying(t *testing.T) {
	m, err := w.Wallet.Network.Market(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Tap(w.alice, "100")
	for tracking, bytes := range map[string]int64{"b1": 250_000, "b2": 1, "b3": 100_000_000, "b4": 1 << 40} {
		r := wallet.TrafficRequest{ReceivingParty: w.alice.Party, SynchronizerID: m.Config().Synchronizer.Active, Bytes: bytes, ExpiresAt: w.Soon(), TrackingID: tracking}
		if _, err := w.Wallet.Traffic.Request(t.Context(), w.alice, r); err != nil {
			t.Fatal(err)
		}
	}
	w.run(t, "complete-traffic", 4)
	for tracking, want := range map[string]string{"b1": "completed", "b2": "failed", "b3": "failed", "b4": "failed"} {
		if got, err := w.Wallets.TrafficStatus(t.Context(), w.alice.Party, tracking); err != nil || got.Status != want {
			t.Errorf("request %s is %+v, %v; want %s", tracking, got, err, want)
		}
	}
}

func (w *world) topUp(t *testing.T) {
	w.traffic.left = 1 << 40
	w.run(t, "top-up", 0)
	w.traffic.left = 10
	w.run(t, "top-up", 1) // the second is too early
	if steps := w.planned(t, "top-up"); len(steps) != 1 || steps[0].Do || !strings.Contains(steps[0].Why, "the last purchase") {
		t.Errorf("planned is %+v", steps)
	}
}

func (w *world) preapprovals(t *testing.T) {
	guest, err := w.Client.AllocateParty(t.Context(), "guest") // no user of the wallet
	if err != nil {
		t.Fatal(err)
	}
	for _, receiver := range []string{w.bob.Party, guest} {
		proposal := map[string]any{"receiver": receiver, "provider": w.Operator.Party, "expectedDso": nil}
		tx, err := w.Client.Submit(t.Context(), node.Submission{ActAs: []string{receiver}, Commands: []node.Command{node.Create("#"+template.TransferPreapprovalProposal, proposal)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
			t.Fatal(err)
		}
	}
	w.run(t, "accept-preapprovals", 2)
	renewed := 0 // the network's history may have some that are about to end
	for _, s := range w.planned(t, "renew-preapprovals") {
		if s.Do {
			renewed++
		}
		if s.Do && strings.Contains(s.What, w.bob.Party) {
			t.Errorf("planned is %+v", s)
		}
	}
	w.run(t, "renew-preapprovals", renewed)
	if have, err := w.Wallet.Preapprovals.List(t.Context()); err != nil || !slices.ContainsFunc(have, func(p wallet.Preapproval) bool { return p.Receiver == w.bob.Party }) {
		t.Errorf("the preapprovals are %+v, %v", have, err)
	}
}

func (w *world) mergeDelegations(t *testing.T) {
	delegation := map[string]any{"operator": w.Operator.Party, "owner": w.alice.Party, "meta": map[string]any{"values": map[string]string{}}}
	s := node.Submission{ActAs: []string{w.alice.Party}, Commands: []node.Command{node.Create("#"+template.MergeDelegationProposal, map[string]any{"delegation": delegation})}}
	tx, err := w.Client.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	w.run(t, "accept-merge-delegations", 1)
	w.run(t, "merge-delegated", 0)
	for range 11 {
		w.Tap(w.alice, "1")
	}
	before, _ := w.Balance(w.alice)
	w.run(t, "merge-delegated", 1)
	holdings, err := w.Wallets.Holdings(t.Context(), w.alice.Party)
	if after, _ := w.Balance(w.alice); err != nil || len(holdings.Coins) != 1 || after.Cmp(before) != 0 {
		t.Errorf("alice has %d coins worth %s, had %s (%v)", len(holdings.Coins), after, before, err)
	}
}

// propose has alice propose to the operator to mint for her, and returns the proposal.
func (w *world) propose(t *testing.T, mergeLimit string) string {
	t.Helper()
	delegation := map[string]any{
		"beneficiary": w.alice.Party, "delegate": w.Operator.Party, "dso": w.Ledger.GovernanceParty(), "expiresAt": w.Soon().Format(time.RFC3339Nano), "amuletMergeLimit": mergeLimit,
	}
	s := node.Submission{ActAs: []string{w.alice.Party}, Commands: []node.Command{node.Create("#"+template.MintingDelegationProposal, map[string]any{"delegation": delegation})}}
	tx, err := w.Client.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	return tx.CreatedOf("MintingDelegationProposal").ContractID
}

func (w *world) mintingDelegations(t *testing.T) {
	if _, err := w.Wallet.Minting.Accept(t.Context(), w.bob, w.propose(t, "3")); !errors.Is(err, wallet.ErrNotFound) {
		t.Errorf("a proposal to somebody else: %v", err)
	}
	first, err := w.Wallet.Minting.Accept(t.Context(), w.Operator, w.propose(t, "3"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.Wallet.Minting.Accept(t.Context(), w.Operator, w.propose(t, "2"))
	if err != nil || second.ContractID == first.ContractID {
		t.Fatalf("the second delegation is %+v, %v", second, err)
	}
	if err := reject(t, w); err != nil {
		t.Error(err)
	}
	for range 4 {
		w.Tap(w.alice, "1")
	}
	before, _ := w.Balance(w.alice)
	w.run(t, "mint-delegated", 1)
	holdings, err := w.Wallets.Holdings(t.Context(), w.alice.Party)
	if after, _ := w.Balance(w.alice); err != nil || len(holdings.Coins) != 2 || after.Less(before) {
		t.Errorf("alice has %d coins worth %s, had %s (%v)", len(holdings.Coins), after, before, err)
	}
}

// reject has the operator reject all proposals that are left.
func reject(t *testing.T, w *world) error {
	delegations, err := w.Wallet.Minting.List(t.Context())
	if err != nil {
		return err
	}
	left := 0
	for _, d := range delegations {
		if d.Template != template.MintingDelegationProposal {
			left++
			continue
		}
		if _, err := w.Wallet.Minting.RejectProposal(t.Context(), w.Operator, d.ID); err != nil {
			return err
		}
	}
	if left != 1 {
		return fmt.Errorf("there are %d delegations, want the one that has replaced the other", left)
	}
	return nil
}

// subscriptions has a name paid for again, once that can be done.
func (w *world) subscriptions(t *testing.T) {
	w.Tap(w.bob, "5")
	asked, err := w.Wallet.Subscriptions.RequestName(t.Context(), w.bob, wallet.NameRequest{Name: "bob.unverified.cns", Description: "me"})
	if err == nil {
		_, err = w.Wallet.Subscriptions.Accept(t.Context(), w.bob, asked.Subscription)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Second)
	w.Await("the name", func() bool {
		list, err := w.Wallet.Subscriptions.List(t.Context(), w.bob.Party)
		return err == nil && len(list) == 1
	})
	list, err := w.Wallet.Subscriptions.List(t.Context(), w.bob.Party)
	if err != nil {
		t.Fatal(err)
	}
	if steps := w.planned(t, "pay-subscriptions"); len(steps) != 1 || steps[0].Do || !strings.Contains(steps[0].Why, "it can be paid from") {
		t.Errorf("planned is %+v", steps)
	}
	w.Advance(list[0].Open.Sub(w.Ledger.Now()) + time.Minute)
	before, _ := w.Balance(w.bob)
	w.run(t, "pay-subscriptions", 1)
	if after, _ := w.Balance(w.bob); after.Cmp(before) >= 0 {
		t.Errorf("bob had %s, has %s", before, after)
	}
}

func (w *world) sweeping(t *testing.T) {
	w.Tap(w.bob, "60")
	if done, err := w.list.Run(t.Context(), "sweep"); err != nil || done != 1 {
		t.Errorf("swept %d times, %v", done, err)
	}
	if done, err := w.list.Run(t.Context(), "sweep"); err != nil || done != 0 {
		t.Errorf("what is on its way was swept %d times more, %v", done, err)
	}
	offers, err := w.Wallet.Offers.List(t.Context(), false, w.bob.Party)
	if err != nil || len(offers) == 0 || offers[len(offers)-1].Receiver != w.Operator.Party {
		t.Errorf("the offers are %+v, %v", offers, err)
	}
}

// queue has the automations of a queue do what there is to do.
func (w *world) queue(t *testing.T) {
	queue, err := jobs.Open(t.Context(), jobs.Config{Log: slog.New(slog.DiscardHandler), NotYetWait: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	find := func(context.Context) (*automations.Automations, error) { return w.list, nil }
	if err := queue.Register(automations.Handler(find)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- queue.Run(ctx) }()
	go func() { ended <- w.list.Schedule(ctx, queue) }()
	w.offer(t, w.bob.Party, "2", "q1")
	w.Await("the offer to be paid by itself", func() bool {
		status, err := w.Wallets.OfferStatus(t.Context(), w.alice.Party, "q1")
		return err == nil && status.Status == "completed"
	})
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if err := queue.Close(); err != nil {
		t.Error(err)
	}
}
