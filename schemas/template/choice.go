package template

// Choices that more than one part of the product knows. One that only one part knows is spelled
// there.
const (
	CoinRulesTransfer                         = "AmuletRules_Transfer"
	CoinRulesMint                             = "AmuletRules_Mint"
	CoinRulesTap                              = "AmuletRules_DevNet_Tap"
	CoinRulesBuyMemberTraffic                 = "AmuletRules_BuyMemberTraffic"
	CoinRulesCreateTransferPreapproval        = "AmuletRules_CreateTransferPreapproval"
	CoinRulesCreateExternalPartySetupProposal = "AmuletRules_CreateExternalPartySetupProposal"

	TransferPreapprovalSend   = "TransferPreapproval_Send"
	TransferPreapprovalSendV2 = "TransferPreapproval_SendV2"
	TransferPreapprovalRenew  = "TransferPreapproval_Renew"

	LockedCoinUnlock            = "LockedAmulet_Unlock"
	LockedCoinUnlockV2          = "LockedAmulet_UnlockV2"
	LockedCoinOwnerExpireLock   = "LockedAmulet_OwnerExpireLock"
	LockedCoinOwnerExpireLockV2 = "LockedAmulet_OwnerExpireLockV2"

	CoinExpire             = "Amulet_Expire"
	CoinExpireV2           = "Amulet_ExpireV2"
	LockedCoinExpireCoin   = "LockedAmulet_ExpireAmulet"
	LockedCoinExpireCoinV2 = "LockedAmulet_ExpireAmuletV2"

	TransferCommandSend = "TransferCommand_Send"

	DsoRulesCloseVoteRequest = "DsoRules_CloseVoteRequest"

	// TransferInstructionPending is the constructor of a result: whoever receives the transfer has to accept it.
	TransferInstructionPending = "TransferInstructionResult_Pending"

	WalletAppInstallExecuteBatch = "WalletAppInstall_ExecuteBatch"

	TransferOfferReject           = "TransferOffer_Reject"
	TransferOfferWithdraw         = "TransferOffer_Withdraw"
	TransferOfferExpire           = "TransferOffer_Expire"
	AcceptedTransferOfferComplete = "AcceptedTransferOffer_Complete"
	AcceptedTransferOfferAbort    = "AcceptedTransferOffer_Abort"
	AcceptedTransferOfferExpire   = "AcceptedTransferOffer_Expire"
	BuyTrafficRequestCancel       = "BuyTrafficRequest_Cancel"
	BuyTrafficRequestExpire       = "BuyTrafficRequest_Expire"

	DevelopmentFundCouponWithdraw = "DevelopmentFundCoupon_Withdraw"

	NameRulesCollectInitialEntryPayment = "AnsRules_CollectInitialEntryPayment"
	NameRulesCollectEntryRenewalPayment = "AnsRules_CollectEntryRenewalPayment"

	AppPaymentRequestAccept                 = "AppPaymentRequest_Accept"
	AcceptedAppPaymentCollect               = "AcceptedAppPayment_Collect"
	AcceptedAppPaymentReject                = "AcceptedAppPayment_Reject"
	AcceptedAppPaymentExpire                = "AcceptedAppPayment_Expire"
	SubscriptionRequestAcceptAndMakePayment = "SubscriptionRequest_AcceptAndMakePayment"
	SubscriptionIdleStateExpireSubscription = "SubscriptionIdleState_ExpireSubscription"
	SubscriptionIdleStateMakePayment        = "SubscriptionIdleState_MakePayment"
	SubscriptionInitialPaymentCollect       = "SubscriptionInitialPayment_Collect"
	SubscriptionInitialPaymentReject        = "SubscriptionInitialPayment_Reject"
	SubscriptionInitialPaymentExpire        = "SubscriptionInitialPayment_Expire"
	SubscriptionPaymentCollect              = "SubscriptionPayment_Collect"
	SubscriptionPaymentReject               = "SubscriptionPayment_Reject"
	SubscriptionPaymentExpire               = "SubscriptionPayment_Expire"

	AllocationWithdraw           = "Allocation_Withdraw"
	AllocationExecuteTransfer    = "Allocation_ExecuteTransfer"
	AllocationFactoryAllocate    = "AllocationFactory_Allocate"
	AllocationSettle             = "Allocation_Settle"
	SettlementFactorySettleBatch = "SettlementFactory_SettleBatch"
	// EventLogHoldingsChange reports what happened to the holdings of an account, since the second version
	// of the token standard.
	EventLogHoldingsChange = "EventLog_HoldingsChange"

	TransferFactoryTransfer     = "TransferFactory_Transfer"
	TransferInstructionAccept   = "TransferInstruction_Accept"
	TransferInstructionReject   = "TransferInstruction_Reject"
	TransferInstructionWithdraw = "TransferInstruction_Withdraw"
)

// Constructors of variants that more than one part of the product knows.
const (
	// Of CoinOperation (AmuletOperation), the operations of a batch.
	OperationCompleteAcceptedTransfer = "CO_CompleteAcceptedTransfer"
	OperationSubscriptionMakePayment  = "CO_SubscriptionMakePayment"
	// Of CoinOperationOutcome: the operation failed for a reason.
	OutcomeError = "COO_Error"
	// Of InvalidTransferReason.
	InsufficientFunds       = "ITR_InsufficientFunds"
	UnknownSynchronizer     = "ITR_UnknownSynchronizer"
	InsufficientTopUpAmount = "ITR_InsufficientTopupAmount"
	// Of TransferInstructionResult_Output.
	TransferInstructionFailed = "TransferInstructionResult_Failed"
	// Of AnyValue, what contexts of choices hold.
	AnyBool       = "AV_Bool"
	AnyContractID = "AV_ContractId"
)

// ReasonKey is the key of a transfer's description in metadata of the token standard.
const ReasonKey = "splice.lfdecentralizedtrust.org/reason"

// Keys under which choices of the coin look for contracts and flags in their context.
const (
	ContextCoinRules   = "amulet-rules"
	ContextOpenRound   = "open-round"
	ContextConfigState = "external-party-config-state"
	ContextPreapproval = "transfer-preapproval"
	ContextFeaturedApp = "featured-app-right"
	ContextExpireLock  = "expire-lock"
)
