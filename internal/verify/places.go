package verify

import (
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
	"github.com/ledgerlake/ledgerlake/schemas/values/payload"
)

// slot is where a number stands in the argument or the result of an event.
type slot struct {
	there bool
	text  []byte // unless the place is one in a shape
	// scalar is which of the scalars of the event it is, in a shape.
	scalar int
}

// places are where a choice says what it does to the supply. In a shape they are looked up
// once, for all events that have it.
type places struct {
	minted, paid, round slot
	// summed says that there is a transfer's summary, listed that its argument lists what
	// the transfer gives. ratios are those of outputs.
	summed, listed                                bool
	rewards, outputFees, outputs, ratios          []slot
	senderChangeFee, holdingFees, inputs, changes slot

	inShape bool
	// scalars is how many scalars an event must have for the places in a shape to be there.
	scalars int
	// lost says that something is no scalar of the shape: texts are read instead.
	lost bool
}

// shapeKey identifies what was found out about a shape. kind is that of a choice, worth
// the type of a coin.
type shapeKey struct {
	shape   *audit.Shape
	kind    *choiceKind
	worth   *values.Type
	compact bool
}

// maxPlaces bounds the shapes that are remembered.
const maxPlaces = 20_000

// finder makes slots.
type finder struct {
	*places
	// line is the shape that payloads are of, and scalarAt tells its scalars. Without them
	// payloads are of texts.
	line     string
	scalarAt func(at int) int
}

// slot returns where a number, or the text of one, stands.
func (f *finder) slot(p payload.Value) slot {
	if f.scalarAt == nil {
		text := p.Text()
		return slot{there: text != nil, text: text}
	}
	v := p.Raw()
	if v == nil {
		return slot{}
	}
	if len(v) > 0 && v[0] == '"' {
		v = v[1:]
	}
	n := f.scalarAt(len(f.line) - len(v)) // a value is not cut at its end
	if n < 0 {
		f.lost = true
	}
	f.places.scalars = max(f.places.scalars, n+1)
	return slot{there: true, scalar: n}
}

// number returns the number in a slot of the event under way; ok is false if there is none.
func (r *coinReader) number(pl *places, s slot) (_ decimal.Decimal, ok bool) {
	return payload.Amount(r.textOf(pl, s))
}

func (r *coinReader) textOf(pl *places, s slot) []byte {
	switch {
	case !s.there:
		return nil
	case pl.inShape:
		return r.scalars[s.scalar]
	}
	return s.text
}

// shaped returns the places in the shape of event i, nil if its texts must be read. find
// looks them up in a shape that is new.
func (r *coinReader) shaped(i int, key shapeKey, find func(pl *places, argument, result finder)) *places {
	body := &r.facts[i].Body
	if body.Shape == nil {
		return nil
	}
	key.shape = body.Shape
	r.known.mu.RLock()
	pl := r.known.places[key]
	r.known.mu.RUnlock()
	if pl == nil {
		pl = &places{inShape: true, lost: body.Shape.Joined()}
		if !pl.lost {
			find(pl, finder{pl, body.Shape.Argument(), body.Shape.ArgumentScalar}, finder{pl, body.Shape.Result(), body.Shape.ResultScalar})
		}
		r.known.addPlaces(key, pl)
	}
	if pl.lost {
		return nil
	}
	r.scalars = body.AppendScalars(r.scalars[:0])
	if len(r.scalars) < pl.scalars {
		return nil
	}
	return pl
}

func (k *coinKinds) addPlaces(key shapeKey, pl *places) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.places) >= maxPlaces {
		clear(k.places)
	}
	k.places[key] = pl
}

