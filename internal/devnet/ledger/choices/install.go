package choices

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	batchDoneShape       = model.NewShape("endUserName", "outcomes", "optEndUserParty")
	completeOfferShape   = model.NewShape("inputs", "transferContext", "walletProvider")
	acceptApprovalShape  = model.NewShape("context", "inputs", "expiresAt")
	featuredGrantedShape = model.NewShape("featuredAppRight")
)

// addInstallChoices are the choices of a user's wallet. Its validator exercises them, or the
// user itself.
func addInstallChoices(all *choices) {
	all.creations[model.WalletInstallTemplate] = func(e *Execution, a model.Argument) model.Payload {
		p := model.WalletInstall{Validator: a.Party("validatorParty"), User: a.Party("endUserParty"), Name: a.Text("endUserName")}
		require(p.Name != "" && len(p.Name) <= maxTextLength, "endUserName has %d bytes, not 1 to %d", len(p.Name), maxTextLength)
		e.isDSO(a.Party("dsoParty"))
		return p
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
		"TransferFactoryV2_Transfer":               byUserV2("transferFactoryCid", "transferArg", "TransferFactory_Transfer", model.TransferFactoryV2Interface),
		"TransferInstructionV2_Accept":             byUserV2("transferInstructionCid", "acceptArg", "TransferInstruction_Accept", model.TransferInstructionV2Interface),
		"TransferInstructionV2_Reject":             byUserV2("transferInstructionCid", "rejectArg", "TransferInstruction_Reject", model.TransferInstructionV2Interface),
		"TransferInstructionV2_Withdraw":           byUserV2("transferInstructionCid", "withdrawArg", "TransferInstruction_Withdraw", model.TransferInstructionV2Interface),
		"AllocationFactoryV2_Allocate":             byUserV2("allocationFactory", "allocateArg", "AllocationFactory_Allocate", model.AllocationFactoryV2Interface),
		"AllocationV2_Withdraw":                    byUserV2("allocationCid", "withdrawArg", "Allocation_Withdraw", model.AllocationV2Interface),
	} {
		all.on(model.WalletInstallTemplate, "WalletAppInstall_"+choice, nonconsuming(byWallet, run))
	}
}

// byUserV2 exercises a choice of the second version of the token standard on the contract of one field,
// with the argument of another, in which only the user of the wallet acts.
func byUserV2(label, argLabel, choice string, of model.InterfaceName) runOf {
	return func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		e.actsOnly(arg.Record(argLabel), c.Payload.(model.WalletInstall).User)
		require(arg.Given("allocationReqCid") == nil, "no app of this network asks for allocations")
		return e.performOf(of, e.fetch(arg.Contract(label)), choice, *arg.At(argLabel))
	}
}

// byWallet is the validator of a wallet, unless only its user acts.
func byWallet(e *Execution, c *model.Contract, _ model.Argument) []model.Party {
	p := c.Payload.(model.WalletInstall)
	if !slices.Contains(e.authority, p.Validator) && slices.Contains(e.authority, p.User) {
		return []model.Party{p.User}
	}
	return []model.Party{p.Validator}
}

// forwarded exercises a choice on the contract of a field, for the user of the wallet. The
// choice has the same other fields, or the user as actor.
func forwarded(label, choice string) runOf {
	return func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		target := e.fetch(arg.Contract(label))
		a := e.Tx.Arena()
		forward := a.Record(model.EmptyRecordShape)
		switch {
		case arg.At("reason") != nil:
			forward = a.Record(sim.OfferReasonShape, model.Text(arg.Text("reason")))
		case slices.Contains([]string{"TransferOffer_Expire", "AcceptedTransferOffer_Expire", "AppPaymentRequest_Expire"}, choice):
			forward = a.Record(sim.ExpireEntryShape, model.PartyValue(c.Payload.(model.WalletInstall).User))
		}
		return e.perform(target, choice, forward)
	}
}

// delegated exercises a choice on the contract of one field with the argument of another.
func delegated(label, argLabel, choice string) runOf {
	return func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
		return e.perform(e.fetch(arg.Contract(label)), choice, *arg.At(argLabel))
	}
}

