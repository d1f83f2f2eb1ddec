package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// network serves what upstreams say of the network.
type network struct {
	facts   *factReader
	horizon *horizon.Horizon
	naming  query.Naming
}

// factOf serves a fact without parameters as it is.
func (n *network) factOf(operation facts.Operation, what string) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		fact, err := n.facts.get(ctx, facts.Of(operation))
		if err != nil {
			return unknown(err, what)
		}
		return r.JSON(json.RawMessage(fact.Body))
	}
}

// schedule serves the next migration, 404 without a body when none is scheduled.
func (n *network) schedule(ctx context.Context, r *query.Request) error {
	fact, err := n.facts.get(ctx, facts.Of(facts.Schedule))
	if errors.Is(err, schemas.ErrNotFound) {
		return r.Empty(404)
	}
	if err != nil {
		return err
	}
	return r.JSON(json.RawMessage(fact.Body))
}

// lastMigration serves the newest migration of which there is history.
func (n *network) lastMigration(ctx context.Context, r *query.Request) error {
	watermark, err := n.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	if watermark == schemas.Start {
		return errNone("migration")
	}
	return r.JSON(map[string]int64{"migration_id": watermark.MigrationID})
}

// instanceNames serves how the network calls itself, spelled as configured.
func (n *network) instanceNames(ctx context.Context, r *query.Request) error {
	fact, err := n.facts.get(ctx, facts.Of(facts.InstanceNames))
	if err != nil {
		return unknown(err, "instance names")
	}
	var members map[string]string
	if err := json.Unmarshal(fact.Body, &members); err != nil {
		return fmt.Errorf("reading fact %s: %w", fact.Key, err)
	}
	spelled := make(map[string]string, len(members))
	for name, value := range members {
		spelled[r.Naming(n.naming).Member(name)] = value
	}
	return r.JSON(spelled)
}

// prefixed serves a fact of the synchronizer whose id begins with a prefix.
func (n *network) prefixed(operation facts.Operation, what string) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		prefix, err := r.Path("domain_id_prefix")
		if err != nil {
			return err
		}
		migrations, err := n.horizon.Migrations.Get(ctx)
		if err != nil {
			return err
		}
		for i := len(migrations) - 1; i >= 0; i-- {
			for _, s := range migrations[i].Synchronizers {
				if !strings.HasPrefix(s.SynchronizerID, prefix) {
					continue
				}
				fact, err := n.facts.get(ctx, facts.Of(operation, facts.SynchronizerName(s.SynchronizerID)))
				if err != nil {
					return unknown(err, what+" of "+s.SynchronizerID)
				}
				return r.JSON(json.RawMessage(fact.Body))
			}
		}
		return query.Errorf(query.NotFound, "No synchronizer begins with %s.", prefix)
	}
}

// participants returns the participants that host a party.
func (n *network) participants(ctx context.Context, r *query.Request) ([]string, error) {
	synchronizer, err := r.Path("domain_id")
	if err != nil {
		return nil, err
	}
	party, err := r.Path("party_id")
	if err != nil {
		return nil, err
	}
	switch {
	case !isIdentity(synchronizer):
		return nil, query.Errorf(query.Invalid, "Domain id %q must have the form NAME::FINGERPRINT.", synchronizer)
	case !isIdentity(party):
		return nil, query.Errorf(query.Invalid, "Party id %q must have the form NAME::FINGERPRINT.", party)
	}
	fact, err := n.facts.asked(ctx, facts.Of(facts.Participants, synchronizer, party))
	if err != nil {
		return nil, unknown(err, "participant of party "+party)
	}
	var hosts struct {
		One string   `json:"participant_id"`
		All []string `json:"participant_ids"`
	}
	if err := json.Unmarshal(fact.Body, &hosts); err != nil {
		return nil, fmt.Errorf("reading fact %s: %w", fact.Key, err)
	}
	if hosts.One != "" {
		return []string{hosts.One}, nil
	}
	if len(hosts.All) == 0 {
		return nil, errNone("participant of party " + party)
	}
	return hosts.All, nil
}

func (n *network) participantIDs(ctx context.Context, r *query.Request) error {
	hosts, err := n.participants(ctx, r)
	if err != nil {
		return err
	}
	return r.JSON(map[string][]string{"participant_ids": hosts})
}

// participantID is the form from when a party had one host; for several it fails.
func (n *network) participantID(ctx context.Context, r *query.Request) error {
	hosts, err := n.participants(ctx, r)
	if err != nil {
		return err
	}
	if len(hosts) > 1 {
		return fmt.Errorf("the party has %d participants: %v", len(hosts), hosts)
	}
	return r.JSON(map[string]string{"participant_id": hosts[0]})
}
