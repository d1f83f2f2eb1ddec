package accounts

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

var (
	//go:embed sql/series.sql
	seriesQuery string
	//go:embed sql/series_ends.sql
	seriesEndsQuery string
)

// Point is what an account had at the end of an hour.
type Point struct {
	Time     schemas.Micros
	Unlocked decimal.Decimal
	Locked   decimal.Decimal
}

// seriesRow is a row of seriesQuery.
type seriesRow struct {
	Start    schemas.Micros  `column:"start"`
	Unlocked decimal.Decimal `column:"free"`
	Locked   decimal.Decimal `column:"bound"`
}

// Series returns how an account came to what it is: about most points at ends of hours in which it changed, and the
// instant itself.
func (r *Reader) Series(ctx context.Context, a Account, most int) ([]Point, error) {
	params, err := r.of(ctx, a)
	if err != nil {
		return nil, err
	}
	closed, err := journal.Watermark(ctx, r.db, journal.RollupsStream(r.stream))
	if err != nil {
		return nil, err
	}
	ends, _, err := store.SelectOne(ctx, r.db, seriesEndsQuery, params, store.NewRecords[struct {
		First schemas.Micros `column:"first"`
		Last  schemas.Micros `column:"last"`
		Hours int64          `column:"hours"`
	}]())
	if err != nil {
		return nil, fmt.Errorf("reading how long party %.80q has an account: %w", a.Party, err)
	}
	hours := (min(ends.Last, a.At)-ends.First)/rollups.Hour + 1
	stretch := max(1, (hours+schemas.Micros(most)-1)/schemas.Micros(most)) * rollups.Hour
	params["closed_migration"], params["closed_time"] = store.Int(closed.MigrationID), store.Time(store.Clamp(closed.RecordTime))
	params["last"], params["stretch"] = store.Time(store.Clamp(a.At-rollups.Hour)), store.Int(int64(stretch))
	rows, err := store.SelectAll(ctx, r.db, seriesQuery, params, store.NewRecords[seriesRow]())
	if err != nil {
		return nil, fmt.Errorf("reading the balances of party %.80q over time: %w", a.Party, err)
	}
	return r.withNow(ctx, a, points(rows, ends.First))
}

// points are those of rows. What history begins with is shown at the start of the hour of the first change, if there is
// one.
func points(rows []seriesRow, first schemas.Micros) (list []Point) {
	for _, row := range rows {
		at := row.Start + rollups.Hour
		switch {
		case row.Start > store.BeforeHistory:
		case first <= 0:
			continue
		default:
			at = first
		}
		list = append(list, Point{at, row.Unlocked, row.Locked})
	}
	return list
}

// withNow adds what the account has at its instant.
func (r *Reader) withNow(ctx context.Context, a Account, list []Point) ([]Point, error) {
	balances, err := r.Balances(ctx, a.Party, a.At)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		if b.Instrument == a.Instrument && (len(list) == 0 || list[len(list)-1].Time < a.At) {
			list = append(list, Point{a.At, b.Unlocked, b.Locked})
		}
	}
	return list, nil
}