func createOffer(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	return e.addTo(createOfferShape, model.TransferOfferTemplate, offerOf(e, c.Payload.(model.WalletInstall).User, arg))
}

func createRequest(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	return e.addTo(createRequestShape, model.TrafficRequestTemplate, requestOf(e, c.Payload.(model.WalletInstall).User, arg))
}

func grantFeatured(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	rules := e.fetchOf(model.AmuletRulesTemplate, arg.Contract("amuletRulesCid"))
	a := e.Tx.Arena()
	result := e.perform(rules, "AmuletRules_DevNet_FeatureApp", a.Record(sim.FeatureShape, model.PartyValue(c.Payload.(model.WalletInstall).User)))
	return a.Record(featuredGrantedShape, result.Elems[0])
}

// coinBatch is a batch of operations in execution: the change of each is an input of the next.
type coinBatch struct {
	e       *Execution
	wallet  model.WalletInstall
	payment model.Value // the context, as it was given
	context transferContext
	inputs  []model.Value
}

// executeBatch executes operations one after the other. One that fails for want of funds, or
// for another reason that a transfer is invalid, is undone and the next one goes on.
func executeBatch(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	ctx := paymentContextOf(e, arg.Record("context"))
	b := &coinBatch{e: e, wallet: c.Payload.(model.WalletInstall), payment: *arg.At("context"), context: ctx, inputs: arg.List("inputs")}
	operations := arg.List("operations")
	outcomes := make([]model.Value, len(operations))
	defer e.at(ctx.round)()
	for i := range operations {
		outcomes[i] = b.attempt(&operations[i])
	}
	a := e.Tx.Arena()
	return a.Record(batchDoneShape, model.Text(b.wallet.Name), a.List(outcomes...), a.Some(model.PartyValue(b.wallet.User)))
}

// attempt executes an operation and returns its outcome.
func (b *coinBatch) attempt(v *model.Value) (outcome model.Value) {
	start, inputs := b.e.savepoint(), b.inputs
	refusal := attemptTransfer(func() { outcome = b.operate(v.Text, v.Elems[0]) })
	if refusal != nil {
		b.e.rollback(start)
		b.inputs = inputs
		return b.e.Tx.Arena().Variant("COO_Error", refusal.invalid(b.e.Tx.Arena()))
	}
	return outcome
}

