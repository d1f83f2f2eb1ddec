package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	delegationAcceptedShape = model.NewShape("mintingDelegationCid")
	mintDelegatedShape      = model.NewShape("transferResult")
)

func addDelegationChoices(all *choices) {
	all.creations[model.MintingProposalTemplate] = func(e *Execution, a model.Argument) model.Payload {
		d := a.Record("delegation")
		p := model.MintingDelegation{Beneficiary: d.Party("beneficiary"), Delegate: d.Party("delegate"),
			ExpiresAt: d.Time("expiresAt"), MergeLimit: d.Int64("amuletMergeLimit")}
		require(p.MergeLimit >= 1, "amuletMergeLimit must be positive, not %d", p.MergeLimit)
		e.isDSO(d.Party("dso"))
		e.later("expiry of the delegation at", p.ExpiresAt)
		return model.MintingProposal{MintingDelegation: p}
	}
	delegate := byPayload(func(p model.MintingProposal) []model.Party { return []model.Party{p.Delegate} })
	all.on(model.MintingProposalTemplate, "MintingDelegationProposal_Accept", consuming(delegate, acceptDelegation))
	all.on(model.MintingProposalTemplate, "MintingDelegationProposal_Reject", consuming(delegate, toEmpty))
	all.on(model.MintingProposalTemplate, "MintingDelegationProposal_Withdraw", consuming(
		byPayload(func(p model.MintingProposal) []model.Party { return []model.Party{p.Beneficiary} }), toEmpty))

	all.on(model.MintingDelegationTemplate, "MintingDelegation_Mint", nonconsuming(
		byPayload(func(p model.MintingDelegation) []model.Party { return []model.Party{p.Delegate} }), mintDelegated))
	all.on(model.MintingDelegationTemplate, "MintingDelegation_Reject", consuming(
		byPayload(func(p model.MintingDelegation) []model.Party { return []model.Party{p.Delegate} }), toEmpty))
	all.on(model.MintingDelegationTemplate, "MintingDelegation_Withdraw", consuming(
		byPayload(func(p model.MintingDelegation) []model.Party { return []model.Party{p.Beneficiary} }), toEmpty))
}

// acceptDelegation takes a delegation on, perhaps in place of an older one.
func acceptDelegation(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.MintingProposal)
	e.later("expiry of the delegation at", p.ExpiresAt)
	if existing := arg.Given("existingDelegationCid"); existing != nil {
		old := e.fetchOf(model.MintingDelegationTemplate, uint64(existing.Num))
		d := old.Payload.(model.MintingDelegation)
		require(d.Beneficiary == p.Beneficiary && d.Delegate == p.Delegate, "the existing delegation is between other parties")
		e.Tx.Archive(old)
	}
	return e.addTo(delegationAcceptedShape, model.MintingDelegationTemplate, p.MintingDelegation)
}

// mintDelegated collects rewards of the beneficiary. Coins may be merged only if there are
// so many as the delegation says.
func mintDelegated(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	return e.Tx.Arena().Record(mintDelegatedShape,
		mintFor(e, c.Payload.(model.MintingDelegation), arg.List("inputs"), arg.Record("context")))
}

// mintFor collects inputs for the beneficiary of a delegation and returns the result of the
// transfer.
func mintFor(e *Execution, p model.MintingDelegation, inputs []model.Value, context model.Argument) model.Value {
	e.later("expiry of the delegation at", p.ExpiresAt)
	coinInputs := 0
	for i := range inputs {
		if inputs[i].Text == "InputAmulet" {
			coinInputs++
		}
	}
	require(len(inputs) != 0, "there are no inputs")
	require(int64(coinInputs) <= p.MergeLimit || mayMerge(e, p, int64(coinInputs)), "%d coins are merged, but the beneficiary has fewer than %d", coinInputs, 2*p.MergeLimit)
	ctx := paymentContextOf(e, context)
	_, result := transferBy(e, order{sender: p.Beneficiary, provider: p.Beneficiary, inputs: inputs, context: ctx})
	return result
}

