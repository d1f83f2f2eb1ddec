package verify

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// heldSet is what is said of the contracts that are active at the watermark.
type heldSet struct {
	contracts activeDigest // of all, unless digests are skipped
	coins     coinSum
}

// coinSum sums up coins whatever their order.
type coinSum struct {
	coins int
	hash  uint64 // of each with its worth, modulo 2^64
}

func (s *coinSum) add(id coinID, worth decimal.Decimal) {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], id)
	high, low, _ := worth.Int128()
	binary.LittleEndian.PutUint64(b[8:], low)
	binary.LittleEndian.PutUint64(b[16:], high)
	s.coins++
	s.hash += xxh3.Hash(b[:])
}

// readHeld reads the active contracts, only coins if nothing else needs them. It runs beside
// the reading of history, which says only at its end which coins there should be: sums are
// compared then, and coins one by one if they differ.
func (v *verification) readHeld(ctx context.Context) error {
	if v.mark == schemas.Start || v.ledger == nil && v.cfg.SkipDigests {
		return nil
	}
	return v.eachHeld(ctx, func(c *history.ActiveContract) {
		if !v.cfg.SkipDigests {
			v.held.contracts.add(c)
		}
		if v.ledger == nil {
			return
		}
		if kind := coinType(v.cfg.Catalog, &c.Event); kind != nil {
			worth, _ := coinWorth(kind, &c.Event, c.Encoding)
			v.held.coins.add(audit.LifetimeHash(c.Event.ContractID), worth)
		}
	})
}

func (v *verification) eachHeld(ctx context.Context, each func(*history.ActiveContract)) error {
	var templates []string
	if v.cfg.SkipDigests {
		templates = []string{template.Coin, template.LockedCoin}
	}
	if v.mark.Offset > 0 {
		return eachActiveAtOffset(ctx, v.cfg.Node, v.mark.Offset, templates, each)
	}
	return eachActive(ctx, v.cfg.Public, v.mark.MigrationID, v.mark.RecordTime, templates, each)
}

// compareHeld compares the coins that are held with those that the events leave.
func (v *verification) compareHeld(ctx context.Context) error {
	if !v.cfg.SkipDigests {
		v.report.Total["active_contracts"] = v.held.contracts.Digest
	}
	if v.ledger == nil {
		return nil
	}
	if v.mark.Offset == 0 && v.mark.RecordTime == schemas.MinMicros {
		v.ledger.endWithinImports()
	}
	if !v.ledger.allHeld(v.held.coins) {
		if err := v.eachHeld(ctx, v.ledger.held); err != nil {
			return err
		}
	}
	v.report.Supply = v.ledger.close()
	if v.mark.Offset > 0 {
		v.report.Supply = nil // a node does not see all coins
	}
	return nil
}

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
		page, err := src.ActiveAtOffset(ctx, q)
		contracts := make([]history.ActiveContract, len(page))
		for i := range page {
			contracts[i] = page[i].ContractRow
		}
		return contracts, err
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
	d.buf = schemas.AppendActiveContract(d.buf[:0], &c.Event, "", schemas.UpdateForm{})
	d.Add(d.buf)
}
