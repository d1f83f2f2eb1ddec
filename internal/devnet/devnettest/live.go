package devnettest

import (
	"encoding/json"
	"time"
)

// Live has some users and the operator do what wallets do, and lets what is left of it expire.
func (c *Commands) Live() {
	c.T.Helper()
	at, tap := c.At, c.Tap
	dso, alice, bob := c.Ledger.GovernanceParty(), c.Party("alice"), c.Party("bob")
	hers, own := c.Install(alice), c.Install(c.Operator)

	// An offer that is completed, together with a merge.
	offer := c.Text(c.Exercise([]string{c.Operator, alice}, InstallTemplate, hers, "WalletAppInstall_CreateTransferOffer",
		`{"receiver":%q,"amount":{"amount":"4","unit":"USDUnit"},"description":"","expiresAt":%q,"trackingId":"t"}`, bob, at(time.Hour)), "transferOffer")
	accepted := c.Text(c.Exercise([]string{bob}, OfferTemplate, offer, "TransferOffer_Accept", `{}`), "acceptedTransferOffer")
	coin := tap(hers, alice, "500")
	c.Batch(hers, alice, CoinInput(coin), `[{"tag":"CO_CompleteAcceptedTransfer","value":%q},{"tag":"CO_MergeTransferInputs","value":{}}]`, accepted)

	// Preapprovals, both ways, which burn what they cost.
	proposal := c.Create([]string{bob}, ProposalTemplate, `{"receiver":%q,"provider":%q,"expectedDso":%q}`, bob, c.Operator, dso)
	c.Batch(own, c.Operator, CoinInput(tap(own, c.Operator, "400")), `[{"tag":"CO_AcceptTransferPreapprovalProposal","value":{"preapprovalProposalCid":%q,"expiresAt":%q}}]`,
		proposal, at(90*24*time.Hour))
	setup := c.Text(c.Batch(own, c.Operator, CoinInput(tap(own, c.Operator, "400")), `[{"tag":"CO_CreateExternalPartySetupProposal","value":{"externalParty":%q,"preapprovalExpiresAt":%q}}]`,
		alice, at(60*24*time.Hour)))
	approval := c.Text(c.Exercise([]string{alice}, SetupTemplate, setup, "ExternalPartySetupProposal_Accept", `{}`), "transferPreapprovalCid")
	c.Batch(own, c.Operator, CoinInput(tap(own, c.Operator, "50")), `[{"tag":"CO_TransferPreapprovalSend","value":{"transferPreapprovalCid":%q,"amount":"3","providerFeaturedAppRightCid":null,"description":null}}]`, approval)
	c.Batch(own, c.Operator, CoinInput(tap(own, c.Operator, "400")), `[{"tag":"CO_RenewTransferPreapproval","value":{"previousApprovalCid":%q,"newExpiresAt":%q}}]`,
		approval, at(80*24*time.Hour))

	// Traffic.
	c.Batch(own, c.Operator, "[]", `[{"tag":"CO_BuyMemberTraffic","value":{"trafficAmount":"250000","memberId":%q,"synchronizerId":%q,"migrationId":"1","minTopupInterval":{"microseconds":"1"},"topupStateCid":null}}]`,
		"PAR::"+c.Ledger.NodeDigests().ParticipantID, c.Ask("GET", "/v0/dso", "", "amulet_rules", "domain_id"))

	carol, venue := c.Party("carol"), c.Party("venue")
	c.transferTokens(hers, alice, bob, carol)
	c.settleTokens(hers, alice, bob, venue)
	c.transferTokensV2(hers, alice, bob, carol)
	c.settleTokensV2(hers, alice, bob, venue)
	c.payApp(hers, alice, bob, venue)
	c.subscribe(hers, alice, venue)

	// Two who want the same name: one gets it, the other her money back.
	his := c.Install(bob)
	for _, p := range []struct{ wallet, party string }{{hers, alice}, {his, bob}} {
		request := c.Text(c.Exercise([]string{p.party}, NameRulesTemplate, c.Rules("/v0/ans-rules", "ans_rules_update"), "AnsRules_RequestEntry",
			`{"name":"alice.unverified.cns","url":"","description":"","user":%q}`, p.party), "requestCid")
		c.Batch(p.wallet, p.party, CoinInput(tap(p.wallet, p.party, "100")), `[{"tag":"CO_SubscriptionAcceptAndMakeInitialPayment","value":%q}]`, request)
	}
	c.Pass(time.Second)
	if err := c.Ledger.Advance(c.T.Context(), 20); err != nil {
		c.T.Fatal(err)
	}
}

// transferTokens transfers by the token standard: at once to a party with a preapproval, and by
// offers to another one, of which the last is not answered.
func (c *Commands) transferTokens(install, alice, approved, other string) {
	c.T.Helper()
	transfer := func(to string) json.RawMessage { return c.TransferTokens(install, alice, to, time.Hour) }
	transfer(approved)
	transfer(alice)
	for _, answer := range []struct{ by, choice string }{
		{other, "TransferInstruction_Accept"}, {other, "TransferInstruction_Reject"}, {alice, "TransferInstruction_Withdraw"},
	} {
		instruction := c.Text(transfer(other), "output", "value", "transferInstructionCid")
		c.Exercise([]string{answer.by}, InstructionTemplate, instruction, answer.choice, `{"extraArgs":`+NoExtraArgs+`}`)
	}
	transfer(other)
}

