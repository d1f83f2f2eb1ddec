package devnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

// TestExternalParty sets an external party up and has it send by a command.
func TestExternalParty(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 55})
	key := bytes.Repeat([]byte{7}, 32)
	ext, bob := d.party("ext", key), d.party("bob", nil)
	if ext != "ext::"+model.Fingerprint(key) {
		t.Errorf("the party is %s", ext)
	}
	if _, err := d.l.AllocateParty(t.Context(), "ext", key); !errors.As(err, new(*choices.Refusal)) {
		t.Errorf("allocated twice: %v", err)
	}
	wallet := d.onboard(d.operator)
	d.tap(d.operator, 300)
	year := d.l.Now().Add(300 * 24 * time.Hour).Format(time.RFC3339Nano)
	proposals := d.batch(wallet, d.operator,
		operation("CO_CreateExternalPartySetupProposal", map[string]any{"externalParty": ext, "preapprovalExpiresAt": year}),
		operation("CO_CreateExternalPartySetupProposal", map[string]any{"externalParty": bob, "preapprovalExpiresAt": year}))
	for i, p := range []string{ext, bob} {
		s := d.submission([]string{p}, exercise(model.SetupProposalTemplate, in(t, proposals[i], "value"), "ExternalPartySetupProposal_Accept"))
		message, err := d.l.Prepare(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodePrepared(t, message).Submission(d.l.Names)
		if err != nil || len(again.Disclosed) != 1 || len(again.Commands) != 1 {
			t.Fatalf("prepared %+v: %v", again, err)
		}
		if _, err := d.l.Prepare(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		done := d.mustSubmit(again)
		for _, member := range []string{"validatorRightCid", "transferPreapprovalCid"} {
			if id := in(t, done.Results[0], member); !bytes.Contains(message, []byte(id)) {
				t.Errorf("%s %s was not prepared", member, id)
			}
		}
		if r := d.refused(again); r.Code != choices.CodeDuplicateCommand {
			t.Errorf("executed twice: %v", r)
		}
	}
	d.tap(ext, 20)
	order := func(nonce int, amount string) {
		d.must([]string{ext}, exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "ExternalPartyAmuletRules_CreateTransferCommand",
			"sender", ext, "receiver", bob, "delegate", d.operator, "amount", amount, "expiresAt", d.expiry(), "nonce", nonce,
			"expectedDso", d.l.GovernanceParty()))
	}
	statuses := func(nonce int64) (all []sim.CommandStatus) {
		for _, c := range scanapi.CommandsOf(d.l, ext, nonce) {
			all = append(all, c.Status)
		}
		return all
	}
	order(1, "3") // waits for the one before it
	order(0, "4")
	d.advance(time.Second)
	if d.balance(bob) != model.Coins(7) || d.balance(ext) != model.Coins(13) {
		t.Errorf("ext has %s, bob %s: %v %v", d.balance(ext), d.balance(bob), statuses(0), statuses(1))
	}
	order(1, "1")  // used up
	order(2, "99") // more than there is
	order(7, "1")  // never its turn
	d.advance(time.Second)
	if s := append(statuses(1), statuses(2)...); len(s) != 3 || s[0] != sim.CommandSent || s[1] != sim.CommandFailed || s[2] != sim.CommandFailed {
		t.Errorf("statuses are %v", s)
	}
	if s := statuses(7); s[0] != sim.CommandCreated {
		t.Errorf("nonce 7 is %v", s)
	}
	d.advance(7 * time.Hour)
	if s := statuses(7); s[0] != sim.CommandExpired || d.balance(ext) != model.Coins(13) {
		t.Errorf("nonce 7 is %v", s)
	}
	d.finish()
}

