// Package coins knows what choices do to coins, and derives from an update the movements of its parties:
// who got how much of whom, or lost it, and why.
//
// Amounts come from coins, causes from choices. What a party has more or less after an update are the coins
// that were created for it and those of its that were consumed, whatever choice did it; choices divide and
// name it. What they do not explain is a movement of cause Unexplained, so that the movements of a party
// always add up to its coins. Start at frames, the choices that are known, and Deriver.Update.
package coins

import (
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Update is what an update shows of coins.
type Update struct {
	Position schemas.Position
	// Admin is the governance party, the admin of the coin as an instrument.
	Admin string
	// Round is the mining round that was open, -1 where that is not known.
	Round int64
	// Local says that it is of a node's own stream, which shows a part of most updates.
	Local bool
	// Opening says that the update carries coins over into a stream that begins with them.
	Opening bool
	// Events are exercises, and the events that create coins, ascending by node.
	Events []Event
}

// Does says what an event does to a coin.
type Does uint8

const (
	Nothing Does = iota
	Creates
	Consumes
)

// Event is one of an update.
type Event struct {
	Node int32
	// Parent is the index of the exercise around it, -1 without any.
	Parent int
	// Choice is that of an exercise, on a contract of Template; both are empty for a create.
	Choice, Template string

	Does Does
	Coin Coin   // if it creates or consumes one
	ID   uint64 // which one: a hash of its contract id

	Told *Told // what a frame says, may be nil

	// Of a node's own stream only. Active says that the coin enters or leaves the contracts active on the
	// node; Unclear, that the event may do more than it shows: its choice is not known, or the worth of the coin
	// that it consumes is not.
	Active, Unclear bool
}

// Coin is a holding, locked or not.
type Coin struct {
	Owner  string
	Amount decimal.Decimal
	Locked bool
	// Context is what a lock is for, "" where it does not say.
	Context string
	// Since is the mining round of its creation, and Rate what it is charged for each later one.
	Since int64
	Rate  decimal.Decimal
}

// Told is what the argument and the result of a choice say.
type Told struct {
	// Sender is who transfers, "" where the argument does not name it.
	Sender string
	// Paid is the part of what disappears that was paid for something.
	Paid decimal.Decimal
	// Minted is what was minted in a transfer, by class. Summed says that the result has a summary which
	// tells it: that of a choice around another one repeats it.
	Minted []ClassAmount
	Summed bool
	// Round is the one that the result names, -1 without any.
	Round int64
	// Reference is what the choice is about: a member's id, an instruction or an allocation.
	Reference string
	Reason    string
	Legs      []TransferLeg
	Log       *Log      // of EventLogHoldingsChange alone
	Bought    *Purchase // of CoinRulesBuyMemberTraffic alone
}

// Purchase is traffic that was bought.
type Purchase struct {
	Buyer string
	Bytes int64
}

// Log is what the event log says of the coins of an account.
type Log struct {
	Account string
	// In are the coins that were consumed, Out those that were created: hashes of their contract ids.
	In, Out []uint64
	Sides   []LegSide
}

// LegSide is what a leg does to an account.
type LegSide struct {
	ID, Reason string
	// Other is the other account, "" where the amount is minted or burnt.
	Other  string
	Amount decimal.Decimal // above 0 for what the account gains
}

// ClassAmount is a part of what was minted.
type ClassAmount struct {
	Class  string
	Amount decimal.Decimal
}

// TransferLeg is one transfer of a settlement. What is burnt has no receiver.
type TransferLeg struct {
	ID, Sender, Receiver, Reason string
	Amount                       decimal.Decimal
}

// Cause says why a holding changed.
type Cause = string

const (
	Transfer    Cause = "transfer"
	Mint        Cause = "mint"
	Burn        Cause = "burn"
	Lock        Cause = "lock" // in both directions
	Opening     Cause = "opening"
	Unexplained Cause = "unexplained"
)

// Pockets of a party.
const (
	Unlocked = "unlocked"
	Locked   = "locked"
)

// Where an amount comes from.
const (
	FromCoins   = "coins"
	FromOpening = "opening"
	FromRest    = "residual" // what no rule explains
)

// Movement is one change of a party's holdings.
type Movement struct {
	// Entry numbers the movements of an update, from 0.
	Entry int32
	// Event is the node of the frame, -1 for Opening.
	Event                     int32
	Party, Pocket             string
	Amount                    decimal.Decimal // above 0 for what the party gains
	Cause                     Cause
	Class, Purpose            string
	Counterparty              string
	StatedRound               int64 // -1 for none
	Choice, Template          string
	Reference, Reason, Source string
}
