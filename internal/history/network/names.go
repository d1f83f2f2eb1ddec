package network

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Name is an entry of the name service. URL and Description are whatever its owner wrote.
type Name struct {
	Name, Owner, URL, Description string
	ExpiresAt                     schemas.Micros
	Contract                      Contract
}

func nameOf(c *Contract) (Name, error) {
	var payload struct {
		User, Name, URL, Description, ExpiresAt string
	}
	if err := c.decode(&payload); err != nil {
		return Name{}, err
	}
	return Name{payload.Name, payload.User, payload.URL, payload.Description, timeOrNone(payload.ExpiresAt), *c}, nil
}

// Names returns entries that begin with a prefix, before a key, the newest first. Some may have expired.
func (r *Reader) Names(ctx context.Context, at Instant, prefix string, before Key, limit int) ([]Name, error) {
	q := query(at, limit, template.NameEntry)
	q.KeyPrefix = prefix
	list, err := r.newest(ctx, q, before)
	if err != nil {
		return nil, err
	}
	return decoded(list, nameOf)
}

// Named returns the entries of a name, the newest first: one, unless an older one has expired and was not removed.
func (r *Reader) Named(ctx context.Context, at Instant, name string) ([]Name, error) {
	q := query(at, maxOfParty, template.NameEntry)
	q.Key = name
	list, err := r.newest(ctx, q, Newest)
	if err != nil {
		return nil, err
	}
	return decoded(list, nameOf)
}

// NamesOf returns the entries of a party, the newest first.
func (r *Reader) NamesOf(ctx context.Context, at Instant, owner string) ([]Name, error) {
	q := query(at, maxOfParty, template.NameEntry)
	q.Signatory = owner
	list, err := r.newest(ctx, q, Newest)
	if err != nil {
		return nil, err
	}
	all, err := decoded(list, nameOf)
	own := all[:0]
	for _, n := range all { // the governance party signs all of them
		if n.Owner == owner {
			own = append(own, n)
		}
	}
	return own, err
}
