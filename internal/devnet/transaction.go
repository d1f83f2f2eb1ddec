package devnet

import "fmt"

// transaction builds the tree of the update in execution. It applies each effect to the
// active set at once, so that a choice can never use a contract that is not there.
type transaction struct {
	names  *names
	random *random
	clock  *clock

	migration int64
	switchAt  int    // number of updates after which migration 1 starts
	updates   int    // executed so far, without verdict-only entries
	entries   uint64 // executed so far, all

	// The update in execution.
	batch   *batch
	current *update
	// provider is the app on whose behalf the update runs, or noParty.
	provider party
	attempt  *attempt // at the submission in execution, nil for what the network does by itself
	err      error    // first violation of a ledger rule; stops the ledger

	active         []*contract
	byNumber       map[uint64]*contract // active contracts, private ones too; nil until there was a command
	contractNumber uint64
	privateNumbers uint64
	created        uint64
}

// create adds a contract to the tree and to the active set.
func (x *transaction) create(t *template, p payload) *contract {
	c := &contract{
		number: x.newContractNumber(), template: t, version: x.version(),
		createdAt: x.clock.effectiveAt, payload: p, synchronizer: x.current.synchronizer,
		entry: uint32(x.current.number), node: int32(len(x.current.nodes)), migration: uint8(x.migration),
	}
	x.activate(c)
	x.created++
	x.attempt.note(c, true)
	x.current.nodes = append(x.current.nodes, node{contract: c, end: int32(len(x.current.nodes) + 1)})
	return c
}

// newContractNumber takes the next number; contracts that only other participants
// see take numbers as well.
func (x *transaction) newContractNumber() uint64 {
	if x.attempt != nil && x.attempt.reserved != 0 {
		x.attempt.reserved++
		return x.attempt.reserved
	}
	x.contractNumber++
	return x.contractNumber
}

// exercise opens a node for a choice; finish closes it after its consequences.
func (x *transaction) exercise(c *contract, choice string, argument value, actors ...party) int {
	if !c.active() {
		x.fail(fmt.Errorf("exercising %s on archived contract %d", choice, c.number))
	}
	x.current.nodes = append(x.current.nodes, node{
		contract: c, choice: choice, argument: argument,
		actors: x.names.sortParties(append([]party(nil), actors...)),
	})
	return len(x.current.nodes) - 1
}

// consume is exercise for a choice that archives its contract.
func (x *transaction) consume(c *contract, choice string, argument value, actors ...party) int {
	at := x.exercise(c, choice, argument, actors...)
	x.current.nodes[at].consuming = true
	x.deactivate(c)
	return at
}

// through marks an exercise as made through an interface.
func (x *transaction) through(at int, i interfaceName) {
	x.current.nodes[at].iface = x.names.interfaces[i]
}

func (x *transaction) finish(at int, result value) {
	n := &x.current.nodes[at]
	n.result, n.end = result, int32(len(x.current.nodes))
}

// archive exercises the plain archival choice with the signatories as actors.
func (x *transaction) archive(c *contract) {
	signatories, _ := c.payload.stakeholders(nil, nil)
	x.finish(x.consume(c, "Archive", x.arena().record(emptyRecordShape), signatories...), unit())
}

func (x *transaction) activate(c *contract) {
	if !c.private {
		c.slot = int32(len(x.active))
		x.active = append(x.active, c)
	} else {
		c.slot = 0
	}
	if x.byNumber != nil {
		x.byNumber[c.number] = c
	}
}

// deactivate takes c out of the active set by moving the last contract to its slot.
// Private contracts are in no slot.
func (x *transaction) deactivate(c *contract) {
	if !c.active() {
		x.fail(fmt.Errorf("archiving contract %d twice", c.number))
		return
	}
	if !c.private {
		last := x.active[len(x.active)-1]
		x.active[c.slot], last.slot = last, c.slot
		x.active = x.active[:len(x.active)-1]
	}
	c.slot = archived
	if x.byNumber != nil {
		delete(x.byNumber, c.number)
	}
	x.attempt.note(c, false)
}

// arena returns the arena that holds the values of the update in execution.
func (x *transaction) arena() *arena { return &x.batch.arena }
