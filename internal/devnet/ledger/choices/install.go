package choices

import (
	"slices"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	batchDoneShape       = NewShape("endUserName", "outcomes", "optEndUserParty")
	acceptShape          = NewShape("inputs", "context", "walletProvider")
	completeOfferShape   = NewShape("inputs", "transferContext", "walletProvider")
	acceptApprovalShape  = NewShape("context", "inputs", "expiresAt")
	featuredGrantedShape = NewShape("featuredAppRight")
)

// addInstallChoices are the choices of a user's wallet. Its validator exercises them, or the
// user itself.
func addInstallChoices(all *choices) {
	all.creations[WalletInstallTemplate] = func(e *Execution, a Argument) (Payload, error) {
		p := WalletInstall{Validator: a.Party("validatorParty"), User: a.Party("endUserParty"), Name: a.Text("endUserName")}
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
		all.on(WalletInstallTemplate, "WalletAppInstall_"+choice, nonconsuming(byWallet, run))
	}
}

// byWallet is the validator of a wallet, unless only its user acts.
func byWallet(e *Execution, c *Contract, _ Argument) []Party {
	p := c.Payload.(WalletInstall)
	if !slices.Contains(e.authority, p.Validator) && slices.Contains(e.authority, p.User) {
		return []Party{p.User}
	}
	return []Party{p.Validator}
}

// forwarded exercises a choice on the contract of a field, for the user of the wallet. The
// choice has the same other fields, or the user as actor.
func forwarded(label, choice string) runOf {
	return func(e *Execution, c *Contract, arg Argument) (Value, error) {
		target, err := e.fetch(arg.Contract(label))
		if err != nil {
			return Value{}, err
		}
		a := e.Tx.Arena()
		forward := a.Record(EmptyRecordShape)
		switch {
		case arg.At("reason") != nil:
			forward = a.Record(OfferReasonShape, Text(arg.Text("reason")))
		case slices.Contains([]string{"TransferOffer_Expire", "AcceptedTransferOffer_Expire", "AppPaymentRequest_Expire"}, choice):
			forward = a.Record(ExpireEntryShape, PartyValue(c.Payload.(WalletInstall).User))
		}
		return e.perform(target, choice, forward)
	}
}

// delegated exercises a choice on the contract of one field with the argument of another.
func delegated(label, argLabel, choice string) runOf {
	return func(e *Execution, _ *Contract, arg Argument) (Value, error) {
		target, err := e.fetch(arg.Contract(label))
		if err != nil {
			return Value{}, err
		}
		return e.perform(target, choice, *arg.At(argLabel))
	}
}

func createOffer(e *Execution, c *Contract, arg Argument) (Value, error) {
	p, err := offerOf(e, c.Payload.(WalletInstall).User, arg)
	if err != nil {
		return Value{}, err
	}
	offer, err := e.add(TransferOfferTemplate, p)
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(createOfferShape, ContractID(offer.Number)), nil
}

func createRequest(e *Execution, c *Contract, arg Argument) (Value, error) {
	p, err := requestOf(e, c.Payload.(WalletInstall).User, arg)
	if err != nil {
		return Value{}, err
	}
	request, err := e.add(TrafficRequestTemplate, p)
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(createRequestShape, ContractID(request.Number)), nil
}

func grantFeatured(e *Execution, c *Contract, arg Argument) (Value, error) {
	rules, err := e.fetchOf(AmuletRulesTemplate, arg.Contract("amuletRulesCid"))
	if err != nil {
		return Value{}, err
	}
	a := e.Tx.Arena()
	result, err := e.perform(rules, "AmuletRules_DevNet_FeatureApp", a.Record(FeatureShape, PartyValue(c.Payload.(WalletInstall).User)))
	if err != nil {
		return Value{}, err
	}
	return a.Record(featuredGrantedShape, result.Elems[0]), nil
}

