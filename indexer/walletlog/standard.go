package walletlog

import (
	"cmp"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Choices of the token standard, in both of its versions.

// owner is the party of an account, which version 1 gives as such.
func owner(account jsonscan.Value) jsonscan.Value {
	if account.IsText() {
		return account
	}
	return account.At("owner")
}

// transferOf is a transfer as the standard describes it.
type transferOf struct {
	sender, receiver, reason string
	amount                   decimal.Decimal
}

func (w *walk) transferOf(e *schemas.Event, v jsonscan.Value) transferOf {
	return transferOf{
		sender: w.text(e, "sender", owner(v.At("sender"))), receiver: w.text(e, "receiver", owner(v.At("receiver"))),
		reason: reasonOf(v.At("meta")), amount: w.amount(e, "amount", v.At("amount")),
	}
}

// factoryTransfer is the rule of TransferFactory_Transfer: coins are locked until the receiver
// accepts, or are there at once.
func factoryTransfer(b branch) []store.WalletEntry {
	e := b.event()
	t := b.transferOf(e, b.argument(e).At("transfer"))
	entry := b.entry(store.WalletTransfer, e)
	entry.Sender, entry.Description = store.PartyAmount{Party: t.sender, Amount: t.amount.Neg()}, t.reason
	tag, output := b.result(e).At("output").Variant()
	switch tag {
	case template.TransferInstructionPending:
		if b.party == t.receiver && t.receiver != t.sender { // sees the choice, as it does from version 2 on
			return b.offered()
		}
		entry.InstructionID = b.text(e, "transfer instruction", output.At("transferInstructionCid"))
		entry.InstructionReceiver, entry.InstructionAmount = t.receiver, t.amount
	case "TransferInstructionResult_Completed":
		entry.Choice, entry.InterfaceID = template.CoinRulesTransfer, ""
		if t.receiver == t.sender {
			entry.Sender.Amount = decimal.Decimal{}
		} else {
			entry.Receivers = []store.PartyAmount{{Party: t.receiver, Amount: t.amount}}
		}
	case template.TransferInstructionFailed:
		return nil
	default:
		b.fail(e, "the output is %.40q", tag)
	}
	return []store.WalletEntry{entry}
}

// offered is the entry of the receiver of the instruction that b creates.
func (b branch) offered() []store.WalletEntry {
	for _, e := range b.below() {
		if e.Kind == schemas.Created && is(e, template.CoinTransferInstruction) {
			return b.incoming(e)
		}
	}
	return nil
}

// incoming is the entry of the receiver of a transfer instruction.
func (w *walk) incoming(e *schemas.Event) []store.WalletEntry {
	t := w.transferOf(e, w.argument(e).At("transfer"))
	if w.party != t.receiver || t.sender == t.receiver {
		return nil
	}
	entry := w.entry(store.WalletTransfer, e)
	entry.Choice = template.TransferFactoryTransfer
	entry.Sender, entry.Receivers = store.PartyAmount{Party: t.sender}, []store.PartyAmount{{Party: t.receiver}}
	entry.InstructionID, entry.InstructionReceiver, entry.InstructionAmount = e.ContractID, t.receiver, t.amount
	entry.Description = t.reason
	return []store.WalletEntry{entry}
}

// instruction returns the transfer that an exercise on a transfer instruction is about, a zero
// one if its contract is not known.
func (b branch) instruction() transferOf {
	v := b.payload(b.event().ContractID).At("transfer")
	if v == nil {
		return transferOf{}
	}
	return b.transferOf(b.event(), v)
}

// instructionAccepted is the rule of TransferInstruction_Accept: coins that were locked become
// the receiver's. The sender paid when they were locked.
func instructionAccepted(b branch) []store.WalletEntry {
	e := b.event()
	t := b.instruction()
	return []store.WalletEntry{b.delivery(e, t, func(entry *store.WalletEntry) {
		entry.InstructionID, entry.Description = e.ContractID, t.reason
	})}
}

// delivery is a transfer by which the coins that are left below b come to their owners. A
// sender that is not known is whose coins were unlocked.
func (b branch) delivery(e *schemas.Event, t transferOf, add func(*store.WalletEntry)) store.WalletEntry {
	var coins amounts
	for _, c := range b.leftCoins() {
		coins.add(c.owner, c.amount)
	}
	entry := b.entry(store.WalletTransfer, e)
	entry.Sender.Party = cmp.Or(append([]string{t.sender}, b.unlockedOwners()...)...)
	entry.Sender.Amount = coins.take(entry.Sender.Party)
	entry.Receivers = coins
	add(&entry)
	return entry
}

// instructionEnded is the rule of TransferInstruction_Reject and _Withdraw: the sender has the
// coins back, and the receiver is shown that it will not have them.
func instructionEnded(b branch) []store.WalletEntry {
	e := b.event()
	t := b.instruction()
	var coins amounts
	for _, c := range b.leftCoins() {
		coins.add(c.owner, c.amount)
	}
	if t.sender == "" && len(coins) > 0 {
		t.sender = coins[0].Party
	}
	var back coin
	switch b.party {
	case t.sender:
		back = coin{owner: t.sender, amount: coins.take(t.sender)}
	case t.receiver:
		back = coin{owner: t.receiver}
	default:
		return nil
	}
	entries := b.balanceChange(e, back)
	entries[0].InstructionID = e.ContractID
	return entries
}

// allocation is the rule of AllocationFactory_Allocate: coins are locked for a settlement.
func allocation(b branch) []store.WalletEntry {
	e := b.event()
	specification := b.argument(e).At("allocation")
	entry := b.entry(store.WalletTransfer, e)
	entry.Choice, entry.InterfaceID = template.CoinRulesTransfer, ""
	if leg := specification.At("transferLeg"); leg != nil {
		entry.Sender = store.PartyAmount{Party: b.text(e, "sender", leg.At("sender")), Amount: b.amount(e, "amount", leg.At("amount")).Neg()}
		return []store.WalletEntry{entry}
	}
	entry.Sender.Party = b.text(e, "authorizer", owner(specification.At("authorizer")))
	needs := b.optional(e, "nextIterationFunding", specification.At("nextIterationFunding", template.CoinInstrument))
	for _, side := range specification.At("transferLegSides").Elements() {
		amount := b.amount(e, "amount", side.At("amount"))
		if side.At("side").Text() == "SenderSide" {
			amount = amount.Neg()
		}
		needs = needs.Minus(amount)
	}
	if needs.Sign() > 0 { // else what it receives covers what it sends
		entry.Sender.Amount = needs.Neg()
	}
	return []store.WalletEntry{entry}
}

// allocationExecuted is the rule of Allocation_ExecuteTransfer.
func allocationExecuted(b branch) []store.WalletEntry {
	e := b.event()
	t := transferOf{sender: b.payload(e.ContractID).At("allocation", "transferLeg", "sender").Text()}
	return []store.WalletEntry{b.delivery(e, t, func(entry *store.WalletEntry) {
		entry.Choice, entry.InterfaceID = template.CoinRulesTransfer, ""
	})}
}

// leg is a transfer of a settlement. What is burned has no receiver.
type leg struct {
	transferOf
	id string
}

func (w *walk) legOf(e *schemas.Event, v jsonscan.Value) leg {
	return leg{id: v.At("transferLegId").Text(), transferOf: transferOf{
		sender: w.text(e, "sender", v.At("sender", "owner")), receiver: v.At("receiver", "owner").Text(),
		reason: reasonOf(v.At("meta")), amount: w.amount(e, "amount", v.At("amount")),
	}}
}

// settlement is the rule of SettlementFactory_SettleBatch: an entry for each leg that touches the party,
// and one for what else it does to the coins of the party: allocations that are iterated lock more, or
// less, than the legs need. Senders paid when they allocated, as far as their legs were known then.
func settlement(b branch) (entries []store.WalletEntry) {
	e := b.event()
	var legs []leg
	for _, v := range b.argument(e).At("transferLegs").Elements() {
		legs = append(legs, b.legOf(e, v))
	}
	released := b.released(legs)
	for _, l := range legs {
		paid := l.amount
		if l.receiver != l.sender {
			paid = released.upTo(l.sender, l.amount)
		}
		if l.sender != b.party && l.receiver != b.party {
			continue
		}
		entry := b.settlementEntry(l.sender, paid.Minus(l.amount))
		entry.EventID += ":" + l.id
		entry.Description = l.reason
		if l.receiver != "" && l.receiver != l.sender {
			entry.Receivers = []store.PartyAmount{{Party: l.receiver, Amount: l.amount}}
		}
		entries = append(entries, entry)
	}
	if rest := released.take(b.party); rest.Sign() != 0 {
		entries = append(entries, b.settlementEntry(b.party, rest))
	}
	return entries
}

func (b branch) settlementEntry(sender string, amount decimal.Decimal) store.WalletEntry {
	entry := b.entry(store.WalletTransfer, b.event())
	entry.Choice, entry.InterfaceID = template.CoinRulesTransfer, ""
	entry.Sender = store.PartyAmount{Party: sender, Amount: amount}
	return entry
}

// released is what a settlement leaves its parties beyond what its legs bring them: coins that were
// locked, less those that it locks.
func (b branch) released(legs []leg) (rest amounts) {
	for _, c := range b.leftCoins() {
		rest.add(c.owner, c.amount)
	}
	for _, l := range legs {
		rest.add(l.sender, l.amount)
		if l.receiver != "" {
			rest.add(l.receiver, l.amount.Neg())
		}
	}
	return rest
}

// allocationSettled is the rule of Allocation_Settle where its owner does not see the batch.
func allocationSettled(b branch) []store.WalletEntry {
	allocation := b.payload(b.event().ContractID).At("allocation")
	owner := allocation.At("authorizer", "owner").Text()
	if owner == "" {
		owner = allocation.At("transferLeg", "sender").Text()
	}
	left := b.released(nil)
	return []store.WalletEntry{b.settlementEntry(owner, left.take(owner))}
}

// unlockedOwners are the owners of coins that are unlocked below b.
func (b branch) unlockedOwners() (owners []string) {
	for at := b.at + 1; at < b.end; at++ {
		if e := b.seen[at]; e.Kind == schemas.Exercised && is(e, template.LockedCoin) {
			for _, c := range b.branch(at).below() {
				if c.Kind == schemas.Created && isCoin(c) {
					owners = append(owners, b.coinOf(c).owner)
				}
			}
		}
	}
	return owners
}
