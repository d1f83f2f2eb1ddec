package choices

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

var (
	factoryTransferShape = model.NewShape("expectedAdmin", "transfer", "extraArgs")
	instructionArgShape  = model.NewShape("extraArgs")
)

// addTokenV2Choices are transfers by the second version of the token standard. Each does its work by
// the choice of the first version, as wallets know that one.
func addTokenV2Choices(all *choices) {
	all.on(model.ExternalRulesTemplate, "TransferFactory_Transfer", nonconsuming(byActors, transferV2).of(model.TransferFactoryV2Interface).seenBy(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			t := arg.Record("transfer")
			return []model.Party{basicAccount(t.Record("sender")), basicAccount(t.Record("receiver"))}
		}))
	for choice, actor := range map[string]func(model.TokenTransfer) model.Party{
		"TransferInstruction_Accept":   func(t model.TokenTransfer) model.Party { return t.Receiver },
		"TransferInstruction_Reject":   func(t model.TokenTransfer) model.Party { return t.Receiver },
		"TransferInstruction_Withdraw": func(t model.TokenTransfer) model.Party { return t.Sender },
	} {
		all.on(model.TransferInstructionTemplate, choice, nonconsuming(byActors, func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
			e.actsOnly(arg, actor(c.Payload.(model.TransferInstruction).Transfer))
			return e.perform(c, choice, e.Tx.Arena().Record(instructionArgShape, *arg.At("extraArgs")))
		}).of(model.TransferInstructionV2Interface).seenBy(contractObservers))
	}
}

// byActors are the controllers that the argument lists.
func byActors(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
	return partiesOf(arg.List("actors"))
}

func contractObservers(_ *Execution, c *model.Contract, _ model.Argument) []model.Party {
	_, observers := c.Payload.Stakeholders(nil, nil)
	return observers
}

func partiesOf(list []model.Value) []model.Party {
	parties := make([]model.Party, len(list))
	for i, v := range list {
		parties[i] = model.Party(v.Num)
	}
	return parties
}

// actsOnly checks that the actors of an argument are some parties and nobody else.
func (e *Execution) actsOnly(arg model.Argument, parties ...model.Party) {
	actors := byActors(e, nil, arg)
	for _, p := range parties {
		require(slices.Contains(actors, p), "%s is not among the actors", e.Names.Name(p))
	}
	for _, p := range actors {
		require(slices.Contains(parties, p), "%s is among the actors, but may not act here", e.Names.Name(p))
	}
}

// basicAccount is the owner of an account that has no provider.
func basicAccount(v model.Argument) model.Party {
	owner := v.Given("owner")
	require(owner != nil && v.Given("provider") == nil && v.Text("id") == "", "only accounts of an owner alone hold coins")
	return model.Party(owner.Num)
}

// noAccountsIn checks metadata, in which contracts of the first version have accounts.
func noAccountsIn(meta []string) {
	for i := 0; i < len(meta); i += 2 {
		require(!strings.HasPrefix(meta[i], "cip-112/"), "metadata cannot have the key %.100s", meta[i])
	}
}

// transferV2 executes a transfer between accounts.
func transferV2(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	a, v := e.Tx.Arena(), arg.Record("transfer")
	t := model.TokenTransfer{Sender: basicAccount(v.Record("sender")), Receiver: basicAccount(v.Record("receiver")), Amount: v.Numeric("amount"),
		RequestedAt: v.Time("requestedAt"), ExecuteBefore: v.Time("executeBefore"), Inputs: numbersOf(v.List("inputHoldingCids")), Meta: v.Metadata("meta")}
	e.actsOnly(arg, t.Sender)
	noAccountsIn(t.Meta)
	instrument := v.Record("instrumentId")
	e.expectsCoins(instrument.Party("admin"), instrument)
	return e.perform(c, "TransferFactory_Transfer", a.Record(factoryTransferShape, model.PartyValue(model.Dso), t.Value(a), *arg.At("extraArgs")))
}

// numbersOf are the contracts that a list names.
func numbersOf(list []model.Value) (numbers []uint64) {
	for _, v := range list {
		numbers = append(numbers, uint64(v.Num))
	}
	return numbers
}
