package devnet

import "strings"

// harborState is the state of the third-party app.
type harborState struct {
	core
	users *users

	lanes         []*contract
	shipments     []*contract
	inFlight      []flight
	reassignments uint64 // unassignments so far
}

// flight is a contract between two synchronizers.
type flight struct {
	contract *contract
	half     reassignment
	due      int // number of updates after which it arrives
}

var (
	advanceShipmentShape = newShape("status", "reading", "note", "witnesses")
	inspectShape         = newShape("inspector", "checklist", "at")
	findingShape         = newShape("defects", "followUp")
	pingShape            = newShape("at")
	noteShape            = newShape("note", "pages")
)

// maxShipments bounds the state of the app.
func (x *harborState) maxShipments() int { return 20 + len(x.names.parties)/2 }

// bookShipment creates a shipment as a root of the tree. With enough of them
// around it advances one instead.
func (x *harborState) bookShipment() bool {
	if len(x.shipments) >= x.maxShipments() {
		return x.advanceShipment()
	}
	c := x.tx.create(shipmentTemplate, shipment{
		carrier: x.names.providers.of(x.random), shipper: x.names.users.of(x.random),
		consignee: x.names.users.of(x.random), content: x.random.next(), bookedAt: x.clock.effectiveAt,
	})
	x.shipments = append(x.shipments, c)
	x.tx.current.workflow = "harbor/booking"
	x.tx.provider = c.payload.(shipment).carrier
	return true
}

// someShipment removes a random shipment from the list and moves the update to
// its synchronizer.
func (x *harborState) someShipment() *contract {
	c := takeAny(x.random, &x.shipments)
	if c != nil {
		x.tx.current.synchronizer = c.synchronizer
		x.tx.provider = c.payload.(shipment).carrier
	}
	return c
}

// advanceShipment moves a shipment to its next state; a delivered one is archived.
func (x *harborState) advanceShipment() bool {
	c := x.someShipment()
	if c == nil {
		return false
	}
	a, p := x.tx.arena(), c.payload.(shipment)
	if p.status == len(shipmentStatuses)-1 {
		x.tx.archive(c)
		return true
	}
	reading := none()
	p.readings = min(p.readings+1, 6)
	if x.random.percent(40) {
		p.status++
		reading = a.some(a.record(readingShape, numeric(x.random.decimalBetween(0, coins(30))),
			timestamp(x.clock.effectiveAt), boolean(false)))
	}
	at := x.tx.consume(c, "Shipment_Advance", a.record(advanceShipmentShape, enum(shipmentStatuses[p.status]), reading,
		a.some(optionalText(a, x.users.reason())), a.list(partyValue(p.shipper), partyValue(p.consignee))), p.carrier)
	next := x.tx.create(shipmentTemplate, p)
	x.tx.finish(at, contractID(next.number))
	next.counter = 0
	x.shipments = append(x.shipments, next)
	return true
}

// inspectShipment looks at a shipment without changing it, half of the time
// through an interface.
func (x *harborState) inspectShipment() bool {
	c := x.someShipment()
	if c == nil {
		return false
	}
	x.shipments = append(x.shipments, c)
	a, p := x.tx.arena(), c.payload.(shipment)
	if x.random.percent(50) {
		at := x.tx.exercise(c, "Tracked_Ping", a.record(pingShape, timestamp(x.clock.effectiveAt)), p.consignee)
		x.tx.through(at, trackedInterface)
		x.tx.finish(at, timestamp(x.clock.recordTime))
		return true
	}
	at := x.tx.exercise(c, "Shipment_Inspect", a.record(inspectShape, partyValue(p.shipper), labels(a, x.random),
		timestamp(x.clock.effectiveAt)), p.shipper)
	x.tx.finish(at, x.finding())
	return true
}

// finding is the result of an inspection: a variant with a constructor for each
// kind of content.
func (x *harborState) finding() value {
	a := x.tx.arena()
	switch x.random.below(4) {
	case 0:
		return a.variant("Fine", unit())
	case 1:
		return a.variant("Graded", a.list(int64Value(int64(x.random.below(10))), int64Value(-1)))
	case 2:
		return a.variant("Defective", a.record(findingShape,
			a.list(text("rost \"7\""), text("Νερό")), a.some(date(x.clock.effectiveAt/86400e6+7))))
	}
	return a.variant("Defective", a.record(findingShape, a.list(), none()))
}

func (x *harborState) openLane() bool {
	p := x.names.providers.of(x.random)
	if x.random.percent(30) {
		if c := takeAny(x.random, &x.lanes); c != nil {
			x.tx.archive(c)
			return true
		}
	}
	x.lanes = append(x.lanes, x.tx.create(laneTemplate, lane{p, x.random.next(), x.clock.effectiveAt / 86400e6}))
	x.tx.provider = p
	return true
}

// attachHugeNote exercises a choice whose argument is as long as the
// configuration asks for.
func (x *harborState) attachHugeNote() {
	x.lanes = append(x.lanes, x.tx.create(laneTemplate, lane{x.names.providers.at(0), x.random.next(), 0}))
	c := x.lanes[len(x.lanes)-1]
	const line = "bill of lading: 12 pallets, keep dry — «хрупкое» 0123456789\n"
	n := x.config.HugeUpdateBytes
	note := strings.Repeat(line, n/len(line)) + strings.Repeat("x", n%len(line))
	at := x.tx.exercise(c, "Lane_Attach", x.tx.arena().record(noteShape, text(note), int64Value(1)), x.names.providers.at(0))
	x.tx.finish(at, unit())
}

// reassign executes one half of a reassignment if one is due; final forbids it
// except for a contract that would otherwise stay in flight.
func (x *harborState) reassign(final bool) bool {
	if final || x.config.Synchronizers < 2 || len(x.clock.tasks) > 0 {
		return false
	}
	if flights := x.inFlight; len(flights) > 0 {
		if x.tx.updates < flights[0].due && !x.tx.switchNear() {
			return false
		}
		x.inFlight = flights[1:]
		x.assign(flights[0])
		return true
	}
	if x.tx.switchNear() || x.random.below(1000) >= reassignmentsPer1000 {
		return false
	}
	return x.unassign()
}

const reassignmentsPer1000 = 8

// switchNear reports whether the migration is so near that contracts must arrive.
func (x *transaction) switchNear() bool {
	return x.migration == 0 && x.updates >= x.switchAt-2
}

// unassign sends a shipment off to the other synchronizer.
func (x *harborState) unassign() bool {
	c := takeAny(x.random, &x.shipments)
	if c == nil {
		return false
	}
	x.tx.deactivate(c)
	c.counter++
	u := x.tx.current
	u.kind, u.synchronizer = unassignmentUpdate, c.synchronizer
	u.reassignment = reassignment{contract: c, submitter: c.payload.(shipment).carrier,
		source: c.synchronizer, target: 1 - c.synchronizer, counter: c.counter, pair: x.reassignments}
	x.reassignments++
	x.inFlight = append(x.inFlight, flight{c, u.reassignment, x.tx.updates + x.random.between(1, 12)})
	return true
}

// assign lets a contract in flight arrive.
func (x *harborState) assign(f flight) {
	f.contract.synchronizer = f.half.target
	x.tx.activate(f.contract)
	u := x.tx.current
	u.kind, u.synchronizer, u.reassignment = assignmentUpdate, f.half.target, f.half
	x.shipments = append(x.shipments, f.contract)
}