// coinBatch is a batch of operations in execution: the change of each is an input of the next.
type coinBatch struct {
	e       *Execution
	wallet  WalletInstall
	payment Value // the context, as it was given
	context transferContext
	inputs  []Value
}

// executeBatch executes operations one after the other. One that fails for want of funds, or
// for another reason that a transfer is invalid, is undone and the next one goes on.
func executeBatch(e *Execution, c *Contract, arg Argument) (Value, error) {
	ctx, err := paymentContextOf(e, arg.Record("context"))
	if err != nil {
		return Value{}, err
	}
	b := &coinBatch{e: e, wallet: c.Payload.(WalletInstall), payment: *arg.At("context"), context: ctx, inputs: arg.List("inputs")}
	operations := arg.List("operations")
	outcomes := make([]Value, len(operations))
	defer e.at(ctx.round)()
	for i := range operations {
		if outcomes[i], err = b.attempt(&operations[i]); err != nil {
			return Value{}, err
		}
	}
	a := e.Tx.Arena()
	return a.Record(batchDoneShape, Text(b.wallet.Name), a.List(outcomes...), a.Some(PartyValue(b.wallet.User))), nil
}

// attempt executes an operation and returns its outcome.
func (b *coinBatch) attempt(v *Value) (Value, error) {
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
func (b *coinBatch) operate(tag string, content Value) (Value, error) {
	run := map[string]func(Value) (Value, error){
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
		return Value{}, broken("operation %s is not executed here", tag)
	}
	return run(content)
}

func (b *coinBatch) inputsValue() Value { return Value{Kind: KindList, Elems: b.inputs} }

// spent puts the change of an operation in the place of the inputs that it used.
func (b *coinBatch) spent(change *Contract) {
	b.inputs = nil
	if change != nil {
		b.inputs = []Value{b.e.Tx.Arena().Variant("InputAmulet", ContractID(change.Number))}
	}
}

// spentResult is spent for a choice whose result has the change as an optional field.
func (b *coinBatch) spentResult(change *Value) {
	b.inputs = nil
	if change != nil {
		b.inputs = []Value{b.e.Tx.Arena().Variant("InputAmulet", *change)}
	}
}

func (b *coinBatch) completeTransfer(v Value) (Value, error) {
	c, err := b.e.fetchOf(AcceptedOfferTemplate, uint64(v.Num))
	if err != nil {
		return Value{}, err
	}
	a := b.e.Tx.Arena()
	result, err := b.e.perform(c, "AcceptedTransferOffer_Complete", a.Record(completeOfferShape, b.inputsValue(), b.payment,
		PartyValue(b.wallet.Validator)))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Given("senderChangeAmulet"))
	return a.Variant("COO_CompleteAcceptedTransfer", a.Record(TupleShape, *done.At("transferResult"), *done.At("trackingInfo"))), nil
}

func (b *coinBatch) mergeInputs(Value) (Value, error) {
	s, _, err := transferBy(b.e, order{sender: b.wallet.User, provider: b.wallet.Validator, inputs: b.inputs, context: b.context})
	if err != nil {
		return Value{}, err
	}
	b.spent(s.Change)
	return b.e.Tx.Arena().Variant("COO_MergeTransferInputs", b.e.payments.ChangeID(s)), nil
}

// topUp buys traffic for the wallet's own use. On a development network the coins for it
// are tapped, and the inputs stay as they are.
func (b *coinBatch) topUp(v Value) (Value, error) {
	arg := Argument{&v}
	p := purchase{buyer: b.wallet.User, context: b.context, member: arg.Text("memberId"), synchronizer: arg.Text("synchronizerId"),
		migration: arg.Int64("migrationId"), bytes: arg.Int64("trafficAmount")}
	if err := checkPurchase(b.e, p); err != nil {
		return Value{}, err
	}
	if err := b.replaceTopUp(p, arg); err != nil {
		return Value{}, err
	}
	c, err := tapFor(b.e, p.buyer, trafficCost(b.e, p.bytes)+2*b.e.payments.OutputFee())
	if err != nil {
		return Value{}, err
	}
	p.inputs = []Value{b.e.Tx.Arena().Variant("InputAmulet", ContractID(c.Number))}
	got, err := buyTrafficBy(b.e, p)
	if err != nil {
		return Value{}, err
	}
	return b.e.Tx.Arena().Variant("COO_BuyMemberTraffic", ContractID(got.traffic.Number)), nil
}

