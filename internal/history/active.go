package history

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
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

// ActiveKeys returns the keys of the last contracts of the next pages, each of q.Limit
// contracts: of so many pages, or of those that are full, if there are fewer.
func (r *Reader) ActiveKeys(ctx context.Context, q ActiveQuery, pages int) (keys []ContractKey, err error) {
	params := r.active(q)
	params["step"], params["limit"] = store.Int(int64(q.Limit)), store.Int(int64(q.Limit)*int64(pages))
	block := store.NewContractKeys()
	err = r.db.Select(ctx, activeKeysQuery, params, block, func() error {
		for _, key := range block.AppendTo(nil) {
			keys = append(keys, ContractKey{key.CreatedAt, key.ContractID})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for every contract %d of those active at %s: %w", q.Limit, q.At, err)
	}
	return keys, nil
}

// active are the parameters of a query over an active set.
func (r *Reader) active(q ActiveQuery) store.Params {
	after := store.BeforeHistory
	if q.AfterContractID != "" {
		after = q.AfterCreatedAt
	}
	through := ContractKey{CreatedAt: store.NeverArchived}
	if q.Through.ContractID != "" {
		through = q.Through
	}
	return store.Params{
		"through_created": store.Time(store.Clamp(through.CreatedAt)), "through_id": store.Text(through.ContractID),
		"stream": store.Text(r.stream), "migration": store.Int(q.MigrationID), "at": store.Time(store.Clamp(q.At)),
		"after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.AfterContractID),
		"templates": store.Texts(q.Templates), "parties": store.Texts(q.Parties), "limit": store.Int(int64(q.Limit)),
	}
}
