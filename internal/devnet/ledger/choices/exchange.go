package choices

import (
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed catalog/*.yaml
var appFiles embed.FS

// catalog has the types of the network's packages and of those of its apps.
var catalog = sync.OnceValue(func() *values.Catalog {
	files, err := fs.Sub(appFiles, "catalog")
	if err != nil {
		panic(fmt.Sprintf("opening the catalogue of apps: %v", err)) // it is embedded
	}
	c, err := values.Load(files)
	if err != nil {
		panic(fmt.Sprintf("reading the catalogue of apps: %v", err)) // every test of commands reads it
	}
	return c
})

var executionMetadataShape = model.NewShape("meta")

// addExchangeChoices are those of an app whose deals ask their parties for allocations, by an interface
// of the token standard.
func addExchangeChoices(all *choices) {
	all.creations[model.DealTemplate] = readDeal
	all.on(model.DealTemplate, "AllocationRequest_Reject", consuming(byArgument("actor"), rejectDeal).of(model.AllocationRequestInterface))
	all.on(model.DealTemplate, "AllocationRequest_Withdraw", consuming(
		byPayload(func(p model.Deal) []model.Party { return []model.Party{p.Venue} }), toExecutionMetadata).of(model.AllocationRequestInterface))
}

func readDeal(e *Execution, a model.Argument) model.Payload {
	p := model.Deal{Venue: a.Party("venue"), CreatedAt: a.Time("createdAt"), PrepareUntil: a.Time("prepareUntil"), SettleBefore: a.Time("settleBefore")}
	legs := a.List("transferLegs")
	require(len(legs) > 0, "a deal has no legs")
	for i := 0; i < len(legs); i += 2 {
		leg := model.Argument{V: &legs[i+1]}
		require(len(legs[i].Text) <= maxTextLength, "a text is longer than %d bytes", maxTextLength)
		e.expectsCoins(model.Dso, leg.Record("instrumentId"))
		positive("amount", leg.Numeric("amount"))
		p.Legs = append(p.Legs, model.Leg{Id: legs[i].Text, Sender: leg.Party("sender"), Receiver: leg.Party("receiver"),
			Amount: leg.Numeric("amount"), Meta: leg.Metadata("meta")})
	}
	require(p.CreatedAt <= e.Now(), "createdAt %s is in the future", microsText(p.CreatedAt))
	require(p.PrepareUntil <= p.SettleBefore, "settleBefore %s is earlier than prepareUntil, %s", microsText(p.SettleBefore), microsText(p.PrepareUntil))
	e.later("prepareUntil", p.PrepareUntil)
	return p
}

// rejectDeal ends a deal on behalf of a party that it asks for coins.
func rejectDeal(e *Execution, c *model.Contract, arg model.Argument) model.Value {
	asked := false
	for _, leg := range c.Payload.(model.Deal).Legs {
		asked = asked || leg.Sender == arg.Party("actor")
	}
	require(asked, "%s is not asked for an allocation", e.Names.Name(arg.Party("actor")))
	return toExecutionMetadata(e, c, arg)
}

// toExecutionMetadata is for choices of the token standard that return metadata alone.
func toExecutionMetadata(e *Execution, _ *model.Contract, _ model.Argument) model.Value {
	a := e.Tx.Arena()
	return a.Record(executionMetadataShape, model.Metadata(a))
}
