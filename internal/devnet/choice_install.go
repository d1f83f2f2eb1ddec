package devnet

import "slices"

var (
	batchDoneShape       = newShape("endUserName", "outcomes", "optEndUserParty")
	acceptShape          = newShape("inputs", "context", "walletProvider")
	completeOfferShape   = newShape("inputs", "transferContext", "walletProvider")
	acceptApprovalShape  = newShape("context", "inputs", "expiresAt")
	featuredGrantedShape = newShape("featuredAppRight")
)

// addInstallChoices are the choices of a user's wallet. Its validator exercises them, or the
// user itself.
func addInstallChoices(all *choices) {
	all.creations[walletInstallTemplate] = func(e *execution, a argument) (payload, error) {
		p := walletInstall{validator: a.party("validatorParty"), user: a.party("endUserParty"), name: a.text("endUserName")}
		if p.name == "" || len(p.name) > maxTextLength {
			return nil, broken("endUserName has %d bytes, not 1 to %d", len(p.name), maxTextLength)
		}
		return p, e.isDSO(a.party("dsoParty"))
	}
	for choice, run := range map[string]runOf{
		"ExecuteBatch":                             executeBatch,
		"CreateTransferOffer":                      createOffer,
		"CreateBuyTrafficRequest":                  createRequest,
		"FeaturedAppRights_SelfGrant":              grantFeatured,
		"FeaturedAppRights_Cancel":                 forwarded("cid", "FeaturedAppRight_Cancel"),
		"TransferOffer_Accept":                     forwarded("cid", "TransferOffer_Accept"),
		"TransferOffer_Reject":                     forwarded("cid", "TransferOffer_Reject"),
		"TransferOffer_Withdraw":                   forwarded("cid", "TransferOffer_Withdraw"),
		"TransferOffer_Expire":                     forwarded("cid", "TransferOffer_Expire"),
		"AcceptedTransferOffer_Abort":              forwarded("cid", "AcceptedTransferOffer_Abort"),
		"AcceptedTransferOffer_Withdraw":           forwarded("cid", "AcceptedTransferOffer_Withdraw"),
		"AcceptedTransferOffer_Expire":             forwarded("cid", "AcceptedTransferOffer_Expire"),
		"BuyTrafficRequest_Cancel":                 forwarded("requestCid", "BuyTrafficRequest_Cancel"),
		"BuyTrafficRequest_Expire":                 forwarded("requestCid", "BuyTrafficRequest_Expire"),
		"AppPaymentRequest_Reject":                 forwarded("cid", "AppPaymentRequest_Reject"),
		"AppPaymentRequest_Expire":                 forwarded("cid", "AppPaymentRequest_Expire"),
		"AllocationFactory_Allocate":               delegated("allocationFactory", "allocateArg", "AllocationFactory_Allocate"),
		"Allocation_Withdraw":                      delegated("allocationCid", "withdrawArg", "Allocation_Withdraw"),
		"SubscriptionRequest_Reject":               forwarded("cid", "SubscriptionRequest_Reject"),
		"SubscriptionIdleState_CancelSubscription": forwarded("cid", "SubscriptionIdleState_CancelSubscription"),
		"TransferFactory_Transfer":                 delegated("transferFactoryCid", "transferArg", "TransferFactory_Transfer"),
		"TransferInstruction_Accept":               delegated("transferInstructionCid", "acceptArg", "TransferInstruction_Accept"),
		"TransferInstruction_Reject":               delegated("transferInstructionCid", "rejectArg", "TransferInstruction_Reject"),
		"TransferInstruction_Withdraw":             delegated("transferInstructionCid", "withdrawArg", "TransferInstruction_Withdraw"),
	} {
		all.on(walletInstallTemplate, "WalletAppInstall_"+choice, nonconsuming(byWallet, run))
	}
}

// byWallet is the validator of a wallet, unless only its user acts.
func byWallet(e *execution, c *contract, _ argument) []party {
	p := c.payload.(walletInstall)
	if !slices.Contains(e.authority, p.validator) && slices.Contains(e.authority, p.user) {
		return []party{p.user}
	}
	return []party{p.validator}
}

// forwarded exercises a choice on the contract of a field, for the user of the wallet. The
// choice has the same other fields, or the user as actor.
func forwarded(label, choice string) runOf {
	return func(e *execution, c *contract, arg argument) (value, error) {
		target, err := e.fetch(arg.contract(label))
		if err != nil {
			return value{}, err
		}
		a := e.tx.arena()
		forward := a.record(emptyRecordShape)
		switch {
		case arg.at("reason") != nil:
			forward = a.record(offerReasonShape, text(arg.text("reason")))
		case slices.Contains([]string{"TransferOffer_Expire", "AcceptedTransferOffer_Expire", "AppPaymentRequest_Expire"}, choice):
			forward = a.record(expireEntryShape, partyValue(c.payload.(walletInstall).user))
		}
		return e.perform(target, choice, forward)
	}
}