// mayMerge reports whether the beneficiary of a delegation has twice as many coins as its
// limit, and enough of them are left.
func mayMerge(e *Execution, p model.MintingDelegation, merged int64) bool {
	var have int64
	for _, c := range e.Bank.Wallets[p.Beneficiary].Coins {
		if c.Active() {
			have++
		}
	}
	return have >= 2*p.MergeLimit && have-merged+1 >= p.MergeLimit
}

var (
	mergeAcceptedShape = model.NewShape("mergeDelegationCid")
	resultUnitShape    = model.NewShape("result")
	mergeDoneShape     = model.NewShape("optMergeTransferResult", "optExtraTransferResult")
	batchMergedShape   = model.NewShape("results", "operatorChangeMap")
)

func addMergeChoices(all *choices) {
	all.creations[model.MergeProposalTemplate] = func(_ *Execution, a model.Argument) model.Payload {
		d := a.Record("delegation")
		return model.MergeProposal{MergeDelegation: model.MergeDelegation{Operator: d.Party("operator"), Owner: d.Party("owner"), Meta: d.Metadata("meta")}}
	}
	all.creations[model.BatchMergeTemplate] = func(_ *Execution, a model.Argument) model.Payload {
		return model.BatchMergeUtility{Operator: a.Party("operator")}
	}
	toUnitResult := func(e *Execution, _ *model.Contract, _ model.Argument) model.Value {
		return e.Tx.Arena().Record(resultUnitShape, model.Unit())
	}
	operator := byPayload(func(p model.MergeProposal) []model.Party { return []model.Party{p.Operator} })
	all.on(model.MergeProposalTemplate, "MergeDelegationProposal_Accept", consuming(operator,
		func(e *Execution, c *model.Contract, _ model.Argument) model.Value {
			return e.addTo(mergeAcceptedShape, model.MergeDelegationTemplate, c.Payload.(model.MergeProposal).MergeDelegation)
		}))
	all.on(model.MergeProposalTemplate, "MergeDelegationProposal_Reject", consuming(operator, toUnitResult))
	all.on(model.MergeProposalTemplate, "MergeDelegationProposal_Withdraw", consuming(
		byPayload(func(p model.MergeProposal) []model.Party { return []model.Party{p.Owner} }), toUnitResult))

	byOperator := byPayload(func(p model.MergeDelegation) []model.Party { return []model.Party{p.Operator} })
	all.on(model.MergeDelegationTemplate, "MergeDelegation_Merge", nonconsuming(byOperator, mergeDelegated))
	all.on(model.MergeDelegationTemplate, "MergeDelegation_Reject", consuming(byOperator, toUnitResult))
	all.on(model.MergeDelegationTemplate, "MergeDelegation_Withdraw", consuming(
		byPayload(func(p model.MergeDelegation) []model.Party { return []model.Party{p.Owner} }), toUnitResult))
	byUtility := byPayload(func(p model.BatchMergeUtility) []model.Party { return []model.Party{p.Operator} })
	for _, choice := range []string{"BatchMergeUtility_BatchMerge", "BatchMergeUtility_MergeHoldings"} {
		all.on(model.BatchMergeTemplate, choice, nonconsuming(byUtility, mergeBatch))
	}
}

// mergeDelegated merges holdings of an owner, and may deliver a transfer from the operator.
func mergeDelegated(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p, a := c.Payload.(model.MergeDelegation), e.Tx.Arena()
	merge, extra, mark := arg.Given("optMergeTransfer"), arg.Given("optExtraTransfer"), arg.Given("optFeaturedAppRight")
	require(merge != nil || extra != nil, "there is nothing to merge")
	merged, delivered := model.None(), model.None()
	if merge != nil {
		result := mergeTransfer(e, p, model.Argument{V: merge})
		merged = a.Some(result)
	}
	if extra != nil {
		call := model.Argument{V: extra}
		t := call.Record("choiceArg").Record("transfer")
		require(t.Party("sender") == p.Operator && t.Party("receiver") == p.Owner, "the extra transfer must go from the operator to the owner")
		result := delegated("factoryCid", "choiceArg", "TransferFactory_Transfer")(e, c, call)
		require(len(result.Elems) != 0 && result.Elems[0].Text == "TransferInstructionResult_Completed", "the extra transfer is not completed at once: the owner has no preapproval")
		delivered = a.Some(result)
	}
	if mark != nil {
		markActivity(e, model.Argument{V: mark}, "appRightCid")
	}
	return a.Record(mergeDoneShape, merged, delivered)
}

