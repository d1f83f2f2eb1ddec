package model

var (
	walletInstallShape       = NewShape("dsoParty", "validatorParty", "endUserName", "endUserParty")
	validatorRightShape      = NewShape("dso", "user", "validator")
	topUpStateShape          = NewShape("dso", "validator", "memberId", "synchronizerId", "migrationId", "lastPurchasedAt")
	preapprovalProposalShape = NewShape("receiver", "provider", "expectedDso")
	setupProposalShape       = NewShape("validator", "user", "dso", "createdAt", "preapprovalExpiresAt")
	mintingDelegationShape   = NewShape("beneficiary", "delegate", "dso", "expiresAt", "amuletMergeLimit")
	mergeDelegationShape     = NewShape("operator", "owner", "meta")
	delegationProposalShape  = NewShape("delegation")
	batchMergeUtilityShape   = NewShape("operator")
	delegateProxyShape       = NewShape("provider", "delegate")
)

// WalletInstall has a validator run the wallet of a user.
type WalletInstall struct {
	Validator, User Party
	Name            string // of the user
}

func (p WalletInstall) Arguments(a *Arena, _ uint8) Value {
	return a.Record(walletInstallShape, PartyValue(Dso), PartyValue(p.Validator), Text(p.Name), PartyValue(p.User))
}

func (p WalletInstall) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.User, p.Validator), obs
}

// ValidatorRight lets a validator collect the coupons of a user.
type ValidatorRight struct{ User, Validator Party }

func (p ValidatorRight) Arguments(a *Arena, _ uint8) Value {
	return a.Record(validatorRightShape, PartyValue(Dso), PartyValue(p.User), PartyValue(p.Validator))
}

func (p ValidatorRight) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.User, p.Validator), obs
}

// TopUpState remembers when a validator bought traffic last.
type TopUpState struct {
	Validator            Party
	Member, Synchronizer string
	Migration            int64
	PurchasedAt          int64 // µs
}

func (p TopUpState) Arguments(a *Arena, _ uint8) Value {
	return a.Record(topUpStateShape, PartyValue(Dso), PartyValue(p.Validator), Text(p.Member), Text(p.Synchronizer),
		Int64Value(p.Migration), Timestamp(p.PurchasedAt))
}

func (p TopUpState) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Validator), obs
}

// PreapprovalProposal asks a provider for a preapproval of transfers to the receiver.
type PreapprovalProposal struct {
	Receiver, Provider Party
	ExpectsDSO         bool
}

func (p PreapprovalProposal) Arguments(a *Arena, _ uint8) Value {
	return a.Record(preapprovalProposalShape, PartyValue(p.Receiver), PartyValue(p.Provider),
		Optional(a, p.ExpectsDSO, PartyValue(Dso)))
}

func (p PreapprovalProposal) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Receiver), append(obs, p.Provider)
}

// SetupProposal offers an external party a preapproval that its validator has paid for.
type SetupProposal struct {
	Validator, User      Party
	CreatedAt, ExpiresAt int64 // the latter of the preapproval
}

func (p SetupProposal) Arguments(a *Arena, _ uint8) Value {
	return a.Record(setupProposalShape, PartyValue(p.Validator), PartyValue(p.User), PartyValue(Dso),
		Timestamp(p.CreatedAt), Timestamp(p.ExpiresAt))
}

func (p SetupProposal) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Validator, Dso), append(obs, p.User)
}

// MintingDelegation lets a delegate collect the rewards of a beneficiary.
type MintingDelegation struct {
	Beneficiary, Delegate Party
	ExpiresAt             int64
	MergeLimit            int64
}

func (p MintingDelegation) Arguments(a *Arena, _ uint8) Value {
	return a.Record(mintingDelegationShape, PartyValue(p.Beneficiary), PartyValue(p.Delegate), PartyValue(Dso),
		Timestamp(p.ExpiresAt), Int64Value(p.MergeLimit))
}

func (p MintingDelegation) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Beneficiary, p.Delegate), obs
}

// MintingProposal waits for the delegate to take on a delegation.
type MintingProposal struct{ MintingDelegation }

func (p MintingProposal) Arguments(a *Arena, version uint8) Value {
	return a.Record(delegationProposalShape, p.MintingDelegation.Arguments(a, version))
}

func (p MintingProposal) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Beneficiary), append(obs, p.Delegate)
}

// MergeDelegation lets an operator merge the holdings of an owner.
type MergeDelegation struct {
	Operator, Owner Party
	Meta            []string // alternating keys and values, sorted by key
}

func (p MergeDelegation) Arguments(a *Arena, _ uint8) Value {
	return a.Record(mergeDelegationShape, PartyValue(p.Operator), PartyValue(p.Owner), textMetadata(a, p.Meta))
}

func (p MergeDelegation) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Owner, p.Operator), obs
}

// MergeProposal waits for the operator to take on a delegation.
type MergeProposal struct{ MergeDelegation }

func (p MergeProposal) Arguments(a *Arena, version uint8) Value {
	return a.Record(delegationProposalShape, p.MergeDelegation.Arguments(a, version))
}

func (p MergeProposal) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Owner), append(obs, p.Operator)
}

// BatchMergeUtility merges the holdings of many owners at once.
type BatchMergeUtility struct{ Operator Party }

func (p BatchMergeUtility) Arguments(a *Arena, _ uint8) Value {
	return a.Record(batchMergeUtilityShape, PartyValue(p.Operator))
}

func (p BatchMergeUtility) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Operator), obs
}

// DelegateProxy lets a delegate mark what it does with tokens as activity of a featured app.
type DelegateProxy struct{ Provider, Delegate Party }

func (p DelegateProxy) Arguments(a *Arena, _ uint8) Value {
	return a.Record(delegateProxyShape, PartyValue(p.Provider), PartyValue(p.Delegate))
}

func (p DelegateProxy) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Provider), append(obs, p.Delegate)
}