// choicePlaces returns where event i, an exercise of that kind, says what it does.
func (r *coinReader) choicePlaces(u *schemas.Update, i int, k *choiceKind) *places {
	e := &u.Events[i]
	compact := u.Encoding == schemas.CompactJSON
	pl := r.shaped(i, shapeKey{kind: k, compact: compact}, func(pl *places, argument, result finder) {
		r.findChoice(k, argument, payload.Value{JSON: []byte(argument.line), Kind: k.argument, Compact: compact}, result, payload.Value{JSON: []byte(result.line), Kind: k.result, Compact: compact})
	})
	if pl != nil {
		return pl
	}
	pl = &r.read
	*pl = places{rewards: pl.rewards[:0], outputFees: pl.outputFees[:0], outputs: pl.outputs[:0], ratios: pl.ratios[:0]}
	texts := finder{places: pl}
	argument, result := r.values(e, i)
	r.findChoice(k, texts, payload.Value{JSON: argument, Kind: k.argument, Compact: compact}, texts, payload.Value{JSON: result, Kind: k.result, Compact: compact})
	return pl
}

// findChoice fills in where a choice says what it does: inArgument and inResult make slots
// of parts of its argument and its result.
func (r *coinReader) findChoice(k *choiceKind, inArgument finder, argument payload.Value, inResult finder, result payload.Value) {
	pl := inResult.places
	if k.mints {
		pl.minted, pl.round = inArgument.slot(argument.Field("amount")), inResult.slot(result.Path("amuletSum", "round", "number"))
		return
	}
	pl.round = inResult.slot(result.Path("round", "number"))
	if k.paid {
		pl.paid = inResult.slot(result.Field("amuletPaid"))
	}
	if k.summary == nil {
		return
	}
	summary := result.Path(k.summary...)
	if pl.summed = summary.JSON != nil; !pl.summed {
		return
	}
	r.fields = summary.AppendFields(r.fields[:0])
	part := func(i int) payload.Value { return pick(r.fields, i) }
	f := &k.fields
	for _, reward := range f.rewards {
		pl.rewards = append(pl.rewards, inResult.slot(part(reward)))
	}
	for _, reward := range f.optionalRewards {
		if p := part(reward).Some(); p.JSON != nil {
			pl.rewards = append(pl.rewards, inResult.slot(p))
		}
	}
	part(f.outputFees).Each(func(p payload.Value) { pl.outputFees = append(pl.outputFees, inResult.slot(p)) })
	pl.senderChangeFee, pl.holdingFees = inResult.slot(part(f.senderChangeFee)), inResult.slot(part(f.holdingFees))
	pl.inputs, pl.changes = inResult.slot(part(f.inputAmuletAmount)), inResult.slot(part(f.senderChangeAmount))
	list := argument.Path("transfer", "outputs")
	pl.listed = list.JSON != nil
	list.Each(func(p payload.Value) {
		r.fields = p.AppendFields(r.fields[:0])
		pl.outputs = append(pl.outputs, inArgument.slot(part(f.outputAmount)))
		pl.ratios = append(pl.ratios, inArgument.slot(part(f.outputRatio)))
	})
}

// worth reads the amount of the coin that event i creates.
func (r *coinReader) worth(u *schemas.Update, i int, kind *values.Type) (decimal.Decimal, bool) {
	e := &u.Events[i]
	compact := u.Encoding == schemas.CompactJSON
	pl := r.shaped(i, shapeKey{worth: kind, compact: compact}, func(pl *places, argument, _ finder) {
		pl.minted = argument.slot(worthOf(payload.Value{JSON: []byte(argument.line), Kind: kind, Compact: compact}))
	})
	if pl == nil {
		argument, _ := r.values(e, i)
		return worthOf(payload.New(argument, kind, u.Encoding)).Amount()
	}
	return r.number(pl, pl.minted)
}

// values returns the argument and the result of event i, maybe without ids and parties, until
// the next call.
func (r *coinReader) values(e *schemas.Event, i int) (argument, result []byte) {
	body := &r.facts[i].Body
	if len(e.Argument) > 0 || body.Shape == nil {
		return e.Argument, e.Result
	}
	var at, end int
	r.texts, at, end = body.AppendValues(r.texts[:0])
	return r.texts[:at], r.texts[at:end]
}