// TestNames has a user take a name and renew it.
func TestNames(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 56})
	alice := d.party("alice", nil)
	wallet := d.onboard(alice)
	d.tap(alice, 100)
	request := in(t, d.must([]string{alice}, exercise(model.AnsRulesTemplate, d.newest(model.AnsRulesTemplate, nil), "AnsRules_RequestEntry",
		"name", "alice.unverified.cns", "url", "", "description", "", "user", alice))[0], "requestCid")
	o := d.batch(wallet, alice, operation("CO_SubscriptionAcceptAndMakeInitialPayment", request))
	if in(t, o[0], "tag") != "COO_SubscriptionInitialPayment" {
		t.Fatalf("payment: %s", o[0])
	}
	d.advance(time.Second)
	mine := func(c *model.Contract) bool {
		p, ok := c.Payload.(model.AnsEntry)
		return ok && p.Name == "alice.unverified.cns"
	}
	entry := d.newest(model.AnsEntryTemplate, mine)
	idle := func(c *model.Contract) bool { return c.Payload.(model.SubscriptionIdle).Name == "alice.unverified.cns" }
	d.advance(time.Duration(d.l.Executor.Ans.EntryLifetime()) * time.Microsecond / 2)
	d.batch(wallet, alice, operation("CO_SubscriptionMakePayment", d.newest(model.SubscriptionIdleTemplate, idle)))
	d.advance(time.Second)
	if d.newest(model.AnsEntryTemplate, mine) == entry {
		t.Error("the name was not renewed")
	}
	// A second one for the same name is rejected and paid back.
	bob := d.party("bob", nil)
	other := d.onboard(bob)
	d.tap(bob, 100)
	request = in(t, d.must([]string{bob}, exercise(model.AnsRulesTemplate, d.newest(model.AnsRulesTemplate, nil), "AnsRules_RequestEntry",
		"name", "alice.unverified.cns", "url", "", "description", "", "user", bob))[0], "requestCid")
	d.batch(other, bob, operation("CO_SubscriptionAcceptAndMakeInitialPayment", request))
	d.advance(time.Second)
	if d.balance(bob) != model.Coins(100) {
		t.Errorf("bob has %s of his 100 coins", d.balance(bob))
	}
	d.finish()
}

// TestRewards records activity, and has its reward collected by a delegate.
func TestRewards(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 57})
	d.onboard(d.operator)
	licensed := func(c *model.Contract) bool {
		return d.l.Names.Name(c.Payload.(model.ValidatorLicense).Validator) == d.operator
	}
	record := func() json.RawMessage {
		return d.must([]string{d.operator}, exercise(model.LicenseTemplate, d.newest(model.LicenseTemplate, licensed),
			"ValidatorLicense_RecordValidatorLivenessActivity", "openRoundCid", d.openRound()))[0]
	}
	d.advance(d.l.Config.Tick())
	coupon := in(t, record(), "couponCid")
	again := d.refused(d.submission([]string{d.operator}, exercise(model.LicenseTemplate, d.newest(model.LicenseTemplate, licensed),
		"ValidatorLicense_RecordValidatorLivenessActivity", "openRoundCid", d.openRound())))
	if again.Code != choices.CodeFailed {
		t.Errorf("recorded twice: %v", again)
	}
	input := []map[string]any{{"tag": "InputValidatorLivenessActivityRecord", "value": coupon}}
	collect := func() choices.Submission {
		return d.submission([]string{d.operator}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer",
			"transfer", map[string]any{"sender": d.operator, "provider": d.operator, "inputs": input, "outputs": []any{}},
			"context", d.context(), "expectedDso", d.l.GovernanceParty()))
	}
	if r := d.refused(collect()); r.Context["error_id"] != "missing-issuing-round" {
		t.Errorf("collected too early: %v", r)
	}
	before := d.balance(d.operator)
	for range 6 {
		d.advance(d.l.Config.Tick())
		if done, err := d.l.Submit(t.Context(), collect()); err == nil {
			if d.balance(d.operator) <= before || in(t, done.Results[0], "summary", "inputAppRewardAmount") != "0.0000000000" {
				t.Errorf("the operator has %s, had %s", d.balance(d.operator), before)
			}
			before = -1
			break
		}
	}
	if before >= 0 {
		t.Error("the record was never issued for")
	}
	d.finish()
}