// mergeTransfer executes the transfer of an owner to itself, which must leave it fewer holdings.
func mergeTransfer(e *Execution, p model.MergeDelegation, call model.Argument) model.Value {
	t := call.Record("choiceArg").Record("transfer")
	require(t.Party("sender") == p.Owner && t.Party("receiver") == p.Owner, "a merge must be a transfer of the owner to itself")
	result := e.perform(e.fetch(call.Contract("factoryCid")), "TransferFactory_Transfer", *call.At("choiceArg"))
	left, inputs := 1+len(model.Argument{V: &result}.List("senderChangeCids")), len(t.List("inputHoldingCids"))
	require(left < inputs, "the merge leaves %d holdings of %d", left, inputs)
	return result
}

// maxMerges bounds the delegations of one batch.
const maxMerges = 200

// mergeBatch exercises many delegations. What the operator has left of one transfer is not
// used for the next: the calls name all inputs.
func mergeBatch(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	calls := arg.List("mergeCalls")
	require(len(calls) != 0 && len(calls) <= maxMerges, "a batch has 1 to %d merges, not %d", maxMerges, len(calls))
	operator, a := c.Payload.(model.BatchMergeUtility).Operator, e.Tx.Arena()
	results := make([]model.Value, len(calls))
	var changes []model.Value
	for i := range calls {
		call := model.Argument{V: &calls[i]}
		d := e.fetchOf(model.MergeDelegationTemplate, call.Contract("delegationCid"))
		require(d.Payload.(model.MergeDelegation).Operator == operator, "delegation %d is to another operator", i)
		results[i] = e.perform(d, "MergeDelegation_Merge", *call.At("choiceArg"))
		if extra := (model.Argument{V: &results[i]}).Given("optExtraTransferResult"); extra != nil {
			changes = append(changes, (model.Argument{V: extra}).List("senderChangeCids")...)
		}
	}
	change := a.GenMap()
	if len(changes) > 0 {
		change = a.GenMap(a.Record(model.InstrumentIDShape, model.PartyValue(model.Dso), model.Text(model.InstrumentAmuletInPayload)), a.List(changes...))
	}
	return a.Record(batchMergedShape, a.List(results...), change)
}

var proxyDoneShape = model.NewShape("markerResult", "choiceResult")

// addProxyChoices are choices on tokens by which the delegate of a featured app marks its activity.
func addProxyChoices(all *choices) {
	all.creations[model.DelegateProxyTemplate] = func(_ *Execution, a model.Argument) model.Payload {
		return model.DelegateProxy{Provider: a.Party("provider"), Delegate: a.Party("delegate")}
	}
	delegate := byPayload(func(p model.DelegateProxy) []model.Party { return []model.Party{p.Delegate} })
	for _, choice := range []string{"TransferFactory_Transfer", "TransferInstruction_Accept", "TransferInstruction_Reject",
		"TransferInstruction_Withdraw", "AllocationFactory_Allocate", "Allocation_Withdraw"} {
		all.on(model.DelegateProxyTemplate, "DelegateProxy_"+choice, nonconsuming(delegate,
			func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
				call := arg.Record("proxyArg")
				marked := markActivity(e, call, "featuredAppRightCid")
				return e.Tx.Arena().Record(proxyDoneShape, marked, e.perform(e.fetch(arg.Contract("cid")), choice, *call.At("choiceArg")))
			}))
	}
}

// markActivity marks activity by the right that a field of a call names, for its beneficiaries.
func markActivity(e *Execution, call model.Argument, label string) model.Value {
	right := e.fetchOf(model.FeaturedAppRightTemplate, call.Contract(label))
	return e.perform(right, "FeaturedAppRight_CreateActivityMarker", e.Tx.Arena().Record(sim.MarkShape, *call.At("beneficiaries")))
}
