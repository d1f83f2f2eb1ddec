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
type field struct {
	result bool
	// paths are where it may be, in this order: versions and choices differ.
	paths [][]string
}

// Of coins, locked ones too, of mining rounds and of names.
var (
	owner     = argument([]string{"owner"}, []string{"amulet", "owner"})
	amount    = argument([]string{"amount", "initialAmount"}, []string{"amulet", "amount", "initialAmount"})
	lockedFor = argument([]string{"lock", "optContext"})
	number    = argument([]string{"round", "number"})
	opensAt   = argument([]string{"opensAt"})
	entryName = argument([]string{"name"})
)

// Of choices.
var (
	sender       = argument([]string{"transfer", "sender"}, []string{"transfer", "sender", "owner"}, []string{"sender"})
	description  = argument([]string{"description"})
	member       = argument([]string{"memberId"})
	paid         = &field{true, [][]string{{"amuletPaid"}}}
	round        = ofSummary(nil, []string{"round", "number"})
	appReward    = ofSummary([]string{"summary"}, []string{"inputAppRewardAmount"})
	validator    = ofSummary([]string{"summary"}, []string{"inputValidatorRewardAmount"})
	liveness     = ofSummary([]string{"summary"}, []string{"inputValidatorFaucetAmount"})
	operator     = ofSummary([]string{"summary"}, []string{"inputSvRewardAmount"})
	activity     = ofSummary([]string{"summary"}, []string{"inputUnclaimedActivityRecordAmount"})
	developments = ofSummary([]string{"summary"}, []string{"inputDevelopmentFundAmount"})
)

func argument(paths ...[]string) *field { return &field{false, paths} }

// ofSummary is a field of a transfer's result, or of that of a choice around it.
func ofSummary(summary, path []string) *field {
	f := &field{result: true}
	for _, outer := range [][]string{nil, {"transferResult"}, {"result"}, {"amuletSum"}} {
		f.paths = append(f.paths, append(append(append([]string(nil), outer...), summary...), path...))
	}
	return f
}

// types are those of the values of an event.
type types struct{ argument, result *values.Type }

// place is where a field is in the body of events of one shape: at which of its scalars or parties.
type place struct {
	n     int
	there bool
	lost  bool // it is neither: texts are read instead
}

type placeKey struct {
	shape   *store.Shape
	of      *types
	field   *field
	compact bool
}

// maxPlaces bounds the places that are remembered.
const maxPlaces = 50_000

// body reads fields of the event under way.
type body struct {
	places  map[placeKey]place
	e       *store.CoinEvent
	of      *types
	scalars [][]byte
	read    bool // scalars are those of e
	texts   []byte
}

func (b *body) begin(e *store.CoinEvent, of *types) { b.e, b.of, b.read = e, of, false }

// text returns a scalar or a party, nil where there is none. It is valid until the next event.
func (b *body) text(f *field) []byte {
	shape := b.e.Shape()
	key := placeKey{shape, b.of, f, b.e.Encoding == schemas.CompactJSON}
	p, known := b.places[key]
	if !known {
		p = find(key)
		if len(b.places) >= maxPlaces {
			clear(b.places)
		}
		b.places[key] = p
	}
	switch {
	case p.lost:
		return b.textOf(f)
	case !p.there:
		return nil
	case p.n < 0:
		return []byte(b.e.Party(-p.n - 1))
	}
	if !b.read {
		b.scalars, b.read = b.e.AppendScalars(b.scalars[:0]), true
	}
	if p.n >= len(b.scalars) {
		return nil
	}
	return b.scalars[p.n]
}

// find looks a field up in a shape. Parties have numbers below 0.
func find(key placeKey) (p place) {
	if key.shape.Joined() {
		return place{lost: true}
	}
	line, kind, scalarAt := key.shape.Argument(), key.of.argument, key.shape.ArgumentScalar
	if key.field.result {
		line, kind, scalarAt = key.shape.Result(), key.of.result, key.shape.ResultScalar
	}
	v := key.field.in(payload.Value{JSON: []byte(line), Kind: kind, Compact: key.compact})
	raw := v.Raw()
	if raw == nil {
		return p
	}
	if raw[0] == '"' {
		raw = raw[1:]
	}
	at := len(line) - len(raw) // a value is not cut at its end
	p.there, p.n = true, scalarAt(at)
	if p.n < 0 {
		if n := key.shape.ArgumentParty(at); n >= 0 && !key.field.result {
			p.n = -n - 1
			return p
		}
		return place{lost: true}
	}
	return p
}

// in returns the first of the paths that leads somewhere.
func (f *field) in(v payload.Value) payload.Value {
	for _, path := range f.paths {
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
func (b *body) textOf(f *field) []byte {
	argument, result := b.values()
	v := payload.New(argument, b.of.argument, b.e.Encoding)
	if f.result {
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
func (b *body) amount(f *field) decimal.Decimal {
	d, _ := payload.Amount(b.text(f))
	return d
}

// number returns a whole number; ok is false where there is none.
func (b *body) number(f *field) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(b.text(f)), 10, 64)
	return n, err == nil
}

// time returns an instant; ok is false where there is none.
func (b *body) time(f *field) (at schemas.Micros, ok bool) {
	if b.e.Encoding == schemas.CompactJSON {
		at, err := schemas.ParseTime(string(b.text(f)))
		return at, err == nil
	}
	n, ok := b.number(f)
	return schemas.Micros(n), ok
}
