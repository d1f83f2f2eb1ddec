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
	all.creations[model.WalletInstallTemplate] = func(e *Execution, a model.Argument) (model.Payload, error) {
		p := model.WalletInstall{Validator: a.Party("validatorParty"), User: a.Party("endUserParty"), Name: a.Text("endUserName")}
		if p.Name == "" || len(p.Name) > maxTextLength {
			return nil, broken("endUserName has %d bytes, not 1 to %d", len(p.Name), maxTextLength)
		}
		return p, e.isDSO(a.Party("dsoParty"))
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
		all.on(model.WalletInstallTemplate, "WalletAppInstall_"+choice, nonconsuming(byWallet, run))
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
	return func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
		target, err := e.fetch(arg.Contract(label))
		if err != nil {
			return model.Value{}, err
		}
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
	return func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
		target, err := e.fetch(arg.Contract(label))
		if err != nil {
			return model.Value{}, err
		}
		return e.perform(target, choice, *arg.At(argLabel))
	}
}

func createOffer(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p, err := offerOf(e, c.Payload.(model.WalletInstall).User, arg)
	if err != nil {
		return model.Value{}, err
	}
	return e.addTo(createOfferShape, model.TransferOfferTemplate, p)
}

func createRequest(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p, err := requestOf(e, c.Payload.(model.WalletInstall).User, arg)
	if err != nil {
		return model.Value{}, err
	}
	return e.addTo(createRequestShape, model.TrafficRequestTemplate, p)
}

func grantFeatured(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	rules, err := e.fetchOf(model.AmuletRulesTemplate, arg.Contract("amuletRulesCid"))
	if err != nil {
		return model.Value{}, err
	}
	a := e.Tx.Arena()
	result, err := e.perform(rules, "AmuletRules_DevNet_FeatureApp", a.Record(sim.FeatureShape, model.PartyValue(c.Payload.(model.WalletInstall).User)))
	if err != nil {
		return model.Value{}, err
	}
	return a.Record(featuredGrantedShape, result.Elems[0]), nil
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
func executeBatch(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return model.Value{}, err
	}
	b := &coinBatch{e: e, wallet: c.Payload.(model.WalletInstall), payment: *arg.At("context"), context: ctx, inputs: arg.List("inputs")}
	operations := arg.List("operations")
	outcomes := make([]model.Value, len(operations))
	defer e.at(ctx.round)()
	for i := range operations {
		if outcomes[i], err = b.attempt(&operations[i]); err != nil {
			return model.Value{}, err
		}
	}
	a := e.Tx.Arena()
	return a.Record(batchDoneShape, model.Text(b.wallet.Name), a.List(outcomes...), a.Some(model.PartyValue(b.wallet.User))), nil
}

// attempt executes an operation and returns its outcome.
func (b *coinBatch) attempt(v *model.Value) (model.Value, error) {
	start, inputs := b.e.savepoint(), b.inputs
	outcome, err := b.operate(v.Text, v.Elems[0])
	var invalid *invalidTransfer
	if asInvalid(err, &invalid) {
		b.e.rollback(start)
		b.inputs = inputs
		return b.e.Tx.Arena().Variant("COO_Error", invalid.reason(b.e.Tx.Arena())), nil
	}
	return outcome, err
}

// operate executes an operation of some constructor.
func (b *coinBatch) operate(tag string, content model.Value) (model.Value, error) {
	run := map[string]func(model.Value) (model.Value, error){
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
		return model.Value{}, broken("operation %s is not executed here", tag)
	}
	return run(content)
}

func (b *coinBatch) inputsValue() model.Value {
	return model.Value{Kind: model.KindList, Elems: b.inputs}
}

// spent puts the change of an operation in the place of the inputs that it used.
func (b *coinBatch) spent(change *model.Contract) {
	b.inputs = nil
	if change != nil {
		b.inputs = []model.Value{b.e.Tx.Arena().Variant("InputAmulet", model.ContractID(change.Number))}
	}
}

// spentResult is spent for a choice whose result has the change as an optional field.
func (b *coinBatch) spentResult(change *model.Value) {
	b.inputs = nil
	if change != nil {
		b.inputs = []model.Value{b.e.Tx.Arena().Variant("InputAmulet", *change)}
	}
}

// exercise exercises a choice on a contract of a template and returns its result.
func (b *coinBatch) exercise(t *model.Template, id uint64, choice string, arg model.Value) (model.Argument, error) {
	c, err := b.e.fetchOf(t, id)
	if err != nil {
		return model.Argument{}, err
	}
	result, err := b.e.perform(c, choice, arg)
	return model.Argument{V: &result}, err
}

