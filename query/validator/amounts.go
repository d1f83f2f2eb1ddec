package validator

import (
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// fractionDigits is how many digits an amount may have behind the point.
const fractionDigits = 10

// amountOf reads a required amount: a decimal text above zero with at most 28 digits before and
// 10 behind the point.
func amountOf(p *query.Params, name string) decimal.Decimal {
	text := p.Text(name)
	if p.Err() != nil {
		return decimal.Decimal{}
	}
	return parseAmount(p, name, text)
}

// parseAmount checks a text as amountOf does.
func parseAmount(p *query.Params, name, text string) decimal.Decimal {
	whole, fraction, pointed := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if len(text) > 100 || whole == "" || pointed && fraction == "" || !digits(whole) || !digits(fraction) {
		p.Fail("Member %s must be a decimal text such as 1.5.", name)
		return decimal.Decimal{}
	}
	if len(fraction) > fractionDigits {
		p.Fail("Member %s has %d digits after the point, at most %d are allowed.", name, len(fraction), fractionDigits)
		return decimal.Decimal{}
	}
	amount, err := decimal.Parse(text)
	switch {
	case err != nil:
		p.Fail("Member %s must be a decimal text such as 1.5.", name)
	case amount.Sign() <= 0:
		p.Fail("Member %s must be greater than zero.", name)
	case !amount.Storable():
		p.Fail("Member %s has more than 28 digits before the point.", name)
	}
	return amount
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// instantOf reads a required instant in microseconds since 1970.
func instantOf(p *query.Params, name string) time.Time {
	at := time.UnixMicro(p.Int64(name)).UTC()
	if p.Err() == nil && (at.Year() < 1 || at.Year() > 9999) {
		p.Fail("Member %s is not an instant that the ledger can represent.", name)
	}
	return at
}

// expiryOf reads a required instant in microseconds since 1970, which must be later than now, the
// time of the ledger.
func expiryOf(p *query.Params, name string, now time.Time) time.Time {
	micros := p.Int64(name)
	expires := time.UnixMicro(micros).UTC()
	if p.Err() == nil && !expires.After(now) {
		p.Fail("Member %s must be in the future, in microseconds since 1970.", name)
	}
	if p.Err() == nil && expires.Year() > 9999 {
		p.Fail("Member %s is later than the ledger can represent.", name)
	}
	return expires
}

// partyOf reads a required party, name::fingerprint.
func partyOf(p *query.Params, name string) string {
	party := p.Text(name)
	if p.Err() == nil {
		checkIdentity(p, name, party)
	}
	return party
}

// checkIdentity notes a text that is not name::fingerprint.
func checkIdentity(p *query.Params, name, id string) {
	label, fingerprint, ok := strings.Cut(id, "::")
	if !ok || label == "" || fingerprint == "" || len(id) > maxIdentity {
		p.Fail("%s must be of the form name::fingerprint.", name)
	}
}

// Longest texts of requests, in bytes.
const (
	maxIdentity    = 1000
	maxTrackingID  = 255
	maxDescription = 4096
	maxUserName    = 128
	maxPartyHint   = 185
)

// textOf reads a required text of at least least and at most most bytes.
func textOf(p *query.Params, name string, least, most int) string {
	text := p.Text(name)
	checkLength(p, name, text, least, most)
	return text
}

// optionalTextOf is textOf for a text that may be absent, "" then.
func optionalTextOf(p *query.Params, name string, most int) string {
	text, _ := p.OptionalText(name)
	checkLength(p, name, text, 0, most)
	return text
}

func checkLength(p *query.Params, name, text string, least, most int) {
	if p.Err() == nil && (len(text) < least || len(text) > most) {
		p.Fail("Member %s must have from %d to %d bytes.", name, least, most)
	}
}
