// Package template spells the network's templates, interfaces and packages, and the choices that
// more than one part of the product knows. No other product code spells them: a test reads it.
//
// A constant has the name of the entity, with Coin for Amulet and Name for Ans. Names are in the
// network's spelling whatever the version of the package: PACKAGE_NAME:Module.Name:Entity.
// Commands put a # before it. Package values has the vendor-neutral spelling.
package template

import "strings"

// Packages by name.
const (
	CoinPackage    = "splice-amulet"
	WalletPackage  = "splice-wallet"
	PaymentPackage = "splice-wallet-payments"
	NamePackage    = "splice-amulet-name-service"
)

// CoinInstrument names the coin among the instruments of the governance party, in the token standard.
const CoinInstrument = "Amulet"

// Of package splice-amulet.
const (
	Coin                           = CoinPackage + ":Splice.Amulet:Amulet"
	LockedCoin                     = CoinPackage + ":Splice.Amulet:LockedAmulet"
	ValidatorRight                 = CoinPackage + ":Splice.Amulet:ValidatorRight"
	FeaturedAppRight               = CoinPackage + ":Splice.Amulet:FeaturedAppRight"
	FeaturedAppActivityMarker      = CoinPackage + ":Splice.Amulet:FeaturedAppActivityMarker"
	AppRewardCoupon                = CoinPackage + ":Splice.Amulet:AppRewardCoupon"
	RewardCouponV2                 = CoinPackage + ":Splice.Amulet:RewardCouponV2"
	ValidatorRewardCoupon          = CoinPackage + ":Splice.Amulet:ValidatorRewardCoupon"
	SvRewardCoupon                 = CoinPackage + ":Splice.Amulet:SvRewardCoupon"
	UnclaimedActivityRecord        = CoinPackage + ":Splice.Amulet:UnclaimedActivityRecord"
	DevelopmentFundCoupon          = CoinPackage + ":Splice.Amulet:DevelopmentFundCoupon"
	UnclaimedDevelopmentFundCoupon = CoinPackage + ":Splice.Amulet:UnclaimedDevelopmentFundCoupon"

	ProcessRewardsV2 = CoinPackage + ":Splice.Amulet.RewardAccountingV2:ProcessRewardsV2"

	OpenMiningRound    = CoinPackage + ":Splice.Round:OpenMiningRound"
	IssuingMiningRound = CoinPackage + ":Splice.Round:IssuingMiningRound"
	// SummarizingMiningRound is a round between open and issuing: what it issues is being added up.
	SummarizingMiningRound = CoinPackage + ":Splice.Round:SummarizingMiningRound"
	ClosedMiningRound      = CoinPackage + ":Splice.Round:ClosedMiningRound"

	CoinRules                  = CoinPackage + ":Splice.AmuletRules:AmuletRules"
	TransferPreapproval        = CoinPackage + ":Splice.AmuletRules:TransferPreapproval"
	ExternalPartySetupProposal = CoinPackage + ":Splice.AmuletRules:ExternalPartySetupProposal"

	ExternalPartyCoinRules   = CoinPackage + ":Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	TransferCommand          = CoinPackage + ":Splice.ExternalPartyAmuletRules:TransferCommand"
	TransferCommandCounter   = CoinPackage + ":Splice.ExternalPartyAmuletRules:TransferCommandCounter"
	ExternalPartyConfigState = CoinPackage + ":Splice.ExternalPartyConfigState:ExternalPartyConfigState"

	CoinTransferInstruction = CoinPackage + ":Splice.AmuletTransferInstruction:AmuletTransferInstruction"
	CoinAllocation          = CoinPackage + ":Splice.AmuletAllocation:AmuletAllocation"
	CoinAllocationV2        = CoinPackage + ":Splice.AmuletAllocationV2:AmuletAllocationV2"
	CoinEventLog            = CoinPackage + ":Splice.AmuletEventLog:AmuletEventLog"

	MemberTraffic                   = CoinPackage + ":Splice.DecentralizedSynchronizer:MemberTraffic"
	ValidatorLicense                = CoinPackage + ":Splice.ValidatorLicense:ValidatorLicense"
	ValidatorFaucetCoupon           = CoinPackage + ":Splice.ValidatorLicense:ValidatorFaucetCoupon"
	ValidatorLivenessActivityRecord = CoinPackage + ":Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
)

// Of package splice-wallet.
const (
	WalletAppInstall            = WalletPackage + ":Splice.Wallet.Install:WalletAppInstall"
	TransferOffer               = WalletPackage + ":Splice.Wallet.TransferOffer:TransferOffer"
	AcceptedTransferOffer       = WalletPackage + ":Splice.Wallet.TransferOffer:AcceptedTransferOffer"
	BuyTrafficRequest           = WalletPackage + ":Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest"
	ValidatorTopUpState         = WalletPackage + ":Splice.Wallet.TopUpState:ValidatorTopUpState"
	TransferPreapprovalProposal = WalletPackage + ":Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal"
	MintingDelegation           = WalletPackage + ":Splice.Wallet.MintingDelegation:MintingDelegation"
	MintingDelegationProposal   = WalletPackage + ":Splice.Wallet.MintingDelegation:MintingDelegationProposal"
)

