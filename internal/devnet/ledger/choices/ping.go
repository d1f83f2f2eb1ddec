package choices

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

// addPingChoices are those of the package by which nodes try each other.
func addPingChoices(all *choices) {
	all.creations[model.PingTemplate] = func(_ *Execution, a model.Argument) model.Payload {
		return model.Ping{ID: a.Text("id"), Initiator: a.Party("initiator"), Responder: a.Party("responder")}
	}
	all.on(model.PingTemplate, "Respond", consuming(byPayload(func(p model.Ping) []model.Party { return []model.Party{p.Responder} }), toUnit))
}
