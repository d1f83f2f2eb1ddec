package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ActiveContracts returns a page of the set that is active at an instant.
//
// Most of a set are contracts that live on, so these are read first: the last one of a full
// page says how far the months of ended ones need be read, which for most of them is not at
// all. A contract that is being moved meanwhile is found in one table or in both.
func (r *Reader) ActiveContracts(ctx context.Context, q ActiveQuery) ([]ActiveContract, error) {
	live, err := selectActive(ctx, r.db, "contracts_live", r.active(q), q.At)
	if err != nil {
		return nil, err
	}
	if len(live) == q.Limit && len(live) > 0 {
		q.Through = keyOf(&live[len(live)-1])
	}
	ended, err := selectActive(ctx, r.db, "contracts_archived", r.active(q), q.At)
	if err != nil || len(ended) == 0 {
		return live, err
	}
	all := append(live, ended...)
	slices.SortStableFunc(all, func(a, b ActiveContract) int { return keyOf(&a).Compare(keyOf(&b)) })
	all = slices.CompactFunc(all, func(a, b ActiveContract) bool { return keyOf(&a) == keyOf(&b) })
	return all[:min(len(all), q.Limit)], nil
}

func keyOf(c *ActiveContract) ContractKey {
	return ContractKey{CreatedAt: c.Event.CreatedAt, ContractID: c.Event.ContractID}
}

func selectActive(ctx context.Context, db *store.DB, table string, params store.Params, at schemas.Micros) (contracts []ActiveContract, err error) {
	err = readActive(ctx, db.Select, table, params, at, func(page []ActiveContract) error {
		contracts = append(contracts, page...)
		return nil
	})
	return contracts, err
}

// selectFunc is Select or SelectLarge of a store.DB.
type selectFunc func(ctx context.Context, query string, params store.Params, b store.Block, each func() error) error

// readActive hands out a table's contracts of an active set, a block at a time.
func readActive(ctx context.Context, read selectFunc, table string, params store.Params, at schemas.Micros, each func([]ActiveContract) error) error {
	params["table"] = table
	var list []store.ContractRow
	block := store.NewContracts()
	err := read(ctx, activeQuery, params, block, func() error {
		list = block.AppendTo(list[:0])
		contracts := make([]ActiveContract, len(list))
		for i := range list {
			contracts[i] = ActiveContract{Event: list[i].Event, Encoding: list[i].Encoding, CreatedIn: list[i].CreatedIn}
		}
		return each(contracts)
	})
	if err != nil {
		return fmt.Errorf("reading contracts active at %s: %w", at, err)
	}
	return nil
}

// ActiveKeys returns the keys of the last contracts of the next pages, each of q.Limit
// contracts: of so many pages, or of those that are full, if there are fewer.
func (r *Reader) ActiveKeys(ctx context.Context, q ActiveQuery, pages int) ([]ContractKey, error) {
	params := r.active(q)
	params["step"], params["limit"] = store.Int(int64(q.Limit)), store.Int(int64(q.Limit)*int64(pages))
	keys, err := store.SelectAll(ctx, r.db, activeKeysQuery, params, store.NewContractKeys())
	if err != nil {
		return nil, fmt.Errorf("looking for every %dth of the contracts active at %s: %w", q.Limit, q.At, err)
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
