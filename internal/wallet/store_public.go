package wallet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/blobs"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// StorePublicConfig says where public contracts come from.
type StorePublicConfig struct {
	// Present reads what is active in public history. Required.
	Present *history.Present
	// Hosts returns the participants that host a party, by member id; schemas.ErrNotFound if none is known.
	// Required.
	Hosts func(ctx context.Context, synchronizer, party string) ([]string, error)
	// Blobs, if not nil, gives contracts the blobs that history does not have. Without, a node
	// that asks for them refuses commands that use public contracts.
	Blobs *blobs.Finder
	// Now defaults to time.Now.
	Now func() time.Time
}

// StorePublic reads public contracts from public history in the store.
type StorePublic struct{ cfg StorePublicConfig }

// NewStorePublic returns a reader of public contracts.
func NewStorePublic(cfg StorePublicConfig) (*StorePublic, error) {
	if cfg.Present == nil || cfg.Hosts == nil {
		return nil, errors.New("public contracts need a reader of public history and a source for the hosts of parties")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &StorePublic{cfg}, nil
}

// maxPublic bounds the contracts of a template that are read: rules, rounds and the like are
// a few, rights of apps some hundreds.
const maxPublic = 10_000

// Public returns active contracts of some templates, oldest first.
func (p *StorePublic) Public(ctx context.Context, key string, templates ...string) ([]Contract, error) {
	looked, observer := key, ""
	if !slices.ContainsFunc(templates, func(t string) bool { return template.PublicLookupFields(t) != nil }) {
		looked, observer = "", key
	}
	rows, at, err := p.cfg.Present.Contracts(ctx, looked, observer, maxPublic, templates...)
	if err != nil {
		return nil, fmt.Errorf("reading public contracts of %q: %w", templates, err)
	}
	if err := known(at); err != nil {
		return nil, err
	}
	list := make([]Contract, len(rows))
	for i := range rows {
		if list[i], err = contractOf(&rows[i].Event, rows[i].Encoding); err != nil {
			return nil, err
		}
		list[i].SynchronizerID = rows[i].SynchronizerID
	}
	if p.cfg.Blobs != nil {
		err = p.fill(ctx, list, key, templates)
	}
	return list, err
}

// fill gives the contracts of some templates their blobs, as far as these can be found: a node that
// sees the contracts needs none, and it decides, not we.
func (p *StorePublic) fill(ctx context.Context, contracts []Contract, key string, templates []string) error {
	for _, name := range templates {
		var ids []string
		for i := range contracts {
			if ofTemplate(contracts[i].TemplateID, name) {
				ids = append(ids, contracts[i].ID)
			}
		}
		found, err := p.cfg.Blobs.Find(ctx, name, key, ids...)
		if err != nil {
			return err
		}
		for i := range contracts {
			if blob, ok := found[contracts[i].ID]; ok {
				contracts[i].Blob = blob
			}
		}
	}
	return nil
}

// present is the position up to which contracts are known.
func (p *StorePublic) present(ctx context.Context) (schemas.Position, error) {
	at, err := p.cfg.Present.Watermark(ctx)
	if err == nil {
		err = known(at)
	}
	return at, err
}

// known refuses a position before history.
func known(at schemas.Position) error {
	if at == schemas.Start || at.RecordTime == schemas.MinMicros {
		return fail(ErrUnavailable, "the network's public history is not known yet")
	}
	return nil
}

// clockTrust is how far public history may be behind the clock of this machine and still be
// taken for the history of the present, in which case the clock says what time it is.
const clockTrust = 10 * time.Minute

// Now is the time of the network: that of the clock, or of the last public update on a
// network that lives in another time.
func (p *StorePublic) Now(ctx context.Context) (time.Time, error) {
	at, err := p.present(ctx)
	if err != nil {
		return time.Time{}, err
	}
	last, clock := at.RecordTime.Time(), p.cfg.Now().UTC()
	if behind := clock.Sub(last); behind >= 0 && behind < clockTrust {
		return clock, nil
	}
	return last, nil
}

// Hosts returns the participants that host a party, by member id.
func (p *StorePublic) Hosts(ctx context.Context, synchronizer, party string) ([]string, error) {
	hosts, err := p.cfg.Hosts(ctx, synchronizer, party)
	if errors.Is(err, schemas.ErrNotFound) {
		return nil, nil
	}
	return hosts, err
}

// MigrationID is the present migration.
func (p *StorePublic) MigrationID(ctx context.Context) (int64, error) {
	at, err := p.present(ctx)
	return at.MigrationID, err
}
