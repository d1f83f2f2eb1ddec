package walletlog

import (
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// rule is what a choice means.
type rule struct {
	// entries returns the entries of an exercise; what is below it has none of its own but
	// those that the rule asks for. Without it the choice means nothing by itself.
	entries func(b branch) []store.WalletEntry
	// payload says that the rule wants to know the contract.
	payload bool
}

// ruleOf returns the rule of an exercise.
func ruleOf(e *schemas.Event) rule {
	switch e.PackageName {
	case template.CoinPackage, template.WalletPackage, template.PaymentPackage, template.NamePackage:
		// Choices of the token standard are those of the package whose template implements
		// it: other tokens are none of the wallet's.
		return ruleOfChoice(e.Choice)
	}
	return rule{}
}

// ruleOfChoice knows the choices. One and its later version mean the same.
func ruleOfChoice(choice string) rule {
	switch choice {
	case template.CoinRulesTransfer:
		return rule{entries: transferOfCoins}
	case template.CoinRulesBuyMemberTraffic:
		return rule{entries: trafficPurchase}
	case template.CoinRulesCreateTransferPreapproval:
		return rule{entries: preapprovalPayment}
	case template.CoinRulesCreateExternalPartySetupProposal:
		return rule{entries: setupPayment}
	case template.TransferPreapprovalRenew:
		return rule{entries: renewalPayment}
	case template.TransferPreapprovalSend, template.TransferPreapprovalSendV2:
		return rule{entries: sendByPreapproval}
	case template.CoinRulesTap, template.CoinRulesMint:
		return rule{entries: mint}
	case template.LockedCoinUnlock, template.LockedCoinUnlockV2, template.LockedCoinOwnerExpireLock, template.LockedCoinOwnerExpireLockV2:
		return rule{entries: unlock}
	case template.CoinExpire, template.CoinExpireV2, template.LockedCoinExpireCoin, template.LockedCoinExpireCoinV2:
		return rule{entries: expiry}
	case template.WalletAppInstallExecuteBatch:
		return rule{entries: batch, payload: true}
	case template.AcceptedTransferOfferComplete, template.AppPaymentRequestAccept,
		template.SubscriptionRequestAcceptAndMakePayment, template.SubscriptionIdleStateMakePayment:
		return rule{entries: payment}
	case template.AcceptedAppPaymentCollect, template.SubscriptionInitialPaymentCollect, template.SubscriptionPaymentCollect:
		return rule{entries: collection}
	case template.NameRulesCollectInitialEntryPayment, template.NameRulesCollectEntryRenewalPayment:
		return rule{entries: burntCollection}
	case template.AcceptedAppPaymentReject, template.AcceptedAppPaymentExpire,
		template.SubscriptionInitialPaymentReject, template.SubscriptionInitialPaymentExpire,
		template.SubscriptionPaymentReject, template.SubscriptionPaymentExpire:
		return rule{entries: refund}
	case template.SubscriptionIdleStateExpireSubscription:
		return rule{entries: subscriptionEnd}
	case template.TransferFactoryTransfer:
		return rule{entries: factoryTransfer}
	case template.TransferInstructionAccept:
		return rule{entries: instructionAccepted, payload: true}
	case template.TransferInstructionReject, template.TransferInstructionWithdraw:
		return rule{entries: instructionEnded, payload: true}
	case template.AllocationFactoryAllocate:
		return rule{entries: allocation}
	case template.AllocationExecuteTransfer:
		return rule{entries: allocationExecuted, payload: true}
	case "Allocation_Settle":
		return rule{entries: allocationSettled, payload: true}
	case template.SettlementFactorySettleBatch:
		return rule{entries: settlement}
	}
	return rule{}
}

// entry is one of a kind about an exercise, whose subtype has that template and choice.
func (w *walk) entry(kind string, e *schemas.Event) store.WalletEntry {
	return store.WalletEntry{
		Kind: kind, EventID: w.eventID(e), TemplateID: e.TemplateID, Choice: strings.TrimSuffix(e.Choice, "V2"), InterfaceID: e.InterfaceID,
	}
}

// balanceChange is an entry of one receiver.
func (w *walk) balanceChange(e *schemas.Event, c coin) []store.WalletEntry {
	entry := w.entry(store.WalletBalanceChange, e)
	entry.Receivers = []store.PartyAmount{{Party: c.owner, Amount: c.amount}}
	return []store.WalletEntry{entry}
}

// mint is for choices that make coins out of nothing for somebody.
func mint(b branch) []store.WalletEntry {
	e := b.event()
	argument := b.argument(e)
	return b.balanceChange(e, coin{owner: b.text(e, "receiver", argument.At("receiver")), amount: b.amount(e, "amount", argument.At("amount"))})
}

// unlock is for choices that turn a locked coin into an unlocked one.
func unlock(b branch) []store.WalletEntry {
	e := b.event()
	result := b.result(e)
	id := result.At("amuletSum", "amulet")
	if id == nil {
		id = result.At("amuletCid")
	}
	return b.balanceChange(e, b.madeCoin(b.text(e, "unlocked coin", id)))
}

// expiry is for choices by which the governance party burns a coin that is used up. It is
// shown without an amount.
func expiry(b branch) []store.WalletEntry {
	e := b.event()
	return b.balanceChange(e, coin{owner: b.text(e, "owner", b.result(e).At("expireSum", "owner"))})
}

// refund is for choices that unlock what was to be a payment.
func refund(b branch) []store.WalletEntry {
	e := b.event()
	result := b.result(e)
	id := result.At("amuletSum", "amulet")
	if id == nil {
		id = result.At("amulet", "amulet")
	}
	return b.balanceChange(e, b.madeCoin(b.text(e, "refunded coin", id)))
}

func subscriptionEnd(b branch) []store.WalletEntry {
	entry := b.entry(store.WalletNotification, b.event())
	entry.Details = "Subscription expired"
	return []store.WalletEntry{entry}
}
