package model

var dealShape = NewShape("venue", "transferLegs", "createdAt", "prepareUntil", "settleBefore")

// Deal is a contract of an app: transfers on which some parties agree at a venue, for which it asks them
// for allocations. Of a leg it has what is below transferLeg, and the id.
type Deal struct {
	Venue                                 Party
	Legs                                  []Leg // by id
	CreatedAt, PrepareUntil, SettleBefore int64 // µs
}

// Arguments implements Payload.
func (p Deal) Arguments(a *Arena, _ uint8) Value {
	var legs []Value
	for i := range p.Legs {
		legs = append(legs, Text(p.Legs[i].Id), p.Legs[i].transfer(a))
	}
	return a.Record(dealShape, PartyValue(p.Venue), a.TextMap(legs...), Timestamp(p.CreatedAt), Timestamp(p.PrepareUntil), Timestamp(p.SettleBefore))
}

// Stakeholders implements Payload.
func (p Deal) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	for i := range p.Legs {
		obs = append(obs, p.Legs[i].Sender, p.Legs[i].Receiver)
	}
	return append(sig, p.Venue), obs
}
