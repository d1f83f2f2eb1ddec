package devnet

import "fmt"

// The methods here build the tree of the update in execution. They apply each
// effect to the active set at once, so that a choice can never use a contract that
// is not there.

// create adds a contract to the tree and to the active set.
func (x *executor) create(t *template, p payload) *contract {
	c := &contract{
		number: x.newContractNumber(), template: t, version: x.version(),
		createdAt: x.effectiveAt, payload: p, synchronizer: x.current.synchronizer,
		entry: uint32(x.current.number), node: int32(len(x.current.nodes)), migration: uint8(x.migration),
	}
	x.activate(c)
	x.created++
	if x.command != nil {
		x.command.effects = append(x.command.effects, effect{c, true})
	}
	x.current.nodes = append(x.current.nodes, node{contract: c, end: int32(len(x.current.nodes) + 1)})
	return c
}

// newContractNumber takes the next number; contracts that only other participants
// see take numbers as well.
func (x *executor) newContractNumber() uint64 {
	if x.command != nil && x.command.reserved != 0 {
		x.command.reserved++
		return x.command.reserved
	}
	x.contractNumber++
	return x.contractNumber
}

// exercise opens a node for a choice; finish closes it after its consequences.
func (x *executor) exercise(c *contract, choice string, argument value, actors ...party) int {
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
func (x *executor) consume(c *contract, choice string, argument value, actors ...party) int {
	at := x.exercise(c, choice, argument, actors...)
	x.current.nodes[at].consuming = true
	x.deactivate(c)
	return at
}

// through marks an exercise as made through an interface.
func (x *executor) through(at int, i interfaceName) {
	x.current.nodes[at].iface = x.names.interfaces[i]
}

func (x *executor) finish(at int, result value) {
	n := &x.current.nodes[at]
	n.result, n.end = result, int32(len(x.current.nodes))
}

// archive exercises the plain archival choice with the signatories as actors.
func (x *executor) archive(c *contract) {
	signatories, _ := c.payload.stakeholders(nil, nil)
	x.finish(x.consume(c, "Archive", x.arena().record(emptyRecordShape), signatories...), unit())
}

func (x *executor) activate(c *contract) {
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
func (x *executor) deactivate(c *contract) {
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
	if x.command != nil {
		x.command.effects = append(x.command.effects, effect{c, false})
	}
}

// arena returns the arena that holds the values of the update in execution.
func (x *executor) arena() *arena { return &x.batch.arena }
