package walletlog

import (
	"cmp"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func reasonOf(metadata jsonscan.Value) string {
	return metadata.At("values", template.ReasonKey).Text()
}

// summary is what the result of a transfer adds up.
type summary struct {
	coins, holdingFees, change decimal.Decimal
	outputFees                 []decimal.Decimal
	app, validator, sv, fund   decimal.Decimal
}

func (w *walk) summary(e *schemas.Event, v jsonscan.Value) (s summary) {
	s.coins = w.amount(e, "inputAmuletAmount", v.At("inputAmuletAmount"))
	s.holdingFees = w.amount(e, "holdingFees", v.At("holdingFees"))
	s.change = w.amount(e, "senderChangeAmount", v.At("senderChangeAmount"))
	s.app = w.amount(e, "inputAppRewardAmount", v.At("inputAppRewardAmount"))
	s.validator = w.amount(e, "inputValidatorRewardAmount", v.At("inputValidatorRewardAmount"))
	s.sv = w.amount(e, "inputSvRewardAmount", v.At("inputSvRewardAmount"))
	s.fund = w.optional(e, "inputDevelopmentFundAmount", v.At("inputDevelopmentFundAmount"))
	for _, fee := range v.At("outputFees").Elements() {
		s.outputFees = append(s.outputFees, w.amount(e, "output fee", fee))
	}
	return s
}

// net is what the sender has more than before, without the outputs that it sent itself.
func (s *summary) net() decimal.Decimal { return s.change.Minus(s.coins.Minus(s.holdingFees)) }

// output is one output of a transfer.
type output struct {
	receiver      string
	amount, ratio decimal.Decimal // ratio is the part of the fee that the receiver pays
	locked        bool
}

// transferEntry is an entry of kind transfer about an exercise that transferred coins.
func (w *walk) transferEntry(e *schemas.Event, sender string, s summary, outputs []output) store.WalletEntry {
	entry := w.entry(store.WalletTransfer, e)
	entry.HoldingFees, entry.AppRewards, entry.ValidatorRewards, entry.SvRewards, entry.DevelopmentFund = s.holdingFees, s.app, s.validator, s.sv, s.fund
	entry.Sender = store.PartyAmount{Party: sender, Amount: s.net()}
	var receivers amounts
	for i, o := range outputs {
		senderFee, receiverFee := s.fees(i, o.ratio)
		switch {
		case o.receiver == sender && !o.locked:
			entry.Sender.Amount = entry.Sender.Amount.Plus(o.amount.Minus(senderFee))
		case o.receiver == sender:
		case o.locked:
			receivers.add(o.receiver, receiverFee.Neg())
		default:
			receivers.add(o.receiver, o.amount.Minus(receiverFee))
		}
	}
	entry.Receivers = receivers
	return entry
}

// fees splits the fee of an output. Each share is rounded half to even.
func (s *summary) fees(i int, ratio decimal.Decimal) (sender, receiver decimal.Decimal) {
	if i >= len(s.outputFees) {
		return sender, receiver
	}
	fee := s.outputFees[i]
	return fee.Times(decimal.FromInt(1).Minus(ratio)), fee.Times(ratio)
}

// transferOfCoins is the rule of AmuletRules_Transfer.
func transferOfCoins(b branch) []store.WalletEntry {
	e := b.event()
	transfer := b.argument(e).At("transfer")
	var outputs []output
	for _, o := range transfer.At("outputs").Elements() {
		outputs = append(outputs, output{
			receiver: b.text(e, "receiver", o.At("receiver")), amount: b.amount(e, "amount", o.At("amount")),
			ratio: b.optional(e, "receiverFeeRatio", o.At("receiverFeeRatio")), locked: o.At("lock") != nil,
		})
	}
	s := b.summary(e, b.result(e).At("summary"))
	return []store.WalletEntry{b.transferEntry(e, b.text(e, "sender", transfer.At("sender")), s, outputs)}
}

// trafficPurchase is the rule of AmuletRules_BuyMemberTraffic. On a development network coins
// may be minted for it first.
func trafficPurchase(b branch) []store.WalletEntry {
	e := b.event()
	entry := b.transferEntry(e, b.text(e, "provider", b.argument(e).At("provider")), b.summary(e, b.result(e).At("summary")), nil)
	entry.Receivers = []store.PartyAmount{{Party: b.governanceParty()}}
	var entries []store.WalletEntry
	for at := b.at + 1; at < b.end; at++ {
		if tap := b.seen[at]; tap.Choice == template.CoinRulesTap && tap.PackageName == template.CoinPackage {
			entries = append(entries, mint(b.branch(at))...)
		}
	}
	return append(entries, entry)
}

// governanceParty is the one that the traffic bought names.
func (b branch) governanceParty() string {
	for _, e := range b.below() {
		if e.Kind == schemas.Created && is(e, template.MemberTraffic) {
			return b.text(e, "dso", b.argument(e).At("dso"))
		}
	}
	return b.text(b.event(), "expectedDso", b.argument(b.event()).At("expectedDso"))
}

// preapprovalPayment is the rule of AmuletRules_CreateTransferPreapproval.
func preapprovalPayment(b branch) []store.WalletEntry {
	return []store.WalletEntry{b.fee(b.argument(b.event()).At("provider"))}
}

// setupPayment is the rule of AmuletRules_CreateExternalPartySetupProposal, which is shown as
// the creation of the preapproval that it pays for.
func setupPayment(b branch) []store.WalletEntry {
	entry := b.fee(b.argument(b.event()).At("validator"))
	entry.Choice = template.CoinRulesCreateTransferPreapproval
	return []store.WalletEntry{entry}
}

// renewalPayment is the rule of TransferPreapproval_Renew.
func renewalPayment(b branch) []store.WalletEntry {
	return []store.WalletEntry{b.fee(b.result(b.event()).At("provider"))}
}

// fee is an entry of a choice by which somebody pays a fee that is burnt.
func (b branch) fee(payer jsonscan.Value) store.WalletEntry {
	e := b.event()
	return b.transferEntry(e, b.text(e, "who pays", payer), b.summary(e, b.result(e).At("transferResult", "summary")), nil)
}

// sendByPreapproval is the rule of TransferPreapproval_Send and its successor.
func sendByPreapproval(b branch) []store.WalletEntry {
	e := b.event()
	argument, result := b.argument(e), b.result(e)
	sender := b.text(e, "sender", argument.At("sender"))
	totals := result.At("result", "summary")
	receiver := b.otherParty(totals.At("balanceChanges"), sender)
	entry := b.transferEntry(e, sender, b.summary(e, totals), []output{{receiver: receiver, amount: b.amount(e, "amount", argument.At("amount"))}})
	entry.Choice = template.TransferPreapprovalSend
	entry.Description = cmp.Or(argument.At("description").Text(), reasonOf(argument.At("meta")), reasonOf(result.At("meta")))
	return []store.WalletEntry{entry}
}

// otherParty is whose balance changes beside that of the sender, or the sender.
func (w *walk) otherParty(changes jsonscan.Value, sender string) string {
	for _, pair := range changes.Elements() {
		if kv := pair.Elements(); len(kv) == 2 && kv[0].IsText() && kv[0].Text() != sender {
			return kv[0].Text()
		}
	}
	return sender
}
