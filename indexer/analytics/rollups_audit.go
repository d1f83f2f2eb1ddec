package analytics

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"strings"

	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/compare_rollups.sql
var compareRollups string

// auditBalances bounds the rows of balances that are checked at once, by party: they are summed up from the start of
// a migration.
const auditBalances = 1_000_000

// RollupsAudit checks the tables that sum a stream up by hours: each row is what movements, events and verdicts give,
// summed up again. Balances of a migration follow from its movements and what was held before it.
type RollupsAudit struct {
	db     *store.DB
	stream string
}

// RollupDifference is a row that is not as history has it; Where is its key.
type RollupDifference struct {
	Table, Where, Expected, Found string
}

// NewRollupsAudit returns the audit of a stream's rollups.
func NewRollupsAudit(db *store.DB, stream string) *RollupsAudit { return &RollupsAudit{db, stream} }

// Run calls found for each difference, and returns how many rows it looked at.
func (a *RollupsAudit) Run(ctx context.Context, found func(RollupDifference)) (looked int64, err error) {
	ranges, err := a.ranges(ctx)
	if err != nil {
		return 0, err
	}
	for _, t := range rollups.Tables(a.stream) {
		rows, err := countRows(ctx, a.db, a.stream, t)
		if err != nil {
			return looked, err
		}
		looked += rows
		of, parts := ranges, 1
		if t.Name == rollups.BalanceHours.Name {
			of, parts = migrations(ranges), 1+int(rows/auditBalances)
		}
		for _, r := range of {
			for part := range parts {
				if err := a.compare(ctx, t, r, part, parts, found); err != nil {
					return looked, fmt.Errorf("checking table %s from %s: %w", t.Name, r.First, err)
				}
			}
		}
	}
	return looked, nil
}

// ranges are those that were summed up, in order.
func (a *RollupsAudit) ranges(ctx context.Context) (list []rollups.Range, err error) {
	lines, err := journals.Read(ctx, a.db, journals.RollupsStream(a.stream))
	if err != nil {
		return nil, err
	}
	at := schemas.Start
	for _, l := range lines {
		switch {
		case l.State != journals.Commit || l.Through == at:
			continue
		case l.Through.Before(at): // taken back
			list = nil
		default:
			list = append(list, rollups.Between(a.stream, l.After, l.Through))
		}
		at = l.Through
	}
	return list, nil
}

// migrations joins the ranges of each migration.
func migrations(ranges []rollups.Range) (list []rollups.Range) {
	for _, r := range ranges {
		if n := len(list); n > 0 && list[n-1].Migration == r.Migration {
			list[n-1].Last = r.Last
			continue
		}
		list = append(list, r)
	}
	return list
}

// different is a line of compareRollups.
type different struct {
	Place    string `column:"place"`
	Expected string `column:"expected"`
	Found    string `column:"found"`
}

// compare compares the rows of one part of the parties in a range.
func (a *RollupsAudit) compare(ctx context.Context, t rollups.Table, r rollups.Range, part, parts int, found func(RollupDifference)) error {
	params := r.Params()
	maps.Copy(params, a.db.Readers())
	params["shard"], params["shards"] = store.Int(int64(part)), store.Int(int64(parts))
	params["first_hour"] = store.Time(store.Clamp(r.First - 1))
	parties := "true"
	if parts > 1 {
		parties = "xxHash64(party) % {shards:UInt64} = {shard:UInt64}"
	}
	query := strings.NewReplacer("KEY", t.Key, "ROWS", t.Rows, "TABLE", t.Name, "PARTIES", parties).Replace(compareRollups)
	list, err := store.SelectAll(ctx, a.db, query, params, store.NewRecords[different]())
	for _, d := range list {
		found(RollupDifference{t.Name, d.Place, cmp.Or(d.Expected, "no such row"), cmp.Or(d.Found, "no such row")})
	}
	return err
}
