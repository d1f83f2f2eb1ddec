package model

import "strings"

// pkg is a package of contract code. Its id differs from version to version,
// unless the package was never upgraded.
type pkg struct {
	Name       string
	OneVersion bool
}

// Versions is the number of versions of each package: version 0 is in use in
// migration 0, version 1 afterwards. The newer one knows more trailing optional
// fields and has no transfer fees.
const Versions = 2

// Template is a contract template. number is its index in templates.
type Template struct {
	Number int
	Pkg    *pkg
	Name   string // Module:Entity
	// private says that the governance party is no stakeholder: public history has no
	// contract of it.
	Private bool
}

// Templates lists the templates of all packages, each under its number.
var Templates []*Template

func newTemplate(p *pkg, name string) *Template {
	t := &Template{Number: len(Templates), Pkg: p, Name: name}
	Templates = append(Templates, t)
	return t
}

func newPrivateTemplate(p *pkg, name string) *Template {
	t := newTemplate(p, name)
	t.Private = true
	return t
}

var (
	amuletPackage     = &pkg{Name: "splice-amulet"}
	ansPackage        = &pkg{Name: "splice-amulet-name-service"}
	paymentsPackage   = &pkg{Name: "splice-wallet-payments", OneVersion: true}
	walletPackage     = &pkg{Name: "splice-wallet", OneVersion: true}
	governancePackage = &pkg{Name: "splice-dso-governance"}
	HarborPackage     = &pkg{Name: "harbor-logistics", OneVersion: true}
	pingPackage       = &pkg{Name: "canton-builtin-admin-workflow-ping", OneVersion: true}
	proxyPackage      = &pkg{Name: "splice-util-featured-app-proxies", OneVersion: true}
	ExchangePackage   = &pkg{Name: "harbor-exchange", OneVersion: true}
	mergePackage      = &pkg{Name: "splice-util-token-standard-wallet", OneVersion: true}

	AmuletTemplate              = newTemplate(amuletPackage, "Splice.Amulet:Amulet")
	LockedAmuletTemplate        = newTemplate(amuletPackage, "Splice.Amulet:LockedAmulet")
	FeaturedAppRightTemplate    = newTemplate(amuletPackage, "Splice.Amulet:FeaturedAppRight")
	ActivityMarkerTemplate      = newTemplate(amuletPackage, "Splice.Amulet:FeaturedAppActivityMarker")
	AppRewardTemplate           = newTemplate(amuletPackage, "Splice.Amulet:AppRewardCoupon")
	ValidatorRewardTemplate     = newTemplate(amuletPackage, "Splice.Amulet:ValidatorRewardCoupon")
	SvRewardTemplate            = newTemplate(amuletPackage, "Splice.Amulet:SvRewardCoupon")
	UnclaimedRewardTemplate     = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedReward")
	ActivityRecordTemplate      = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedActivityRecord")
	UnclaimedFundTemplate       = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedDevelopmentFundCoupon")
	FundCouponTemplate          = newTemplate(amuletPackage, "Splice.Amulet:DevelopmentFundCoupon")
	OpenRoundTemplate           = newTemplate(amuletPackage, "Splice.Round:OpenMiningRound")
	SummarizingRoundTemplate    = newTemplate(amuletPackage, "Splice.Round:SummarizingMiningRound")
	IssuingRoundTemplate        = newTemplate(amuletPackage, "Splice.Round:IssuingMiningRound")
	ClosedRoundTemplate         = newTemplate(amuletPackage, "Splice.Round:ClosedMiningRound")
	AmuletRulesTemplate         = newTemplate(amuletPackage, "Splice.AmuletRules:AmuletRules")
	PreapprovalTemplate         = newTemplate(amuletPackage, "Splice.AmuletRules:TransferPreapproval")
	ExternalRulesTemplate       = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules")
	TransferCommandTemplate     = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:TransferCommand")
	CommandCounterTemplate      = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:TransferCommandCounter")
	ConfigStateTemplate         = newTemplate(amuletPackage, "Splice.ExternalPartyConfigState:ExternalPartyConfigState")
	TransferInstructionTemplate = newTemplate(amuletPackage, "Splice.AmuletTransferInstruction:AmuletTransferInstruction")
	MemberTrafficTemplate       = newTemplate(amuletPackage, "Splice.DecentralizedSynchronizer:MemberTraffic")
	LicenseTemplate             = newTemplate(amuletPackage, "Splice.ValidatorLicense:ValidatorLicense")
	LivenessTemplate            = newTemplate(amuletPackage, "Splice.ValidatorLicense:ValidatorLivenessActivityRecord")

	AnsRulesTemplate        = newTemplate(ansPackage, "Splice.Ans:AnsRules")
	AnsEntryTemplate        = newTemplate(ansPackage, "Splice.Ans:AnsEntry")
	AnsEntryContextTemplate = newTemplate(ansPackage, "Splice.Ans:AnsEntryContext")

	SubscriptionRequestTemplate = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionRequest")
	SubscriptionIdleTemplate    = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionIdleState")
	InitialPaymentTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionInitialPayment")
	RenewalPaymentTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionPayment")
	TerminatedTemplate          = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:TerminatedSubscription")

	DsoBootstrapTemplate = newTemplate(governancePackage, "Splice.DsoBootstrap:DsoBootstrap")
	DsoRulesTemplate     = newTemplate(governancePackage, "Splice.DsoRules:DsoRules")
	SvNodeStateTemplate  = newTemplate(governancePackage, "Splice.DSO.SvState:SvNodeState")
	RewardStateTemplate  = newTemplate(governancePackage, "Splice.DSO.SvState:SvRewardState")
	UnallocatedTemplate  = newTemplate(governancePackage, "Splice.DsoRules:UnallocatedUnclaimedActivityRecord")

	ShipmentTemplate = newTemplate(HarborPackage, "Harbor.Trade.Shipment:Shipment")
	LaneTemplate     = newTemplate(HarborPackage, "Harbor.Trade.Lane:Lane")

	TransferOfferTemplate  = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferOffer:TransferOffer")
	AcceptedOfferTemplate  = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferOffer:AcceptedTransferOffer")
	TrafficRequestTemplate = newPrivateTemplate(walletPackage, "Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest")
	QuoteTemplate          = newPrivateTemplate(HarborPackage, "Harbor.Trade.Quote:Quote")
	NoticeTemplate         = newPrivateTemplate(HarborPackage, "Harbor.Trade.Notice:Notice")

	// Those that only commands bring about.
	SetupProposalTemplate       = newTemplate(amuletPackage, "Splice.AmuletRules:ExternalPartySetupProposal")
	ValidatorRightTemplate      = newPrivateTemplate(amuletPackage, "Splice.Amulet:ValidatorRight")
	WalletInstallTemplate       = newPrivateTemplate(walletPackage, "Splice.Wallet.Install:WalletAppInstall")
	TopUpStateTemplate          = newPrivateTemplate(walletPackage, "Splice.Wallet.TopUpState:ValidatorTopUpState")
	PreapprovalProposalTemplate = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal")
	MintingDelegationTemplate   = newPrivateTemplate(walletPackage, "Splice.Wallet.MintingDelegation:MintingDelegation")
	MintingProposalTemplate     = newPrivateTemplate(walletPackage, "Splice.Wallet.MintingDelegation:MintingDelegationProposal")
	MergeDelegationTemplate     = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:MergeDelegation")
	MergeProposalTemplate       = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:MergeDelegationProposal")
	BatchMergeTemplate          = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility")

	SubscriptionTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:Subscription")
	PaymentRequestTemplate    = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:AppPaymentRequest")
	AcceptedPaymentTemplate   = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:AcceptedAppPayment")
	TerminatedPaymentTemplate = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:TerminatedAppPayment")
	AllocationTemplate        = newTemplate(amuletPackage, "Splice.AmuletAllocation:AmuletAllocation")
	RewardCouponTemplate      = newTemplate(amuletPackage, "Splice.Amulet:RewardCouponV2")
	CalculateRewardsTemplate  = newTemplate(amuletPackage, "Splice.Amulet.RewardAccountingV2:CalculateRewardsV2")
	ProcessRewardsTemplate    = newTemplate(amuletPackage, "Splice.Amulet.RewardAccountingV2:ProcessRewardsV2")
	AllocationV2Template      = newTemplate(amuletPackage, "Splice.AmuletAllocationV2:AmuletAllocationV2")

	PriceVoteTemplate   = newTemplate(governancePackage, "Splice.DSO.AmuletPrice:AmuletPriceVote")
	VoteRequestTemplate = newTemplate(governancePackage, "Splice.DsoRules:VoteRequest")

	PingTemplate = newPrivateTemplate(pingPackage, "Canton.Internal.Ping:Ping")

	DelegateProxyTemplate = newPrivateTemplate(proxyPackage, "Splice.Util.FeaturedApp.DelegateProxy:DelegateProxy")

	DealTemplate = newPrivateTemplate(ExchangePackage, "Harbor.Exchange.Deal:Deal")
)

