package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// ActiveContracts returns a page of the set that is active at an instant.
//
// Most of a set are contracts that live on, so these are read first: the last one of a full
// page says how far the months of ended ones need be read, which for most of them is not at
// all. A contract that is being moved meanwhile is found in one table or in both.
func (r *Reader) ActiveContracts(ctx context.Context, q ActiveQuery) ([]ActiveContract, error) {
	live, err := store.SelectAll(ctx, r.db, activeQuery, r.active(q, "contracts_live"), store.NewContracts())
	if err != nil {
		return nil, fmt.Errorf("reading contracts active at %s: %w", q.At, err)
	}
	if len(live) == q.Limit && len(live) > 0 {
		q.Through = keyOf(&live[len(live)-1])
	}
	ended, err := store.SelectAll(ctx, r.db, activeQuery, r.active(q, "contracts_archived"), store.NewContracts())
	if err != nil {
		return nil, fmt.Errorf("reading contracts active at %s: %w", q.At, err)
	}
	if len(ended) == 0 {
		return live, nil
	}
	all := append(live, ended...)
	slices.SortStableFunc(all, func(a, b ActiveContract) int { return keyOf(&a).Compare(keyOf(&b)) })
	all = slices.CompactFunc(all, func(a, b ActiveContract) bool { return keyOf(&a) == keyOf(&b) })
	return all[:min(len(all), q.Limit)], nil
}

func keyOf(c *ActiveContract) ContractKey {
	return ContractKey{CreatedAt: c.Event.CreatedAt, ContractID: c.Event.ContractID}
}

// ActiveKeys returns the keys of the last contracts of the next pages, each of q.Limit
// contracts: of so many pages, or of those that are full, if there are fewer.
func (r *Reader) ActiveKeys(ctx context.Context, q ActiveQuery, pages int) ([]ContractKey, error) {
	params := r.activeKeys(q)
	params["step"], params["limit"] = store.Int(int64(q.Limit)), store.Int(int64(q.Limit)*int64(pages))
	keys, err := store.SelectAll(ctx, r.db, activeKeysQuery, params, store.NewContractKeys())
	if err != nil {
		return nil, fmt.Errorf("looking for every %dth of the contracts active at %s: %w", q.Limit, q.At, err)
	}
	return keys, nil
}

// active are the parameters of a query for the contracts of an active set in a table.
func (r *Reader) active(q ActiveQuery, table string) store.Params {
	params := r.activeKeys(q)
	params["table"], params["hide_carried"] = table, strconv.FormatBool(q.HideCarried)
	return params
}

// activeKeys are the parameters of a query over an active set.
func (r *Reader) activeKeys(q ActiveQuery) store.Params {
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
