package sim

import (
	"cmp"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// noticeCommand has a transfer command carried out: once its sender has a counter, and its
// nonce is the next.
func (x *commands) noticeCommand(p model.TransferCommand, c *model.Contract) {
	k := &CommandState{Contract: c, Status: CommandCreated, at: x.Clock.RecordTime}
	x.recall(k)
	x.submitted = append(x.submitted, k)
	x.askForCounter(p.Sender)
	x.Clock.Tasks = append(x.Clock.Tasks, func() { x.settleSubmitted(p.Sender) })
	x.Clock.alarmAt(p.ExpiresAt, func() { x.settleSubmitted(p.Sender) })
}

// settleSubmitted ends one of the transfer commands that a sender has submitted, if one can
// be, and comes back for the others.
func (x *commands) settleSubmitted(sender model.Party) {
	counter := x.counters[sender]
	for i, k := range x.submitted {
		p := k.Contract.Payload.(model.TransferCommand)
		if p.Sender != sender {
			continue
		}
		switch {
		case p.ExpiresAt <= x.Clock.EffectiveAt:
			a := x.Tx.Arena()
			at := x.Tx.Consume(k.Contract, "TransferCommand_Expire", a.Record(cancelShape, model.PartyValue(model.Dso)), model.Dso)
			x.Tx.Finish(at, a.Record(CommandOverShape, model.PartyValue(p.Sender), model.Int64Value(p.Nonce)))
			k.Status, k.Reason = CommandExpired, "The TransferCommand has expired"
		case x.Config.DelegatesSend && x.users.isManaged(p.Delegate):
			continue
		case counter == nil || counter.Payload.(model.CommandCounter).NextNonce < p.Nonce:
			continue
		default:
			x.users.acting = sender
			x.sendCommand(k, p, counter)
			x.users.acting = model.NoParty
		}
		k.at = x.Clock.RecordTime
		x.submitted = slices.Delete(x.submitted, i, i+1)
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.settleSubmitted(sender) })
		return
	}
}

// gatherLargest is gather for a party that acts by commands: the largest coins come first,
// as its validator would have them.
func (x *Bank) gatherLargest(owner model.Party, amount model.Decimal) (taken []*model.Contract, ok bool) {
	w := &x.Wallets[owner]
	w.Coins = slices.DeleteFunc(w.Coins, func(c *model.Contract) bool { return !c.Active() })
	all := slices.Clone(w.Coins)
	slices.SortStableFunc(all, func(a, b *model.Contract) int { return cmp.Compare(model.CoinOf(b).Amount, model.CoinOf(a).Amount) })
	var sum model.Decimal
	for _, c := range all[:min(model.MaxInputs, len(all))] {
		if sum >= amount {
			break
		}
		taken, sum = append(taken, c), sum+model.CoinOf(c).Amount
	}
	if sum < amount {
		return nil, false
	}
	w.Coins = slices.DeleteFunc(w.Coins, func(c *model.Contract) bool { return slices.Contains(taken, c) })
	return taken, true
}

// forgetCommand notes what a command did to a transfer command.
func (x *commands) forgetCommand(c *model.Contract, n *Node) {
	i := slices.IndexFunc(x.Recent, func(k *CommandState) bool { return k.Contract == c })
	x.open = slices.DeleteFunc(x.open, func(k *CommandState) bool { return k.Contract == c })
	x.submitted = slices.DeleteFunc(x.submitted, func(k *CommandState) bool { return k.Contract == c })
	if i < 0 {
		return
	}
	k := x.Recent[i]
	k.at = x.Clock.RecordTime
	switch n.Choice {
	case "TransferCommand_Withdraw", "Archive":
		k.Status, k.Reason = commandWithdrawn, "The TransferCommand has been withdrawn by the sender"
	case "TransferCommand_Expire":
		k.Status, k.Reason = CommandExpired, "The TransferCommand has expired"
	default:
		result := &n.Result.Elems[0]
		if k.Status = CommandSent; result.Text == "TransferCommandResultFailure" {
			k.Status, k.Reason = CommandFailed, failureText(&result.Elems[0].Elems[0])
		}
	}
}

// failureText writes a reason for an invalid transfer.
func failureText(reason *model.Value) string {
	content := &reason.Elems[0].Elems[0]
	if content.Kind == model.KindNumeric {
		return reason.Text + "(" + model.Decimal(content.Num).String() + ")"
	}
	return reason.Text + "(" + content.Text + ")"
}
