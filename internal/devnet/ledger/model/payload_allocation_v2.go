package model

var (
	allocationV2Shape     = NewShape("lockedAmulet", "settlement", "allocation", "expiresAt", "numIterations", "createdAt")
	settlementV2Shape     = NewShape("executors", "id", "cid", "meta")
	accountShape          = NewShape("owner", "provider", "id")
	legSideShape          = NewShape("transferLegId", "side", "otherside", "amount", "instrumentId", "meta")
	allocationSpecV2Shape = NewShape("admin", "authorizer", "transferLegSides", "settlementDeadline", "nextIterationFunding", "committed", "meta")
)

// LegSide is what a transfer of a settlement means to one of its two accounts.
type LegSide struct {
	Id     string
	Sends  bool  // else it receives
	Other  Party // whose account is the other side
	Amount Decimal
	Meta   []string
}

// AllocationV2 holds coins of an owner ready for a settlement, by the second version of the token
// standard. Accounts are those of their owners alone.
type AllocationV2 struct {
	Locked         uint64 // contract number of the locked coin, 0 for none
	Executors      []Party
	Reference      string
	Referenced     uint64 // contract number of the reference, 0 for none
	SettlementMeta []string
	Owner          Party
	Sides          []LegSide
	Deadline       int64 // µs, 0 for none
	// Iterated says that another allocation follows, with Next coins.
	Iterated             bool
	Next                 Decimal
	Committed            bool
	Meta                 []string
	ExpiresAt, CreatedAt int64 // µs
}

func accountOf(a *Arena, owner Party) Value {
	return a.Record(accountShape, a.Some(PartyValue(owner)), None(), Text(""))
}

func (p AllocationV2) Arguments(a *Arena, _ uint8) Value {
	settlement := a.Record(settlementV2Shape, ListOf(a, p.Executors, PartyValue), Text(p.Reference),
		Optional(a, p.Referenced != 0, ContractID(p.Referenced)), textMetadata(a, p.SettlementMeta))
	sides := ListOf(a, p.Sides, func(s LegSide) Value {
		side := "ReceiverSide"
		if s.Sends {
			side = "SenderSide"
		}
		return a.Record(legSideShape, Text(s.Id), Enum(side), accountOf(a, s.Other), Numeric(s.Amount), Text(InstrumentAmuletInPayload), textMetadata(a, s.Meta))
	})
	next := a.TextMap()
	if p.Next != 0 {
		next = a.TextMap(Text(InstrumentAmuletInPayload), Numeric(p.Next))
	}
	spec := a.Record(allocationSpecV2Shape, PartyValue(Dso), accountOf(a, p.Owner), sides, Optional(a, p.Deadline != 0, Timestamp(p.Deadline)),
		Optional(a, p.Iterated, next), Boolean(p.Committed), textMetadata(a, p.Meta))
	return a.Record(allocationV2Shape, Optional(a, p.Locked != 0, ContractID(p.Locked)), settlement, spec, Timestamp(p.ExpiresAt), Int64Value(0), Timestamp(p.CreatedAt))
}

func (p AllocationV2) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.Owner), append(obs, p.Executors...)
}

// Needs is what is locked for it.
func (p AllocationV2) Needs() (sum Decimal) {
	sum = p.Next
	for _, s := range p.Sides {
		if s.Sends {
			sum += s.Amount
		}
	}
	return sum
}
