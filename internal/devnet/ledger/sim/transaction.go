package sim

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// transaction builds the tree of the update in execution. It applies each effect to the
// active set at once, so that a choice can never use a contract that is not there.
type transaction struct {
	names  *model.Names
	random *model.Random
	clock  *clock

	Migration int64
	switchAt  int    // number of updates after which migration 1 starts
	Updates   int    // executed so far, without verdict-only entries
	Entries   uint64 // executed so far, all

	// The update in execution.
	Batch   *Batch
	Current *Update
	// provider is the app on whose behalf the update runs, or noParty.
	Provider model.Party
	Attempt  *Attempt // at the submission in execution, nil for what the network does by itself
	Err      error    // first violation of a ledger rule; stops the ledger

	Active         []*model.Contract
	ByNumber       map[uint64]*model.Contract // active contracts, private ones too; nil until there was a command
	ContractNumber uint64
	PrivateNumbers uint64
	Created        uint64
}

// Create adds a contract to the tree and to the active set.
func (x *transaction) Create(t *model.Template, p model.Payload) *model.Contract {
	c := &model.Contract{
		Number: x.newContractNumber(), Template: t, Version: x.Version(),
		CreatedAt: x.clock.EffectiveAt, Payload: p, Synchronizer: x.Current.Synchronizer,
		Entry: uint32(x.Current.Number), Node: int32(len(x.Current.Nodes)), Migration: uint8(x.Migration),
	}
	x.Activate(c)
	x.Created++
	x.Attempt.note(c, true)
	x.Current.Nodes = append(x.Current.Nodes, Node{Contract: c, End: int32(len(x.Current.Nodes) + 1)})
	return c
}

// newContractNumber takes the next number; contracts that only other participants
// see take numbers as well.
func (x *transaction) newContractNumber() uint64 {
	if x.Attempt != nil && x.Attempt.Reserved != 0 {
		x.Attempt.Reserved++
		return x.Attempt.Reserved
	}
	x.ContractNumber++
	return x.ContractNumber
}

// Exercise opens a node for a choice; finish closes it after its consequences.
func (x *transaction) Exercise(c *model.Contract, choice string, argument model.Value, actors ...model.Party) int {
	if !c.Active() {
		x.fail(fmt.Errorf("exercising %s on archived contract %d", choice, c.Number))
	}
	x.Current.Nodes = append(x.Current.Nodes, Node{
		Contract: c, Choice: choice, Argument: argument,
		Actors: x.names.SortParties(append([]model.Party(nil), actors...)),
	})
	return len(x.Current.Nodes) - 1
}

// Consume is exercise for a choice that archives its contract.
func (x *transaction) Consume(c *model.Contract, choice string, argument model.Value, actors ...model.Party) int {
	at := x.Exercise(c, choice, argument, actors...)
	x.Current.Nodes[at].Consuming = true
	x.Deactivate(c)
	return at
}

// Through marks an exercise as made through an interface.
func (x *transaction) Through(at int, i model.InterfaceName) {
	x.Current.Nodes[at].Iface = x.names.Interfaces[i]
}

// Finish closes the node that Exercise opened at an index.
func (x *transaction) Finish(at int, result model.Value) {
	n := &x.Current.Nodes[at]
	n.Result, n.End = result, int32(len(x.Current.Nodes))
}

// Archive exercises the plain archival choice with the signatories as actors.
func (x *transaction) Archive(c *model.Contract) {
	signatories, _ := c.Payload.Stakeholders(nil, nil)
	x.Finish(x.Consume(c, "Archive", x.Arena().Record(model.EmptyRecordShape), signatories...), model.Unit())
}

// IDs lists the ids of contracts as a value.
func (x *transaction) IDs(cs ...*model.Contract) model.Value {
	return model.ListOf(x.Arena(), cs, func(c *model.Contract) model.Value { return model.ContractID(c.Number) })
}

// Activate adds a contract to the active set.
func (x *transaction) Activate(c *model.Contract) {
	if !c.Private {
		c.Slot = int32(len(x.Active))
		x.Active = append(x.Active, c)
	} else {
		c.Slot = 0
	}
	if x.ByNumber != nil {
		x.ByNumber[c.Number] = c
	}
}

