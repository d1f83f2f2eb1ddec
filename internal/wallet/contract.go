package wallet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Contract is an active contract.
type Contract struct {
	ID string
	// TemplateID is as the ledger has it, "package-id:Module:Entity".
	TemplateID string
	// Payload is the create argument in compact JSON.
	Payload        json.RawMessage
	CreatedAt      time.Time
	SynchronizerID string
	// Blob lets those who do not see the contract use it; empty if it is not known.
	Blob string
}

// decode reads members of the payload into a struct.
func (c *Contract) decode(into any) error {
	if err := json.Unmarshal(c.Payload, into); err != nil {
		return fmt.Errorf("reading the payload of contract %s of %s: %w", c.ID, c.TemplateID, err)
	}
	return nil
}

// ofTemplate reports whether a template id, "package-id:Module:Entity", names a template,
// "package-name:Module:Entity", by module and entity.
func ofTemplate(id, name string) bool { return template.Entity(id) == template.Entity(name) }

// maxListed bounds the contracts of a kind that automations look at in one go; the rest
// waits for the next.
const maxListed = 1000

// listed reads contracts, at most maxListed unless q has a limit, and keeps what take makes of
// them.
func listed[P, T any](ctx context.Context, reader Reader, q ContractQuery, take func(*Contract, *P) (T, bool)) ([]T, error) {
	q.Limit = cmp.Or(q.Limit, maxListed)
	contracts, err := reader.Contracts(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("reading contracts of %q: %w", q.Templates, err)
	}
	var list []T
	for i := range contracts {
		var p P
		if err := contracts[i].decode(&p); err != nil {
			return nil, err
		}
		if item, ok := take(&contracts[i], &p); ok {
			list = append(list, item)
		}
	}
	return list, nil
}

// matching returns the ids of the contracts whose payloads match, oldest first.
func matching[P any](ctx context.Context, reader Reader, q ContractQuery, match func(*P) bool) ([]string, error) {
	return listed(ctx, reader, q, func(c *Contract, p *P) (string, bool) { return c.ID, match(p) })
}

// firstID returns the id of the oldest contract whose payload matches, "" without one.
func firstID[P any](ctx context.Context, reader Reader, q ContractQuery, match func(*P) bool) (string, error) {
	list, err := matching(ctx, reader, q, match)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0], nil
}

// coinPayload is Amulet.
type coinPayload struct {
	Amount struct {
		Initial decimal.Decimal `json:"initialAmount"`
	} `json:"amount"`
}

// coinsOf reads the largest coins of a party, largest first, at most maxInputs.
func coinsOf(ctx context.Context, reader Reader, party string) ([]Input, error) {
	contracts, err := reader.Coins(ctx, party, maxInputs)
	if err != nil {
		return nil, fmt.Errorf("reading the coins of %s: %w", party, err)
	}
	coins := make([]Input, len(contracts))
	for i := range contracts {
		var p coinPayload
		if err := contracts[i].decode(&p); err != nil {
			return nil, err
		}
		coins[i] = Input{Tag: "InputAmulet", ContractID: contracts[i].ID, Amount: p.Amount.Initial, Round: noRound}
	}
	return coins, nil
}
