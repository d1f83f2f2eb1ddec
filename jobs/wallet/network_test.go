package wallet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// TestOnTheNetwork has automations do what time, and the orders of others, ask for on a network
// whose time moves and which leaves to validators what is theirs.
func TestOnTheNetwork(t *testing.T) {
	w := newWorld(t, func(c *devnet.Config) { c.DelegatesSend = true })
	w.Tap(w.alice, "10")
	w.Tap(w.Operator, "100")
	w.Run("TransferCommands", w.transferCommands)
	w.Run("Expiry", w.expiry)
}

// pass moves the network's time, and waits until the store has seen it.
func (w *world) pass(t *testing.T, d time.Duration) {
	t.Helper()
	if err := w.Ledger.AdvanceTime(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := w.Ledger.Advance(t.Context(), 2); err != nil { // so that history says so
		t.Fatal(err)
	}
	w.Await("the store to follow the network's time", func() bool {
		now, err := w.Public.Now(t.Context())
		return err == nil && !now.Before(w.Ledger.Now())
	})
}

// commanded submits a command of a party and waits until wallets show it.
func (w *world) commanded(t *testing.T, party string, c node.Command) *node.Transaction {
	t.Helper()
	tx, err := w.Client.Submit(t.Context(), node.Submission{ActAs: []string{party}, Commands: []node.Command{c}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	return tx
}

// order has alice order the operator to send coins to bob.
func (w *world) order(t *testing.T, nonce, amount string) {
	t.Helper()
	rules, err := w.Public.Public(t.Context(), "", template.ExternalPartyCoinRules)
	if err != nil || len(rules) == 0 {
		t.Fatalf("the rules for external parties are %v, %v", rules, err)
	}
	w.commanded(t, w.alice.Party, node.Exercise("#"+template.ExternalPartyCoinRules, rules[0].ID, "ExternalPartyAmuletRules_CreateTransferCommand", map[string]any{
		"sender": w.alice.Party, "receiver": w.bob.Party, "delegate": w.Operator.Party, "amount": amount, "nonce": nonce,
		"expiresAt": w.Soon().Format(time.RFC3339Nano), "description": nil, "expectedDso": w.Ledger.GovernanceParty(),
	}))
}

func (w *world) transferCommands(t *testing.T) {
	if _, err := w.Wallet.Preapprovals.Request(t.Context(), w.bob); err != nil {
		t.Fatal(err)
	}
	w.order(t, "1", "2")
	w.order(t, "0", "1.5")
	if steps := w.planned(t, "send-commands"); len(steps) != 2 || steps[0].Do || !strings.Contains(steps[0].Why, "no nonce counter") {
		t.Errorf("without a counter planned is %+v", steps)
	}
	w.pass(t, time.Second) // the network makes the counter
	before, _ := w.Balance(w.bob)
	for i, want := range []int{1, 1, 0} { // nonce 1 waits for nonce 0
		done, err := w.list.Run(t.Context(), "send-commands")
		if err != nil || done != want {
			t.Errorf("run %d has sent %d commands, %v; want %d", i, done, err, want)
		}
	}
	w.order(t, "0", "1") // used
	w.order(t, "2", "1000000")
	w.run(t, "send-commands", 2) // both fail, and are gone
	after, _ := w.Balance(w.bob)
	if got := after.Minus(before); got.Cmp(decimal.Must("3.5")) != 0 {
		t.Errorf("bob got %s", got)
	}
	counter, err := w.Wallet.External.CommandCounter(t.Context(), w.alice.Party)
	if err != nil || counter == nil || counter.Next != 3 {
		t.Errorf("the counter is %+v, %v", counter, err)
	}
	if left, err := w.Wallet.External.TransferCommands(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left are %+v, %v", left, err)
	}
}

func (w *world) expiry(t *testing.T) {
	w.offer(t, w.bob.Party, "1", "e1")
	w.offer(t, w.bob.Party, "2", "e2")
	offers, err := w.Wallet.Offers.List(t.Context(), false, w.alice.Party)
	if err != nil || len(offers) != 2 {
		t.Fatalf("the offers are %+v, %v", offers, err)
	}
	accepted := offers[slices.IndexFunc(offers, func(o wallet.Offer) bool { return o.TrackingID == "e2" })]
	if _, err := w.Wallet.Offers.Accept(t.Context(), w.bob, accepted.ID); err != nil {
		t.Fatal(err)
	}
	m, err := w.Wallet.Network.Market(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := wallet.TrafficRequest{ReceivingParty: w.alice.Party, SynchronizerID: m.Config().Synchronizer.Active, Bytes: 250_000, ExpiresAt: w.Soon(), TrackingID: "e3"}
	if _, err := w.Wallet.Traffic.Request(t.Context(), w.alice, r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Wallet.Minting.Accept(t.Context(), w.Operator, w.propose(t, "3")); err != nil {
		t.Fatal(err)
	}
	w.propose(t, "2")
	if steps := w.planned(t, "expire"); len(steps) > 0 {
		t.Errorf("before anything has expired planned is %+v", steps)
	}
	before, locked := w.Balance(w.alice)
	w.pass(t, 2*time.Hour)
	if steps := w.planned(t, "expire"); len(steps) != 5 {
		t.Errorf("planned is %+v", steps)
	}
	w.run(t, "expire", 5)
	for tracking, read := range map[string]string{"e1": "offer", "e2": "offer", "e3": "request"} {
		status, err := w.Wallets.OfferStatus(t.Context(), w.alice.Party, tracking)
		if read == "request" {
			status, err = w.Wallets.TrafficStatus(t.Context(), w.alice.Party, tracking)
		}
		if err != nil || status.Status != "failed" || status.Failure != "expired" {
			t.Errorf("%s %s is %+v, %v", read, tracking, status, err)
		}
	}
	if left, err := w.Wallet.Minting.List(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left are the delegations %+v, %v", left, err)
	}
	if after, still := w.Balance(w.alice); after.Cmp(before) != 0 || still.Cmp(locked) != 0 {
		t.Errorf("alice has %s and %s locked, had %s and %s", after, still, before, locked)
	}
}

// TestRewardsByTraffic collects what a network pays that rewards apps by traffic.
func TestRewardsByTraffic(t *testing.T) {
	w := newWorld(t, func(c *devnet.Config) { c.TrafficRewards, c.Updates, c.Days = true, 2500, 1 })
	if _, err := w.Wallet.Rewards.GrantFeaturedRight(t.Context(), w.Operator); err != nil {
		t.Fatal(err)
	}
	w.pass(t, time.Hour) // it counts for apps that were featured when the round opened
	for range 12 {       // the operator is a party to what its users do
		w.Tap(w.alice, "1")
	}
	w.pass(t, 3*time.Hour)
	var funds *wallet.Funds
	var worth decimal.Decimal
	w.Await("rewards by traffic for the operator", func() bool {
		m, err := w.Wallet.Network.Market(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if funds, err = w.Wallet.Coins.Funds(t.Context(), w.Operator.Party, m); err != nil {
			t.Fatal(err)
		}
		worth = decimal.Decimal{}
		for _, in := range funds.Rewards {
			if in.Tag == "InputRewardCouponV2" {
				worth = worth.Plus(in.Amount)
			}
		}
		return worth.Sign() > 0
	})
	before, _ := w.Balance(w.Operator)
	if _, err := w.list.Run(t.Context(), "collect-rewards"); err != nil {
		t.Fatal(err)
	}
	if after, _ := w.Balance(w.Operator); after.Minus(before).Cmp(funds.RewardValue()) != 0 {
		t.Errorf("the operator had %s, has %s after rewards of %s", before, after, funds.RewardValue())
	}
	entries, err := w.Wallets.Log(t.Context(), w.Operator.Party, "", 5)
	if err != nil || len(entries) == 0 || entries[0].AppRewards.Less(worth) {
		t.Errorf("the log says %+v, %v", entries, err)
	}
}