// replaceTopUp remembers a purchase, unless the last one was too short a time ago.
func (b *coinBatch) replaceTopUp(p purchase, arg Argument) error {
	if state := arg.Given("topupStateCid"); state != nil {
		c, err := b.e.fetchOf(TopUpStateTemplate, uint64(state.Num))
		if err != nil {
			return err
		}
		old := c.Payload.(TopUpState)
		if next := old.PurchasedAt + arg.RelTime("minTopupInterval"); next > b.e.Now() {
			return &invalidTransfer{broken("traffic may be bought again at %s only", microsText(next)), otherReason(
				"the last top-up was less than the minimum interval ago")}
		}
		b.e.Tx.Archive(c)
	}
	_, err := b.e.add(TopUpStateTemplate, TopUpState{Validator: b.wallet.User, Member: p.member, Synchronizer: p.synchronizer,
		Migration: p.migration, PurchasedAt: b.e.Now()})
	return err
}

// otherReason is a reason for an invalid transfer that has no constructor of its own.
func otherReason(description string) func(a *Arena) Value {
	return func(a *Arena) Value { return a.Variant("ITR_Other", a.Record(OtherReasonShape, Text(description))) }
}

func (b *coinBatch) completeRequest(v Value) (Value, error) {
	c, err := b.e.fetchOf(TrafficRequestTemplate, (Argument{&v}).Contract("trafficRequestCid"))
	if err != nil {
		return Value{}, err
	}
	a := b.e.Tx.Arena()
	result, err := b.e.perform(c, "BuyTrafficRequest_Complete", a.Record(acceptShape, b.inputsValue(), b.payment,
		PartyValue(b.wallet.Validator)))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Given("senderChangeAmulet"))
	return a.Variant("COO_CompleteBuyTrafficRequest", a.Record(TupleShape, *done.At("purchasedTraffic"), *done.At("trackingInfo"))), nil
}

func (b *coinBatch) tap(v Value) (Value, error) {
	c, err := tapFor(b.e, b.wallet.User, (Argument{&v}).Numeric("tapAmount"))
	if err != nil {
		return Value{}, err
	}
	b.inputs = append(slices.Clone(b.inputs), b.e.Tx.Arena().Variant("InputAmulet", ContractID(c.Number)))
	return b.e.Tx.Arena().Variant("COO_Tap", ContractID(c.Number)), nil
}

func (b *coinBatch) firstPayment(v Value) (Value, error) {
	return b.payName(v, SubscriptionRequestTemplate, "SubscriptionRequest_AcceptAndMakePayment", "COO_SubscriptionInitialPayment")
}

func (b *coinBatch) nextPayment(v Value) (Value, error) {
	return b.payName(v, SubscriptionIdleTemplate, "SubscriptionIdleState_MakePayment", "COO_SubscriptionPayment")
}

func (b *coinBatch) payApp(v Value) (Value, error) {
	c, err := b.e.fetchOf(PaymentRequestTemplate, uint64(v.Num))
	if err != nil {
		return Value{}, err
	}
	a := b.e.Tx.Arena()
	result, err := b.e.perform(c, "AppPaymentRequest_Accept", a.Record(AcceptPaymentShape, b.inputsValue(), b.payment, PartyValue(b.wallet.Validator)))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Given("senderChangeAmulet"))
	return a.Variant("COO_AcceptedAppPayment", *done.At("acceptedPayment")), nil
}

