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
	var active schemas.Digest
	var buf []byte
	q := history.ActiveQuery{MigrationID: migrationID, At: at, Limit: pageRows}
	for {
		page, err := src.ActiveContracts(ctx, q)
		if err != nil {
			return active, fmt.Errorf("digesting the contracts active at %s: %w", at, err)
		}
		for i := range page {
			buf = schemas.AppendActiveContract(buf[:0], &page[i].Event, "", schemas.StoredValues{})
			active.Add(buf)
			each(&page[i])
		}
		if len(page) < pageRows {
			return active, nil
		}
		last := &page[len(page)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
}
