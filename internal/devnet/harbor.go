package devnet

import "strings"

// harborState is the state of the third-party app.
type harborState struct {
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
func (x *executor) maxShipments() int { return 20 + len(x.names.parties)/2 }

// bookShipment creates a shipment as a root of the tree. With enough of them
// around it advances one instead.
func (x *executor) bookShipment() bool {
	if len(x.harbor.shipments) >= x.maxShipments() {
		return x.advanceShipment()
	}
	c := x.create(shipmentTemplate, shipment{
		carrier: x.names.providers.of(&x.random), shipper: x.names.users.of(&x.random),
		consignee: x.names.users.of(&x.random), content: x.random.next(), bookedAt: x.effectiveAt,
	})
	x.harbor.shipments = append(x.harbor.shipments, c)
	x.current.workflow = "harbor/booking"
	x.provider = c.payload.(shipment).carrier
	return true
}

// someShipment removes a random shipment from the list and moves the update to
// its synchronizer.
func (x *executor) someShipment() *contract {
	c := takeAny(&x.random, &x.harbor.shipments)
	if c != nil {
		x.current.synchronizer = c.synchronizer
		x.provider = c.payload.(shipment).carrier
	}
	return c
}

// advanceShipment moves a shipment to its next state; a delivered one is archived.
func (x *executor) advanceShipment() bool {
	c := x.someShipment()
	if c == nil {
		return false
	}
	a, p := x.arena(), c.payload.(shipment)
	if p.status == len(shipmentStatuses)-1 {
		x.archive(c)
		return true
	}
	reading := none()
	p.readings = min(p.readings+1, 6)
	if x.random.percent(40) {
		p.status++
		reading = a.some(a.record(readingShape, numeric(x.random.decimalBetween(0, coins(30))),
			timestamp(x.effectiveAt), boolean(false)))
	}
	at := x.consume(c, "Shipment_Advance", a.record(advanceShipmentShape, enum(shipmentStatuses[p.status]), reading,
		a.some(optionalText(a, x.reason())), a.list(partyValue(p.shipper), partyValue(p.consignee))), p.carrier)
	next := x.create(shipmentTemplate, p)
	x.finish(at, contractID(next.number))
	next.counter = 0
	x.harbor.shipments = append(x.harbor.shipments, next)
	return true
}

// inspectShipment looks at a shipment without changing it, half of the time
// through an interface.
func (x *executor) inspectShipment() bool {
	c := x.someShipment()
	if c == nil {
		return false
	}
	x.harbor.shipments = append(x.harbor.shipments, c)
	a, p := x.arena(), c.payload.(shipment)
	if x.random.percent(50) {
		at := x.exercise(c, "Tracked_Ping", a.record(pingShape, timestamp(x.effectiveAt)), p.consignee)
		x.through(at, trackedInterface)
		x.finish(at, timestamp(x.recordTime))
		return true
	}
	at := x.exercise(c, "Shipment_Inspect", a.record(inspectShape, partyValue(p.shipper), labels(a, &x.random),
		timestamp(x.effectiveAt)), p.shipper)
	x.finish(at, x.finding())
	return true
}

// finding is the result of an inspection: a variant with a constructor for each
// kind of content.
func (x *executor) finding() value {
	a := x.arena()
	switch x.random.below(4) {
	case 0:
		return a.variant("Fine", unit())
	case 1:
		return a.variant("Graded", a.list(int64Value(int64(x.random.below(10))), int64Value(-1)))
	case 2:
		return a.variant("Defective", a.record(findingShape,
			a.list(text("rost \"7\""), text("Νερό")), a.some(date(x.effectiveAt/86400e6+7))))
	}
	return a.variant("Defective", a.record(findingShape, a.list(), none()))
}

func (x *executor) openLane() bool {
	p := x.names.providers.of(&x.random)
	if x.random.percent(30) {
		if c := takeAny(&x.random, &x.lanes); c != nil {
			x.archive(c)
			return true
		}
	}
	x.lanes = append(x.lanes, x.create(laneTemplate, lane{p, x.random.next(), x.effectiveAt / 86400e6}))
	x.provider = p
	return true
}

// attachHugeNote exercises a choice whose argument is as long as the
// configuration asks for.
func (x *executor) attachHugeNote() {
	x.lanes = append(x.lanes, x.create(laneTemplate, lane{x.names.providers.at(0), x.random.next(), 0}))
	c := x.lanes[len(x.lanes)-1]
	const line = "bill of lading: 12 pallets, keep dry — «хрупкое» 0123456789\n"
	n := x.config.HugeUpdateBytes
	note := strings.Repeat(line, n/len(line)) + strings.Repeat("x", n%len(line))
	at := x.exercise(c, "Lane_Attach", x.arena().record(noteShape, text(note), int64Value(1)), x.names.providers.at(0))
	x.finish(at, unit())
}

// reassign executes one half of a reassignment if one is due; final forbids it
// except for a contract that would otherwise stay in flight.
func (x *executor) reassign(final bool) bool {
	if final || x.config.Synchronizers < 2 || len(x.tasks) > 0 {
		return false
	}
	if flights := x.harbor.inFlight; len(flights) > 0 {
		if x.updates < flights[0].due && !x.switchNear() {
			return false
		}
		x.harbor.inFlight = flights[1:]
		x.assign(flights[0])
		return true
	}
	if x.switchNear() || x.random.below(1000) >= reassignmentsPer1000 {
		return false
	}
	return x.unassign()
}

const reassignmentsPer1000 = 8

// switchNear reports whether the migration is so near that contracts must arrive.
func (x *executor) switchNear() bool {
	return x.migration == 0 && x.updates >= x.switchAt-2
}

// unassign sends a shipment off to the other synchronizer.
func (x *executor) unassign() bool {
	c := takeAny(&x.random, &x.harbor.shipments)
	if c == nil {
		return false
	}
	x.deactivate(c)
	c.counter++
	u := x.current
	u.kind, u.synchronizer = unassignmentUpdate, c.synchronizer
	u.reassignment = reassignment{contract: c, submitter: c.payload.(shipment).carrier,
		source: c.synchronizer, target: 1 - c.synchronizer, counter: c.counter, pair: x.harbor.reassignments}
	x.harbor.reassignments++
	x.harbor.inFlight = append(x.harbor.inFlight, flight{c, u.reassignment, x.updates + x.random.between(1, 12)})
	return true
}

// assign lets a contract in flight arrive.
func (x *executor) assign(f flight) {
	f.contract.synchronizer = f.half.target
	x.activate(f.contract)
	u := x.current
	u.kind, u.synchronizer, u.reassignment = assignmentUpdate, f.half.target, f.half
	x.harbor.shipments = append(x.harbor.shipments, f.contract)
}