// Deactivate takes c out of the active set by moving the last contract to its slot.
// Private contracts are in no slot.
func (x *transaction) Deactivate(c *model.Contract) {
	if !c.Active() {
		x.fail(fmt.Errorf("archiving contract %d twice", c.Number))
		return
	}
	if !c.Private {
		last := x.Active[len(x.Active)-1]
		x.Active[c.Slot], last.Slot = last, c.Slot
		x.Active = x.Active[:len(x.Active)-1]
	}
	c.Slot = model.Archived
	if x.ByNumber != nil {
		delete(x.ByNumber, c.Number)
	}
	x.Attempt.note(c, false)
}

// Arena returns the arena that holds the values of the update in execution.
func (x *transaction) Arena() *model.Arena { return &x.Batch.arena }

// Abandon takes back the entry that was begun last.
func (x *transaction) Abandon(recordTime, effectiveAt int64) {
	x.clock.RecordTime, x.clock.EffectiveAt = recordTime, effectiveAt
	x.Batch.Updates = x.Batch.Updates[:len(x.Batch.Updates)-1]
	x.Entries--
	x.Current = nil
}

// AddPrivate adds the creation of a contract to the tree.
func (x *transaction) AddPrivate(t *model.Template, p model.Payload) *model.Contract {
	c := &model.Contract{Private: true, Number: x.newPrivateNumber(), Template: t, Version: x.Version(),
		CreatedAt: x.clock.EffectiveAt, Payload: p, Synchronizer: x.Current.Synchronizer, Entry: uint32(x.Current.Number)}
	x.Activate(c)
	x.Attempt.note(c, true)
	x.Current.Nodes = append(x.Current.Nodes, Node{Contract: c, End: int32(len(x.Current.Nodes) + 1)})
	return c
}

// BeginAt opens an entry for what is told when to happen: contracts see its record time as
// now.
func (x *transaction) BeginAt(recordTime int64) {
	x.clock.RecordTime = recordTime
	x.clock.EffectiveAt = max(x.clock.EffectiveAt, recordTime)
	x.open()
}

// ExpectedDSO is the argument by which a caller makes sure of the network it is on.
func (x *transaction) ExpectedDSO() model.Value { return x.Arena().Some(model.PartyValue(model.Dso)) }

// Version is the package version in use.
func (x *transaction) Version() uint8 { return uint8(x.Migration) }

// WithMeta adds a trailing optional field that only the newer version has.
func (x *transaction) WithMeta(fields []model.Value, meta model.Value) []model.Value {
	if x.Version() == 0 {
		return fields
	}
	return append(fields, meta)
}

// begin opens an entry at the given record time.
func (x *transaction) begin(recordTime int64) {
	x.clock.RecordTime = recordTime
	x.clock.EffectiveAt = max(x.clock.EffectiveAt, x.roundedTime(recordTime+skew(recordTime)))
	x.open()
}

// fail records the first violation of a ledger rule.
func (x *transaction) fail(err error) {
	if x.Err == nil {
		x.Err = fmt.Errorf("devnet update %d: %w", x.Updates, err)
	}
}

func (x *transaction) newPrivateNumber() uint64 {
	if x.Attempt != nil && x.Attempt.Reserved != 0 {
		return x.newContractNumber()
	}
	x.PrivateNumbers++
	return privateNumbers + x.PrivateNumbers
}

// open opens an entry at the times that are set.
func (x *transaction) open() {
	x.Current = x.Batch.add()
	u := x.Current
	u.Number, u.Migration, u.Version = x.Entries, x.Migration, x.Version()
	u.RecordTime, u.EffectiveAt = x.clock.RecordTime, x.clock.EffectiveAt
	x.Entries++
	x.Provider = model.NoParty
}

// roundedTime cuts some times to milliseconds or seconds, as clients do.
func (x *transaction) roundedTime(t int64) int64 {
	switch x.random.Below(20) {
	case 0:
		return t - t%1e6
	case 1, 2:
		return t - t%1e3
	}
	return t
}

// switchNear reports whether the migration is so near that contracts must arrive.
func (x *transaction) switchNear() bool {
	return x.Migration == 0 && x.Updates >= x.switchAt-2
}

// effect is a contract that was created or archived.
type effect struct {
	Contract *model.Contract
	Created  bool
}

// Attempt is what a submission has done so far, to be taken back if it is refused.
type Attempt struct {
	Effects  []effect
	Reserved uint64 // the last number taken of a prepared submission, or 0
}

// note adds an effect; without an attempt nothing will be taken back.
func (a *Attempt) note(c *model.Contract, created bool) {
	if a != nil {
		a.Effects = append(a.Effects, effect{c, created})
	}
}