// TestDelegations mints and merges by delegation.
func TestDelegations(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 58})
	alice := d.party("alice", nil)
	for range 6 {
		d.tap(alice, 2)
	}
	proposal := in(t, d.must([]string{alice}, create(model.MintingProposalTemplate, "delegation", map[string]any{"beneficiary": alice,
		"delegate": d.operator, "dso": d.l.GovernanceParty(), "expiresAt": d.expiry(), "amuletMergeLimit": 3}))[0])
	delegation := in(t, d.must([]string{d.operator}, exercise(model.MintingProposalTemplate, proposal, "MintingDelegationProposal_Accept"))[0], "mintingDelegationCid")
	all := d.inputs(alice)
	mint := func(n int) choices.Submission {
		s := d.submission([]string{d.operator}, exercise(model.MintingDelegationTemplate, delegation, "MintingDelegation_Mint",
			"inputs", all[:n], "context", d.payment()))
		s.ReadAs = []string{alice}
		return s
	}
	if r := d.refused(mint(5)); r.Code != choices.CodeFailed {
		t.Errorf("too many merged: %v", r)
	}
	d.mustSubmit(mint(4))
	if ids, sum := d.coins(alice); len(ids) != 3 || sum != model.Coins(12) {
		t.Errorf("alice has %d coins of %s", len(ids), sum)
	}
	utility := in(t, d.must([]string{d.operator}, create(model.BatchMergeTemplate, "operator", d.operator))[0])
	proposal = in(t, d.must([]string{alice}, create(model.MergeProposalTemplate, "delegation", map[string]any{"operator": d.operator, "owner": alice,
		"meta": map[string]any{"values": map[string]any{"a": "b"}}}))[0])
	merge := in(t, d.must([]string{d.operator}, exercise(model.MergeProposalTemplate, proposal, "MergeDelegationProposal_Accept"))[0], "mergeDelegationCid")
	var arg any
	if err := json.Unmarshal(d.tokenCommand(alice, alice, "12").Argument, &arg); err != nil {
		t.Fatal(err)
	}
	s := d.submission([]string{d.operator}, exercise(model.BatchMergeTemplate, utility, "BatchMergeUtility_BatchMerge", "mergeCalls", []any{map[string]any{
		"delegationCid": merge, "choiceArg": map[string]any{"optMergeTransfer": map[string]any{
			"factoryCid": d.newest(model.ExternalRulesTemplate, nil), "choiceArg": arg}}}}))
	s.ReadAs = []string{alice}
	d.mustSubmit(s)
	if ids, sum := d.coins(alice); len(ids) != 1 || sum != model.Coins(12) {
		t.Errorf("alice has %d coins of %s", len(ids), sum)
	}
	d.finish()
}

// TestSubmitWhileRunning submits while the simulated users go on and the clock does.
func TestSubmitWhileRunning(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 59, Start: time.Now().Add(-9 * 24 * time.Hour)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.l.RunLive(ctx, 200) }()
	alice := d.party("alice", nil)
	sum := model.Decimal(0)
	for range 60 {
		d.tap(alice, 1)
		sum += model.One
	}
	// On a busy machine all that was submitted before the clock began to go.
	lag := time.Since(d.l.Now())
	for deadline := time.Now().Add(10 * time.Second); lag > 5*time.Second && time.Now().Before(deadline); lag = time.Since(d.l.Now()) {
		time.Sleep(10 * time.Millisecond)
	}
	if lag < -time.Second || lag > 5*time.Second {
		t.Errorf("the ledger's time is %s behind", lag)
	}
	time.Sleep(300 * time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if d.balance(alice) != sum {
		t.Errorf("alice has %s", d.balance(alice))
	}
	d.finish()
}

// TestClockAfterHistory has time go on from an end of history that is later than now, and
// moves it on top of that.
func TestClockAfterHistory(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 60, Start: time.Now().Add(24 * time.Hour)})
	end := d.l.Now()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.l.RunLive(ctx, 0) }()
	for d.l.Now().Equal(end) { // until the clock goes on
		time.Sleep(time.Millisecond)
	}
	rounds := d.l.Digests().Counts.Rounds
	d.advance(3 * d.l.Config.Tick())
	if past := d.l.Now().Sub(end); past < 3*d.l.Config.Tick() || past > 3*d.l.Config.Tick()+time.Minute {
		t.Errorf("%s have passed", past)
	}
	if opened := d.l.Digests().Counts.Rounds - rounds; opened != 3 {
		t.Errorf("%d rounds opened in 3 ticks", opened)
	}
	now := d.l.Now()
	time.Sleep(5 * time.Millisecond)
	if again := d.l.Now(); !again.After(now) {
		t.Errorf("time stands still at %s", again)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	d.finish()
}

