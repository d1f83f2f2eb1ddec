package devnet

var (
	walletInstallShape       = newShape("dsoParty", "validatorParty", "endUserName", "endUserParty")
	validatorRightShape      = newShape("dso", "user", "validator")
	topUpStateShape          = newShape("dso", "validator", "memberId", "synchronizerId", "migrationId", "lastPurchasedAt")
	preapprovalProposalShape = newShape("receiver", "provider", "expectedDso")
	setupProposalShape       = newShape("validator", "user", "dso", "createdAt", "preapprovalExpiresAt")
	mintingDelegationShape   = newShape("beneficiary", "delegate", "dso", "expiresAt", "amuletMergeLimit")
	mergeDelegationShape     = newShape("operator", "owner", "meta")
	delegationProposalShape  = newShape("delegation")
	batchMergeUtilityShape   = newShape("operator")
)

// walletInstall has a validator run the wallet of a user.
type walletInstall struct {
	validator, user party
	name            string // of the user
}

func (p walletInstall) arguments(a *arena, _ uint8) value {
	return a.record(walletInstallShape, partyValue(dso), partyValue(p.validator), text(p.name), partyValue(p.user))
}

func (p walletInstall) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.user, p.validator), obs
}

// validatorRight lets a validator collect the coupons of a user.
type validatorRight struct{ user, validator party }

func (p validatorRight) arguments(a *arena, _ uint8) value {
	return a.record(validatorRightShape, partyValue(dso), partyValue(p.user), partyValue(p.validator))
}

func (p validatorRight) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.user, p.validator), obs
}

// topUpState remembers when a validator bought traffic last.
type topUpState struct {
	validator            party
	member, synchronizer string
	migration            int64
	purchasedAt          int64 // µs
}

func (p topUpState) arguments(a *arena, _ uint8) value {
	return a.record(topUpStateShape, partyValue(dso), partyValue(p.validator), text(p.member), text(p.synchronizer),
		int64Value(p.migration), timestamp(p.purchasedAt))
}

func (p topUpState) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.validator), obs
}

// preapprovalProposal asks a provider for a preapproval of transfers to the receiver.
type preapprovalProposal struct {
	receiver, provider party
	expectsDSO         bool
}

func (p preapprovalProposal) arguments(a *arena, _ uint8) value {
	return a.record(preapprovalProposalShape, partyValue(p.receiver), partyValue(p.provider),
		optional(a, p.expectsDSO, partyValue(dso)))
}

func (p preapprovalProposal) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.receiver), append(obs, p.provider)
}

// setupProposal offers an external party a preapproval that its validator has paid for.
type setupProposal struct {
	validator, user      party
	createdAt, expiresAt int64 // the latter of the preapproval
}

func (p setupProposal) arguments(a *arena, _ uint8) value {
	return a.record(setupProposalShape, partyValue(p.validator), partyValue(p.user), partyValue(dso),
		timestamp(p.createdAt), timestamp(p.expiresAt))
}

func (p setupProposal) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.validator, dso), append(obs, p.user)
}

// mintingDelegation lets a delegate collect the rewards of a beneficiary.
type mintingDelegation struct {
	beneficiary, delegate party
	expiresAt             int64
	mergeLimit            int64
}

func (p mintingDelegation) arguments(a *arena, _ uint8) value {
	return a.record(mintingDelegationShape, partyValue(p.beneficiary), partyValue(p.delegate), partyValue(dso),
		timestamp(p.expiresAt), int64Value(p.mergeLimit))
}

func (p mintingDelegation) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.beneficiary, p.delegate), obs
}

// mintingProposal waits for the delegate to take on a delegation.
type mintingProposal struct{ mintingDelegation }

func (p mintingProposal) arguments(a *arena, version uint8) value {
	return a.record(delegationProposalShape, p.mintingDelegation.arguments(a, version))
}

func (p mintingProposal) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.beneficiary), append(obs, p.delegate)
}

// mergeDelegation lets an operator merge the holdings of an owner.
type mergeDelegation struct {
	operator, owner party
	meta            []string // alternating keys and values, sorted by key
}

func (p mergeDelegation) arguments(a *arena, _ uint8) value {
	return a.record(mergeDelegationShape, partyValue(p.operator), partyValue(p.owner), textMetadata(a, p.meta))
}

func (p mergeDelegation) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.owner, p.operator), obs
}

// mergeProposal waits for the operator to take on a delegation.
type mergeProposal struct{ mergeDelegation }

func (p mergeProposal) arguments(a *arena, version uint8) value {
	return a.record(delegationProposalShape, p.mergeDelegation.arguments(a, version))
}

func (p mergeProposal) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.owner), append(obs, p.operator)
}

// batchMergeUtility merges the holdings of many owners at once.
type batchMergeUtility struct{ operator party }

func (p batchMergeUtility) arguments(a *arena, _ uint8) value {
	return a.record(batchMergeUtilityShape, partyValue(p.operator))
}

func (p batchMergeUtility) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.operator), obs
}
