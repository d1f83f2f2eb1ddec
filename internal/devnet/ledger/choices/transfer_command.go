package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addCommandChoices(all *choices) {
	all.on(model.ExternalRulesTemplate, "ExternalPartyAmuletRules_CreateTransferCommand", nonconsuming(byArgument("sender"), orderByCommand))
	over := func(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
		p := c.Payload.(model.TransferCommand)
		return e.Tx.Arena().Record(sim.CommandOverShape, model.PartyValue(p.Sender), model.Int64Value(p.Nonce)), nil
	}
	all.on(model.TransferCommandTemplate, "TransferCommand_Withdraw", consuming(
		byPayload(func(p model.TransferCommand) []model.Party { return []model.Party{p.Sender} }), over))
	all.on(model.TransferCommandTemplate, "TransferCommand_Expire", consuming(byArgument("p"),
		func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
			p, by := c.Payload.(model.TransferCommand), arg.Party("p")
			if by != p.Sender && by != p.Delegate && by != model.Dso {
				return model.Value{}, broken("%s is no party to the command", e.Names.Name(by))
			}
			if p.ExpiresAt > e.Now() {
				return model.Value{}, broken("the command expires at %s only", microsText(p.ExpiresAt))
			}
			return over(e, c, arg)
		}))
	all.on(model.TransferCommandTemplate, "TransferCommand_Send", consuming(
		byPayload(func(p model.TransferCommand) []model.Party { return []model.Party{p.Delegate} }), sendByCommand))
}

// orderByCommand has a sender order a transfer. Its nonce is only looked at when the
// transfer is carried out.
func orderByCommand(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return model.Value{}, err
	}
	p := model.TransferCommand{Sender: arg.Party("sender"), Receiver: arg.Party("receiver"), Delegate: arg.Party("delegate"),
		Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Nonce: arg.Int64("nonce"), Description: arg.OptionalText("description")}
	if p.Nonce < 0 {
		return model.Value{}, broken("nonce %d is negative", p.Nonce)
	}
	if len(p.Description) > maxTextLength {
		return model.Value{}, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.positive("amount", p.Amount); err != nil {
		return model.Value{}, err
	}
	if err := e.later("expiry of the command at", p.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	return e.addTo(sim.CreateCommandDoneShape, model.TransferCommandTemplate, p)
}

// sendByCommand carries a transfer command out. A nonce that is used already makes it fail, one
// whose turn has not come yet refuses it; else the nonce is used up, whatever comes of the
// transfer.
func sendByCommand(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	p := c.Payload.(model.TransferCommand)
	if err := e.later("expiry of the command at", p.ExpiresAt); err != nil {
		return model.Value{}, err
	}
	counter, err := e.fetchOf(model.CommandCounterTemplate, arg.Contract("transferCounterCid"))
	if err != nil {
		return model.Value{}, err
	}
	next := counter.Payload.(model.CommandCounter)
	switch {
	case next.Sender != p.Sender:
		return model.Value{}, broken("the counter is one of %s", e.Names.Name(next.Sender))
	case next.NextNonce < p.Nonce:
		return model.Value{}, broken("nonce %d is not the next one yet, %d is", p.Nonce, next.NextNonce).with("error_id", "nonce-too-high")
	}
	result := func(reason func(a *model.Arena) model.Value) model.Value {
		a := e.Tx.Arena()
		return a.Variant("TransferCommandResultFailure", a.Record(sim.CommandFailureShape, reason(a)))
	}
	var outcome model.Value
	if next.NextNonce > p.Nonce {
		outcome = result(otherReason("nonce was already used"))
	} else {
		e.Tx.Archive(counter)
		e.Tx.Create(model.CommandCounterTemplate, model.CommandCounter{Sender: p.Sender, NextNonce: p.Nonce + 1})
		outcome, err = sendNow(e, p, arg, result)
		if err != nil {
			return model.Value{}, err
		}
	}
	return e.Tx.Arena().Record(sim.CommandDoneShape, outcome, model.PartyValue(p.Sender), model.Int64Value(p.Nonce)), nil
}

// sendNow executes the transfer of a command whose turn has come.
func sendNow(e *Execution, p model.TransferCommand, arg model.Argument, failure func(func(a *model.Arena) model.Value) model.Value) (model.Value, error) {
	approval := arg.Given("transferPreapprovalCidO")
	if approval == nil {
		return failure(otherReason("No TransferPreapproval for receiver '" + e.Names.Name(p.Receiver) + "'")), nil
	}
	c, err := e.fetchOf(model.PreapprovalTemplate, uint64(approval.Num))
	if err != nil {
		return model.Value{}, err
	}
	if to := c.Payload.(model.Preapproval); to.Receiver != p.Receiver {
		return model.Value{}, broken("the preapproval is one of %s, the receiver is %s", e.Names.Name(to.Receiver), e.Names.Name(p.Receiver))
	}
	a, start := e.Tx.Arena(), e.savepoint()
	sent, err := e.perform(c, "TransferPreapproval_Send", a.Record(sim.SendShape, *arg.At("context"), *arg.At("inputs"),
		model.Numeric(p.Amount), model.PartyValue(p.Sender), model.OptionalText(a, p.Description)))
	var invalid *invalidTransfer
	if asInvalid(err, &invalid) {
		e.rollback(start)
		return failure(invalid.reason), nil
	}
	if err != nil {
		return model.Value{}, err
	}
	return a.Variant("TransferCommandResultSuccess", a.Record(sim.CommandSuccessShape, *model.Argument{V: &sent}.At("result"))), nil
}