// delegated exercises a choice on the contract of one field with the argument of another.
func delegated(label, argLabel, choice string) runOf {
	return func(e *execution, _ *contract, arg argument) (value, error) {
		target, err := e.fetch(arg.contract(label))
		if err != nil {
			return value{}, err
		}
		return e.perform(target, choice, *arg.at(argLabel))
	}
}

func createOffer(e *execution, c *contract, arg argument) (value, error) {
	p, err := offerOf(e, c.payload.(walletInstall).user, arg)
	if err != nil {
		return value{}, err
	}
	offer, err := e.add(transferOfferTemplate, p)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(createOfferShape, contractID(offer.number)), nil
}

func createRequest(e *execution, c *contract, arg argument) (value, error) {
	p, err := requestOf(e, c.payload.(walletInstall).user, arg)
	if err != nil {
		return value{}, err
	}
	request, err := e.add(trafficRequestTemplate, p)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(createRequestShape, contractID(request.number)), nil
}

func grantFeatured(e *execution, c *contract, arg argument) (value, error) {
	rules, err := e.fetchOf(amuletRulesTemplate, arg.contract("amuletRulesCid"))
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	result, err := e.perform(rules, "AmuletRules_DevNet_FeatureApp", a.record(featureShape, partyValue(c.payload.(walletInstall).user)))
	if err != nil {
		return value{}, err
	}
	return a.record(featuredGrantedShape, result.elems[0]), nil
}

// coinBatch is a batch of operations in execution: the change of each is an input of the next.
type coinBatch struct {
	e       *execution
	wallet  walletInstall
	payment value // the context, as it was given
	context transferContext
	inputs  []value
}

// executeBatch executes operations one after the other. One that fails for want of funds, or
// for another reason that a transfer is invalid, is undone and the next one goes on.
func executeBatch(e *execution, c *contract, arg argument) (value, error) {
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	b := &coinBatch{e: e, wallet: c.payload.(walletInstall), payment: *arg.at("context"), context: ctx, inputs: arg.list("inputs")}
	operations := arg.list("operations")
	outcomes := make([]value, len(operations))
	defer e.at(ctx.round)()
	for i := range operations {
		if outcomes[i], err = b.attempt(&operations[i]); err != nil {
			return value{}, err
		}
	}
	a := e.tx.arena()
	return a.record(batchDoneShape, text(b.wallet.name), a.list(outcomes...), a.some(partyValue(b.wallet.user))), nil
}

// attempt executes an operation and returns its outcome.
func (b *coinBatch) attempt(v *value) (value, error) {
	start, inputs := b.e.savepoint(), b.inputs
	outcome, err := b.operate(v.text, v.elems[0])
	var invalid *invalidTransfer
	if asInvalid(err, &invalid) {
		b.e.rollback(start)
		b.inputs = inputs
		return b.e.tx.arena().variant("COO_Error", invalid.reason(b.e.tx.arena())), nil
	}
	return outcome, err
}

// operate executes an operation of some constructor.
func (b *coinBatch) operate(tag string, content value) (value, error) {
	run := map[string]func(value) (value, error){
		"CO_AppPayment":                              b.payApp,
		"CO_CompleteAcceptedTransfer":                b.completeTransfer,
		"CO_MergeTransferInputs":                     b.mergeInputs,
		"CO_BuyMemberTraffic":                        b.topUp,
		"CO_CompleteBuyTrafficRequest":               b.completeRequest,
		"CO_Tap":                                     b.tap,
		"CO_SubscriptionAcceptAndMakeInitialPayment": b.firstPayment,
		"CO_SubscriptionMakePayment":                 b.nextPayment,
		"CO_CreateExternalPartySetupProposal":        b.proposeSetup,
		"CO_AcceptTransferPreapprovalProposal":       b.acceptProposal,
		"CO_RenewTransferPreapproval":                b.renewPreapproval,
		"CO_TransferPreapprovalSend":                 b.sendToPreapproval,
	}[tag]
	if run == nil {
		return value{}, broken("operation %s is not executed here", tag)
	}
	return run(content)
}

func (b *coinBatch) inputsValue() value { return value{kind: kindList, elems: b.inputs} }

// spent puts the change of an operation in the place of the inputs that it used.
func (b *coinBatch) spent(change *contract) {
	b.inputs = nil
	if change != nil {
		b.inputs = []value{b.e.tx.arena().variant("InputAmulet", contractID(change.number))}
	}
}

