package verify

import (
	"context"
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
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
