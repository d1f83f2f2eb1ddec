package devnet

import "strings"

// pkg is a package of contract code. Its id differs from version to version,
// unless the package was never upgraded.
type pkg struct {
	name       string
	oneVersion bool
}

// versions is the number of versions of each package: version 0 is in use in
// migration 0, version 1 afterwards. The newer one knows more trailing optional
// fields and has no transfer fees.
const versions = 2

// template is a contract template. number is its index in templates.
type template struct {
	number int
	pkg    *pkg
	name   string // Module:Entity
	// private says that the governance party is no stakeholder: public history has no
	// contract of it.
	private bool
}

// templates lists the templates of all packages, each under its number.
var templates []*template

func newTemplate(p *pkg, name string) *template {
	t := &template{number: len(templates), pkg: p, name: name}
	templates = append(templates, t)
	return t
}

func newPrivateTemplate(p *pkg, name string) *template {
	t := newTemplate(p, name)
	t.private = true
	return t
}

var (
	amuletPackage     = &pkg{name: "splice-amulet"}
	ansPackage        = &pkg{name: "splice-amulet-name-service"}
	paymentsPackage   = &pkg{name: "splice-wallet-payments", oneVersion: true}
	walletPackage     = &pkg{name: "splice-wallet", oneVersion: true}
	governancePackage = &pkg{name: "splice-dso-governance"}
	harborPackage     = &pkg{name: "harbor-logistics", oneVersion: true}
	mergePackage      = &pkg{name: "splice-util-token-standard-wallet", oneVersion: true}

	amuletTemplate              = newTemplate(amuletPackage, "Splice.Amulet:Amulet")
	lockedAmuletTemplate        = newTemplate(amuletPackage, "Splice.Amulet:LockedAmulet")
	featuredAppRightTemplate    = newTemplate(amuletPackage, "Splice.Amulet:FeaturedAppRight")
	activityMarkerTemplate      = newTemplate(amuletPackage, "Splice.Amulet:FeaturedAppActivityMarker")
	appRewardTemplate           = newTemplate(amuletPackage, "Splice.Amulet:AppRewardCoupon")
	validatorRewardTemplate     = newTemplate(amuletPackage, "Splice.Amulet:ValidatorRewardCoupon")
	svRewardTemplate            = newTemplate(amuletPackage, "Splice.Amulet:SvRewardCoupon")
	unclaimedRewardTemplate     = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedReward")
	activityRecordTemplate      = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedActivityRecord")
	unclaimedFundTemplate       = newTemplate(amuletPackage, "Splice.Amulet:UnclaimedDevelopmentFundCoupon")
	fundCouponTemplate          = newTemplate(amuletPackage, "Splice.Amulet:DevelopmentFundCoupon")
	openRoundTemplate           = newTemplate(amuletPackage, "Splice.Round:OpenMiningRound")
	summarizingRoundTemplate    = newTemplate(amuletPackage, "Splice.Round:SummarizingMiningRound")
	issuingRoundTemplate        = newTemplate(amuletPackage, "Splice.Round:IssuingMiningRound")
	closedRoundTemplate         = newTemplate(amuletPackage, "Splice.Round:ClosedMiningRound")
	amuletRulesTemplate         = newTemplate(amuletPackage, "Splice.AmuletRules:AmuletRules")
	preapprovalTemplate         = newTemplate(amuletPackage, "Splice.AmuletRules:TransferPreapproval")
	externalRulesTemplate       = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules")
	transferCommandTemplate     = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:TransferCommand")
	commandCounterTemplate      = newTemplate(amuletPackage, "Splice.ExternalPartyAmuletRules:TransferCommandCounter")
	configStateTemplate         = newTemplate(amuletPackage, "Splice.ExternalPartyConfigState:ExternalPartyConfigState")
	transferInstructionTemplate = newTemplate(amuletPackage, "Splice.AmuletTransferInstruction:AmuletTransferInstruction")
	memberTrafficTemplate       = newTemplate(amuletPackage, "Splice.DecentralizedSynchronizer:MemberTraffic")
	licenseTemplate             = newTemplate(amuletPackage, "Splice.ValidatorLicense:ValidatorLicense")
	livenessTemplate            = newTemplate(amuletPackage, "Splice.ValidatorLicense:ValidatorLivenessActivityRecord")

	ansRulesTemplate        = newTemplate(ansPackage, "Splice.Ans:AnsRules")
	ansEntryTemplate        = newTemplate(ansPackage, "Splice.Ans:AnsEntry")
	ansEntryContextTemplate = newTemplate(ansPackage, "Splice.Ans:AnsEntryContext")

	subscriptionRequestTemplate = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionRequest")
	subscriptionIdleTemplate    = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionIdleState")
	initialPaymentTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionInitialPayment")
	renewalPaymentTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:SubscriptionPayment")
	terminatedTemplate          = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:TerminatedSubscription")

	dsoBootstrapTemplate = newTemplate(governancePackage, "Splice.DsoBootstrap:DsoBootstrap")
	dsoRulesTemplate     = newTemplate(governancePackage, "Splice.DsoRules:DsoRules")
	svNodeStateTemplate  = newTemplate(governancePackage, "Splice.DSO.SvState:SvNodeState")
	rewardStateTemplate  = newTemplate(governancePackage, "Splice.DSO.SvState:SvRewardState")
	unallocatedTemplate  = newTemplate(governancePackage, "Splice.DsoRules:UnallocatedUnclaimedActivityRecord")

	shipmentTemplate = newTemplate(harborPackage, "Harbor.Trade.Shipment:Shipment")
	laneTemplate     = newTemplate(harborPackage, "Harbor.Trade.Lane:Lane")

	transferOfferTemplate  = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferOffer:TransferOffer")
	acceptedOfferTemplate  = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferOffer:AcceptedTransferOffer")
	trafficRequestTemplate = newPrivateTemplate(walletPackage, "Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest")
	quoteTemplate          = newPrivateTemplate(harborPackage, "Harbor.Trade.Quote:Quote")
	noticeTemplate         = newPrivateTemplate(harborPackage, "Harbor.Trade.Notice:Notice")

	// Those that only commands bring about.
	setupProposalTemplate       = newTemplate(amuletPackage, "Splice.AmuletRules:ExternalPartySetupProposal")
	validatorRightTemplate      = newPrivateTemplate(amuletPackage, "Splice.Amulet:ValidatorRight")
	walletInstallTemplate       = newPrivateTemplate(walletPackage, "Splice.Wallet.Install:WalletAppInstall")
	topUpStateTemplate          = newPrivateTemplate(walletPackage, "Splice.Wallet.TopUpState:ValidatorTopUpState")
	preapprovalProposalTemplate = newPrivateTemplate(walletPackage, "Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal")
	mintingDelegationTemplate   = newPrivateTemplate(walletPackage, "Splice.Wallet.MintingDelegation:MintingDelegation")
	mintingProposalTemplate     = newPrivateTemplate(walletPackage, "Splice.Wallet.MintingDelegation:MintingDelegationProposal")
	mergeDelegationTemplate     = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:MergeDelegation")
	mergeProposalTemplate       = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:MergeDelegationProposal")
	batchMergeTemplate          = newPrivateTemplate(mergePackage, "Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility")

	subscriptionTemplate      = newTemplate(paymentsPackage, "Splice.Wallet.Subscriptions:Subscription")
	paymentRequestTemplate    = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:AppPaymentRequest")
	acceptedPaymentTemplate   = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:AcceptedAppPayment")
	terminatedPaymentTemplate = newPrivateTemplate(paymentsPackage, "Splice.Wallet.Payment:TerminatedAppPayment")
	allocationTemplate        = newTemplate(amuletPackage, "Splice.AmuletAllocation:AmuletAllocation")
	rewardCouponTemplate      = newTemplate(amuletPackage, "Splice.Amulet:RewardCouponV2")
	calculateRewardsTemplate  = newTemplate(amuletPackage, "Splice.Amulet.RewardAccountingV2:CalculateRewardsV2")
	processRewardsTemplate    = newTemplate(amuletPackage, "Splice.Amulet.RewardAccountingV2:ProcessRewardsV2")
)

