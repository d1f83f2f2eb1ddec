package model

import "strconv"

// The templates of the third-party app use every kind of value, nested in each
// other, and stand in no catalogue.
var (
	shipmentShape = NewShape("carrier", "shipper", "consignee", "regulator", "reference", "cargo", "route", "status", "insurance", "departure", "bookedAt", "readings", "seals", "handover", "labels", "remark")
	cargoShape    = NewShape("sku", "quantity", "unitPrice", "attributes", "hazardous", "batch")
	seaLegShape   = NewShape("vessel", "ports", "draught")
	railLegShape  = NewShape("waggons", "gauge")
	ReadingShape  = NewShape("celsius", "at", "alarm")
	sealShape     = NewShape("position", "colour")
	laneShape     = NewShape("carrier", "regulator", "origin", "destination", "price", "validFrom", "capacity", "surcharges", "active")

	ShipmentStatuses = []string{"Booked", "Loaded", "InTransit", "Delivered"}
	sealColours      = []string{"Amber", "Blue", "Crimson"}
	harborPorts      = []string{"Göteborg", "Łódź", "Αθήνα", "Владивосток", "横浜", "부산", "القاهرة", "São Tomé", "Kraków", "Hà Nội"}
	cargoWords       = []string{"roller bearing", "café beans", "Spätburgunder \"Réserve\"", "naïve art\tframed", "3″ pipe \\ fitting", "抹茶", "🧊 ice core", "rice\nparboiled", "tile <4×4> & grout", "bell\u2028bronze"}
	attributeKeys    = []string{"", "a/b", "class", "klass ü", "origin", "temperature °C", "zertifikat"}
)

// Shipment is a contract of the third-party app. Most of its content follows from
// content, so that it need not be kept.
type Shipment struct {
	Carrier, Shipper, Consignee Party
	Content                     uint64
	Status                      int
	BookedAt                    int64
	Readings                    int
}

func (p Shipment) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Carrier, p.Shipper), append(obs, p.Consignee, Dso)
}

func (p Shipment) Arguments(a *Arena, _ uint8) Value {
	r := &Random{p.Content}
	cargo := make([]Value, r.Between(1, 4))
	for i := range cargo {
		cargo[i] = cargoItem(a, r)
	}
	return a.Record(shipmentShape, PartyValue(p.Carrier), PartyValue(p.Shipper), PartyValue(p.Consignee),
		PartyValue(Dso), Text(shipmentReference(r)), a.List(cargo...), shipmentRoute(a, r),
		Enum(ShipmentStatuses[p.Status]), insurance(a, r), Date(p.BookedAt/86400e6+int64(r.Between(-400, 40))),
		Timestamp(p.BookedAt), p.readingsValue(a, r), seals(a, r), Unit(), Labels(a, r), remark(a, r))
}

func shipmentReference(r *Random) string {
	return harborPorts[r.Below(len(harborPorts))] + " → " + harborPorts[r.Below(len(harborPorts))] +
		" №" + strconv.Itoa(r.Below(100000))
}

func cargoItem(a *Arena, r *Random) Value {
	var attributes []Value
	for _, k := range attributeKeys {
		if r.Percent(35) {
			attributes = append(attributes, Text(k), Text(cargoWords[r.Below(len(cargoWords))]))
		}
	}
	batch := None()
	if r.Percent(50) {
		batch = a.Some(a.Some(Text(strconv.Itoa(r.Below(1000)))))
	} else if r.Percent(50) {
		batch = a.Some(None())
	}
	return a.Record(cargoShape, Text(cargoWords[r.Below(len(cargoWords))]), Int64Value(int64(r.Between(-3, 5000))),
		Numeric(r.DecimalBetween(1, Coins(900))), a.TextMap(attributes...), Boolean(r.Percent(20)), batch)
}

func shipmentRoute(a *Arena, r *Random) Value {
	switch r.Below(4) {
	case 0:
		ports := make([]Value, r.Below(4))
		for i := range ports {
			ports[i] = Text(harborPorts[r.Below(len(harborPorts))])
		}
		return a.Variant("Sea", a.Record(seaLegShape, Text("MV "+harborPorts[r.Below(len(harborPorts))]),
			a.List(ports...), Numeric(r.DecimalBetween(0, Coins(18)))))
	case 1:
		return a.Variant("Rail", a.Record(railLegShape, Int64Value(int64(r.Between(1, 60))),
			Optional(a, r.Percent(50), Int64Value(1435))))
	case 2:
		return a.Variant("Air", Text("flight "+strconv.Itoa(r.Below(9999))))
	}
	return a.Variant("Undecided", Unit())
}

// insurance is an optional of an optional of an optional.
func insurance(a *Arena, r *Random) Value {
	switch r.Below(4) {
	case 0:
		return None()
	case 1:
		return a.Some(None())
	case 2:
		return a.Some(a.Some(None()))
	}
	return a.Some(a.Some(a.Some(Numeric(r.DecimalBetween(0, Coins(100000))))))
}

// readingsValue is a map from the number of a reading to the reading.
func (p Shipment) readingsValue(a *Arena, r *Random) Value {
	entries := make([]Value, 0, 2*p.Readings)
	for i := range p.Readings {
		celsius := r.DecimalBetween(0, Coins(60)) - Coins(25)
		entries = append(entries, Int64Value(int64(i)), a.Record(ReadingShape, Numeric(celsius),
			Timestamp(p.BookedAt+int64(i)*3600e6+int64(r.Below(1e6))), Boolean(celsius > Coins(30))))
	}
	return a.GenMap(entries...)
}

// seals is a map with records as keys.
func seals(a *Arena, r *Random) Value {
	var entries []Value
	for i := range r.Below(3) {
		key := a.Record(sealShape, Int64Value(int64(i)), Enum(sealColours[r.Below(len(sealColours))]))
		entries = append(entries, key, a.List(Text(strconv.Itoa(r.Below(1e6)))))
	}
	return a.GenMap(entries...)
}

// Labels is a text map of random labels.
func Labels(a *Arena, r *Random) Value {
	var entries []Value
	for _, k := range attributeKeys[1:] {
		if r.Percent(30) {
			entries = append(entries, Text(k), Boolean(r.Percent(50)))
		}
	}
	return a.TextMap(entries...)
}

func remark(a *Arena, r *Random) Value {
	return OptionalText(a, []string{"", "fragile\u0001\u001f", "keep < −4 °C", "«по возможности»"}[r.Below(4)])
}

// Lane is a price list entry of the third-party app; its map has enums as keys.
type Lane struct {
	Carrier Party
	Content uint64
	Since   int64 // day
}

func (p Lane) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Carrier), append(obs, Dso)
}

func (p Lane) Arguments(a *Arena, _ uint8) Value {
	r := &Random{p.Content}
	var capacity, surcharges []Value
	for _, c := range sealColours {
		capacity = append(capacity, Enum(c), Int64Value(int64(r.Below(100))))
		surcharges = append(surcharges, a.List(Numeric(r.DecimalBetween(0, Coins(5))), Numeric(0)))
	}
	return a.Record(laneShape, PartyValue(p.Carrier), PartyValue(Dso), Text(harborPorts[r.Below(len(harborPorts))]),
		Text(harborPorts[r.Below(len(harborPorts))]), Numeric(r.DecimalBetween(0, Coins(2000))), Date(p.Since),
		a.GenMap(capacity...), a.List(surcharges...), Boolean(true))
}
