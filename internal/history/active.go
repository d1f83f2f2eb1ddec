package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ActiveContracts returns a page of the set that is active at an instant.
func (r *Reader) ActiveContracts(ctx context.Context, q ActiveQuery) ([]ActiveContract, error) {
	var contracts []ActiveContract
	var rows []store.ContractRow
	block := store.NewContracts()
	err := r.db.Select(ctx, activeContractsQuery, r.active(q), block, func() error {
		rows = block.AppendTo(rows[:0])
		for _, row := range rows {
			contracts = append(contracts, ActiveContract{Event: row.Event, Encoding: row.Encoding, CreatedIn: row.CreatedIn})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading contracts active at %s: %w", q.At, err)
	}
	return contracts, nil
}

// ActiveKey returns the key of the last contract of the page that ActiveContracts gives for
// q, without its content; ok is false if that page has fewer than q.Limit contracts.
func (r *Reader) ActiveKey(ctx context.Context, q ActiveQuery) (createdAt schemas.Micros, contractID string, ok bool, err error) {
	params := r.active(q)
	params["skip"] = store.Int(int64(q.Limit - 1))
	block := store.NewContractKeys()
	err = r.db.Select(ctx, activeKeyQuery, params, block, func() error {
		for _, key := range block.AppendTo(nil) {
			createdAt, contractID, ok = key.CreatedAt, key.ContractID, true
		}
		return nil
	})
	if err != nil {
		return 0, "", false, fmt.Errorf("looking for contract %d of those active at %s: %w", q.Limit, q.At, err)
	}
	return createdAt, contractID, ok, nil
}

// active are the parameters of a query over an active set.
func (r *Reader) active(q ActiveQuery) store.Params {
	after := store.BeforeHistory
	if q.AfterContractID != "" {
		after = q.AfterCreatedAt
	}
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(q.MigrationID), "at": store.Time(store.Clamp(q.At)),
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.AfterContractID),
		"templates": store.Texts(q.Templates), "parties": store.Texts(q.Parties), "limit": store.Int(int64(q.Limit)),
	}
}
