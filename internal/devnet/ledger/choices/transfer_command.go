package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addCommandChoices(all *choices) {
	all.on(ExternalRulesTemplate, "ExternalPartyAmuletRules_CreateTransferCommand", nonconsuming(byArgument("sender"), orderByCommand))
	over := func(e *Execution, c *Contract, _ Argument) (Value, error) {
		p := c.Payload.(TransferCommand)
		return e.Tx.Arena().Record(CommandOverShape, PartyValue(p.Sender), Int64Value(p.Nonce)), nil
	}
	all.on(TransferCommandTemplate, "TransferCommand_Withdraw", consuming(
		byPayload(func(p TransferCommand) []Party { return []Party{p.Sender} }), over))
	all.on(TransferCommandTemplate, "TransferCommand_Expire", consuming(byArgument("p"),
		func(e *Execution, c *Contract, arg Argument) (Value, error) {
			p, by := c.Payload.(TransferCommand), arg.Party("p")
			if by != p.Sender && by != p.Delegate && by != Dso {
				return Value{}, broken("%s is no party to the command", e.Names.Name(by))
			}
			if p.ExpiresAt > e.Now() {
				return Value{}, broken("the command expires at %s only", microsText(p.ExpiresAt))
			}
			return over(e, c, arg)
		}))
	all.on(TransferCommandTemplate, "TransferCommand_Send", consuming(
		byPayload(func(p TransferCommand) []Party { return []Party{p.Delegate} }), sendByCommand))
}

// orderByCommand has a sender order a transfer. Its nonce is only looked at when the
// transfer is carried out.
func orderByCommand(e *Execution, _ *Contract, arg Argument) (Value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return Value{}, err
	}
	p := TransferCommand{Sender: arg.Party("sender"), Receiver: arg.Party("receiver"), Delegate: arg.Party("delegate"),
		Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Nonce: arg.Int64("nonce"), Description: arg.OptionalText("description")}
	if p.Nonce < 0 {
		return Value{}, broken("nonce %d is negative", p.Nonce)
	}
	if len(p.Description) > maxTextLength {
		return Value{}, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.positive("amount", p.Amount); err != nil {
		return Value{}, err
	}
	if err := e.later("expiry of the command at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	c, err := e.add(TransferCommandTemplate, p)
	if err != nil {
		return Value{}, err
	}
	return e.Tx.Arena().Record(CreateCommandDoneShape, ContractID(c.Number)), nil
}

// sendByCommand carries a transfer command out. A nonce that is used already makes it fail, one
// whose turn has not come yet refuses it; else the nonce is used up, whatever comes of the
// transfer.
func sendByCommand(e *Execution, c *Contract, arg Argument) (Value, error) {
	p := c.Payload.(TransferCommand)
	if err := e.later("expiry of the command at", p.ExpiresAt); err != nil {
		return Value{}, err
	}
	counter, err := e.fetchOf(CommandCounterTemplate, arg.Contract("transferCounterCid"))
	if err != nil {
		return Value{}, err
	}
	next := counter.Payload.(CommandCounter)
	switch {
	case next.Sender != p.Sender:
		return Value{}, broken("the counter is one of %s", e.Names.Name(next.Sender))
	case next.NextNonce < p.Nonce:
		return Value{}, broken("nonce %d is not the next one yet, %d is", p.Nonce, next.NextNonce).with("error_id", "nonce-too-high")
	}
	result := func(reason func(a *Arena) Value) Value {
		a := e.Tx.Arena()
		return a.Variant("TransferCommandResultFailure", a.Record(CommandFailureShape, reason(a)))
	}
	var outcome Value
	if next.NextNonce > p.Nonce {
		outcome = result(otherReason("nonce was already used"))
	} else {
		e.Tx.Archive(counter)
		e.Tx.Create(CommandCounterTemplate, CommandCounter{p.Sender, p.Nonce + 1})
		outcome, err = sendNow(e, p, arg, result)
		if err != nil {
			return Value{}, err
		}
	}
	return e.Tx.Arena().Record(CommandDoneShape, outcome, PartyValue(p.Sender), Int64Value(p.Nonce)), nil
}

// sendNow executes the transfer of a command whose turn has come.
func sendNow(e *Execution, p TransferCommand, arg Argument, failure func(func(a *Arena) Value) Value) (Value, error) {
	approval := arg.Given("transferPreapprovalCidO")
	if approval == nil {
		return failure(otherReason("No TransferPreapproval for receiver '" + e.Names.Name(p.Receiver) + "'")), nil
	}
	c, err := e.fetchOf(PreapprovalTemplate, uint64(approval.Num))
	if err != nil {
		return Value{}, err
	}
	if to := c.Payload.(Preapproval); to.Receiver != p.Receiver {
		return Value{}, broken("the preapproval is one of %s, the receiver is %s", e.Names.Name(to.Receiver), e.Names.Name(p.Receiver))
	}
	a, start := e.Tx.Arena(), e.savepoint()
	sent, err := e.perform(c, "TransferPreapproval_Send", a.Record(SendShape, *arg.At("context"), *arg.At("inputs"),
		Numeric(p.Amount), PartyValue(p.Sender), OptionalText(a, p.Description)))
	var invalid *invalidTransfer
	if asInvalid(err, &invalid) {
		e.rollback(start)
		return failure(invalid.reason), nil
	}
	if err != nil {
		return Value{}, err
	}
	return a.Variant("TransferCommandResultSuccess", a.Record(CommandSuccessShape, *Argument{&sent}.At("result"))), nil
}
