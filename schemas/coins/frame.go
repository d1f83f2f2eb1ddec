package coins

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// kind says how a choice explains the coins that are created and consumed below it.
type kind uint8

const (
	// transfers are by one sender: what it loses goes to receivers and is burnt, and what it wins is
	// minted. Unlocking is a transfer of nothing to nobody.
	transfers kind = iota + 1
	// mints create coins out of nothing.
	mints
	// expires consume coins that are used up.
	expires
	// settles is by many senders at once, as the legs in its argument say, or for one account, as the event
	// log below it says.
	settles
)

// frame is what is known of a choice.
type frame struct {
	// kind is 0 for a choice that explains nothing itself, but names the purpose of those below it.
	kind kind
	// burns is the class of what disappears; without one, nothing may.
	burns string
	// stated says that the result tells which part of it was paid; the rest are fees.
	stated  bool
	purpose string
}

// Classes of coins that are burnt.
const (
	Traffic     = "traffic"
	Fee         = "fee"
	Preapproval = "preapproval"
	Name        = "name"
	Expiry      = "expiry"
	Leg         = "leg"
)

// Classes of coins that are minted. App is for rewards of apps of which is not known why they earned
// them.
const (
	App               = "app"
	ValidatorUsage    = "validator_usage"
	ValidatorLiveness = "validator_liveness"
	Operator          = "operator"
	ActivityRecord    = "activity_record"
	DevelopmentFund   = "development_fund"
	Tap               = "tap"
	Other             = "other"
)

// Purposes that rules tell apart.
const (
	purposeTransfer       = "transfer"
	purposeMerge          = "merge"
	purposeCollectRewards = "collect_rewards"
	purposeInstruction    = "instruction"
	purposeUnlock         = "unlock"
)

// frames are the choices that explain coins, and the choices around them that say what for. One and its
// later version mean the same. This is the one place that knows which choices mint and burn.
var frames = map[string]frame{
	template.CoinRulesTransfer:         {kind: transfers, burns: Fee},
	template.TransferPreapprovalSend:   {kind: transfers, burns: Fee, purpose: "send"},
	template.TransferPreapprovalSendV2: {kind: transfers, burns: Fee, purpose: "send"},
	template.TransferFactoryTransfer:   {kind: transfers, burns: Fee, purpose: purposeTransfer},
	template.TransferCommandSend:       {purpose: "command"},

	template.TransferInstructionAccept:   {kind: transfers, purpose: purposeInstruction},
	template.TransferInstructionReject:   {kind: transfers, purpose: purposeInstruction},
	template.TransferInstructionWithdraw: {kind: transfers, purpose: purposeInstruction},
	"TransferInstruction_Update":         {kind: transfers, purpose: purposeInstruction},

	template.AllocationFactoryAllocate:    {kind: transfers, burns: Fee, purpose: "allocation"},
	template.AllocationWithdraw:           {kind: transfers, purpose: "allocation"},
	"Allocation_Cancel":                   {kind: transfers, purpose: "allocation"},
	template.AllocationExecuteTransfer:    {kind: transfers, purpose: "settlement"},
	template.SettlementFactorySettleBatch: {kind: settles, burns: Leg, purpose: "settlement"},
	template.AllocationSettle:             {kind: settles, burns: Leg, purpose: "settlement"},

	template.CoinRulesBuyMemberTraffic:                 {kind: transfers, burns: Traffic, stated: true, purpose: "traffic"},
	template.CoinRulesCreateTransferPreapproval:        {kind: transfers, burns: Preapproval, stated: true, purpose: "preapproval"},
	template.CoinRulesCreateExternalPartySetupProposal: {kind: transfers, burns: Preapproval, stated: true, purpose: "preapproval"},
	template.TransferPreapprovalRenew:                  {kind: transfers, burns: Preapproval, stated: true, purpose: "preapproval"},

	template.NameRulesCollectInitialEntryPayment: {kind: transfers, burns: Name, purpose: "name"},
	template.NameRulesCollectEntryRenewalPayment: {kind: transfers, burns: Name, purpose: "name"},
	"AnsEntryContext_CollectInitialEntryPayment": {kind: transfers, burns: Name, purpose: "name"},
	"AnsEntryContext_CollectEntryRenewalPayment": {kind: transfers, burns: Name, purpose: "name"},

	template.SubscriptionRequestAcceptAndMakePayment: {purpose: "subscription"},
	template.SubscriptionIdleStateMakePayment:        {purpose: "subscription"},
	template.SubscriptionInitialPaymentCollect:       {purpose: "subscription"},
	template.SubscriptionInitialPaymentReject:        {purpose: "subscription"},
	template.SubscriptionInitialPaymentExpire:        {purpose: "subscription"},
	template.SubscriptionPaymentCollect:              {purpose: "subscription"},
	template.SubscriptionPaymentReject:               {purpose: "subscription"},
	template.SubscriptionPaymentExpire:               {purpose: "subscription"},
	template.AppPaymentRequestAccept:                 {purpose: "app_payment"},
	template.AcceptedAppPaymentCollect:               {purpose: "app_payment"},
	template.AcceptedAppPaymentReject:                {purpose: "app_payment"},
	template.AcceptedAppPaymentExpire:                {purpose: "app_payment"},

	template.LockedCoinUnlock:            {kind: transfers, purpose: purposeUnlock},
	template.LockedCoinUnlockV2:          {kind: transfers, purpose: purposeUnlock},
	template.LockedCoinOwnerExpireLock:   {kind: transfers, purpose: purposeUnlock},
	template.LockedCoinOwnerExpireLockV2: {kind: transfers, purpose: purposeUnlock},

	template.CoinExpire:             {kind: expires, burns: Expiry, purpose: "expiry"},
	template.CoinExpireV2:           {kind: expires, burns: Expiry, purpose: "expiry"},
	template.LockedCoinExpireCoin:   {kind: expires, burns: Expiry, purpose: "expiry"},
	template.LockedCoinExpireCoinV2: {kind: expires, burns: Expiry, purpose: "expiry"},

	template.CoinRulesMint: {kind: mints},
	template.CoinRulesTap:  {purpose: "tap"},
}

// BurnsUnstated reports whether coins may disappear below a choice without its result's saying how many:
// the coins themselves say it.
func BurnsUnstated(choice string) bool {
	f := frames[choice]
	switch f.kind {
	case expires, settles:
		return true
	case transfers:
		// The fees of the second, which there were once, are in the result of the transfer below it; not
		// where it has none.
		return f.burns == Name || choice == template.TransferFactoryTransfer
	}
	return false
}

// ToldChoices returns the choices of which Update wants to know what they say, sorted.
func ToldChoices() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for choice, f := range frames {
			if f.kind != 0 && !yield(choice) {
				return
			}
		}
	})
}

// IsTold reports whether a choice is one of ToldChoices.
func IsTold(choice string) bool { return frames[choice].kind != 0 }
