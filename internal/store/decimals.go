package store

import (
	"fmt"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Numbers that do not fit do not exist on the network: sums of what it stores have at most 38
// digits, and whoever reads a number checks that it is Storable.
func decimal128(d decimal.Decimal) proto.Decimal128 {
	high, low, ok := d.Int128()
	if !ok {
		panic(fmt.Sprintf("the number %s has more digits than a Decimal(38, 10)", d))
	}
	return proto.Decimal128{High: high, Low: low}
}

func decimalOf(v proto.Decimal128) decimal.Decimal { return decimal.OfInt128(v.High, v.Low) }

// decimals is a column Decimal(38, 10).
func decimals(c *proto.ColDecimal128) proto.Column { return proto.Alias(c, "Decimal(38, 10)") }
