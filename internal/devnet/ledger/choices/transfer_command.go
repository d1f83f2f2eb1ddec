package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addCommandChoices(all *choices) {
	all.on(model.ExternalRulesTemplate, "ExternalPartyAmuletRules_CreateTransferCommand", nonconsuming(byArgument("sender"), orderByCommand))
	over := func(e *Execution, c *model.Contract, _ model.Argument) model.Value {
		p := c.Payload.(model.TransferCommand)
		return e.Tx.Arena().Record(sim.CommandOverShape, model.PartyValue(p.Sender), model.Int64Value(p.Nonce))
	}
	all.on(model.TransferCommandTemplate, "TransferCommand_Withdraw", consuming(
		byPayload(func(p model.TransferCommand) []model.Party { return []model.Party{p.Sender} }), over))
	all.on(model.TransferCommandTemplate, "TransferCommand_Expire", consuming(byArgument("p"),
		func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			p, by := c.Payload.(model.TransferCommand), arg.Party("p")
			require(by == p.Sender || by == p.Delegate || by == model.Dso, "%s is not a party to the command", e.Names.Name(by))
			require(p.ExpiresAt <= e.Now(), "the command does not expire until %s", microsText(p.ExpiresAt))
			return over(e, c, arg)
		}))
	all.on(model.TransferCommandTemplate, "TransferCommand_Send", consuming(
		byPayload(func(p model.TransferCommand) []model.Party { return []model.Party{p.Delegate} }), sendByCommand))
}

// orderByCommand has a sender order a transfer. Its nonce is only looked at when the
// transfer is carried out.
func orderByCommand(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
	e.expectsDSO(arg)
	p := model.TransferCommand{Sender: arg.Party("sender"), Receiver: arg.Party("receiver"), Delegate: arg.Party("delegate"),
		Amount: arg.Numeric("amount"), ExpiresAt: arg.Time("expiresAt"), Nonce: arg.Int64("nonce"), Description: arg.OptionalText("description")}
	require(p.Nonce >= 0, "nonce %d is negative", p.Nonce)
	require(len(p.Description) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
	positive("amount", p.Amount)
	e.later("expiry of the command at", p.ExpiresAt)
	return e.addTo(sim.CreateCommandDoneShape, model.TransferCommandTemplate, p)
}

// sendByCommand carries a transfer command out. A nonce that is used already makes it fail, one
// whose turn has not come yet refuses it; else the nonce is used up, whatever comes of the
// transfer.
func sendByCommand(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	p := c.Payload.(model.TransferCommand)
	e.later("expiry of the command at", p.ExpiresAt)
	counter := e.fetchOf(model.CommandCounterTemplate, arg.Contract("transferCounterCid"))
	next := counter.Payload.(model.CommandCounter)
	require(next.Sender == p.Sender, "the counter belongs to %s", e.Names.Name(next.Sender))
	if next.NextNonce < p.Nonce {
		panic(broken("nonce %d is not the next one yet, %d is", p.Nonce, next.NextNonce).with("error_id", "nonce-too-high"))
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
		outcome = sendNow(e, p, arg, result)
	}
	return e.Tx.Arena().Record(sim.CommandDoneShape, outcome, model.PartyValue(p.Sender), model.Int64Value(p.Nonce))
}

// sendNow executes the transfer of a command whose turn has come.
func sendNow(e *Execution, p model.TransferCommand, arg model.Argument, failure func(func(a *model.Arena) model.Value) model.Value) model.Value {
	approval := arg.Given("transferPreapprovalCidO")
	if approval == nil {
		return failure(otherReason("No TransferPreapproval for receiver '" + e.Names.Name(p.Receiver) + "'"))
	}
	c := e.fetchOf(model.PreapprovalTemplate, uint64(approval.Num))
	to := c.Payload.(model.Preapproval).Receiver
	require(to == p.Receiver, "the preapproval is for %s, but the receiver is %s", e.Names.Name(to), e.Names.Name(p.Receiver))
	a, start := e.Tx.Arena(), e.savepoint()
	var sent model.Value
	refusal := attemptTransfer(func() {
		sent = e.perform(c, "TransferPreapproval_Send", a.Record(sim.SendShape, *arg.At("context"), *arg.At("inputs"),
			model.Numeric(p.Amount), model.PartyValue(p.Sender), model.OptionalText(a, p.Description)))
	})
	if refusal != nil {
		e.rollback(start)
		return failure(refusal.invalid)
	}
	return a.Variant("TransferCommandResultSuccess", a.Record(sim.CommandSuccessShape, *model.Argument{V: &sent}.At("result")))
}
