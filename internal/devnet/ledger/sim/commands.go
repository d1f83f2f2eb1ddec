package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// commands are the transfer commands of external parties.
type commands struct {
	Core
	bank         *Bank
	payments     *Payments
	users        *users
	preapprovals *Preapprovals

	open []*CommandState
	// recent are those whose status changed within the last day, and perhaps older
	// ones, in order of creation.
	Recent   []*CommandState
	counters map[model.Party]*model.Contract // by sender
	asked    map[model.Party]bool            // senders for whom a counter is on its way
	// submitted are the open ones of parties that act by commands.
	submitted []*CommandState
}

// CommandState is a transfer command with what became of it.
type CommandState struct {
	Contract *model.Contract
	Status   CommandStatus
	Reason   string // of a failure
	at       int64  // record time of the last change, µs
}

// CommandStatus says what became of a transfer command.
type CommandStatus string

const (
	CommandCreated   CommandStatus = "created"
	CommandSent      CommandStatus = "sent"
	CommandFailed    CommandStatus = "failed"
	CommandExpired   CommandStatus = "expired"
	commandWithdrawn CommandStatus = "withdrawn"
)

// CommandMemory is how long, in µs, the status of a command is remembered.
const CommandMemory = 24 * 3600e6

var (
	createCommandShape     = model.NewShape("sender", "receiver", "delegate", "amount", "expiresAt", "nonce", "description", "expectedDso")
	CreateCommandDoneShape = model.NewShape("transferCommandCid")
	sendCommandShape       = model.NewShape("context", "inputs", "transferPreapprovalCidO", "transferCounterCid")
	CommandDoneShape       = model.NewShape("result", "sender", "nonce")
	CommandOverShape       = model.NewShape("sender", "nonce")
	CommandFailureShape    = model.NewShape("reason")
	CommandSuccessShape    = model.NewShape("result")
	OtherReasonShape       = model.NewShape("description")
	MissingFundsShape      = model.NewShape("missingAmount")
	createCounterShape     = model.NewShape("sender")
	createCounterDoneShape = model.NewShape("transferCommandCounterCid")
)

// orderTransfer has an external party order a transfer.
func (x *commands) orderTransfer() bool {
	sender := x.Names.External.Of(x.Random)
	if x.users.isManaged(sender) {
		return false
	}
	p := model.TransferCommand{Sender: sender, Receiver: x.someReceiver(), Delegate: x.Names.ValidatorOf(sender),
		Amount:    x.Random.DecimalBetween(model.One/10, model.Coins(20)),
		ExpiresAt: x.Clock.EffectiveAt + x.Clock.tick*int64(x.Random.Between(1, 8)), Nonce: x.nextNonce(sender), Description: x.users.reason()}
	if x.Random.Percent(8) && p.Nonce > 0 {
		p.Nonce-- // a client that counts wrong
	}
	a := x.Tx.Arena()
	at := x.Tx.Exercise(x.Rules.external, "ExternalPartyAmuletRules_CreateTransferCommand", a.Record(createCommandShape,
		model.PartyValue(sender), model.PartyValue(p.Receiver), model.PartyValue(p.Delegate), model.Numeric(p.Amount), model.Timestamp(p.ExpiresAt),
		model.Int64Value(p.Nonce), model.OptionalText(a, p.Description), x.Tx.ExpectedDSO()), sender)
	c := x.Tx.Create(model.TransferCommandTemplate, p)
	x.Tx.Finish(at, a.Record(CreateCommandDoneShape, model.ContractID(c.Number)))
	x.remember(&CommandState{Contract: c, Status: CommandCreated, at: x.Clock.RecordTime})
	x.askForCounter(sender)
	return true
}

// someReceiver mostly is somebody with a preapproval; apps never have one.
func (x *commands) someReceiver() model.Party {
	if x.Random.Percent(20) {
		return x.Names.Providers.Of(x.Random)
	}
	c := x.preapprovals.somePreapproval()
	if c == nil {
		return x.users.someUser()
	}
	x.preapprovals.list = append(x.preapprovals.list, c)
	return c.Payload.(model.Preapproval).Receiver
}

// nextNonce is the nonce that a careful sender uses: behind its open commands.
func (x *commands) nextNonce(sender model.Party) int64 {
	var nonce int64
	if c := x.counters[sender]; c != nil {
		nonce = c.Payload.(model.CommandCounter).NextNonce
	}
	for _, c := range x.open {
		if p := c.Contract.Payload.(model.TransferCommand); p.Sender == sender && p.Nonce >= nonce {
			nonce = p.Nonce + 1
		}
	}
	return nonce
}

// remember adds a command and forgets those of which nothing was heard for a day.
func (x *commands) remember(c *CommandState) {
	x.open = append(x.open, c)
	x.recall(c)
}

// recall has the status of a command remembered.
func (x *commands) recall(c *CommandState) {
	r := append(x.Recent, c)
	for r[0].at <= x.Clock.RecordTime-CommandMemory {
		r[0] = nil
		r = r[1:]
	}
	x.Recent = r
}

