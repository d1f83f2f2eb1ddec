package devnet

var (
	delegationAcceptedShape = newShape("mintingDelegationCid")
	mintDelegatedShape      = newShape("transferResult")
)

func addDelegationChoices(all *choices) {
	all.creations[mintingProposalTemplate] = func(e *execution, a argument) (payload, error) {
		d := a.record("delegation")
		p := mintingDelegation{beneficiary: d.party("beneficiary"), delegate: d.party("delegate"),
			expiresAt: d.time("expiresAt"), mergeLimit: d.int64("amuletMergeLimit")}
		if p.mergeLimit < 1 {
			return nil, broken("amuletMergeLimit must be positive, not %d", p.mergeLimit)
		}
		if err := e.isDSO(d.party("dso")); err != nil {
			return nil, err
		}
		return mintingProposal{p}, e.later("expiry of the delegation at", p.expiresAt)
	}
	delegate := byPayload(func(p mintingProposal) []party { return []party{p.delegate} })
	all.on(mintingProposalTemplate, "MintingDelegationProposal_Accept", consuming(delegate, acceptDelegation))
	all.on(mintingProposalTemplate, "MintingDelegationProposal_Reject", consuming(delegate, toEmpty))
	all.on(mintingProposalTemplate, "MintingDelegationProposal_Withdraw", consuming(
		byPayload(func(p mintingProposal) []party { return []party{p.beneficiary} }), toEmpty))

	all.on(mintingDelegationTemplate, "MintingDelegation_Mint", nonconsuming(
		byPayload(func(p mintingDelegation) []party { return []party{p.delegate} }), mintDelegated))
	all.on(mintingDelegationTemplate, "MintingDelegation_Reject", consuming(
		byPayload(func(p mintingDelegation) []party { return []party{p.delegate} }), toEmpty))
	all.on(mintingDelegationTemplate, "MintingDelegation_Withdraw", consuming(
		byPayload(func(p mintingDelegation) []party { return []party{p.beneficiary} }), toEmpty))
}

// acceptDelegation takes a delegation on, perhaps in place of an older one.
func acceptDelegation(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(mintingProposal)
	if err := e.later("expiry of the delegation at", p.expiresAt); err != nil {
		return value{}, err
	}
	if existing := arg.given("existingDelegationCid"); existing != nil {
		old, err := e.fetchOf(mintingDelegationTemplate, uint64(existing.num))
		if err != nil {
			return value{}, err
		}
		if d := old.payload.(mintingDelegation); d.beneficiary != p.beneficiary || d.delegate != p.delegate {
			return value{}, broken("the existing delegation is one of other parties")
		}
		e.tx.archive(old)
	}
	next, err := e.add(mintingDelegationTemplate, p.mintingDelegation)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(delegationAcceptedShape, contractID(next.number)), nil
}

// mintDelegated collects rewards of the beneficiary. Coins may be merged only if there are
// so many as the delegation says.
func mintDelegated(e *execution, c *contract, arg argument) (value, error) {
	result, err := mintFor(e, c.payload.(mintingDelegation), arg.list("inputs"), arg.record("context"))
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(mintDelegatedShape, result), nil
}

// mintFor collects inputs for the beneficiary of a delegation and returns the result of the
// transfer.
func mintFor(e *execution, p mintingDelegation, inputs []value, context argument) (value, error) {
	if err := e.later("expiry of the delegation at", p.expiresAt); err != nil {
		return value{}, err
	}
	coinInputs := 0
	for i := range inputs {
		if inputs[i].text == "InputAmulet" {
			coinInputs++
		}
	}
	switch {
	case len(inputs) == 0:
		return value{}, broken("there are no inputs")
	case int64(coinInputs) > p.mergeLimit && !mayMerge(e, p, int64(coinInputs)):
		return value{}, broken("%d coins are merged, but the beneficiary has fewer than %d", coinInputs, 2*p.mergeLimit)
	}
	ctx, err := paymentContextOf(e, context)
	if err != nil {
		return value{}, err
	}
	_, result, err := transferBy(e, order{sender: p.beneficiary, provider: p.beneficiary, inputs: inputs, context: ctx})
	return result, err
}

// mayMerge reports whether the beneficiary of a delegation has twice as many coins as its
// limit, and enough of them are left.
func mayMerge(e *execution, p mintingDelegation, merged int64) bool {
	var have int64
	for _, c := range e.bank.wallets[p.beneficiary].coins {
		if c.active() {
			have++
		}
	}
	return have >= 2*p.mergeLimit && have-merged+1 >= p.mergeLimit
}

var (
	mergeAcceptedShape = newShape("mergeDelegationCid")
	resultUnitShape    = newShape("result")
	mergeDoneShape     = newShape("optMergeTransferResult", "optExtraTransferResult")
	batchMergedShape   = newShape("results", "operatorChangeMap")
)

