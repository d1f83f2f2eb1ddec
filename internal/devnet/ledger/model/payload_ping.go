package model

var pingShape = NewShape("id", "initiator", "responder")

// Ping asks another party for a sign of life. Every node has its package.
type Ping struct {
	ID                   string
	Initiator, Responder Party
}

// Arguments implements Payload.
func (p Ping) Arguments(a *Arena, _ uint8) Value {
	return a.Record(pingShape, Text(p.ID), PartyValue(p.Initiator), PartyValue(p.Responder))
}

// Stakeholders implements Payload.
func (p Ping) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Initiator), append(obs, p.Responder)
}
