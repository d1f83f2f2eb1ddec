package decimal_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// numbers draws numbers of which many are next to a limit: of 64 and 128 bits, and of what the
// network stores.
type numbers struct{ *rand.Rand }

func (r numbers) draw() *big.Int {
	n := new(big.Int)
	switch r.IntN(4) {
	case 0: // a limit, or next to it
		n.Lsh(big.NewInt(1), []uint{0, 62, 63, 64, 126, 127, 128, 190}[r.IntN(8)])
		n.Add(n, big.NewInt(r.Int64N(5)-2))
	case 1:
		n.Exp(big.NewInt(10), big.NewInt(r.Int64N(50)), nil)
		n.Add(n, big.NewInt(r.Int64N(5)-2))
	default: // any length
		for range 1 + r.IntN(4) {
			n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()))
		}
		n.Rsh(n, r.UintN(130))
	}
	if r.IntN(2) == 0 {
		n.Neg(n)
	}
	return n
}

// rat is the number of so many units.
func rat(units *big.Int) *big.Rat { return new(big.Rat).SetFrac(units, decimal.One) }

// rounded is x in units, rounded to the nearest and from the middle to the even one, or up.
func rounded(x *big.Rat, up bool) *big.Int {
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(decimal.One))
	floor := new(big.Int).Div(scaled.Num(), scaled.Denom()) // Euclidean: down, as denominators are positive
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(floor))
	half := rest.Cmp(big.NewRat(1, 2))
	if up && rest.Sign() > 0 || !up && (half > 0 || half == 0 && floor.Bit(0) == 1) {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// same reports whether d has so many units, in the one form that numbers of its size have.
func same(d decimal.Decimal, units *big.Int) bool {
	fits := units.BitLen() <= 127 || units.Cmp(decimal.Least) == 0
	return d.Units().Cmp(units) == 0 && !d.IsWide() == fits
}

func TestArithmeticIsExact(t *testing.T) {
	r := numbers{rand.New(rand.NewPCG(3, 7))}
	for range schematest.Rounds(5_000, 2_000_000) {
		a, b, n := r.draw(), r.draw(), int64(r.Uint64())
		x, y := decimal.Of(new(big.Int).Set(a)), decimal.Of(new(big.Int).Set(b))
		results := map[string]struct {
			got  decimal.Decimal
			want *big.Int
		}{
			"plus":      {x.Plus(y), new(big.Int).Add(a, b)},
			"minus":     {x.Minus(y), new(big.Int).Sub(a, b)},
			"neg":       {x.Neg(), new(big.Int).Neg(a)},
			"times int": {x.TimesInt(n), new(big.Int).Mul(a, big.NewInt(n))},
			"from int":  {decimal.FromInt(n), new(big.Int).Mul(big.NewInt(n), decimal.One)},
			"times":     {x.Times(y), rounded(new(big.Rat).Mul(rat(a), rat(b)), false)},
		}
		if b.Sign() != 0 {
			quotient := new(big.Rat).Quo(rat(a), rat(b))
			results["over"] = struct {
				got  decimal.Decimal
				want *big.Int
			}{x.Over(y), rounded(quotient, false)}
			results["over up"] = struct {
				got  decimal.Decimal
				want *big.Int
			}{x.OverUp(y), rounded(quotient, true)}
		}
		for name, op := range results {
			if !same(op.got, op.want) {
				t.Fatalf("%s of %s and %s (or %d) is %s, want %s units", name, x, y, n, op.got, op.want)
			}
		}
		if x.Cmp(y) != a.Cmp(b) || x.Less(y) != (a.Cmp(b) < 0) || x.Sign() != a.Sign() {
			t.Fatalf("%s and %s compare as %d, with signs %d", x, y, x.Cmp(y), x.Sign())
		}
		if !x.IsWide() && (x == y) != (a.Cmp(b) == 0) {
			t.Fatalf("%s == %s is %t", x, y, x == y)
		}
		if !same(x, a) || !same(y, b) {
			t.Fatalf("an operation has changed %s or %s", a, b)
		}
	}
}

func TestTextsAreExact(t *testing.T) {
	r := numbers{rand.New(rand.NewPCG(5, 11))}
	for range schematest.Rounds(5_000, 2_000_000) {
		a := r.draw()
		x := decimal.Of(new(big.Int).Set(a))
		text := x.String()
		if want := rat(a).FloatString(decimal.FractionDigits); text != want && "-"+text != want {
			t.Fatalf("%s units are written as %s, want %s", a, text, want)
		}
		high, low, ok := x.Int128()
		if fits := !x.IsWide(); ok != fits || fits && decimal.OfInt128(high, low) != x {
			t.Fatalf("%s became %x %x, %t", x, high, low, ok)
		}
		if want := new(big.Int).Abs(a).Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)) < 0; x.Storable() != want {
			t.Fatalf("%s is storable: %t, want %t", x, x.Storable(), want)
		}
		if len(strings.TrimPrefix(text, "-")) > decimal.MaxDigits+1+decimal.FractionDigits {
			if _, err := decimal.Parse(text); err == nil {
				t.Fatalf("%s is read", text)
			}
			continue
		}
		if got, err := decimal.Parse(text); err != nil || !same(got, a) {
			t.Fatalf("%s is read as %s, %v", text, got, err)
		}
		short := strings.TrimRight(strings.TrimRight(text, "0"), ".")
		if got, err := decimal.Parse([]byte(short)); err != nil || !same(got, a) {
			t.Fatalf("%s is read as %s, %v", short, got, err)
		}
	}
}
