package holdings

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
	"github.com/ledgerlake/ledgerlake/schemas/values/payload"
)

// field is a scalar or a party somewhere in the argument or the result of an event.
type field int

const (
	// Of coins, locked ones too, of mining rounds and of names.
	owner field = iota
	amount
	lockedFor
	governance
	number
	opensAt
	entryName
	since
	rate
	// Of arguments of choices.
	sender
	description
	member
	buyer
	trafficAmount
	// Of results.
	paid
	round
	appReward
	validator
	liveness
	operator
	activity
	development
	fieldCount
)

// paths are where fields may be, in this order: versions and choices differ.
var paths = [fieldCount][][]string{
	owner:         {{"owner"}, {"amulet", "owner"}},
	amount:        {{"amount", "initialAmount"}, {"amulet", "amount", "initialAmount"}},
	lockedFor:     {{"lock", "optContext"}},
	governance:    {{"dso"}, {"amulet", "dso"}},
	number:        {{"round", "number"}},
	opensAt:       {{"opensAt"}},
	entryName:     {{"name"}},
	since:         {{"amount", "createdAt", "number"}, {"amulet", "amount", "createdAt", "number"}},
	rate:          {{"amount", "ratePerRound", "rate"}, {"amulet", "amount", "ratePerRound", "rate"}},
	sender:        {{"transfer", "sender"}, {"transfer", "sender", "owner"}, {"sender"}},
	description:   {{"description"}},
	member:        {{"memberId"}},
	buyer:         {{"provider"}},
	trafficAmount: {{"trafficAmount"}},
	paid:          {{"amuletPaid"}},
	round:         append(ofSummary("round", "number"), []string{"expireSum", "round", "number"}),
	appReward:     ofSummary("summary", "inputAppRewardAmount"),
	validator:     ofSummary("summary", "inputValidatorRewardAmount"),
	liveness:      ofSummary("summary", "inputValidatorFaucetAmount"),
	operator:      ofSummary("summary", "inputSvRewardAmount"),
	activity:      ofSummary("summary", "inputUnclaimedActivityRecordAmount"),
	development:   ofSummary("summary", "inputDevelopmentFundAmount"),
}

// ofSummary is where a transfer's result has something, or that of a choice around it.
func ofSummary(path ...string) (list [][]string) {
	for _, outer := range [][]string{nil, {"transferResult"}, {"result"}, {"amuletSum"}} {
		list = append(list, append(outer, path...))
	}
	return list
}

// inResult reports whether a field is in the result.
func (f field) inResult() bool { return f >= paid }

// types are those of the values of an event.
type types struct{ argument, result *values.Type }

// place is where a field is in the body of events of one shape: at which of its scalars or parties.
type place struct {
	known bool // else it was not looked for yet
	there bool
	party bool
	lost  bool // it is neither: texts are read instead
	n     int
}

type placeKey struct {
	shape   *store.Shape
	of      *types
	compact bool
}

// maxPlaces bounds the shapes that are remembered.
const maxPlaces = 10_000

// body reads fields of the event under way.
type body struct {
	shapes  map[placeKey]*[fieldCount]place
	e       *store.CoinEvent
	of      *types
	places  *[fieldCount]place
	scalars [][]byte
	read    bool // scalars are those of e
	texts   []byte
}

func (b *body) begin(e *store.CoinEvent, of *types) {
	b.e, b.of, b.read = e, of, false
	key := placeKey{e.Shape(), of, e.Encoding == schemas.CompactJSON}
	if b.places = b.shapes[key]; b.places != nil {
		return
	}
	if len(b.shapes) >= maxPlaces {
		clear(b.shapes)
	}
	b.places = new([fieldCount]place)
	b.shapes[key] = b.places
}

// place returns where a field is.
func (b *body) place(f field) *place {
	p := &b.places[f]
	if !p.known {
		*p = b.find(f)
	}
	return p
}

// text returns a scalar, nil where there is none. It is valid until the next event.
func (b *body) text(f field) []byte {
	p := b.place(f)
	switch {
	case p.lost:
		return b.textOf(f)
	case !p.there || p.party:
		return nil
	}
	if !b.read {
		b.scalars, b.read = b.e.AppendScalars(b.scalars[:0]), true
	}
	if p.n >= len(b.scalars) {
		return nil
	}
	return b.scalars[p.n]
}

// name returns a party, or a text that is as short as one, "" where there is none.
func (b *body) name(f field) string {
	if p := b.place(f); p.party {
		return b.e.Party(p.n)
	}
	return string(b.text(f))
}

// find looks a field up in the shape.
func (b *body) find(f field) place {
	shape := b.e.Shape()
	if shape.Joined() {
		return place{known: true, lost: true}
	}
	line, kind, scalarAt := shape.Argument(), b.of.argument, shape.ArgumentScalar
	if f.inResult() {
		line, kind, scalarAt = shape.Result(), b.of.result, shape.ResultScalar
	}
	raw := f.in(payload.New([]byte(line), kind, b.e.Encoding)).Raw()
	if raw == nil {
		return place{known: true}
	}
	if raw[0] == '"' {
		raw = raw[1:]
	}
	at := len(line) - len(raw) // a value is not cut at its end
	if n := scalarAt(at); n >= 0 {
		return place{known: true, there: true, n: n}
	}
	if n := shape.ArgumentParty(at); n >= 0 && !f.inResult() {
		return place{known: true, there: true, party: true, n: n}
	}
	return place{known: true, lost: true}
}

// in returns the first of the paths that leads somewhere.
func (f field) in(v payload.Value) payload.Value {
	for _, path := range paths[f] {
		at := v
		for _, label := range path {
			if at = at.Field(label); at.Kind != nil && at.Kind.Kind == values.KindOptional {
				at = at.Some()
			}
		}
		if at.JSON != nil && at.Kind != nil && at.Kind.Kind != values.KindRecord {
			return at
		}
	}
	return payload.Value{}
}

// textOf is text for a body that is not of one of few shapes.
func (b *body) textOf(f field) []byte {
	argument, result := b.values()
	v := payload.New(argument, b.of.argument, b.e.Encoding)
	if f.inResult() {
		v = payload.New(result, b.of.result, b.e.Encoding)
	}
	return f.in(v).Text()
}

// values are the argument and the result.
func (b *body) values() (argument, result []byte) {
	texts, at, end := b.e.AppendValues(b.texts[:0])
	b.texts = texts
	return texts[:at], texts[at:end]
}

// amount returns a number, 0 where there is none.
func (b *body) amount(f field) decimal.Decimal {
	d, _ := payload.Amount(b.text(f))
	return d
}

// number returns a whole number; ok is false where there is none.
func (b *body) number(f field) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(b.text(f)), 10, 64)
	return n, err == nil
}

// time returns an instant; ok is false where there is none.
func (b *body) time(f field) (at schemas.Micros, ok bool) {
	if b.e.Encoding == schemas.CompactJSON {
		at, err := schemas.ParseTime(string(b.text(f)))
		return at, err == nil
	}
	n, ok := b.number(f)
	return schemas.Micros(n), ok
}
