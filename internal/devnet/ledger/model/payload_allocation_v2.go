package model

var (
	allocationV2Shape     = NewShape("lockedAmulet", "settlement", "allocation", "expiresAt", "numIterations", "createdAt")
	settlementV2Shape     = NewShape("executors", "id", "cid", "meta")
	accountShape          = NewShape("owner", "provider", "id")
	legSideShape          = NewShape("transferLegId", "side", "otherside", "amount", "instrumentId", "meta")
	allocationSpecV2Shape = NewShape("admin", "authorizer", "transferLegSides", "settlementDeadline", "nextIterationFunding", "committed", "meta")
)

// BurnAccount and MintAccount stand, in place of an owner, for the accounts into which coins are
// burned and from which they are minted.
const (
	BurnAccount = NoParty - 1
	MintAccount = NoParty - 2
)

// BurnAccountID and MintAccountID are how contracts name those accounts.
const (
	BurnAccountID = "cip-112/burn"
	MintAccountID = "cip-112/mint"
)

// AccountValue is the account of an owner alone, or one without an owner.
func AccountValue(a *Arena, owner Party) Value {
	switch owner {
	case BurnAccount:
		return a.Record(accountShape, None(), None(), Text(BurnAccountID))
	case MintAccount:
		return a.Record(accountShape, None(), None(), Text(MintAccountID))
	}
	return a.Record(accountShape, a.Some(PartyValue(owner)), None(), Text(""))
}

// LegSide is what a transfer of a settlement means to one of its two accounts.
type LegSide struct {
	Id     string
	Sends  bool  // else it receives
	Other  Party // whose account is the other side, or one without an owner
	Amount Decimal
	Meta   []string
}

// Value is the side as contracts have it.
func (s LegSide) Value(a *Arena) Value {
	side := "ReceiverSide"
	if s.Sends {
		side = "SenderSide"
	}
	return a.Record(legSideShape, Text(s.Id), Enum(side), AccountValue(a, s.Other), Numeric(s.Amount), Text(InstrumentAmuletInPayload), textMetadata(a, s.Meta))
}

// NetOf is what sides bring their account, below 0 if it sends more than it receives.
func NetOf(sides []LegSide) (net Decimal) {
	for _, s := range sides {
		if s.Sends {
			net -= s.Amount
		} else {
			net += s.Amount
		}
	}
	return net
}

// Settlement is what allocations of the second version of the token standard are for.
type Settlement struct {
	Executors  []Party
	Reference  string
	Referenced uint64 // contract number of the reference, 0 for none
	Meta       []string
}

func (s Settlement) value(a *Arena) Value {
	return a.Record(settlementV2Shape, ListOf(a, s.Executors, PartyValue), Text(s.Reference),
		Optional(a, s.Referenced != 0, ContractID(s.Referenced)), textMetadata(a, s.Meta))
}

// AllocationV2 holds coins of an owner ready for a settlement, by the second version of the token
// standard. Accounts are those of their owners alone.
type AllocationV2 struct {
	Locked     uint64 // contract number of the locked coin, 0 for none
	Settlement Settlement
	Owner      Party
	Sides      []LegSide
	Deadline   int64 // µs, 0 for none
	// Iterated says that another allocation follows, with Next coins.
	Iterated             bool
	Next                 Decimal
	Committed            bool
	Meta                 []string
	ExpiresAt, CreatedAt int64 // µs
	Iterations           int64 // that were settled before
}

func (p AllocationV2) Arguments(a *Arena, _ uint8) Value {
	spec := a.Record(allocationSpecV2Shape, PartyValue(Dso), AccountValue(a, p.Owner), ListOf(a, p.Sides, func(s LegSide) Value { return s.Value(a) }),
		Optional(a, p.Deadline != 0, Timestamp(p.Deadline)), p.Funding(a), Boolean(p.Committed), textMetadata(a, p.Meta))
	return a.Record(allocationV2Shape, Optional(a, p.Locked != 0, ContractID(p.Locked)), p.Settlement.value(a), spec,
		Timestamp(p.ExpiresAt), Int64Value(p.Iterations), Timestamp(p.CreatedAt))
}

// Funding is what the next iteration has, as contracts have it.
func (p AllocationV2) Funding(a *Arena) Value {
	next := a.TextMap()
	if p.Next != 0 {
		next = a.TextMap(Text(InstrumentAmuletInPayload), Numeric(p.Next))
	}
	return Optional(a, p.Iterated, next)
}

func (p AllocationV2) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, Dso, p.Owner), append(obs, p.Settlement.Executors...)
}

// Needs is what is locked for it: what it sends beyond what it receives, and the funding of the next
// iteration.
func (p AllocationV2) Needs() Decimal { return max(0, p.Next-NetOf(p.Sides)) }