// Of package splice-wallet-payments.
const (
	AppPaymentRequest          = PaymentPackage + ":Splice.Wallet.Payment:AppPaymentRequest"
	AcceptedAppPayment         = PaymentPackage + ":Splice.Wallet.Payment:AcceptedAppPayment"
	Subscription               = PaymentPackage + ":Splice.Wallet.Subscriptions:Subscription"
	SubscriptionRequest        = PaymentPackage + ":Splice.Wallet.Subscriptions:SubscriptionRequest"
	SubscriptionIdleState      = PaymentPackage + ":Splice.Wallet.Subscriptions:SubscriptionIdleState"
	SubscriptionInitialPayment = PaymentPackage + ":Splice.Wallet.Subscriptions:SubscriptionInitialPayment"
	SubscriptionPayment        = PaymentPackage + ":Splice.Wallet.Subscriptions:SubscriptionPayment"
)

// Of package splice-amulet-name-service.
const (
	NameRules        = NamePackage + ":Splice.Ans:AnsRules"
	NameEntry        = NamePackage + ":Splice.Ans:AnsEntry"
	NameEntryContext = NamePackage + ":Splice.Ans:AnsEntryContext"
)

// Of other packages.
const (
	DsoBootstrap  = "splice-dso-governance:Splice.DsoBootstrap:DsoBootstrap"
	DsoRules      = "splice-dso-governance:Splice.DsoRules:DsoRules"
	VoteRequest   = "splice-dso-governance:Splice.DsoRules:VoteRequest"
	CoinPriceVote = "splice-dso-governance:Splice.DSO.AmuletPrice:AmuletPriceVote"
	SvNodeState   = "splice-dso-governance:Splice.DSO.SvState:SvNodeState"

	mergePackage            = "splice-util-token-standard-wallet"
	MergeDelegation         = mergePackage + ":Splice.Util.Token.Wallet.MergeDelegation:MergeDelegation"
	MergeDelegationProposal = mergePackage + ":Splice.Util.Token.Wallet.MergeDelegation:MergeDelegationProposal"
	BatchMergeUtility       = mergePackage + ":Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility"

	// TokenModules begins the modules of all interfaces of the token standard.
	TokenModules = "Splice.Api.Token."

	// AllocationFactory, Allocation and AllocationRequest are interfaces of the token standard, in
	// both of its versions.
	AllocationFactory   = "splice-api-token-allocation-instruction-v1:Splice.Api.Token.AllocationInstructionV1:AllocationFactory"
	AllocationFactoryV2 = "splice-api-token-allocation-instruction-v2:Splice.Api.Token.AllocationInstructionV2:AllocationFactory"
	Allocation          = "splice-api-token-allocation-v1:Splice.Api.Token.AllocationV1:Allocation"
	AllocationRequest   = "splice-api-token-allocation-request-v1:Splice.Api.Token.AllocationRequestV1:AllocationRequest"
	AllocationRequestV2 = "splice-api-token-allocation-request-v2:Splice.Api.Token.AllocationRequestV2:AllocationRequest"
	AllocationV2        = "splice-api-token-allocation-v2:Splice.Api.Token.AllocationV2:Allocation"

	instructionPackage   = "splice-api-token-transfer-instruction-v1"
	instructionPackageV2 = "splice-api-token-transfer-instruction-v2"
	// TransferFactory and TransferInstruction are interfaces of the token standard, in both of its
	// versions.
	TransferFactory       = instructionPackage + ":Splice.Api.Token.TransferInstructionV1:TransferFactory"
	TransferFactoryV2     = instructionPackageV2 + ":Splice.Api.Token.TransferInstructionV2:TransferFactory"
	TransferInstruction   = instructionPackage + ":Splice.Api.Token.TransferInstructionV1:TransferInstruction"
	TransferInstructionV2 = instructionPackageV2 + ":Splice.Api.Token.TransferInstructionV2:TransferInstruction"
)

// Entity returns Module.Name:Entity of a name.
func Entity(name string) string {
	_, entity, _ := strings.Cut(name, ":")
	return entity
}

// Is reports whether a contract's package name and template id, PACKAGE_ID:Module.Name:Entity or
// without the package id, are those of a template.
func Is(name, packageName, templateID string) bool {
	entity, ok := strings.CutPrefix(name, packageName)
	if !ok || !strings.HasPrefix(entity, ":") {
		return false
	}
	return strings.HasSuffix(templateID, entity) || templateID == entity[1:]
}