// TestFund has the manager of the development fund give coins away, and the beneficiary
// collect them or not.
func TestFund(t *testing.T) {
	d := newDesk(t, sim.Config{Updates: 2500, Seed: 62})
	manager, alice := d.l.Names.Name(d.l.Executor.Fund.FundManager()), d.party("alice", nil)
	give := func(amount string, more ...any) string {
		return in(t, d.must([]string{manager}, d.allocation(manager, alice, amount, more...))[0], "developmentFundCouponCid")
	}
	collect := func(coupon string) choices.Submission {
		return d.submission([]string{alice}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer", "transfer", map[string]any{
			"sender": alice, "provider": alice, "inputs": []any{map[string]any{"tag": "InputDevelopmentFundCoupon", "value": coupon}}, "outputs": []any{}},
			"context", d.context()))
	}
	d.mustSubmit(collect(give("2.5")))
	if d.balance(alice) != model.Coins(2)+model.One/2 {
		t.Errorf("alice has %s", d.balance(alice))
	}
	d.must([]string{alice}, exercise(model.FundCouponTemplate, give("1"), "DevelopmentFundCoupon_Reject", "reason", "no"))
	d.must([]string{manager}, exercise(model.FundCouponTemplate, give("1"), "DevelopmentFundCoupon_Withdraw", "reason", "no"))
	early := give("1", "mintAfter", d.l.Now().Add(time.Hour).Format(time.RFC3339Nano))
	if r := d.refused(collect(early)); r.Code != choices.CodeFailed || !strings.Contains(r.Message, "cannot be minted before") {
		t.Errorf("collected too early: %v", r)
	}
	d.advance(2 * time.Hour)
	d.mustSubmit(collect(early))
	late := give("1")
	d.advance(7 * time.Hour)
	if r := d.refused(collect(late)); r.Code != choices.CodeFailed {
		t.Errorf("collected too late: %v", r)
	}
	d.finish()
}

// allocation is a command by which a manager gives all unclaimed coupons of the fund up for one.
func (d *desk) allocation(manager, beneficiary, amount string, more ...any) choices.Command {
	unclaimed := []string{}
	for _, c := range d.l.OfTemplate(model.UnclaimedFundTemplate, nil) {
		unclaimed = append(unclaimed, ledger.ContractIDOf(d.l, c.Contract))
	}
	return exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_AllocateDevelopmentFundCoupon", append([]any{
		"unclaimedDevelopmentFundCouponCids", unclaimed, "beneficiary", beneficiary, "amount", amount, "expiresAt", d.expiry(),
		"reason", "grant", "fundManager", manager}, more...)...)
}

// TestFundRules has rules of the fund keep its manager from giving coins away, or have coupons wait.
func TestFundRules(t *testing.T) {
	for _, c := range []struct {
		name      string
		rules     model.FundRules
		mintAfter time.Duration // 0 for none
		refused   string        // "" if it is not
	}{
		{"a barred manager", model.FundRules{ManagerBarred: true}, time.Hour, "barred"},
		{"no mintAfter", model.FundRules{MintingDelay: time.Hour}, 0, "mintAfter"},
		{"too early a mintAfter", model.FundRules{MintingDelay: time.Hour}, time.Minute, "mintAfter"},
		{"late enough", model.FundRules{MintingDelay: time.Hour}, 2 * time.Hour, ""},
	} {
		d := newDesk(t, sim.Config{Updates: 700, Seed: 62, Fund: c.rules})
		manager := d.l.Names.Name(d.l.Executor.Fund.FundManager())
		var more []any
		if c.mintAfter != 0 {
			more = []any{"mintAfter", d.l.Now().Add(c.mintAfter).Format(time.RFC3339Nano)}
		}
		command := d.allocation(manager, d.party("alice", nil), "0.5", more...)
		if c.refused == "" {
			d.must([]string{manager}, command)
		} else if r := d.refused(d.submission([]string{manager}, command)); !strings.Contains(r.Message, c.refused) {
			t.Errorf("%s: %v", c.name, r)
		}
		d.finish()
	}
}

