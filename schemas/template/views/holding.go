package views

import (
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// coinKeys begins the keys of metadata that only the coin has.
const coinKeys = `"amulet.splice.lfdecentralizedtrust.org/`

// holding is what both versions show of a coin: the amount that it began with, and in the metadata
// what its holding fees follow from.
const holding = `"amount":$,"instrumentId":{"admin":$,"id":"` + template.CoinInstrument + `"},"lock":$,"meta":{"values":{` +
	coinKeys + `created-in-round":$,` + coinKeys + `rate-per-round":"$"}}`

func coinV1(dst []byte, r record) []byte       { return holdingAsV1(dst, r, none) }
func coinV2(dst []byte, r record) []byte       { return holdingAsV2(dst, r, none) }
func lockedCoinV1(dst []byte, r record) []byte { return holdingAsV1(dst, r.record("amulet"), lock(r)) }
func lockedCoinV2(dst []byte, r record) []byte { return holdingAsV2(dst, r.record("amulet"), lock(r)) }

func holdingAsV1(dst []byte, coin record, lock jsonscan.Value) []byte {
	return fill(appendHolding(append(dst, '{'), coin, lock), `,"owner":$}`, coin.text("owner"))
}

// holdingAsV2 has a basic account: a coin has no other.
func holdingAsV2(dst []byte, coin record, lock jsonscan.Value) []byte {
	dst = fill(dst, `{"account":{"id":"","owner":$,"provider":null},`, coin.text("owner"))
	return append(appendHolding(dst, coin, lock), '}')
}

func appendHolding(dst []byte, coin record, lock jsonscan.Value) []byte {
	amount := coin.record("amount")
	return fill(dst, holding, amount.numeric("initialAmount"), coin.text("dso"), lock,
		amount.record("createdAt").text("number"), shown(amount.record("ratePerRound").numeric("rate")))
}

func lock(r record) jsonscan.Value {
	l := r.record("lock")
	return fill(nil, `{"context":$,"expiresAfter":null,"expiresAt":$,"holders":$}`,
		l.optionalText("optContext"), l.text("expiresAt"), l.list("holders"))
}

// shown is a number as the contract language shows it as a text: with one fraction digit at least, and
// without zeros behind that.
func shown(number jsonscan.Value) jsonscan.Value {
	d, err := decimal.Parse(number.Text())
	if err != nil {
		return nil // who read the number has noted it
	}
	text := strings.TrimRight(d.String(), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return jsonscan.Value(text)
}