// spentResult is spent for a choice whose result has the change as an optional field.
func (b *coinBatch) spentResult(change *value) {
	b.inputs = nil
	if change != nil {
		b.inputs = []value{b.e.tx.arena().variant("InputAmulet", *change)}
	}
}

func (b *coinBatch) completeTransfer(v value) (value, error) {
	c, err := b.e.fetchOf(acceptedOfferTemplate, uint64(v.num))
	if err != nil {
		return value{}, err
	}
	a := b.e.tx.arena()
	result, err := b.e.perform(c, "AcceptedTransferOffer_Complete", a.record(completeOfferShape, b.inputsValue(), b.payment,
		partyValue(b.wallet.validator)))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.given("senderChangeAmulet"))
	return a.variant("COO_CompleteAcceptedTransfer", a.record(tupleShape, *done.at("transferResult"), *done.at("trackingInfo"))), nil
}

func (b *coinBatch) mergeInputs(value) (value, error) {
	s, _, err := transferBy(b.e, order{sender: b.wallet.user, provider: b.wallet.validator, inputs: b.inputs, context: b.context})
	if err != nil {
		return value{}, err
	}
	b.spent(s.change)
	return b.e.tx.arena().variant("COO_MergeTransferInputs", b.e.payments.changeID(s)), nil
}

// topUp buys traffic for the wallet's own use. On a development network the coins for it
// are tapped, and the inputs stay as they are.
func (b *coinBatch) topUp(v value) (value, error) {
	arg := argument{&v}
	p := purchase{buyer: b.wallet.user, context: b.context, member: arg.text("memberId"), synchronizer: arg.text("synchronizerId"),
		migration: arg.int64("migrationId"), bytes: arg.int64("trafficAmount")}
	if err := checkPurchase(b.e, p); err != nil {
		return value{}, err
	}
	if err := b.replaceTopUp(p, arg); err != nil {
		return value{}, err
	}
	c, err := tapFor(b.e, p.buyer, trafficCost(b.e, p.bytes)+2*b.e.payments.outputFee())
	if err != nil {
		return value{}, err
	}
	p.inputs = []value{b.e.tx.arena().variant("InputAmulet", contractID(c.number))}
	got, err := buyTrafficBy(b.e, p)
	if err != nil {
		return value{}, err
	}
	return b.e.tx.arena().variant("COO_BuyMemberTraffic", contractID(got.traffic.number)), nil
}

// replaceTopUp remembers a purchase, unless the last one was too short a time ago.
func (b *coinBatch) replaceTopUp(p purchase, arg argument) error {
	if state := arg.given("topupStateCid"); state != nil {
		c, err := b.e.fetchOf(topUpStateTemplate, uint64(state.num))
		if err != nil {
			return err
		}
		old := c.payload.(topUpState)
		if next := old.purchasedAt + arg.relTime("minTopupInterval"); next > b.e.now() {
			return &invalidTransfer{broken("traffic may be bought again at %s only", microsText(next)), otherReason(
				"the last top-up was less than the minimum interval ago")}
		}
		b.e.tx.archive(c)
	}
	_, err := b.e.add(topUpStateTemplate, topUpState{validator: b.wallet.user, member: p.member, synchronizer: p.synchronizer,
		migration: p.migration, purchasedAt: b.e.now()})
	return err
}

// otherReason is a reason for an invalid transfer that has no constructor of its own.
func otherReason(description string) func(a *arena) value {
	return func(a *arena) value { return a.variant("ITR_Other", a.record(otherReasonShape, text(description))) }
}

func (b *coinBatch) completeRequest(v value) (value, error) {
	c, err := b.e.fetchOf(trafficRequestTemplate, (argument{&v}).contract("trafficRequestCid"))
	if err != nil {
		return value{}, err
	}
	a := b.e.tx.arena()
	result, err := b.e.perform(c, "BuyTrafficRequest_Complete", a.record(acceptShape, b.inputsValue(), b.payment,
		partyValue(b.wallet.validator)))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.given("senderChangeAmulet"))
	return a.variant("COO_CompleteBuyTrafficRequest", a.record(tupleShape, *done.at("purchasedTraffic"), *done.at("trackingInfo"))), nil
}

func (b *coinBatch) tap(v value) (value, error) {
	c, err := tapFor(b.e, b.wallet.user, (argument{&v}).numeric("tapAmount"))
	if err != nil {
		return value{}, err
	}
	b.inputs = append(slices.Clone(b.inputs), b.e.tx.arena().variant("InputAmulet", contractID(c.number)))
	return b.e.tx.arena().variant("COO_Tap", contractID(c.number)), nil
}