// operate executes an operation of some constructor.
func (b *coinBatch) operate(tag string, content model.Value) model.Value {
	run := map[string]func(model.Value) model.Value{
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
	require(run != nil, "operation %s is not executed here", tag)
	return run(content)
}

func (b *coinBatch) inputsValue() model.Value {
	return model.Value{Kind: model.KindList, Elems: b.inputs}
}

// spent puts the change of an operation, its contract id or nil, in the place of the inputs
// that it used.
func (b *coinBatch) spent(change *model.Value) {
	b.inputs = nil
	if change != nil {
		b.inputs = []model.Value{b.e.Tx.Arena().Variant("InputAmulet", *change)}
	}
}

// exercise exercises a choice on a contract of a template and returns its result.
func (b *coinBatch) exercise(t *model.Template, id uint64, choice string, arg model.Value) model.Argument {
	result := b.e.perform(b.e.fetchOf(t, id), choice, arg)
	return model.Argument{V: &result}
}

// payArg is the argument of choices by which the wallet pays with its inputs; s has the fields
// inputs, context and walletProvider, whatever their labels.
func (b *coinBatch) payArg(s *model.Shape) model.Value {
	return b.e.Tx.Arena().Record(s, b.inputsValue(), b.payment, model.PartyValue(b.wallet.Validator))
}

func (b *coinBatch) completeTransfer(v model.Value) model.Value {
	done := b.exercise(model.AcceptedOfferTemplate, uint64(v.Num), "AcceptedTransferOffer_Complete", b.payArg(completeOfferShape))
	b.spent(done.Given("senderChangeAmulet"))
	a := b.e.Tx.Arena()
	return a.Variant("COO_CompleteAcceptedTransfer", a.Record(model.TupleShape, *done.At("transferResult"), *done.At("trackingInfo")))
}

func (b *coinBatch) mergeInputs(model.Value) model.Value {
	_, result := transferBy(b.e, order{sender: b.wallet.User, provider: b.wallet.Validator, inputs: b.inputs, context: b.context})
	done := model.Argument{V: &result}
	b.spent(done.Given("senderChangeAmulet"))
	return b.e.Tx.Arena().Variant("COO_MergeTransferInputs", *done.At("senderChangeAmulet"))
}

// topUp buys traffic for the wallet's own use. On a development network the coins for it
// are tapped, and the inputs stay as they are.
func (b *coinBatch) topUp(v model.Value) model.Value {
	arg := model.Argument{V: &v}
	p := purchase{buyer: b.wallet.User, context: b.context, MemberTraffic: trafficOf(arg)}
	checkPurchase(b.e, p)
	b.replaceTopUp(p, arg)
	c := b.tapped(b.e.Validators.TrafficCost(p.Purchased) + 2*b.e.Payments.OutputFee())
	p.inputs = []model.Value{b.e.Tx.Arena().Variant("InputAmulet", model.ContractID(c.Number))}
	got := buyTrafficBy(b.e, p)
	return b.e.Tx.Arena().Variant("COO_BuyMemberTraffic", model.ContractID(got.traffic.Number))
}

// replaceTopUp remembers a purchase, unless the last one was too short a time ago.
func (b *coinBatch) replaceTopUp(p purchase, arg model.Argument) {
	if state := arg.Given("topupStateCid"); state != nil {
		c := b.e.fetchOf(model.TopUpStateTemplate, uint64(state.Num))
		old := c.Payload.(model.TopUpState)
		if next := old.PurchasedAt + arg.RelTime("minTopupInterval"); next > b.e.Now() {
			panic(broken("traffic cannot be bought again until %s", microsText(next)).asInvalid(
				otherReason("the last top-up was less than the minimum interval ago")))
		}
		b.e.Tx.Archive(c)
	}
	b.e.add(model.TopUpStateTemplate, model.TopUpState{Validator: b.wallet.User, Member: p.Member, Synchronizer: p.Synchronizer,
		Migration: p.Migration, PurchasedAt: b.e.Now()})
}

// otherReason is a reason for an invalid transfer that has no constructor of its own.
func otherReason(description string) func(a *model.Arena) model.Value {
	return func(a *model.Arena) model.Value {
		return a.Variant("ITR_Other", a.Record(sim.OtherReasonShape, model.Text(description)))
	}
}

func (b *coinBatch) completeRequest(v model.Value) model.Value {
	done := b.exercise(model.TrafficRequestTemplate, (model.Argument{V: &v}).Contract("trafficRequestCid"),
		"BuyTrafficRequest_Complete", b.payArg(sim.AcceptPaymentShape))
	b.spent(done.Given("senderChangeAmulet"))
	a := b.e.Tx.Arena()
	return a.Variant("COO_CompleteBuyTrafficRequest", a.Record(model.TupleShape, *done.At("purchasedTraffic"), *done.At("trackingInfo")))
}

// tapped gives the user a new coin.
func (b *coinBatch) tapped(amount model.Decimal) *model.Contract {
	checkTap(amount)
	return b.e.Payments.Tap(b.wallet.User, amount)
}

func (b *coinBatch) tap(v model.Value) model.Value {
	c := b.tapped((model.Argument{V: &v}).Numeric("tapAmount"))
	b.inputs = append(slices.Clone(b.inputs), b.e.Tx.Arena().Variant("InputAmulet", model.ContractID(c.Number)))
	return b.e.Tx.Arena().Variant("COO_Tap", model.ContractID(c.Number))
}

func (b *coinBatch) firstPayment(v model.Value) model.Value {
	return b.payName(v, model.SubscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", "COO_SubscriptionInitialPayment")
}

func (b *coinBatch) nextPayment(v model.Value) model.Value {
	return b.payName(v, model.SubscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", "COO_SubscriptionPayment")
}

func (b *coinBatch) payApp(v model.Value) model.Value {
	done := b.exercise(model.PaymentRequestTemplate, uint64(v.Num), "AppPaymentRequest_Accept", b.payArg(sim.AcceptPaymentShape))
	b.spent(done.Given("senderChangeAmulet"))
	return b.e.Tx.Arena().Variant("COO_AcceptedAppPayment", *done.At("acceptedPayment"))
}

func (b *coinBatch) payName(v model.Value, t *model.Template, choice, outcome string) model.Value {
	done := b.exercise(t, uint64(v.Num), choice, b.payArg(sim.AcceptPaymentShape))
	b.spent(done.Given("senderChange"))
	return b.e.Tx.Arena().Variant(outcome, *done.At("subscriptionPayment"))
}

func (b *coinBatch) proposeSetup(v model.Value) model.Value {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	result := b.e.perform(b.e.Rules.Amulet, "AmuletRules_CreateExternalPartySetupProposal", a.Record(setupArgShape,
		b.payment, b.inputsValue(), *arg.At("externalParty"), model.PartyValue(b.wallet.User), *arg.At("preapprovalExpiresAt"), b.e.Tx.ExpectedDSO()))
	done := model.Argument{V: &result}
	b.spent(done.Record("transferResult").Given("senderChangeAmulet"))
	return a.Variant("COO_CreateExternalPartySetupProposal", *done.At("proposalCid"))
}

func (b *coinBatch) acceptProposal(v model.Value) model.Value {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	done := b.exercise(model.PreapprovalProposalTemplate, arg.Contract("preapprovalProposalCid"), "TransferPreapprovalProposal_Accept",
		a.Record(acceptApprovalShape, b.payment, b.inputsValue(), *arg.At("expiresAt")))
	return b.preapproved("COO_AcceptTransferPreapprovalProposal", done)
}

// preapproved is the outcome of an operation that paid for a preapproval.
func (b *coinBatch) preapproved(outcome string, done model.Argument) model.Value {
	b.spent(done.Record("transferResult").Given("senderChangeAmulet"))
	return b.e.Tx.Arena().Variant(outcome, *done.At("transferPreapprovalCid"))
}

func (b *coinBatch) renewPreapproval(v model.Value) model.Value {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	done := b.exercise(model.PreapprovalTemplate, arg.Contract("previousApprovalCid"), "TransferPreapproval_Renew",
		a.Record(sim.RenewShape, b.payment, b.inputsValue(), *arg.At("newExpiresAt")))
	return b.preapproved("COO_RenewTransferPreapproval", done)
}

func (b *coinBatch) sendToPreapproval(v model.Value) model.Value {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	done := b.exercise(model.PreapprovalTemplate, arg.Contract("transferPreapprovalCid"), "TransferPreapproval_Send",
		a.Record(sim.SendShape, b.paymentFor(arg.Given("providerFeaturedAppRightCid")), b.inputsValue(), *arg.At("amount"),
			model.PartyValue(b.wallet.User), model.OptionalText(a, arg.OptionalText("description"))))
	b.spent(done.Record("result").Given("senderChangeAmulet"))
	return a.Variant("COO_TransferPreapprovalSend", *done.Record("result").At("senderChangeAmulet"))
}

// paymentFor is the context with the featured app right of the provider of a preapproval, or
// without any.
func (b *coinBatch) paymentFor(right *model.Value) model.Value {
	a := b.e.Tx.Arena()
	context := b.context.given
	elems := slices.Clone(context.Elems[:min(3, len(context.Elems))])
	context.Elems = append(elems, model.Optional(a, right != nil, orUnit(right)))
	return a.Record(sim.PaymentContextShape, b.payment.Elems[0], context)
}

// orUnit is v, or an arbitrary value if v is nil.
func orUnit(v *model.Value) model.Value {
	if v == nil {
		return model.Unit()
	}
	return *v
}
