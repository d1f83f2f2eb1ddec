package audit

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/governance_party.sql
	governancePartyQuery string
	//go:embed sql/signed_templates.sql
	signedTemplatesQuery string
	//go:embed sql/wrong_carried.sql
	wrongCarriedQuery string
)

// GovernanceParty returns the party whose view public history is: the one that signs mining
// rounds. It is empty for a history that has none.
func (q *Queries) GovernanceParty(ctx context.Context) (party string, err error) {
	err = q.query(ctx, governancePartyQuery, nil, func(rows driver.Rows) error { return rows.Scan(&party) })
	if err != nil {
		return "", fmt.Errorf("reading the signatories of mining rounds: %w", err)
	}
	return party, nil
}

// SignedTemplates returns those of some templates, PACKAGE_NAME:MODULE:ENTITY, of which there
// are contracts and of which the party signs all.
func (q *Queries) SignedTemplates(ctx context.Context, party string, templates []string) (signed []string, err error) {
	err = q.query(ctx, signedTemplatesQuery, clickhouse.Parameters{
		"party": store.Text(party), "templates": store.Texts(templates),
	}, func(rows driver.Rows) error {
		var template string
		if err := rows.Scan(&template); err != nil {
			return err
		}
		signed = append(signed, template)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading which of %d templates have contracts signed by %s: %w", len(templates), party, err)
	}
	return signed, nil
}

// WrongCarry is a contract that was carried over into a migration and was not active at the
// end of the one before, or the reverse.
type WrongCarry struct {
	ContractID string
	Carried    bool
}

// WrongCarries gives such contracts of one migration and the next, of those that the party
// signs: up to 1000.
func (q *Queries) WrongCarries(ctx context.Context, party string, migration, next int64, each func(WrongCarry) error) error {
	err := q.query(ctx, wrongCarriedQuery, clickhouse.Parameters{
		"party": store.Text(party), "migration": store.Int(migration), "next": store.Int(next),
	}, func(rows driver.Rows) error {
		var c WrongCarry
		if err := rows.Scan(&c.ContractID, &c.Carried); err != nil {
			return err
		}
		return each(c)
	})
	if err != nil {
		return fmt.Errorf("comparing the beginning of migration %d with the end of migration %d: %w", next, migration, err)
	}
	return nil
}
