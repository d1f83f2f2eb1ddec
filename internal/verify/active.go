package verify

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// pageRows bounds memory: so many contracts are held at a time.
const pageRows = 20_000

// ActiveSource gives pages of active contracts.
type ActiveSource interface {
	ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error)
}

// ActiveAt digests the set of contracts that is active at an instant of a migration.
func ActiveAt(ctx context.Context, src ActiveSource, migrationID int64, at schemas.Micros) (schemas.Digest, error) {
	var active activeDigest
	err := eachActive(ctx, src, migrationID, at, nil, active.add)
	return active.Digest, err
}

// eachActive calls each for every contract that is active at an instant, of some templates or
// of all.
func eachActive(ctx context.Context, src ActiveSource, migrationID int64, at schemas.Micros, templates []string, each func(*history.ActiveContract)) error {
	q := history.ActiveQuery{MigrationID: migrationID, At: at, Templates: templates, Limit: pageRows}
	err := eachPage(each, func(last *schemas.Event) ([]history.ActiveContract, error) {
		if last != nil {
			q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
		}
		return src.ActiveContracts(ctx, q)
	})
	if err != nil {
		return fmt.Errorf("reading the contracts active at %s: %w", at, err)
	}
	return nil
}

// eachActiveAtOffset is eachActive for a node's own stream.
func eachActiveAtOffset(ctx context.Context, src Node, offset int64, templates []string, each func(*history.ActiveContract)) error {
	q := nodehistory.ActiveAtQuery{Offset: offset, Templates: templates, Limit: pageRows}
	err := eachPage(each, func(last *schemas.Event) ([]history.ActiveContract, error) {
		if last != nil {
			q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
		}
		return src.ActiveAtOffset(ctx, q)
	})
	if err != nil {
		return fmt.Errorf("reading the contracts active at offset %d: %w", offset, err)
	}
	return nil
}

// eachPage calls each for contracts page by page. page gives what follows the last contract
// of the page before, nil for the first one.
func eachPage(each func(*history.ActiveContract), page func(last *schemas.Event) ([]history.ActiveContract, error)) error {
	for last := (*schemas.Event)(nil); ; {
		contracts, err := page(last)
		if err != nil {
			return err
		}
		for i := range contracts {
			each(&contracts[i])
		}
		if len(contracts) < pageRows {
			return nil
		}
		last = &contracts[len(contracts)-1].Event
	}
}

// activeDigest digests contracts.
type activeDigest struct {
	schemas.Digest
	buf []byte
}

func (d *activeDigest) add(c *history.ActiveContract) {
	d.buf = schemas.AppendActiveContract(d.buf[:0], &c.Event, "", schemas.StoredValues{})
	d.Add(d.buf)
}