// TestFeaturedApp has a wallet feature itself, be rewarded for it, and give it up.
func TestFeaturedApp(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 63})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(alice)
	both := []string{d.operator, alice}
	right := in(t, d.must(both, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_FeaturedAppRights_SelfGrant", "amuletRulesCid", d.rules()))[0], "featuredAppRight")
	d.tap(alice, 10)
	transfer := d.transfer(alice, nil, bob, "1")
	var arg map[string]any
	if err := json.Unmarshal(transfer.Argument, &arg); err != nil {
		t.Fatal(err)
	}
	arg["context"].(map[string]any)["featuredAppRight"] = right
	move := arg["transfer"].(map[string]any)
	move["inputs"] = d.inputs(alice)
	move["beneficiaries"] = []any{map[string]any{"beneficiary": bob, "weight": "0.25"}, map[string]any{"beneficiary": alice, "weight": "0.75"}}
	transfer.Argument = object("transfer", move, "context", arg["context"], "expectedDso", d.l.GovernanceParty())
	d.must([]string{alice, bob}, transfer)
	shares := map[string]model.Decimal{}
	for _, c := range d.l.OfTemplate(model.AppRewardTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.AppReward).Provider) == alice }) {
		p := c.Payload.(model.AppReward)
		shares[d.l.Names.Name(p.Beneficiary)] += p.Amount
	}
	if len(shares) != 2 || shares[alice] < 2*shares[bob] {
		t.Errorf("rewards are %v", shares)
	}
	d.must([]string{alice}, exercise(model.FeaturedAppRightTemplate, right, "FeaturedAppRight_CreateActivityMarker",
		"beneficiaries", []any{map[string]any{"beneficiary": alice, "weight": 1}}))
	proxy := in(t, d.must([]string{alice}, create(model.DelegateProxyTemplate, "provider", alice, "delegate", bob))[0])
	proxied := func(choice string) choices.Submission {
		offer := in(t, d.tokens(alice, bob, "1"), "output", "value", "transferInstructionCid")
		s := d.submission([]string{bob}, exercise(model.DelegateProxyTemplate, proxy, "DelegateProxy_"+choice, "cid", offer, "proxyArg", map[string]any{
			"featuredAppRightCid": right, "beneficiaries": []any{map[string]any{"beneficiary": bob, "weight": 1}}, "choiceArg": map[string]any{"extraArgs": emptyExtraArgs}}))
		s.Disclosed = []choices.DisclosedContract{{Blob: d.blob(right)}}
		return s
	}
	markers, had := len(d.l.OfTemplate(model.ActivityMarkerTemplate, nil)), d.balance(bob)
	d.mustSubmit(proxied("TransferInstruction_Accept"))
	d.mustSubmit(proxied("TransferInstruction_Reject"))
	if n := len(d.l.OfTemplate(model.ActivityMarkerTemplate, nil)); n != markers+2 || d.balance(bob) != had+model.One {
		t.Errorf("%d markers, %d before; bob has %s", n, markers, d.balance(bob))
	}
	foreign := proxied("TransferInstruction_Withdraw")
	foreign.ActAs = []string{alice}
	if r := d.refused(foreign); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("the provider uses the proxy of its delegate: %v", r)
	}
	d.must(both, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_FeaturedAppRights_Cancel", "cid", right))
	if r := d.refused(d.submission([]string{alice}, exercise(model.FeaturedAppRightTemplate, right, "FeaturedAppRight_Cancel"))); r.Code != choices.CodeContractNotFound {
		t.Errorf("cancelled twice: %v", r)
	}
	d.advance(4 * d.l.Config.Tick())
	d.finish()
}
