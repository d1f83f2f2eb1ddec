package verify

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// pageRows bounds memory: so many contracts are held at a time.
const pageRows = 5000

// ActiveSource gives pages of active contracts.
type ActiveSource interface {
	ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error)
}

// ActiveAt digests the set of contracts that is active at an instant of a migration.
func ActiveAt(ctx context.Context, src ActiveSource, migrationID int64, at schemas.Micros) (schemas.Digest, error) {
	return eachActive(ctx, src, migrationID, at, func(*history.ActiveContract) {})
}

func eachActive(ctx context.Context, src ActiveSource, migrationID int64, at schemas.Micros, each func(*history.ActiveContract)) (schemas.Digest, error) {
	q := history.ActiveQuery{MigrationID: migrationID, At: at, Limit: pageRows}
	active, err := eachPage(each, func(last *schemas.Event) ([]history.ActiveContract, error) {
		if last != nil {
			q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
		}
		return src.ActiveContracts(ctx, q)
	})
	if err != nil {
		return active, fmt.Errorf("digesting the contracts active at %s: %w", at, err)
	}
	return active, nil
}

// eachActiveAtOffset is eachActive for a node's own stream.
func eachActiveAtOffset(ctx context.Context, src Source, offset int64, each func(*history.ActiveContract)) (schemas.Digest, error) {
	q := history.ActiveAtQuery{Offset: offset, Limit: pageRows}
	active, err := eachPage(each, func(last *schemas.Event) ([]history.ActiveContract, error) {
		if last != nil {
			q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
		}
		return src.ActiveAtOffset(ctx, q)
	})
	if err != nil {
		return active, fmt.Errorf("digesting the contracts active at offset %d: %w", offset, err)
	}
	return active, nil
}

// eachPage digests contracts page by page. page gives what follows the last contract of
// the page before, nil for the first one.
func eachPage(each func(*history.ActiveContract), page func(last *schemas.Event) ([]history.ActiveContract, error)) (active schemas.Digest, err error) {
	var buf []byte
	for last := (*schemas.Event)(nil); ; {
		contracts, err := page(last)
		if err != nil {
			return active, err
		}
		for i := range contracts {
			buf = schemas.AppendActiveContract(buf[:0], &contracts[i].Event, "", schemas.StoredValues{})
			active.Add(buf)
			each(&contracts[i])
		}
		if len(contracts) < pageRows {
			return active, nil
		}
		last = &contracts[len(contracts)-1].Event
	}
}