// TransferTokens transfers 7 of a new coin by the token standard, before some time has passed, and
// returns the result.
func (c *Commands) TransferTokens(install, from, to string, within time.Duration) json.RawMessage {
	c.T.Helper()
	return c.Exercise([]string{from}, ExternalRulesTemplate, c.ExternalRules(), "TransferFactory_Transfer",
		`{"expectedAdmin":%q,"transfer":{"sender":%q,"receiver":%q,"amount":"7","instrumentId":{"admin":%q,"id":"Amulet"},"requestedAt":%q,"executeBefore":%q,"inputHoldingCids":[%q],"meta":{"values":{}}},"extraArgs":`+NoExtraArgs+`}`,
		c.Ledger.GovernanceParty(), from, to, c.Ledger.GovernanceParty(), c.At(0), c.At(within), c.Tap(install, from, "20"))
}

// settleTokens allocates coins to settlements: one is made, others are called off, the last is
// forgotten.
func (c *Commands) settleTokens(install, alice, bob, venue string) {
	c.T.Helper()
	allocate := func() string { return c.Allocate(install, alice, bob, venue) }
	for _, end := range []struct {
		choice string
		by     []string
	}{
		{"Allocation_ExecuteTransfer", []string{venue, alice, bob}}, {"Allocation_Cancel", []string{venue, alice, bob}}, {"Allocation_Withdraw", []string{alice}},
	} {
		c.Exercise(end.by, AllocationTemplate, allocate(), end.choice, `{"extraArgs":`+NoExtraArgs+`}`)
	}
	allocate()
}

// Allocate allocates 6 of a new coin to a settlement by the token standard, and returns the contract.
func (c *Commands) Allocate(install, from, to, executor string) string {
	c.T.Helper()
	dso := c.Ledger.GovernanceParty()
	return c.Text(c.Exercise([]string{from}, ExternalRulesTemplate, c.ExternalRules(), "AllocationFactory_Allocate",
		`{"expectedAdmin":%q,"allocation":{"transferLegId":"leg","settlement":{"executor":%q,"settlementRef":{"id":"deal","cid":null},"requestedAt":%q,"allocateBefore":%q,"settleBefore":%q,"meta":{"values":{}}},
			"transferLeg":{"sender":%q,"receiver":%q,"amount":"6","instrumentId":{"admin":%q,"id":"Amulet"},"meta":{"values":{}}}},"requestedAt":%q,"inputHoldingCids":[%q],"extraArgs":`+NoExtraArgs+`}`,
		dso, executor, c.At(0), c.At(time.Hour), c.At(2*time.Hour), from, to, dso, c.At(0), c.Tap(install, from, "9")), "output", "value", "allocationCid")
}

// payApp pays what an app asks for, which then takes it or not.
func (c *Commands) payApp(install, alice, bob, app string) {
	c.T.Helper()
	pay := func() string {
		request := c.Create([]string{alice, bob, app}, PaymentTemplate, `{"sender":%q,"provider":%q,"dso":%q,"expiresAt":%q,"description":"a hat",
			"receiverAmounts":[{"receiver":%q,"amount":{"amount":"2","unit":"USDUnit"}},{"receiver":%q,"amount":{"amount":"1","unit":"AmuletUnit"}}]}`,
			alice, app, c.Ledger.GovernanceParty(), c.At(time.Hour), app, bob)
		return c.Text(c.Batch(install, alice, CoinInput(c.Tap(install, alice, "50")), `[{"tag":"CO_AppPayment","value":%q}]`, request))
	}
	for _, choice := range []string{"AcceptedAppPayment_Collect", "AcceptedAppPayment_Reject"} {
		c.Exercise([]string{app}, PaidTemplate, pay(), choice, `{"context":%s}`, c.AppContext())
	}
	late := pay()
	c.Pass(25 * time.Hour)
	c.Exercise([]string{alice}, PaidTemplate, late, "AcceptedAppPayment_Expire", `{"context":%s}`, c.AppContext())
}

// subscribe has a user pay a subscription three times, of which the last is not taken, and
// cancel it.
func (c *Commands) subscribe(install, alice, seller string) {
	c.T.Helper()
	const day = 24 * time.Hour
	request := c.Create([]string{alice, seller}, SubscriptionTemplate, `{"subscriptionData":{"sender":%q,"receiver":%q,"provider":%q,"dso":%q,"description":"news"},
		"payData":{"paymentAmount":{"amount":"1.5","unit":"USDUnit"},"paymentInterval":{"microseconds":"%d"},"paymentDuration":{"microseconds":"%d"}}}`,
		alice, seller, seller, c.Ledger.GovernanceParty(), (30 * day).Microseconds(), (3 * day).Microseconds())
	pay := func(operation, id string) string {
		return c.Text(c.Batch(install, alice, CoinInput(c.Tap(install, alice, "50")), `[{"tag":%q,"value":%q}]`, operation, id))
	}
	answer := func(kind, payment, choice string) string {
		return c.Text(c.Exercise([]string{seller}, "#splice-wallet-payments:Splice.Wallet.Subscriptions:"+kind, payment, kind+"_"+choice,
			`{"transferContext":%s}`, c.AppContext()), "subscriptionState")
	}
	idle := answer("SubscriptionInitialPayment", pay("CO_SubscriptionAcceptAndMakeInitialPayment", request), "Collect")
	for _, payment := range []struct {
		after  time.Duration
		choice string
	}{{28 * day, "Collect"}, {30 * day, "Reject"}} {
		c.Pass(payment.after)
		idle = answer("SubscriptionPayment", pay("CO_SubscriptionMakePayment", idle), payment.choice)
	}
	c.Exercise([]string{alice}, "#splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionIdleState", idle, "SubscriptionIdleState_CancelSubscription", `{}`)
}