func addMergeChoices(all *choices) {
	all.creations[mergeProposalTemplate] = func(_ *execution, a argument) (payload, error) {
		d := a.record("delegation")
		return mergeProposal{mergeDelegation{operator: d.party("operator"), owner: d.party("owner"), meta: d.metadata("meta")}}, nil
	}
	all.creations[batchMergeTemplate] = func(_ *execution, a argument) (payload, error) {
		return batchMergeUtility{a.party("operator")}, nil
	}
	toUnitResult := func(e *execution, _ *contract, _ argument) (value, error) {
		return e.tx.arena().record(resultUnitShape, unit()), nil
	}
	operator := byPayload(func(p mergeProposal) []party { return []party{p.operator} })
	all.on(mergeProposalTemplate, "MergeDelegationProposal_Accept", consuming(operator,
		func(e *execution, c *contract, _ argument) (value, error) {
			next, err := e.add(mergeDelegationTemplate, c.payload.(mergeProposal).mergeDelegation)
			if err != nil {
				return value{}, err
			}
			return e.tx.arena().record(mergeAcceptedShape, contractID(next.number)), nil
		}))
	all.on(mergeProposalTemplate, "MergeDelegationProposal_Reject", consuming(operator, toUnitResult))
	all.on(mergeProposalTemplate, "MergeDelegationProposal_Withdraw", consuming(
		byPayload(func(p mergeProposal) []party { return []party{p.owner} }), toUnitResult))

	byOperator := byPayload(func(p mergeDelegation) []party { return []party{p.operator} })
	all.on(mergeDelegationTemplate, "MergeDelegation_Merge", nonconsuming(byOperator, mergeDelegated))
	all.on(mergeDelegationTemplate, "MergeDelegation_Reject", consuming(byOperator, toUnitResult))
	all.on(mergeDelegationTemplate, "MergeDelegation_Withdraw", consuming(
		byPayload(func(p mergeDelegation) []party { return []party{p.owner} }), toUnitResult))
	byUtility := byPayload(func(p batchMergeUtility) []party { return []party{p.operator} })
	for _, choice := range []string{"BatchMergeUtility_BatchMerge", "BatchMergeUtility_MergeHoldings"} {
		all.on(batchMergeTemplate, choice, nonconsuming(byUtility, mergeBatch))
	}
}

// mergeDelegated merges holdings of an owner, and may deliver a transfer from the operator.
func mergeDelegated(e *execution, c *contract, arg argument) (value, error) {
	p, a := c.payload.(mergeDelegation), e.tx.arena()
	merge, extra, mark := arg.given("optMergeTransfer"), arg.given("optExtraTransfer"), arg.given("optFeaturedAppRight")
	if merge == nil && extra == nil {
		return value{}, broken("there is nothing to merge")
	}
	merged, delivered := none(), none()
	if merge != nil {
		result, err := mergeTransfer(e, p, argument{merge})
		if err != nil {
			return value{}, err
		}
		merged = a.some(result)
	}
	if extra != nil {
		call := argument{extra}
		t := call.record("choiceArg").record("transfer")
		if t.party("sender") != p.operator || t.party("receiver") != p.owner {
			return value{}, broken("the extra transfer must go from the operator to the owner")
		}
		result, err := delegated("factoryCid", "choiceArg", "TransferFactory_Transfer")(e, c, call)
		if err != nil {
			return value{}, err
		}
		if len(result.elems) == 0 || result.elems[0].text != "TransferInstructionResult_Completed" {
			return value{}, broken("the extra transfer is not completed at once: the owner has no preapproval")
		}
		delivered = a.some(result)
	}
	if mark != nil {
		call := argument{mark}
		right, err := e.fetchOf(featuredAppRightTemplate, call.contract("appRightCid"))
		if err != nil {
			return value{}, err
		}
		if _, err := e.perform(right, "FeaturedAppRight_CreateActivityMarker", a.record(markShape, *call.at("beneficiaries"))); err != nil {
			return value{}, err
		}
	}
	return a.record(mergeDoneShape, merged, delivered), nil
}

// mergeTransfer executes the transfer of an owner to itself, which must leave it fewer holdings.
func mergeTransfer(e *execution, p mergeDelegation, call argument) (value, error) {
	t := call.record("choiceArg").record("transfer")
	if t.party("sender") != p.owner || t.party("receiver") != p.owner {
		return value{}, broken("a merge must be a transfer of the owner to itself")
	}
	factory, err := e.fetch(call.contract("factoryCid"))
	if err != nil {
		return value{}, err
	}
	result, err := e.perform(factory, "TransferFactory_Transfer", *call.at("choiceArg"))
	if err != nil {
		return value{}, err
	}
	left := 1 + len(argument{&result}.list("senderChangeCids"))
	if inputs := len(t.list("inputHoldingCids")); left >= inputs {
		return value{}, broken("the merge leaves %d holdings of %d", left, inputs)
	}
	return result, nil
}

// maxMerges bounds the delegations of one batch.
const maxMerges = 200

// mergeBatch exercises many delegations. What the operator has left of one transfer is not
// used for the next: the calls name all inputs.
func mergeBatch(e *execution, c *contract, arg argument) (value, error) {
	calls := arg.list("mergeCalls")
	if len(calls) == 0 || len(calls) > maxMerges {
		return value{}, broken("a batch has 1 to %d merges, not %d", maxMerges, len(calls))
	}
	operator, a := c.payload.(batchMergeUtility).operator, e.tx.arena()
	results := make([]value, len(calls))
	var changes []value
	for i := range calls {
		call := argument{&calls[i]}
		d, err := e.fetchOf(mergeDelegationTemplate, call.contract("delegationCid"))
		if err != nil {
			return value{}, err
		}
		if d.payload.(mergeDelegation).operator != operator {
			return value{}, broken("delegation %d is one of another operator", i)
		}
		if results[i], err = e.perform(d, "MergeDelegation_Merge", *call.at("choiceArg")); err != nil {
			return value{}, err
		}
		if extra := (argument{&results[i]}).given("optExtraTransferResult"); extra != nil {
			changes = append(changes, (argument{extra}).list("senderChangeCids")...)
		}
	}
	change := a.genMap()
	if len(changes) > 0 {
		change = a.genMap(a.record(instrumentIDShape, partyValue(dso), text(instrumentAmuletInPayload)), a.list(changes...))
	}
	return a.record(batchMergedShape, a.list(results...), change), nil
}
