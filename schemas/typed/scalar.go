package typed

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Units is a number of a Decimal(38, n): how many units of 10^-n it has, as the two halves of a signed
// integer of 128 bits.
type Units struct{ High, Low uint64 }

// Number is one of a Decimal(38, Scale).
type Number struct {
	Units
	Scale int
}

// String is the number with ten digits after its point, or with as many more as it needs.
func (n Number) String() string { return string(appendUnits(nil, n.Units, n.Scale)) }

// Days is a date: days since 1970.
type Days int32

// String is the date such as 2026-07-01.
func (d Days) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly)
}

// The instants and dates that columns can hold. Others become the nearest of these.
const (
	minTime schemas.Micros = -2208988800 * 1e6 // 1900-01-01
	maxTime schemas.Micros = 10413705600 * 1e6 // 2299-12-31
	minDay  Days           = -25567
	maxDay  Days           = 120529

	zeroTime schemas.Micros = 0
)

// rawJSON is the kind of scalars that are the JSON text of any value.
const rawJSON values.Kind = 0

// scalarOf is the node of a type that has one column, without it, and the type of that column.
func scalarOf(t *values.Type) (s scalar, base string, ok bool) {
	s.kind, s.scale = t.Kind, t.Scale
	switch t.Kind {
	case values.KindBool:
		return s, "Bool", true
	case values.KindInt64:
		return s, "Int64", true
	case values.KindNumeric:
		return s, fmt.Sprintf("Decimal(38, %d)", t.Scale), true
	case values.KindText, values.KindContractID:
		return s, "String", true
	case values.KindParty, values.KindEnum:
		return s, "LowCardinality(String)", true
	case values.KindTimestamp:
		return s, "DateTime64(6, 'UTC')", true
	case values.KindDate:
		return s, "Date32", true
	}
	return s, "", false
}

// cell reads a value.
func (s *scalar) cell(in *input) (any, error) {
	switch s.kind {
	case rawJSON:
		return in.raw()
	case values.KindBool:
		return in.boolean()
	}
	text, err := in.Text()
	if err != nil {
		return nil, unfit("%v", err)
	}
	switch s.kind {
	case values.KindInt64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, unfit("%.40q is no Int64", text)
		}
		return n, nil
	case values.KindNumeric:
		return unitsOf(string(text), s.scale)
	case values.KindTimestamp:
		at, ok := schemas.ParseUTC(text)
		if !ok {
			return nil, unfit("%.40q is no time", text)
		}
		return min(max(at, minTime), maxTime), nil
	case values.KindDate:
		day, err := time.Parse(time.DateOnly, string(text))
		if err != nil {
			return nil, unfit("%.40q is no date", text)
		}
		return min(max(Days(day.Unix()/86400), minDay), maxDay), nil
	}
	return string(text), nil
}

// appendCell appends a value as cell reads it.
func (s *scalar) appendCell(dst []byte, cell any) []byte {
	switch v := cell.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
	case Units:
		return append(appendUnits(append(dst, '"'), v, s.scale), '"')
	case schemas.Micros:
		return append(schemas.AppendShortTime(append(dst, '"'), v), '"')
	case Days:
		return append(append(append(dst, '"'), v.String()...), '"')
	case string:
		if s.kind == rawJSON {
			return append(dst, v...)
		}
		return jsonscan.AppendString(dst, []byte(v))
	}
	return append(dst, "null"...)
}

const maxDigits = 38

// unitsOf reads a number such as -1.50 in units of 10^-scale.
func unitsOf(text string, scale int) (Units, error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	kept := fraction[:min(len(fraction), scale)]
	if strings.Trim(fraction[len(kept):], "0") != "" {
		return Units{}, unfit("%.60q has more than %d digits after its point", text, scale)
	}
	all := strings.TrimLeft(whole+kept+strings.Repeat("0", scale-len(kept)), "0")
	n, ok := new(big.Int).SetString("0"+all, 10)
	if !ok || len(all) > maxDigits {
		return Units{}, unfit("%.60q is no number of %d digits", text, maxDigits)
	}
	if negative {
		n.Neg(n)
	}
	// And and Rsh take a negative number as two's complement.
	return Units{uint64(new(big.Int).Rsh(n, 64).Int64()), new(big.Int).And(n, low64).Uint64()}, nil
}

var low64 = new(big.Int).SetUint64(1<<64 - 1)

// appendUnits appends a number with ten digits after its point, or with as many more as it needs.
func appendUnits(dst []byte, u Units, scale int) []byte {
	n := big.NewInt(int64(u.High))
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(u.Low))
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := n.Abs(n).Text(10)
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - scale
	fraction := digits[point:]
	for len(fraction) > 10 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	dst = append(append(append(dst, digits[:point]...), '.'), fraction...)
	return append(dst, strings.Repeat("0", max(0, 10-len(fraction)))...)
}