// Contract is a contract of the ledger. All members but the last three are fixed
// at creation and may be read while the ledger goes on.
type Contract struct {
	Number    uint64
	Template  *Template
	Version   uint8
	CreatedAt int64 // µs
	Payload   Payload
	Entry     uint32 // of the history, that created it
	Node      int32  // of that entry's tree
	Migration uint8  // that it was created in

	Private bool // public history has no contract of it, see template.private

	Slot         int32 // index in the active set, or archived
	Synchronizer uint8
	Counter      int32 // number of unassignments so far
}

// Archived is the slot of a contract that is not active.
const Archived = -1

// Active reports whether the contract was not archived.
func (c *Contract) Active() bool { return c.Slot != Archived }

// Payload is the typed content of a contract. Payloads are immutable.
type Payload interface {
	// arguments returns the create arguments as the package version in question
	// defines them.
	Arguments(a *Arena, version uint8) Value
	// stakeholders appends the signatories and the observers, in any order.
	Stakeholders(signatories, observers []Party) (sig, obs []Party)
}

// Entity is the last part of the template's name.
func (t *Template) Entity() string { return t.Name[strings.LastIndexByte(t.Name, ':')+1:] }

// IsActive is active for a contract that there may not be.
func (c *Contract) IsActive() bool { return c != nil && c.Active() }

