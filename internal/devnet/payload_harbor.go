package devnet

import "strconv"

// The templates of the third-party app use every kind of value, nested in each
// other, and stand in no catalogue.
var (
	shipmentShape = newShape("carrier", "shipper", "consignee", "regulator", "reference", "cargo", "route", "status", "insurance", "departure", "bookedAt", "readings", "seals", "handover", "labels", "remark")
	cargoShape    = newShape("sku", "quantity", "unitPrice", "attributes", "hazardous", "batch")
	seaLegShape   = newShape("vessel", "ports", "draught")
	railLegShape  = newShape("waggons", "gauge")
	readingShape  = newShape("celsius", "at", "alarm")
	sealShape     = newShape("position", "colour")
	laneShape     = newShape("carrier", "regulator", "origin", "destination", "price", "validFrom", "capacity", "surcharges", "active")

	shipmentStatuses = []string{"Booked", "Loaded", "InTransit", "Delivered"}
	sealColours      = []string{"Amber", "Blue", "Crimson"}
	harborPorts      = []string{"Göteborg", "Łódź", "Αθήνα", "Владивосток", "横浜", "부산", "القاهرة", "São Tomé", "Kraków", "Hà Nội"}
	cargoWords       = []string{"roller bearing", "café beans", "Spätburgunder \"Réserve\"", "naïve art\tframed", "3″ pipe \\ fitting", "抹茶", "🧊 ice core", "rice\nparboiled", "tile <4×4> & grout", "bell\u2028bronze"}
	attributeKeys    = []string{"", "a/b", "class", "klass ü", "origin", "temperature °C", "zertifikat"}
)

// shipment is a contract of the third-party app. Most of its content follows from
// content, so that it need not be kept.
type shipment struct {
	carrier, shipper, consignee party
	content                     uint64
	status                      int
	bookedAt                    int64
	readings                    int
}

func (p shipment) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.carrier, p.shipper), append(obs, p.consignee, dso)
}

func (p shipment) arguments(a *arena, _ uint8) value {
	r := &random{p.content}
	cargo := make([]value, r.between(1, 4))
	for i := range cargo {
		cargo[i] = cargoItem(a, r)
	}
	return a.record(shipmentShape, partyValue(p.carrier), partyValue(p.shipper), partyValue(p.consignee),
		partyValue(dso), text(shipmentReference(r)), a.list(cargo...), shipmentRoute(a, r),
		enum(shipmentStatuses[p.status]), insurance(a, r), date(p.bookedAt/86400e6+int64(r.between(-400, 40))),
		timestamp(p.bookedAt), p.readingsValue(a, r), seals(a, r), unit(), labels(a, r), remark(a, r))
}

func shipmentReference(r *random) string {
	return harborPorts[r.below(len(harborPorts))] + " → " + harborPorts[r.below(len(harborPorts))] +
		" №" + strconv.Itoa(r.below(100000))
}

func cargoItem(a *arena, r *random) value {
	var attributes []value
	for _, k := range attributeKeys {
		if r.percent(35) {
			attributes = append(attributes, text(k), text(cargoWords[r.below(len(cargoWords))]))
		}
	}
	batch := none()
	if r.percent(50) {
		batch = a.some(a.some(text(strconv.Itoa(r.below(1000)))))
	} else if r.percent(50) {
		batch = a.some(none())
	}
	return a.record(cargoShape, text(cargoWords[r.below(len(cargoWords))]), int64Value(int64(r.between(-3, 5000))),
		numeric(r.decimalBetween(1, coins(900))), a.textMap(attributes...), boolean(r.percent(20)), batch)
}

func shipmentRoute(a *arena, r *random) value {
	switch r.below(4) {
	case 0:
		ports := make([]value, r.below(4))
		for i := range ports {
			ports[i] = text(harborPorts[r.below(len(harborPorts))])
		}
		return a.variant("Sea", a.record(seaLegShape, text("MV "+harborPorts[r.below(len(harborPorts))]),
			a.list(ports...), numeric(r.decimalBetween(0, coins(18)))))
	case 1:
		return a.variant("Rail", a.record(railLegShape, int64Value(int64(r.between(1, 60))),
			optional(a, r.percent(50), int64Value(1435))))
	case 2:
		return a.variant("Air", text("flight "+strconv.Itoa(r.below(9999))))
	}
	return a.variant("Undecided", unit())
}

// insurance is an optional of an optional of an optional.
func insurance(a *arena, r *random) value {
	switch r.below(4) {
	case 0:
		return none()
	case 1:
		return a.some(none())
	case 2:
		return a.some(a.some(none()))
	}
	return a.some(a.some(a.some(numeric(r.decimalBetween(0, coins(100000))))))
}

// readingsValue is a map from the number of a reading to the reading.
func (p shipment) readingsValue(a *arena, r *random) value {
	entries := make([]value, 0, 2*p.readings)
	for i := range p.readings {
		celsius := r.decimalBetween(0, coins(60)) - coins(25)
		entries = append(entries, int64Value(int64(i)), a.record(readingShape, numeric(celsius),
			timestamp(p.bookedAt+int64(i)*3600e6+int64(r.below(1e6))), boolean(celsius > coins(30))))
	}
	return a.genMap(entries...)
}

// seals is a map with records as keys.
func seals(a *arena, r *random) value {
	var entries []value
	for i := range r.below(3) {
		key := a.record(sealShape, int64Value(int64(i)), enum(sealColours[r.below(len(sealColours))]))
		entries = append(entries, key, a.list(text(strconv.Itoa(r.below(1e6)))))
	}
	return a.genMap(entries...)
}

func labels(a *arena, r *random) value {
	var entries []value
	for _, k := range attributeKeys[1:] {
		if r.percent(30) {
			entries = append(entries, text(k), boolean(r.percent(50)))
		}
	}
	return a.textMap(entries...)
}

func remark(a *arena, r *random) value {
	return optionalText(a, []string{"", "fragile\u0001\u001f", "keep < −4 °C", "«по возможности»"}[r.below(4)])
}

// lane is a price list entry of the third-party app; its map has enums as keys.
type lane struct {
	carrier party
	content uint64
	since   int64 // day
}

func (p lane) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.carrier), append(obs, dso)
}

func (p lane) arguments(a *arena, _ uint8) value {
	r := &random{p.content}
	var capacity, surcharges []value
	for _, c := range sealColours {
		capacity = append(capacity, enum(c), int64Value(int64(r.below(100))))
		surcharges = append(surcharges, a.list(numeric(r.decimalBetween(0, coins(5))), numeric(0)))
	}
	return a.record(laneShape, partyValue(p.carrier), partyValue(dso), text(harborPorts[r.below(len(harborPorts))]),
		text(harborPorts[r.below(len(harborPorts))]), numeric(r.decimalBetween(0, coins(2000))), date(p.since),
		a.genMap(capacity...), a.list(surcharges...), boolean(true))
}