func (b *coinBatch) firstPayment(v value) (value, error) {
	return b.payName(v, subscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", "COO_SubscriptionInitialPayment")
}

func (b *coinBatch) nextPayment(v value) (value, error) {
	return b.payName(v, subscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", "COO_SubscriptionPayment")
}

func (b *coinBatch) payApp(v value) (value, error) {
	c, err := b.e.fetchOf(paymentRequestTemplate, uint64(v.num))
	if err != nil {
		return value{}, err
	}
	a := b.e.tx.arena()
	result, err := b.e.perform(c, "AppPaymentRequest_Accept", a.record(acceptPaymentShape, b.inputsValue(), b.payment, partyValue(b.wallet.validator)))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.given("senderChangeAmulet"))
	return a.variant("COO_AcceptedAppPayment", *done.at("acceptedPayment")), nil
}

func (b *coinBatch) payName(v value, t *template, choice, outcome string) (value, error) {
	c, err := b.e.fetchOf(t, uint64(v.num))
	if err != nil {
		return value{}, err
	}
	a := b.e.tx.arena()
	result, err := b.e.perform(c, choice, a.record(acceptPaymentShape, b.inputsValue(), b.payment, partyValue(b.wallet.validator)))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.given("senderChange"))
	return a.variant(outcome, *done.at("subscriptionPayment")), nil
}

func (b *coinBatch) proposeSetup(v value) (value, error) {
	arg, a := argument{&v}, b.e.tx.arena()
	result, err := b.e.perform(b.e.rules.amulet, "AmuletRules_CreateExternalPartySetupProposal", a.record(setupArgShape,
		b.payment, b.inputsValue(), *arg.at("externalParty"), partyValue(b.wallet.user), *arg.at("preapprovalExpiresAt"), b.e.tx.expectedDSO()))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.record("transferResult").given("senderChangeAmulet"))
	return a.variant("COO_CreateExternalPartySetupProposal", *done.at("proposalCid")), nil
}

func (b *coinBatch) acceptProposal(v value) (value, error) {
	arg, a := argument{&v}, b.e.tx.arena()
	c, err := b.e.fetchOf(preapprovalProposalTemplate, arg.contract("preapprovalProposalCid"))
	if err != nil {
		return value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapprovalProposal_Accept", a.record(acceptApprovalShape, b.payment,
		b.inputsValue(), *arg.at("expiresAt")))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.record("transferResult").given("senderChangeAmulet"))
	return a.variant("COO_AcceptTransferPreapprovalProposal", *done.at("transferPreapprovalCid")), nil
}

func (b *coinBatch) renewPreapproval(v value) (value, error) {
	arg, a := argument{&v}, b.e.tx.arena()
	c, err := b.e.fetchOf(preapprovalTemplate, arg.contract("previousApprovalCid"))
	if err != nil {
		return value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapproval_Renew", a.record(renewShape, b.payment, b.inputsValue(), *arg.at("newExpiresAt")))
	if err != nil {
		return value{}, err
	}
	done := argument{&result}
	b.spentResult(done.record("transferResult").given("senderChangeAmulet"))
	return a.variant("COO_RenewTransferPreapproval", *done.at("transferPreapprovalCid")), nil
}

func (b *coinBatch) sendToPreapproval(v value) (value, error) {
	arg, a := argument{&v}, b.e.tx.arena()
	c, err := b.e.fetchOf(preapprovalTemplate, arg.contract("transferPreapprovalCid"))
	if err != nil {
		return value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapproval_Send", a.record(sendShape, b.paymentFor(arg.given("providerFeaturedAppRightCid")),
		b.inputsValue(), *arg.at("amount"), partyValue(b.wallet.user), optionalText(a, arg.optionalText("description"))))
	if err != nil {
		return value{}, err
	}
	change := (argument{&result}).record("result").given("senderChangeAmulet")
	b.spentResult(change)
	return a.variant("COO_TransferPreapprovalSend", optional(a, change != nil, orUnit(change))), nil
}

// paymentFor is the context with the featured app right of the provider of a preapproval, or
// without any.
func (b *coinBatch) paymentFor(right *value) value {
	a := b.e.tx.arena()
	context := b.context.given
	elems := slices.Clone(context.elems[:min(3, len(context.elems))])
	context.elems = append(elems, optional(a, right != nil, orUnit(right)))
	return a.record(paymentContextShape, b.payment.elems[0], context)
}

// orUnit is v, or an arbitrary value if v is nil.
func orUnit(v *value) value {
	if v == nil {
		return unit()
	}
	return *v
}
