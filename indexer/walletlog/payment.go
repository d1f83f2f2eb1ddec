package walletlog

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// payment is for choices that have a transfer below them and are shown in its place.
func payment(b branch) []store.WalletEntry {
	transfer, rest, ok := b.onlyTransfer(b.children(false))
	if !ok {
		return nil
	}
	b.renew(&transfer)
	return append([]store.WalletEntry{transfer}, rest...)
}

// collection is for choices that unlock a payment and pass it on: the coins that were
// unlocked belong to the transfer.
func collection(b branch) []store.WalletEntry {
	transfer, rest, ok := b.onlyTransfer(b.children(false))
	if !ok {
		return nil
	}
	b.renew(&transfer)
	return append([]store.WalletEntry{mergeChanges(transfer, &rest)}, rest...)
}

// burntCollection is for choices of the governance party that collect a payment and burn it.
func burntCollection(b branch) []store.WalletEntry {
	entries := b.between(b.at+1, b.end, true) // what is burnt is archived outside of a known choice
	transfer, rest, ok := b.onlyTransfer(entries)
	if !ok {
		return nil
	}
	b.renew(&transfer)
	transfer = mergeChanges(transfer, &rest)
	for i := range transfer.Receivers {
		r := &transfer.Receivers[i]
		r.Amount = r.Amount.Minus(b.burntOf(r.Party))
	}
	return append([]store.WalletEntry{transfer}, rest...)
}

// burntOf adds up the coins of a party that were created below and archived by themselves, not
// as inputs of a transfer.
func (b branch) burntOf(party string) (sum decimal.Decimal) {
	for _, e := range b.below() {
		if e.Kind != schemas.Created || !isCoin(e) || !b.isBurnt(e.ContractID) {
			continue
		}
		if c := b.coinOf(e); c.owner == party {
			sum = sum.Plus(c.amount)
		}
	}
	return sum
}

func (b branch) isBurnt(contractID string) bool {
	inputsUntil := int32(-1)
	for _, e := range b.below() {
		if e.Choice == template.CoinRulesTransfer {
			inputsUntil = e.Local.LastDescendant
		}
		if e.ContractID == contractID && e.Choice == archiveChoice && e.Node > inputsUntil {
			return true
		}
	}
	return false
}

// onlyTransfer takes the transfer out of entries. There must be exactly one.
func (b branch) onlyTransfer(entries []store.WalletEntry) (transfer store.WalletEntry, rest []store.WalletEntry, ok bool) {
	found := 0
	for _, e := range entries {
		if e.Kind == store.WalletTransfer {
			transfer = e
			found++
			continue
		}
		rest = append(rest, e)
	}
	if found != 1 {
		b.fail(b.event(), "%s has %d transfers below it", b.event().Choice, found)
	}
	return transfer, rest, found == 1
}

// renew makes an entry that stands below b one of b.
func (b branch) renew(entry *store.WalletEntry) {
	own := b.entry(entry.Kind, b.event())
	entry.EventID, entry.TemplateID, entry.Choice, entry.InterfaceID = own.EventID, own.TemplateID, own.Choice, own.InterfaceID
}

// mergeChanges adds the balance changes among rest to a transfer.
func mergeChanges(transfer store.WalletEntry, rest *[]store.WalletEntry) store.WalletEntry {
	receivers := amounts(transfer.Receivers)
	*rest = slices.DeleteFunc(*rest, func(e store.WalletEntry) bool {
		if e.Kind != store.WalletBalanceChange {
			return false
		}
		for _, r := range e.Receivers {
			if r.Party == transfer.Sender.Party {
				transfer.Sender.Amount = transfer.Sender.Amount.Plus(r.Amount)
			} else {
				receivers.add(r.Party, r.Amount)
			}
		}
		return true
	})
	transfer.Receivers = receivers
	return transfer
}

// batch is the rule of WalletAppInstall_ExecuteBatch: what its operations did, and which of
// those have failed that the user should know of.
func batch(b branch) (entries []store.WalletEntry) {
	for at := b.at + 1; at < b.end; {
		child := b.branch(at)
		made := child.entries(false)
		if e := child.event(); e.Choice == template.CoinRulesTransfer && ruleOf(e).entries != nil {
			for i := range made { // coins and rewards that the wallet merged by itself
				made[i].TemplateID, made[i].Choice = b.event().TemplateID, b.event().Choice
			}
		}
		entries, at = append(entries, made...), child.end
	}
	return append(entries, b.failures()...)
}

// reported are the operations whose failure is shown.
var reported = []string{template.OperationCompleteAcceptedTransfer, template.OperationSubscriptionMakePayment}

// failures are notifications of the operations of a batch that failed, for its user.
func (b branch) failures() (entries []store.WalletEntry) {
	e := b.event()
	outcomes := b.result(e).At("outcomes").Elements()
	for i, o := range b.argument(e).At("operations").Elements() {
		if i >= len(outcomes) {
			break
		}
		operation, _ := o.Variant()
		outcome, reason := outcomes[i].Variant()
		if outcome != template.OutcomeError || !slices.Contains(reported, operation) || !b.isUser() {
			continue
		}
		entry := b.entry(store.WalletNotification, e)
		entry.EventID += "_err_" + strconv.Itoa(i)
		entry.AmuletOperation, entry.Details = operation, failureText(reason)
		entries = append(entries, entry)
	}
	return entries
}

// isUser reports whether the party is the user of the wallet whose batch it is. Where that is
// not told it is who sees the batch and did not submit it, or everybody if all submitted it.
func (b branch) isUser() bool {
	e := b.event()
	user := b.result(e).At("optEndUserParty")
	if user == nil {
		user = b.payload(e.ContractID).At("endUserParty")
	}
	if user.IsText() {
		return user.Text() == b.party
	}
	acts := func(party string) bool { return slices.Contains(e.ActingParties, party) }
	return !acts(b.party) || !slices.ContainsFunc(e.Local.Witnesses, func(p string) bool { return !acts(p) })
}

// failureText says why an operation failed.
func failureText(reason jsonscan.Value) string {
	tag, v := reason.Variant()
	switch tag {
	case template.InsufficientFunds:
		missing := v.At("missingAmount").Text()
		if d, err := decimal.Parse(missing); err == nil {
			missing = d.String()
		}
		return fmt.Sprintf("%s: missing %s CC", tag, missing)
	case template.UnknownSynchronizer:
		return fmt.Sprintf("%s: synchronizer %s", tag, v.At("synchronizerId").Text())
	case template.InsufficientTopUpAmount:
		return fmt.Sprintf("%s: requested %s, minimum %s", tag, v.At("requestedTopupAmount").Text(), v.At("minTopupAmount").Text())
	case "ITR_Other":
		return fmt.Sprintf("%s: %s", tag, v.At("description").Text())
	}
	return tag
}
