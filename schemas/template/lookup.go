package template

// LookupFields returns the payload fields by which contracts of a template are looked up where
// template and stakeholder would leave many; none for most templates. A path has dots between
// its members. The lookup key is their texts joined by a space.
func LookupFields(name string) []string { return lookupFields[name] }

// PublicLookupFields is LookupFields for public history, which has lookup keys of a few
// templates only: a provider is a stakeholder of all preapprovals it made.
func PublicLookupFields(name string) []string {
	switch name {
	case NameEntry, MemberTraffic, TransferPreapproval, TransferCommand:
		return lookupFields[name]
	}
	return nil
}

var lookupFields = map[string][]string{
	ValidatorRight:              {"user"},
	FeaturedAppRight:            {"provider"},
	ValidatorRewardCoupon:       {"user"},
	TransferPreapproval:         {"receiver"},
	ExternalPartySetupProposal:  {"user"},
	TransferCommand:             {"sender", "nonce"},
	TransferCommandCounter:      {"sender"},
	MemberTraffic:               {"memberId"},
	ValidatorLicense:            {"validator"},
	WalletAppInstall:            {"endUserName"},
	TransferOffer:               {"trackingId"},
	AcceptedTransferOffer:       {"trackingId"},
	BuyTrafficRequest:           {"trackingId"},
	ValidatorTopUpState:         {"memberId"},
	TransferPreapprovalProposal: {"receiver"},
	MintingDelegation:           {"beneficiary"},
	MintingDelegationProposal:   {"delegation.beneficiary"},
	NameEntry:                   {"name"},
	NameEntryContext:            {"name"},
	MergeDelegation:             {"owner"},
	MergeDelegationProposal:     {"delegation.owner"},
}
