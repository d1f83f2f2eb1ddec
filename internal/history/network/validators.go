package network

import (
	"context"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// License is what the network says of a validator.
type License struct {
	Validator, Sponsor string
	// Version and Contact are what the validator says of itself, "" if it said nothing; UpdatedAt is when it did.
	Version, Contact string
	UpdatedAt        schemas.Micros
	LastActive       schemas.Micros // zero if it never was
	// Liveness says in which rounds it was active; nil if in none.
	Liveness *Liveness
	Contract Contract
}

// Liveness is how long and how steadily a validator is active: from round First to Last it collected in some rounds and
// missed the others.
type Liveness struct{ First, Last, Collected, Missed int64 }

func licenseOf(c *Contract) (License, error) {
	var payload struct {
		Validator  string `json:"validator"`
		Sponsor    string `json:"sponsor"`
		LastActive string `json:"lastActiveAt"`
		Metadata   *struct {
			Contact   string `json:"contactPoint"`
			UpdatedAt string `json:"lastUpdatedAt"`
			Version   string `json:"version"`
		} `json:"metadata"`
		Faucets *struct {
			First  roundRef `json:"firstReceivedFor"`
			Last   roundRef `json:"lastReceivedFor"`
			Missed string   `json:"numCouponsMissed"`
		} `json:"faucetState"`
	}
	if err := c.decode(&payload); err != nil {
		return License{}, err
	}
	l := License{Validator: payload.Validator, Sponsor: payload.Sponsor, LastActive: timeOrNone(payload.LastActive), Contract: *c}
	if m := payload.Metadata; m != nil {
		l.Version, l.Contact, l.UpdatedAt = m.Version, m.Contact, timeOrNone(m.UpdatedAt)
	}
	if f := payload.Faucets; f != nil {
		missed, err := strconv.ParseInt(f.Missed, 10, 64)
		if first, last := f.First.number(), f.Last.number(); err == nil && first >= 0 && last >= first {
			l.Liveness = &Liveness{first, last, last - first + 1 - missed, missed}
		}
	}
	return l, nil
}

// timeOrNone reads an instant that need not be there: zero without one.
func timeOrNone(text string) schemas.Micros {
	at, err := schemas.ParseTime(text)
	if err != nil {
		return 0
	}
	return at
}

// Licenses returns the licences of validators before a key, the newest first.
func (r *Reader) Licenses(ctx context.Context, at Instant, before Key, limit int) ([]License, error) {
	list, err := r.Before(ctx, at, before, limit, template.ValidatorLicense)
	if err != nil {
		return nil, err
	}
	return decoded(list, licenseOf)
}

// maxOfParty is more licences, rights and names than a party has.
const maxOfParty = 50

// LicensesOf returns the licences of a validator, oldest first.
func (r *Reader) LicensesOf(ctx context.Context, at Instant, validator string) ([]License, error) {
	q := query(at, maxOfParty, template.ValidatorLicense)
	q.Observer = validator
	list, err := r.active(ctx, q)
	if err != nil {
		return nil, err
	}
	return decoded(list, licenseOf)
}

// FeaturedApps returns the rights of a party as the provider of a featured app.
func (r *Reader) FeaturedApps(ctx context.Context, at Instant, provider string) ([]Contract, error) {
	q := query(at, maxOfParty, template.FeaturedAppRight)
	q.Observer = provider
	return r.active(ctx, q)
}
