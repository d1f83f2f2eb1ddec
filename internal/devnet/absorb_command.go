package devnet

import (
	"cmp"
	"slices"
)

// noticeCommand has a transfer command carried out: once its sender has a counter, and its
// nonce is the next.
func (x *commands) noticeCommand(p transferCommand, c *contract) {
	k := &command{contract: c, status: commandCreated, at: x.clock.recordTime}
	x.recall(k)
	x.submitted = append(x.submitted, k)
	x.askForCounter(p.sender)
	x.clock.tasks = append(x.clock.tasks, func() { x.settleSubmitted(p.sender) })
	x.clock.alarmAt(p.expiresAt, func() { x.settleSubmitted(p.sender) })
}

// settleSubmitted ends one of the transfer commands that a sender has submitted, if one can
// be, and comes back for the others.
func (x *commands) settleSubmitted(sender party) {
	counter := x.counters[sender]
	for i, k := range x.submitted {
		p := k.contract.payload.(transferCommand)
		if p.sender != sender {
			continue
		}
		switch {
		case p.expiresAt <= x.clock.effectiveAt:
			a := x.tx.arena()
			at := x.tx.consume(k.contract, "TransferCommand_Expire", a.record(cancelShape, partyValue(dso)), dso)
			x.tx.finish(at, a.record(commandOverShape, partyValue(p.sender), int64Value(p.nonce)))
			k.status, k.reason = commandExpired, "The TransferCommand has expired"
		case x.config.DelegatesSend && x.users.isManaged(p.delegate):
			continue
		case counter == nil || counter.payload.(commandCounter).nextNonce < p.nonce:
			continue
		default:
			x.users.acting = sender
			x.sendCommand(k, p, counter)
			x.users.acting = noParty
		}
		k.at = x.clock.recordTime
		x.submitted = slices.Delete(x.submitted, i, i+1)
		x.clock.tasks = append(x.clock.tasks, func() { x.settleSubmitted(sender) })
		return
	}
}

// gatherLargest is gather for a party that acts by commands: the largest coins come first,
// as its validator would have them.
func (x *bank) gatherLargest(owner party, amount decimal) (taken []*contract, ok bool) {
	w := &x.wallets[owner]
	w.coins = slices.DeleteFunc(w.coins, func(c *contract) bool { return !c.active() })
	all := slices.Clone(w.coins)
	slices.SortStableFunc(all, func(a, b *contract) int { return cmp.Compare(coinOf(b).amount, coinOf(a).amount) })
	var sum decimal
	for _, c := range all[:min(maxInputs, len(all))] {
		if sum >= amount {
			break
		}
		taken, sum = append(taken, c), sum+coinOf(c).amount
	}
	if sum < amount {
		return nil, false
	}
	w.coins = slices.DeleteFunc(w.coins, func(c *contract) bool { return slices.Contains(taken, c) })
	return taken, true
}

// forgetCommand notes what a command did to a transfer command.
func (x *commands) forgetCommand(c *contract, n *node) {
	i := slices.IndexFunc(x.recent, func(k *command) bool { return k.contract == c })
	x.open = slices.DeleteFunc(x.open, func(k *command) bool { return k.contract == c })
	x.submitted = slices.DeleteFunc(x.submitted, func(k *command) bool { return k.contract == c })
	if i < 0 {
		return
	}
	k := x.recent[i]
	k.at = x.clock.recordTime
	switch n.choice {
	case "TransferCommand_Withdraw", "Archive":
		k.status, k.reason = commandWithdrawn, "The TransferCommand has been withdrawn by the sender"
	case "TransferCommand_Expire":
		k.status, k.reason = commandExpired, "The TransferCommand has expired"
	default:
		result := &n.result.elems[0]
		if k.status = commandSent; result.text == "TransferCommandResultFailure" {
			k.status, k.reason = commandFailed, failureText(&result.elems[0].elems[0])
		}
	}
}

// failureText writes a reason for an invalid transfer.
func failureText(reason *value) string {
	content := &reason.elems[0].elems[0]
	if content.kind == kindNumeric {
		return reason.text + "(" + decimal(content.num).String() + ")"
	}
	return reason.text + "(" + content.text + ")"
}
