package wallet

// Templates in the network's spelling, as the store and public contracts are asked for them.
// In commands they are preceded by #, see command.
const (
	CoinTemplate              = "splice-amulet:Splice.Amulet:Amulet"
	LockedCoinTemplate        = "splice-amulet:Splice.Amulet:LockedAmulet"
	ValidatorRightTemplate    = "splice-amulet:Splice.Amulet:ValidatorRight"
	FeaturedRightTemplate     = "splice-amulet:Splice.Amulet:FeaturedAppRight"
	AppCouponTemplate         = "splice-amulet:Splice.Amulet:AppRewardCoupon"
	ValidatorCouponTemplate   = "splice-amulet:Splice.Amulet:ValidatorRewardCoupon"
	SvCouponTemplate          = "splice-amulet:Splice.Amulet:SvRewardCoupon"
	CouponV2Template          = "splice-amulet:Splice.Amulet:RewardCouponV2"
	ActivityTemplate          = "splice-amulet:Splice.Amulet:UnclaimedActivityRecord"
	FundCouponTemplate        = "splice-amulet:Splice.Amulet:DevelopmentFundCoupon"
	FaucetTemplate            = "splice-amulet:Splice.ValidatorLicense:ValidatorFaucetCoupon"
	LivenessTemplate          = "splice-amulet:Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
	LicenseTemplate           = "splice-amulet:Splice.ValidatorLicense:ValidatorLicense"
	OpenRoundTemplate         = "splice-amulet:Splice.Round:OpenMiningRound"
	IssuingRoundTemplate      = "splice-amulet:Splice.Round:IssuingMiningRound"
	RulesTemplate             = "splice-amulet:Splice.AmuletRules:AmuletRules"
	PreapprovalTemplate       = "splice-amulet:Splice.AmuletRules:TransferPreapproval"
	SetupProposalTemplate     = "splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal"
	ExternalRulesTemplate     = "splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	CommandCounterTemplate    = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommandCounter"
	TransferCommandTemplate   = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand"
	ConfigStateTemplate       = "splice-amulet:Splice.ExternalPartyConfigState:ExternalPartyConfigState"
	MemberTrafficTemplate     = "splice-amulet:Splice.DecentralizedSynchronizer:MemberTraffic"
	InstructionTemplate       = "splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction"
	InstallTemplate           = "splice-wallet:Splice.Wallet.Install:WalletAppInstall"
	OfferTemplate             = "splice-wallet:Splice.Wallet.TransferOffer:TransferOffer"
	AcceptedOfferTemplate     = "splice-wallet:Splice.Wallet.TransferOffer:AcceptedTransferOffer"
	TrafficRequestTemplate    = "splice-wallet:Splice.Wallet.BuyTrafficRequest:BuyTrafficRequest"
	TopUpStateTemplate        = "splice-wallet:Splice.Wallet.TopUpState:ValidatorTopUpState"
	PreapprovalProposal       = "splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal"
	MintingDelegationTemplate = "splice-wallet:Splice.Wallet.MintingDelegation:MintingDelegation"
	MintingProposalTemplate   = "splice-wallet:Splice.Wallet.MintingDelegation:MintingDelegationProposal"
	MergeDelegationTemplate   = "splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:MergeDelegation"
	MergeProposalTemplate     = "splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:MergeDelegationProposal"
	MergeUtilityTemplate      = "splice-util-token-standard-wallet:Splice.Util.Token.Wallet.MergeDelegation:BatchMergeUtility"
	NameRulesTemplate         = "splice-amulet-name-service:Splice.Ans:AnsRules"

	SubscriptionRequestTemplate = "splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionRequest"
	IdleSubscriptionTemplate    = "splice-wallet-payments:Splice.Wallet.Subscriptions:SubscriptionIdleState"

	transferFactoryInterface = "splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferFactory"
	instructionInterface     = "splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction"
)

// command is how a command names a template or an interface.
func command(template string) string { return "#" + template }
