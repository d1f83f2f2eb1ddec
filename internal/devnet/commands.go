package devnet

// commands are the transfer commands of external parties.
type commands struct {
	open []*command
	// recent are those whose status changed within the last day, and perhaps older
	// ones, in order of creation.
	recent   []*command
	counters map[party]*contract // by sender
	asked    map[party]bool      // senders for whom a counter is on its way
	// submitted are the open ones of parties that act by commands.
	submitted []*command
}

// command is a transfer command with what became of it.
type command struct {
	contract *contract
	status   commandStatus
	reason   string // of a failure
	at       int64  // record time of the last change, µs
}

type commandStatus string

const (
	commandCreated   commandStatus = "created"
	commandSent      commandStatus = "sent"
	commandFailed    commandStatus = "failed"
	commandExpired   commandStatus = "expired"
	commandWithdrawn commandStatus = "withdrawn"
)

// commandMemory is how long, in µs, the status of a command is remembered.
const commandMemory = 24 * 3600e6

var (
	createCommandShape     = newShape("sender", "receiver", "delegate", "amount", "expiresAt", "nonce", "description", "expectedDso")
	createCommandDoneShape = newShape("transferCommandCid")
	sendCommandShape       = newShape("context", "inputs", "transferPreapprovalCidO", "transferCounterCid")
	commandDoneShape       = newShape("result", "sender", "nonce")
	commandOverShape       = newShape("sender", "nonce")
	commandFailureShape    = newShape("reason")
	commandSuccessShape    = newShape("result")
	otherReasonShape       = newShape("description")
	missingFundsShape      = newShape("missingAmount")
	createCounterShape     = newShape("sender")
	createCounterDoneShape = newShape("transferCommandCounterCid")
)

// orderTransfer has an external party order a transfer.
func (x *executor) orderTransfer() bool {
	sender := x.names.external.of(&x.random)
	if x.isManaged(sender) {
		return false
	}
	p := transferCommand{sender: sender, receiver: x.someReceiver(), delegate: x.names.validatorOf(sender),
		amount:    x.random.decimalBetween(one/10, coins(20)),
		expiresAt: x.effectiveAt + x.tick*int64(x.random.between(1, 8)), nonce: x.nextNonce(sender), description: x.reason()}
	if x.random.percent(8) && p.nonce > 0 {
		p.nonce-- // a client that counts wrong
	}
	a := x.arena()
	at := x.exercise(x.rules.external, "ExternalPartyAmuletRules_CreateTransferCommand", a.record(createCommandShape,
		partyValue(sender), partyValue(p.receiver), partyValue(p.delegate), numeric(p.amount), timestamp(p.expiresAt),
		int64Value(p.nonce), optionalText(a, p.description), x.expectedDSO()), sender)
	c := x.create(transferCommandTemplate, p)
	x.finish(at, a.record(createCommandDoneShape, contractID(c.number)))
	x.remember(&command{contract: c, status: commandCreated, at: x.recordTime})
	x.askForCounter(sender)
	return true
}

// someReceiver mostly is somebody with a preapproval; apps never have one.
func (x *executor) someReceiver() party {
	if x.random.percent(20) {
		return x.names.providers.of(&x.random)
	}
	c := x.somePreapproval()
	if c == nil {
		return x.someUser()
	}
	x.preapprovals = append(x.preapprovals, c)
	return c.payload.(preapproval).receiver
}

// nextNonce is the nonce that a careful sender uses: behind its open commands.
func (x *executor) nextNonce(sender party) int64 {
	var nonce int64
	if c := x.commands.counters[sender]; c != nil {
		nonce = c.payload.(commandCounter).nextNonce
	}
	for _, c := range x.commands.open {
		if p := c.contract.payload.(transferCommand); p.sender == sender && p.nonce >= nonce {
			nonce = p.nonce + 1
		}
	}
	return nonce
}

// remember adds a command and forgets those of which nothing was heard for a day.
func (x *executor) remember(c *command) {
	x.commands.open = append(x.commands.open, c)
	x.recall(c)
}

// recall has the status of a command remembered.
func (x *executor) recall(c *command) {
	r := append(x.commands.recent, c)
	for r[0].at <= x.recordTime-commandMemory {
		r[0] = nil
		r = r[1:]
	}
	x.commands.recent = r
}