// contract is a contract of the ledger. All members but the last three are fixed
// at creation and may be read while the ledger goes on.
type contract struct {
	number    uint64
	template  *template
	version   uint8
	createdAt int64 // µs
	payload   payload
	entry     uint32 // of the history, that created it
	node      int32  // of that entry's tree
	migration uint8  // that it was created in

	private bool // public history has no contract of it, see template.private

	slot         int32 // index in the active set, or archived
	synchronizer uint8
	counter      int32 // number of unassignments so far
}

// archived is the slot of a contract that is not active.
const archived = -1

func (c *contract) active() bool { return c.slot != archived }

// payload is the typed content of a contract. Payloads are immutable.
type payload interface {
	// arguments returns the create arguments as the package version in question
	// defines them.
	arguments(a *arena, version uint8) value
	// stakeholders appends the signatories and the observers, in any order.
	stakeholders(signatories, observers []party) (sig, obs []party)
}

// entity is the last part of the template's name.
func (t *template) entity() string { return t.name[strings.LastIndexByte(t.name, ':')+1:] }

// isActive is active for a contract that there may not be.
func (c *contract) isActive() bool { return c != nil && c.active() }

// coinOf returns the coin in an Amulet or a LockedAmulet.
func coinOf(c *contract) amulet {
	if p, ok := c.payload.(lockedAmulet); ok {
		return p.amulet
	}
	return c.payload.(amulet)
}

// subscriptionOf is what the contracts of a subscription repeat.
func subscriptionOf(c *contract) subscription {
	switch p := c.payload.(type) {
	case subscriptionIdle:
		return p.subscription
	case subscriptionPayment:
		return p.subscription
	case terminatedSubscription:
		return p.subscription
	case agreement:
		return p.subscription
	}
	return c.payload.(subscriptionRequest).subscription
}

// referenceOf is the number of the request by which a subscription is referred to.
func referenceOf(c *contract) uint64 {
	switch p := c.payload.(type) {
	case subscriptionIdle:
		return p.reference
	case subscriptionPayment:
		return p.reference
	case terminatedSubscription:
		return p.reference
	case ansEntryContext:
		return p.reference
	case agreement:
		return p.reference
	}
	return c.number
}

// numberOf is the number of a contract, 0 if there is none.
func numberOf(c *contract) uint64 {
	if c == nil {
		return 0
	}
	return c.number
}