func (b *coinBatch) payName(v Value, t *Template, choice, outcome string) (Value, error) {
	c, err := b.e.fetchOf(t, uint64(v.Num))
	if err != nil {
		return Value{}, err
	}
	a := b.e.Tx.Arena()
	result, err := b.e.perform(c, choice, a.Record(AcceptPaymentShape, b.inputsValue(), b.payment, PartyValue(b.wallet.Validator)))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Given("senderChange"))
	return a.Variant(outcome, *done.At("subscriptionPayment")), nil
}

func (b *coinBatch) proposeSetup(v Value) (Value, error) {
	arg, a := Argument{&v}, b.e.Tx.Arena()
	result, err := b.e.perform(b.e.Rules.Amulet, "AmuletRules_CreateExternalPartySetupProposal", a.Record(setupArgShape,
		b.payment, b.inputsValue(), *arg.At("externalParty"), PartyValue(b.wallet.User), *arg.At("preapprovalExpiresAt"), b.e.Tx.ExpectedDSO()))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Record("transferResult").Given("senderChangeAmulet"))
	return a.Variant("COO_CreateExternalPartySetupProposal", *done.At("proposalCid")), nil
}

func (b *coinBatch) acceptProposal(v Value) (Value, error) {
	arg, a := Argument{&v}, b.e.Tx.Arena()
	c, err := b.e.fetchOf(PreapprovalProposalTemplate, arg.Contract("preapprovalProposalCid"))
	if err != nil {
		return Value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapprovalProposal_Accept", a.Record(acceptApprovalShape, b.payment,
		b.inputsValue(), *arg.At("expiresAt")))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Record("transferResult").Given("senderChangeAmulet"))
	return a.Variant("COO_AcceptTransferPreapprovalProposal", *done.At("transferPreapprovalCid")), nil
}

func (b *coinBatch) renewPreapproval(v Value) (Value, error) {
	arg, a := Argument{&v}, b.e.Tx.Arena()
	c, err := b.e.fetchOf(PreapprovalTemplate, arg.Contract("previousApprovalCid"))
	if err != nil {
		return Value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapproval_Renew", a.Record(RenewShape, b.payment, b.inputsValue(), *arg.At("newExpiresAt")))
	if err != nil {
		return Value{}, err
	}
	done := Argument{&result}
	b.spentResult(done.Record("transferResult").Given("senderChangeAmulet"))
	return a.Variant("COO_RenewTransferPreapproval", *done.At("transferPreapprovalCid")), nil
}

func (b *coinBatch) sendToPreapproval(v Value) (Value, error) {
	arg, a := Argument{&v}, b.e.Tx.Arena()
	c, err := b.e.fetchOf(PreapprovalTemplate, arg.Contract("transferPreapprovalCid"))
	if err != nil {
		return Value{}, err
	}
	result, err := b.e.perform(c, "TransferPreapproval_Send", a.Record(SendShape, b.paymentFor(arg.Given("providerFeaturedAppRightCid")),
		b.inputsValue(), *arg.At("amount"), PartyValue(b.wallet.User), OptionalText(a, arg.OptionalText("description"))))
	if err != nil {
		return Value{}, err
	}
	change := (Argument{&result}).Record("result").Given("senderChangeAmulet")
	b.spentResult(change)
	return a.Variant("COO_TransferPreapprovalSend", Optional(a, change != nil, orUnit(change))), nil
}

// paymentFor is the context with the featured app right of the provider of a preapproval, or
// without any.
func (b *coinBatch) paymentFor(right *Value) Value {
	a := b.e.Tx.Arena()
	context := b.context.given
	elems := slices.Clone(context.Elems[:min(3, len(context.Elems))])
	context.Elems = append(elems, Optional(a, right != nil, orUnit(right)))
	return a.Record(PaymentContextShape, b.payment.Elems[0], context)
}

// orUnit is v, or an arbitrary value if v is nil.
func orUnit(v *Value) Value {
	if v == nil {
		return Unit()
	}
	return *v
}