// askForCounter queues the creation of the counter of a new sender.
func (x *commands) askForCounter(sender model.Party) {
	if x.asked[sender] {
		return
	}
	if x.asked == nil {
		x.asked, x.counters = map[model.Party]bool{}, map[model.Party]*model.Contract{}
	}
	x.asked[sender] = true
	x.Clock.Tasks = append(x.Clock.Tasks, func() {
		a := x.Tx.Arena()
		at := x.Tx.Exercise(x.Rules.dso, "DsoRules_CreateTransferCommandCounter",
			a.Record(createCounterShape, model.PartyValue(sender)), model.Dso)
		c := x.Tx.Create(model.CommandCounterTemplate, model.CommandCounter{Sender: sender})
		x.Tx.Finish(at, a.Record(createCounterDoneShape, model.ContractID(c.Number)))
		x.counters[sender] = c
	})
}

// settleCommand ends a transfer command, unless it must wait for one before it.
func (x *commands) settleCommand() bool {
	if len(x.open) == 0 {
		return false
	}
	i := x.Random.Below(min(3, len(x.open))) // old ones first: they may hold up others
	c := x.open[i]
	p := c.Contract.Payload.(model.TransferCommand)
	if x.users.isManaged(p.Sender) {
		return false
	}
	a := x.Tx.Arena()
	over := func() model.Value {
		return a.Record(CommandOverShape, model.PartyValue(p.Sender), model.Int64Value(p.Nonce))
	}
	counter := x.counters[p.Sender]
	switch {
	case p.ExpiresAt <= x.Clock.EffectiveAt:
		at := x.Tx.Consume(c.Contract, "TransferCommand_Expire", a.Record(cancelShape, model.PartyValue(model.Dso)), model.Dso)
		x.Tx.Finish(at, over())
		c.Status, c.Reason = CommandExpired, "The TransferCommand has expired"
	case x.Random.Percent(10):
		at := x.Tx.Consume(c.Contract, "TransferCommand_Withdraw", a.Record(model.EmptyRecordShape), p.Sender)
		x.Tx.Finish(at, over())
		c.Status, c.Reason = commandWithdrawn, "The TransferCommand has been withdrawn by the sender"
	case counter == nil || counter.Payload.(model.CommandCounter).NextNonce < p.Nonce:
		return false
	default:
		x.sendCommand(c, p, counter)
	}
	c.at = x.Clock.RecordTime
	x.open = append(x.open[:i], x.open[i+1:]...)
	return true
}

// sendCommand has the delegate carry out a command. It uses the nonce up even if the
// transfer fails.
func (x *commands) sendCommand(c *CommandState, p model.TransferCommand, counter *model.Contract) {
	a := x.Tx.Arena()
	pay := Payment{Sender: p.Sender, Provider: p.Delegate,
		Outputs: []Output{{Receiver: p.Receiver, Amount: p.Amount, reason: p.Description}}}
	fresh := counter.Payload.(model.CommandCounter).NextNonce == p.Nonce
	approval := x.preapprovals.PreapprovalOf(p.Receiver)
	funded := false
	if fresh && approval != nil {
		gather := x.bank.gather
		if x.users.acting == p.Sender {
			gather = x.bank.gatherLargest
		}
		pay.Coins, funded = gather(p.Sender, p.Amount+2*x.payments.OutputFee())
	}
	at := x.Tx.Consume(c.Contract, "TransferCommand_Send", a.Record(sendCommandShape, x.payments.paymentContext(&pay),
		x.payments.inputsValue(&pay), model.Optional(a, approval != nil, IdOf(approval)), model.ContractID(counter.Number)), p.Delegate)
	if fresh {
		x.Tx.Archive(counter)
		x.counters[p.Sender] = x.Tx.Create(model.CommandCounterTemplate, model.CommandCounter{Sender: p.Sender, NextNonce: p.Nonce + 1})
	}
	var result model.Value
	switch {
	case !fresh:
		result = x.commandFailed(c, "nonce was already used")
	case approval == nil:
		result = x.commandFailed(c, "No TransferPreapproval for receiver '"+x.Names.Name(p.Receiver)+"'")
	case !funded:
		c.Status, c.Reason = CommandFailed, "ITR_InsufficientFunds("+p.Amount.String()+")"
		result = a.Variant("TransferCommandResultFailure", a.Record(CommandFailureShape,
			a.Variant("ITR_InsufficientFunds", a.Record(MissingFundsShape, model.Numeric(p.Amount)))))
	default:
		c.Status = CommandSent
		result = a.Variant("TransferCommandResultSuccess", a.Record(CommandSuccessShape,
			x.preapprovals.sendThrough(approval, pay, p.Amount, p.Description)))
	}
	x.Tx.Finish(at, a.Record(CommandDoneShape, result, model.PartyValue(p.Sender), model.Int64Value(p.Nonce)))
}

// commandFailed notes a failure and returns it as the result of a choice.
func (x *commands) commandFailed(c *CommandState, description string) model.Value {
	a := x.Tx.Arena()
	c.Status, c.Reason = CommandFailed, "ITR_Other("+description+")"
	return a.Variant("TransferCommandResultFailure", a.Record(CommandFailureShape,
		a.Variant("ITR_Other", a.Record(OtherReasonShape, model.Text(description)))))
}

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
