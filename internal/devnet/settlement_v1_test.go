package devnet

import (
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// TestSettlementOfBothVersions settles allocations of the first version of the token standard by the
// second: their receivers get the coins by allocations of the second.
func TestSettlementOfBothVersions(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 76})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	d.advance(2 * time.Second)
	d.tap(alice, 50)
	d.tap(bob, 10)
	first := func(amount string) string {
		t.Helper()
		return in(t, d.must([]string{alice}, d.allocate(venue, alice, bob, amount, time.Hour))[0], "output", "value", "allocationCid")
	}
	second := func(owner string, legs []leg) string {
		t.Helper()
		return in(t, d.must([]string{owner}, d.allocateLegs(venue, owner, legs, false, nil, 10*time.Hour))[0], "output", "value", "allocationCid")
	}
	sent, back := leg{"leg-1", alice, bob, "8"}, leg{"back", bob, alice, "3"}
	legs := []leg{sent, back}
	hers, his := finalized(first("8"), alice, nil, nil), finalized(second(bob, legs), bob, nil, nil)
	received := finalized(second(alice, []leg{back}), alice, nil, nil)
	extra := finalized(hers["allocationCid"].(string), alice, []leg{{"x", alice, bob, "1"}}, nil)
	for what, wrong := range map[string]choices.Command{
		"its receiver authorizes nothing": d.settleBatch(venue, []leg{sent}, hers),
		"further legs":                    d.settleBatch(venue, append(legs, leg{"x", alice, bob, "1"}), extra, received, his),
		"funding":                         d.settleBatch(venue, legs, finalized(extra["allocationCid"].(string), alice, nil, map[string]string{}), received, his),
		"no allocation":                   d.settleBatch(venue, legs, finalized(d.rules(), alice, nil, nil), received, his),
	} {
		t.Log(what, d.refused(d.submission([]string{venue}, wrong)))
	}
	done := d.must([]string{venue}, d.settleBatch(venue, legs, hers, received, his))[0]
	if got := in(t, done, "allocationSettleResults", 0, "output", "tag"); got != "AllocationResult_Settled" {
		t.Errorf("settled: %s", got)
	}
	if a, b := d.balance(alice), d.balance(bob); a != model.Coins(45) || b != model.Coins(15) {
		t.Errorf("alice has %s and bob %s", a, b)
	}
	if left := d.l.OfTemplate(model.AllocationTemplate, nil); len(left) != 0 {
		t.Errorf("%d allocations of the first version are left", len(left))
	}
	if kinds := d.checkEvents(); kinds["leg-1"] != 2 || kinds["back"] != 2 {
		t.Errorf("the event log has %v", kinds)
	}
	late := finalized(first("1"), alice, nil, nil)
	sent.amount = "1"
	his = finalized(second(bob, []leg{sent}), bob, nil, nil)
	d.advance(time.Hour)
	t.Log("too late", d.refused(d.submission([]string{venue}, d.settleBatch(venue, []leg{sent}, late, his))))
	d.finish()
}

// TestWalletOfVersion2 has a validator exercise choices of the second version of the token standard for
// the user of a wallet.
func TestWalletOfVersion2(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 77})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	hers, his := d.onboard(alice), d.onboard(bob)
	d.advance(2 * time.Second)
	d.tap(alice, 50)
	wrapped := func(wallet, user, choice, contract, id, arg string, value any, more ...any) choices.Submission {
		return d.submission([]string{d.operator, user}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_"+choice, append([]any{contract, id, arg, value}, more...)...))
	}
	external := d.newest(model.ExternalRulesTemplate, nil)
	transfer := func(receiver string) any { return d.tokensV2(account(alice), account(receiver), "4", noMeta).Argument }
	offer := func() string {
		t.Helper()
		d.mustSubmit(wrapped(hers, alice, "TransferFactoryV2_Transfer", "transferFactoryCid", external, "transferArg", transfer(bob)))
		return d.newest(model.TransferInstructionTemplate, nil)
	}
	by := func(user string) any { return map[string]any{"actors": []string{user}, "extraArgs": emptyExtraArgs} }
	answer := func(wallet, user, choice, arg string) choices.Submission {
		return wrapped(wallet, user, "TransferInstructionV2_"+choice, "transferInstructionCid", offer(), arg, by(user))
	}
	d.mustSubmit(answer(his, bob, "Accept", "acceptArg"))
	d.mustSubmit(answer(his, bob, "Reject", "rejectArg"))
	d.mustSubmit(answer(hers, alice, "Withdraw", "withdrawArg"))
	allocate := func(request any) choices.Submission {
		return wrapped(hers, alice, "AllocationFactoryV2_Allocate", "allocationFactory", external, "allocateArg", d.allocateSides(venue, alice, bob, "5", false, nil, time.Hour).Argument,
			"allocationReqCid", request)
	}
	t.Log("asked for", d.refused(allocate(external)))
	t.Log("by another's wallet", d.refused(wrapped(his, bob, "TransferFactoryV2_Transfer", "transferFactoryCid", external, "transferArg", transfer(bob))))
	d.mustSubmit(allocate(nil))
	withdraw := func(wallet, user string) choices.Submission {
		return wrapped(wallet, user, "AllocationV2_Withdraw", "allocationCid", d.newest(model.AllocationV2Template, nil), "withdrawArg", by(alice))
	}
	t.Log("another's allocation", d.refused(withdraw(his, bob)))
	if a, b := d.balance(alice), d.balance(bob); a != model.Coins(41) || b != model.Coins(4) {
		t.Errorf("alice has %s and bob %s", a, b)
	}
	d.mustSubmit(withdraw(hers, alice))
	if a := d.balance(alice); a != model.Coins(46) {
		t.Errorf("alice has %s when she has her coins back", a)
	}
	d.finish()
}