// CoinOf returns the coin in an Amulet or a LockedAmulet.
func CoinOf(c *Contract) Amulet {
	if p, ok := c.Payload.(LockedAmulet); ok {
		return p.Amulet
	}
	return c.Payload.(Amulet)
}

// SubscriptionOf is what the contracts of a subscription repeat.
func SubscriptionOf(c *Contract) Subscription {
	switch p := c.Payload.(type) {
	case SubscriptionIdle:
		return p.Subscription
	case SubscriptionPayment:
		return p.Subscription
	case TerminatedSubscription:
		return p.Subscription
	case Agreement:
		return p.Subscription
	}
	return c.Payload.(SubscriptionRequest).Subscription
}

// ReferenceOf is the number of the request by which a subscription is referred to.
func ReferenceOf(c *Contract) uint64 {
	switch p := c.Payload.(type) {
	case SubscriptionIdle:
		return p.Reference
	case SubscriptionPayment:
		return p.Reference
	case TerminatedSubscription:
		return p.Reference
	case AnsEntryContext:
		return p.Reference
	case Agreement:
		return p.Reference
	}
	return c.Number
}

// NumberOf is the number of a contract, 0 if there is none.
func NumberOf(c *Contract) uint64 {
	if c == nil {
		return 0
	}
	return c.Number
}