// askForCounter queues the creation of the counter of a new sender.
func (x *executor) askForCounter(sender party) {
	if x.commands.asked[sender] {
		return
	}
	if x.commands.asked == nil {
		x.commands.asked, x.commands.counters = map[party]bool{}, map[party]*contract{}
	}
	x.commands.asked[sender] = true
	x.tasks = append(x.tasks, func() {
		a := x.arena()
		at := x.exercise(x.rules.dso, "DsoRules_CreateTransferCommandCounter",
			a.record(createCounterShape, partyValue(sender)), dso)
		c := x.create(commandCounterTemplate, commandCounter{sender: sender})
		x.finish(at, a.record(createCounterDoneShape, contractID(c.number)))
		x.commands.counters[sender] = c
	})
}

// settleCommand ends a transfer command, unless it must wait for one before it.
func (x *executor) settleCommand() bool {
	if len(x.commands.open) == 0 {
		return false
	}
	i := x.random.below(min(3, len(x.commands.open))) // old ones first: they may hold up others
	c := x.commands.open[i]
	p := c.contract.payload.(transferCommand)
	if x.isManaged(p.sender) {
		return false
	}
	a := x.arena()
	over := func() value { return a.record(commandOverShape, partyValue(p.sender), int64Value(p.nonce)) }
	counter := x.commands.counters[p.sender]
	switch {
	case p.expiresAt <= x.effectiveAt:
		at := x.consume(c.contract, "TransferCommand_Expire", a.record(cancelShape, partyValue(dso)), dso)
		x.finish(at, over())
		c.status, c.reason = commandExpired, "The TransferCommand has expired"
	case x.random.percent(10):
		at := x.consume(c.contract, "TransferCommand_Withdraw", a.record(emptyRecordShape), p.sender)
		x.finish(at, over())
		c.status, c.reason = commandWithdrawn, "The TransferCommand has been withdrawn by the sender"
	case counter == nil || counter.payload.(commandCounter).nextNonce < p.nonce:
		return false
	default:
		x.sendCommand(c, p, counter)
	}
	c.at = x.recordTime
	x.commands.open = append(x.commands.open[:i], x.commands.open[i+1:]...)
	return true
}

// sendCommand has the delegate carry out a command. It uses the nonce up even if the
// transfer fails.
func (x *executor) sendCommand(c *command, p transferCommand, counter *contract) {
	a := x.arena()
	pay := payment{sender: p.sender, provider: p.delegate,
		outputs: []output{{receiver: p.receiver, amount: p.amount, reason: p.description}}}
	fresh := counter.payload.(commandCounter).nextNonce == p.nonce
	approval := x.preapprovalOf(p.receiver)
	funded := false
	if fresh && approval != nil {
		gather := x.gather
		if x.acting == p.sender {
			gather = x.gatherLargest
		}
		pay.coins, funded = gather(p.sender, p.amount+2*x.outputFee())
	}
	at := x.consume(c.contract, "TransferCommand_Send", a.record(sendCommandShape, x.paymentContext(&pay),
		x.inputsValue(&pay), optional(a, approval != nil, idOf(approval)), contractID(counter.number)), p.delegate)
	if fresh {
		x.archive(counter)
		x.commands.counters[p.sender] = x.create(commandCounterTemplate, commandCounter{p.sender, p.nonce + 1})
	}
	var result value
	switch {
	case !fresh:
		result = x.commandFailed(c, "nonce was already used")
	case approval == nil:
		result = x.commandFailed(c, "No TransferPreapproval for receiver '"+x.names.name(p.receiver)+"'")
	case !funded:
		c.status, c.reason = commandFailed, "ITR_InsufficientFunds("+p.amount.String()+")"
		result = a.variant("TransferCommandResultFailure", a.record(commandFailureShape,
			a.variant("ITR_InsufficientFunds", a.record(missingFundsShape, numeric(p.amount)))))
	default:
		c.status = commandSent
		result = a.variant("TransferCommandResultSuccess", a.record(commandSuccessShape,
			x.sendThrough(approval, pay, p.amount, p.description)))
	}
	x.finish(at, a.record(commandDoneShape, result, partyValue(p.sender), int64Value(p.nonce)))
}

// commandFailed notes a failure and returns it as the result of a choice.
func (x *executor) commandFailed(c *command, description string) value {
	a := x.arena()
	c.status, c.reason = commandFailed, "ITR_Other("+description+")"
	return a.variant("TransferCommandResultFailure", a.record(commandFailureShape,
		a.variant("ITR_Other", a.record(otherReasonShape, text(description)))))
}