// payArg is the argument of choices by which the wallet pays with its inputs; s has the fields
// inputs, context and walletProvider, whatever their labels.
func (b *coinBatch) payArg(s *model.Shape) model.Value {
	return b.e.Tx.Arena().Record(s, b.inputsValue(), b.payment, model.PartyValue(b.wallet.Validator))
}

func (b *coinBatch) completeTransfer(v model.Value) (model.Value, error) {
	done, err := b.exercise(model.AcceptedOfferTemplate, uint64(v.Num), "AcceptedTransferOffer_Complete", b.payArg(completeOfferShape))
	if err != nil {
		return model.Value{}, err
	}
	b.spentResult(done.Given("senderChangeAmulet"))
	a := b.e.Tx.Arena()
	return a.Variant("COO_CompleteAcceptedTransfer", a.Record(model.TupleShape, *done.At("transferResult"), *done.At("trackingInfo"))), nil
}

func (b *coinBatch) mergeInputs(model.Value) (model.Value, error) {
	s, _, err := transferBy(b.e, order{sender: b.wallet.User, provider: b.wallet.Validator, inputs: b.inputs, context: b.context})
	if err != nil {
		return model.Value{}, err
	}
	b.spent(s.Change)
	return b.e.Tx.Arena().Variant("COO_MergeTransferInputs", b.e.payments.ChangeID(s)), nil
}

// topUp buys traffic for the wallet's own use. On a development network the coins for it
// are tapped, and the inputs stay as they are.
func (b *coinBatch) topUp(v model.Value) (model.Value, error) {
	arg := model.Argument{V: &v}
	p := purchase{buyer: b.wallet.User, context: b.context, member: arg.Text("memberId"), synchronizer: arg.Text("synchronizerId"),
		migration: arg.Int64("migrationId"), bytes: arg.Int64("trafficAmount")}
	if err := checkPurchase(b.e, p); err != nil {
		return model.Value{}, err
	}
	if err := b.replaceTopUp(p, arg); err != nil {
		return model.Value{}, err
	}
	c, err := tapFor(b.e, p.buyer, trafficCost(b.e, p.bytes)+2*b.e.payments.OutputFee())
	if err != nil {
		return model.Value{}, err
	}
	p.inputs = []model.Value{b.e.Tx.Arena().Variant("InputAmulet", model.ContractID(c.Number))}
	got, err := buyTrafficBy(b.e, p)
	if err != nil {
		return model.Value{}, err
	}
	return b.e.Tx.Arena().Variant("COO_BuyMemberTraffic", model.ContractID(got.traffic.Number)), nil
}

// replaceTopUp remembers a purchase, unless the last one was too short a time ago.
func (b *coinBatch) replaceTopUp(p purchase, arg model.Argument) error {
	if state := arg.Given("topupStateCid"); state != nil {
		c, err := b.e.fetchOf(model.TopUpStateTemplate, uint64(state.Num))
		if err != nil {
			return err
		}
		old := c.Payload.(model.TopUpState)
		if next := old.PurchasedAt + arg.RelTime("minTopupInterval"); next > b.e.Now() {
			return &invalidTransfer{broken("traffic may be bought again at %s only", microsText(next)), otherReason(
				"the last top-up was less than the minimum interval ago")}
		}
		b.e.Tx.Archive(c)
	}
	_, err := b.e.add(model.TopUpStateTemplate, model.TopUpState{Validator: b.wallet.User, Member: p.member, Synchronizer: p.synchronizer,
		Migration: p.migration, PurchasedAt: b.e.Now()})
	return err
}

// otherReason is a reason for an invalid transfer that has no constructor of its own.
func otherReason(description string) func(a *model.Arena) model.Value {
	return func(a *model.Arena) model.Value {
		return a.Variant("ITR_Other", a.Record(sim.OtherReasonShape, model.Text(description)))
	}
}

func (b *coinBatch) completeRequest(v model.Value) (model.Value, error) {
	done, err := b.exercise(model.TrafficRequestTemplate, (model.Argument{V: &v}).Contract("trafficRequestCid"),
		"BuyTrafficRequest_Complete", b.payArg(sim.AcceptPaymentShape))
	if err != nil {
		return model.Value{}, err
	}
	b.spentResult(done.Given("senderChangeAmulet"))
	a := b.e.Tx.Arena()
	return a.Variant("COO_CompleteBuyTrafficRequest", a.Record(model.TupleShape, *done.At("purchasedTraffic"), *done.At("trackingInfo"))), nil
}

