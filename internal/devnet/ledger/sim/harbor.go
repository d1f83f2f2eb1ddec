package sim

import (
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// harborState is the state of the third-party app.
type harborState struct {
	Core
	users *users

	lanes         []*model.Contract
	shipments     []*model.Contract
	InFlight      []Flight
	reassignments uint64 // unassignments so far
}

// Flight is a contract between two synchronizers.
type Flight struct {
	Contract *model.Contract
	half     Reassignment
	due      int // number of updates after which it arrives
}

var (
	advanceShipmentShape = model.NewShape("status", "reading", "note", "witnesses")
	inspectShape         = model.NewShape("inspector", "checklist", "at")
	findingShape         = model.NewShape("defects", "followUp")
	pingShape            = model.NewShape("at")
	noteShape            = model.NewShape("note", "pages")
)

// maxShipments bounds the state of the app.
func (x *harborState) maxShipments() int { return 20 + len(x.Names.Parties)/2 }

// bookShipment creates a shipment as a root of the tree. With enough of them
// around it advances one instead.
func (x *harborState) bookShipment() bool {
	if len(x.shipments) >= x.maxShipments() {
		return x.advanceShipment()
	}
	c := x.Tx.Create(model.ShipmentTemplate, model.Shipment{
		Carrier: x.Names.Providers.Of(x.Random), Shipper: x.Names.Users.Of(x.Random),
		Consignee: x.Names.Users.Of(x.Random), Content: x.Random.Next(), BookedAt: x.Clock.EffectiveAt,
	})
	x.shipments = append(x.shipments, c)
	x.Tx.Current.Workflow = "harbor/booking"
	x.Tx.Provider = c.Payload.(model.Shipment).Carrier
	return true
}

// someShipment removes a random shipment from the list and moves the update to
// its synchronizer.
func (x *harborState) someShipment() *model.Contract {
	c := takeAny(x.Random, &x.shipments)
	if c != nil {
		x.Tx.Current.Synchronizer = c.Synchronizer
		x.Tx.Provider = c.Payload.(model.Shipment).Carrier
	}
	return c
}

// advanceShipment moves a shipment to its next state; a delivered one is archived.
func (x *harborState) advanceShipment() bool {
	c := x.someShipment()
	if c == nil {
		return false
	}
	a, p := x.Tx.Arena(), c.Payload.(model.Shipment)
	if p.Status == len(model.ShipmentStatuses)-1 {
		x.Tx.Archive(c)
		return true
	}
	reading := model.None()
	p.Readings = min(p.Readings+1, 6)
	if x.Random.Percent(40) {
		p.Status++
		reading = a.Some(a.Record(model.ReadingShape, model.Numeric(x.Random.DecimalBetween(0, model.Coins(30))),
			model.Timestamp(x.Clock.EffectiveAt), model.Boolean(false)))
	}
	at := x.Tx.Consume(c, "Shipment_Advance", a.Record(advanceShipmentShape, model.Enum(model.ShipmentStatuses[p.Status]), reading,
		a.Some(model.OptionalText(a, x.users.reason())), a.List(model.PartyValue(p.Shipper), model.PartyValue(p.Consignee))), p.Carrier)
	next := x.Tx.Create(model.ShipmentTemplate, p)
	x.Tx.Finish(at, model.ContractID(next.Number))
	next.Counter = 0
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
	a, p := x.Tx.Arena(), c.Payload.(model.Shipment)
	if x.Random.Percent(50) {
		at := x.Tx.Exercise(c, "Tracked_Ping", a.Record(pingShape, model.Timestamp(x.Clock.EffectiveAt)), p.Consignee)
		x.Tx.Through(at, model.TrackedInterface)
		x.Tx.Finish(at, model.Timestamp(x.Clock.RecordTime))
		return true
	}
	at := x.Tx.Exercise(c, "Shipment_Inspect", a.Record(inspectShape, model.PartyValue(p.Shipper), model.Labels(a, x.Random),
		model.Timestamp(x.Clock.EffectiveAt)), p.Shipper)
	x.Tx.Finish(at, x.finding())
	return true
}

// finding is the result of an inspection: a variant with a constructor for each
// kind of content.
func (x *harborState) finding() model.Value {
	a := x.Tx.Arena()
	switch x.Random.Below(4) {
	case 0:
		return a.Variant("Fine", model.Unit())
	case 1:
		return a.Variant("Graded", a.List(model.Int64Value(int64(x.Random.Below(10))), model.Int64Value(-1)))
	case 2:
		return a.Variant("Defective", a.Record(findingShape,
			a.List(model.Text("rost \"7\""), model.Text("Νερό")), a.Some(model.Date(x.Clock.EffectiveAt/86400e6+7))))
	}
	return a.Variant("Defective", a.Record(findingShape, a.List(), model.None()))
}

func (x *harborState) openLane() bool {
	p := x.Names.Providers.Of(x.Random)
	if x.Random.Percent(30) {
		if c := takeAny(x.Random, &x.lanes); c != nil {
			x.Tx.Archive(c)
			return true
		}
	}
	x.lanes = append(x.lanes, x.Tx.Create(model.LaneTemplate, model.Lane{Carrier: p, Content: x.Random.Next(), Since: x.Clock.EffectiveAt / 86400e6}))
	x.Tx.Provider = p
	return true
}

// attachHugeNote exercises a choice whose argument is as long as the
// configuration asks for.
func (x *harborState) attachHugeNote() {
	x.lanes = append(x.lanes, x.Tx.Create(model.LaneTemplate, model.Lane{Carrier: x.Names.Providers.At(0), Content: x.Random.Next(), Since: 0}))
	c := x.lanes[len(x.lanes)-1]
	const line = "bill of lading: 12 pallets, keep dry — «хрупкое» 0123456789\n"
	n := x.Config.HugeUpdateBytes
	note := strings.Repeat(line, n/len(line)) + strings.Repeat("x", n%len(line))
	at := x.Tx.Exercise(c, "Lane_Attach", x.Tx.Arena().Record(noteShape, model.Text(note), model.Int64Value(1)), x.Names.Providers.At(0))
	x.Tx.Finish(at, model.Unit())
}

// reassign executes one half of a reassignment if one is due; final forbids it
// except for a contract that would otherwise stay in flight.
func (x *harborState) reassign(final bool) bool {
	if final || x.Config.Synchronizers < 2 || len(x.Clock.Tasks) > 0 {
		return false
	}
	if flights := x.InFlight; len(flights) > 0 {
		if x.Tx.Updates < flights[0].due && !x.Tx.switchNear() {
			return false
		}
		x.InFlight = flights[1:]
		x.assign(flights[0])
		return true
	}
	if x.Tx.switchNear() || x.Random.Below(1000) >= reassignmentsPer1000 {
		return false
	}
	return x.unassign()
}

const reassignmentsPer1000 = 8

// unassign sends a shipment off to the other synchronizer.
func (x *harborState) unassign() bool {
	c := takeAny(x.Random, &x.shipments)
	if c == nil {
		return false
	}
	x.Tx.Deactivate(c)
	c.Counter++
	u := x.Tx.Current
	u.Kind, u.Synchronizer = UnassignmentUpdate, c.Synchronizer
	u.Reassignment = Reassignment{Contract: c, Submitter: c.Payload.(model.Shipment).Carrier,
		Source: c.Synchronizer, Target: 1 - c.Synchronizer, Counter: c.Counter, Pair: x.reassignments}
	x.reassignments++
	x.InFlight = append(x.InFlight, Flight{c, u.Reassignment, x.Tx.Updates + x.Random.Between(1, 12)})
	return true
}

// assign lets a contract in flight arrive.
func (x *harborState) assign(f Flight) {
	f.Contract.Synchronizer = f.half.Target
	x.Tx.Activate(f.Contract)
	u := x.Tx.Current
	u.Kind, u.Synchronizer, u.Reassignment = AssignmentUpdate, f.half.Target, f.half
	x.shipments = append(x.shipments, f.Contract)
}
