package model

import (
	"math/big"
	"testing"
)

func TestDecimalText(t *testing.T) {
	for want, d := range map[string]Decimal{
		"0.0000000000": 0, "0.0000000001": 1, "-0.0000000001": -1, "1.0000000000": One,
		"-12.5000000000": -12*One - One/2, "922337203.6854775807": 1<<63 - 1,
	} {
		if got := d.String(); got != want {
			t.Errorf("decimal %d: got %s, want %s", int64(d), got, want)
		}
	}
}

// TestDecimalArithmetic compares with rational numbers rounded half to even.
func TestDecimalArithmetic(t *testing.T) {
	r := &Random{1}
	for range 20000 {
		d, e := Decimal(r.Next()>>(2+r.Below(50))), Decimal(r.Next()>>(24+r.Below(30)))
		if e == 0 {
			continue
		}
		product := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(e)))
		if want := roundedQuotient(product, int64(One)); want.IsInt64() {
			if got := d.Times(e); int64(got) != want.Int64() {
				t.Fatalf("%s × %s: got %d, want %s", d, e, int64(got), want)
			}
		}
		scaled := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(int64(One)))
		if want := roundedQuotient(scaled, int64(e)); want.IsInt64() {
			if got := d.Over(e); int64(got) != want.Int64() {
				t.Fatalf("%s / %s: got %d, want %s", d, e, int64(got), want)
			}
		}
	}
}

func roundedQuotient(n *big.Int, d int64) *big.Int {
	divisor := big.NewInt(d)
	quo, rem := new(big.Int).QuoRem(n, divisor, new(big.Int))
	twice := rem.Lsh(rem, 1)
	if c := twice.Cmp(divisor); c > 0 || c == 0 && quo.Bit(0) == 1 {
		quo.Add(quo, big.NewInt(1))
	}
	return quo
}