func (b *coinBatch) tap(v model.Value) (model.Value, error) {
	c, err := tapFor(b.e, b.wallet.User, (model.Argument{V: &v}).Numeric("tapAmount"))
	if err != nil {
		return model.Value{}, err
	}
	b.inputs = append(slices.Clone(b.inputs), b.e.Tx.Arena().Variant("InputAmulet", model.ContractID(c.Number)))
	return b.e.Tx.Arena().Variant("COO_Tap", model.ContractID(c.Number)), nil
}

func (b *coinBatch) firstPayment(v model.Value) (model.Value, error) {
	return b.payName(v, model.SubscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", "COO_SubscriptionInitialPayment")
}

func (b *coinBatch) nextPayment(v model.Value) (model.Value, error) {
	return b.payName(v, model.SubscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", "COO_SubscriptionPayment")
}

func (b *coinBatch) payApp(v model.Value) (model.Value, error) {
	done, err := b.exercise(model.PaymentRequestTemplate, uint64(v.Num), "AppPaymentRequest_Accept", b.payArg(sim.AcceptPaymentShape))
	if err != nil {
		return model.Value{}, err
	}
	b.spentResult(done.Given("senderChangeAmulet"))
	return b.e.Tx.Arena().Variant("COO_AcceptedAppPayment", *done.At("acceptedPayment")), nil
}

func (b *coinBatch) payName(v model.Value, t *model.Template, choice, outcome string) (model.Value, error) {
	done, err := b.exercise(t, uint64(v.Num), choice, b.payArg(sim.AcceptPaymentShape))
	if err != nil {
		return model.Value{}, err
	}
	b.spentResult(done.Given("senderChange"))
	return b.e.Tx.Arena().Variant(outcome, *done.At("subscriptionPayment")), nil
}

func (b *coinBatch) proposeSetup(v model.Value) (model.Value, error) {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	result, err := b.e.perform(b.e.Rules.Amulet, "AmuletRules_CreateExternalPartySetupProposal", a.Record(setupArgShape,
		b.payment, b.inputsValue(), *arg.At("externalParty"), model.PartyValue(b.wallet.User), *arg.At("preapprovalExpiresAt"), b.e.Tx.ExpectedDSO()))
	if err != nil {
		return model.Value{}, err
	}
	done := model.Argument{V: &result}
	b.spentResult(done.Record("transferResult").Given("senderChangeAmulet"))
	return a.Variant("COO_CreateExternalPartySetupProposal", *done.At("proposalCid")), nil
}

func (b *coinBatch) acceptProposal(v model.Value) (model.Value, error) {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	done, err := b.exercise(model.PreapprovalProposalTemplate, arg.Contract("preapprovalProposalCid"), "TransferPreapprovalProposal_Accept",
		a.Record(acceptApprovalShape, b.payment, b.inputsValue(), *arg.At("expiresAt")))
	return b.preapproved("COO_AcceptTransferPreapprovalProposal", done, err)
}

// preapproved is the outcome of an operation that paid for a preapproval.
func (b *coinBatch) preapproved(outcome string, done model.Argument, err error) (model.Value, error) {
	if err != nil {
		return model.Value{}, err
	}
	b.spentResult(done.Record("transferResult").Given("senderChangeAmulet"))
	return b.e.Tx.Arena().Variant(outcome, *done.At("transferPreapprovalCid")), nil
}

func (b *coinBatch) renewPreapproval(v model.Value) (model.Value, error) {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	done, err := b.exercise(model.PreapprovalTemplate, arg.Contract("previousApprovalCid"), "TransferPreapproval_Renew",
		a.Record(sim.RenewShape, b.payment, b.inputsValue(), *arg.At("newExpiresAt")))
	return b.preapproved("COO_RenewTransferPreapproval", done, err)
}

func (b *coinBatch) sendToPreapproval(v model.Value) (model.Value, error) {
	arg, a := model.Argument{V: &v}, b.e.Tx.Arena()
	c, err := b.e.fetchOf(model.PreapprovalTemplate, arg.Contract("transferPreapprovalCid"))
	if err != nil {
		return model.Value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapproval_Send", a.Record(sim.SendShape, b.paymentFor(arg.Given("providerFeaturedAppRightCid")),
		b.inputsValue(), *arg.At("amount"), model.PartyValue(b.wallet.User), model.OptionalText(a, arg.OptionalText("description"))))
	if err != nil {
		return model.Value{}, err
	}
	change := (model.Argument{V: &result}).Record("result").Given("senderChangeAmulet")
	b.spentResult(change)
	return a.Variant("COO_TransferPreapprovalSend", model.Optional(a, change != nil, orUnit(change))), nil
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
