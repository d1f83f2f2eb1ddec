package devnet

// commands are the transfer commands of external parties.
type commands struct {
	core
	bank         *bank
	payments     *payments
	users        *users
	preapprovals *preapprovals

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
func (x *commands) orderTransfer() bool {
	sender := x.names.external.of(x.random)
	if x.users.isManaged(sender) {
		return false
	}
	p := transferCommand{sender: sender, receiver: x.someReceiver(), delegate: x.names.validatorOf(sender),
		amount:    x.random.decimalBetween(one/10, coins(20)),
		expiresAt: x.clock.effectiveAt + x.clock.tick*int64(x.random.between(1, 8)), nonce: x.nextNonce(sender), description: x.users.reason()}
	if x.random.percent(8) && p.nonce > 0 {
		p.nonce-- // a client that counts wrong
	}
	a := x.tx.arena()
	at := x.tx.exercise(x.rules.external, "ExternalPartyAmuletRules_CreateTransferCommand", a.record(createCommandShape,
		partyValue(sender), partyValue(p.receiver), partyValue(p.delegate), numeric(p.amount), timestamp(p.expiresAt),
		int64Value(p.nonce), optionalText(a, p.description), x.tx.expectedDSO()), sender)
	c := x.tx.create(transferCommandTemplate, p)
	x.tx.finish(at, a.record(createCommandDoneShape, contractID(c.number)))
	x.remember(&command{contract: c, status: commandCreated, at: x.clock.recordTime})
	x.askForCounter(sender)
	return true
}

// someReceiver mostly is somebody with a preapproval; apps never have one.
func (x *commands) someReceiver() party {
	if x.random.percent(20) {
		return x.names.providers.of(x.random)
	}
	c := x.preapprovals.somePreapproval()
	if c == nil {
		return x.users.someUser()
	}
	x.preapprovals.list = append(x.preapprovals.list, c)
	return c.payload.(preapproval).receiver
}

// nextNonce is the nonce that a careful sender uses: behind its open commands.
func (x *commands) nextNonce(sender party) int64 {
	var nonce int64
	if c := x.counters[sender]; c != nil {
		nonce = c.payload.(commandCounter).nextNonce
	}
	for _, c := range x.open {
		if p := c.contract.payload.(transferCommand); p.sender == sender && p.nonce >= nonce {
			nonce = p.nonce + 1
		}
	}
	return nonce
}

// remember adds a command and forgets those of which nothing was heard for a day.
func (x *commands) remember(c *command) {
	x.open = append(x.open, c)
	x.recall(c)
}

// recall has the status of a command remembered.
func (x *commands) recall(c *command) {
	r := append(x.recent, c)
	for r[0].at <= x.clock.recordTime-commandMemory {
		r[0] = nil
		r = r[1:]
	}
	x.recent = r
}

// askForCounter queues the creation of the counter of a new sender.
func (x *commands) askForCounter(sender party) {
	if x.asked[sender] {
		return
	}
	if x.asked == nil {
		x.asked, x.counters = map[party]bool{}, map[party]*contract{}
	}
	x.asked[sender] = true
	x.clock.tasks = append(x.clock.tasks, func() {
		a := x.tx.arena()
		at := x.tx.exercise(x.rules.dso, "DsoRules_CreateTransferCommandCounter",
			a.record(createCounterShape, partyValue(sender)), dso)
		c := x.tx.create(commandCounterTemplate, commandCounter{sender: sender})
		x.tx.finish(at, a.record(createCounterDoneShape, contractID(c.number)))
		x.counters[sender] = c
	})
}

// settleCommand ends a transfer command, unless it must wait for one before it.
func (x *commands) settleCommand() bool {
	if len(x.open) == 0 {
		return false
	}
	i := x.random.below(min(3, len(x.open))) // old ones first: they may hold up others
	c := x.open[i]
	p := c.contract.payload.(transferCommand)
	if x.users.isManaged(p.sender) {
		return false
	}
	a := x.tx.arena()
	over := func() value { return a.record(commandOverShape, partyValue(p.sender), int64Value(p.nonce)) }
	counter := x.counters[p.sender]
	switch {
	case p.expiresAt <= x.clock.effectiveAt:
		at := x.tx.consume(c.contract, "TransferCommand_Expire", a.record(cancelShape, partyValue(dso)), dso)
		x.tx.finish(at, over())
		c.status, c.reason = commandExpired, "The TransferCommand has expired"
	case x.random.percent(10):
		at := x.tx.consume(c.contract, "TransferCommand_Withdraw", a.record(emptyRecordShape), p.sender)
		x.tx.finish(at, over())
		c.status, c.reason = commandWithdrawn, "The TransferCommand has been withdrawn by the sender"
	case counter == nil || counter.payload.(commandCounter).nextNonce < p.nonce:
		return false
	default:
		x.sendCommand(c, p, counter)
	}
	c.at = x.clock.recordTime
	x.open = append(x.open[:i], x.open[i+1:]...)
	return true
}

// sendCommand has the delegate carry out a command. It uses the nonce up even if the
// transfer fails.
func (x *commands) sendCommand(c *command, p transferCommand, counter *contract) {
	a := x.tx.arena()
	pay := payment{sender: p.sender, provider: p.delegate,
		outputs: []output{{receiver: p.receiver, amount: p.amount, reason: p.description}}}
	fresh := counter.payload.(commandCounter).nextNonce == p.nonce
	approval := x.preapprovals.preapprovalOf(p.receiver)
	funded := false
	if fresh && approval != nil {
		gather := x.bank.gather
		if x.users.acting == p.sender {
			gather = x.bank.gatherLargest
		}
		pay.coins, funded = gather(p.sender, p.amount+2*x.payments.outputFee())
	}
	at := x.tx.consume(c.contract, "TransferCommand_Send", a.record(sendCommandShape, x.payments.paymentContext(&pay),
		x.payments.inputsValue(&pay), optional(a, approval != nil, idOf(approval)), contractID(counter.number)), p.delegate)
	if fresh {
		x.tx.archive(counter)
		x.counters[p.sender] = x.tx.create(commandCounterTemplate, commandCounter{p.sender, p.nonce + 1})
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
			x.preapprovals.sendThrough(approval, pay, p.amount, p.description)))
	}
	x.tx.finish(at, a.record(commandDoneShape, result, partyValue(p.sender), int64Value(p.nonce)))
}

// commandFailed notes a failure and returns it as the result of a choice.
func (x *commands) commandFailed(c *command, description string) value {
	a := x.tx.arena()
	c.status, c.reason = commandFailed, "ITR_Other("+description+")"
	return a.variant("TransferCommandResultFailure", a.record(commandFailureShape,
		a.variant("ITR_Other", a.record(otherReasonShape, text(description)))))
}
