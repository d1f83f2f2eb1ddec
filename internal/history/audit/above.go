package audit

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/rows_above.sql
var rowsAboveQuery string

// tableCount is the number of rows of a table.
type tableCount struct {
	Table string `column:"table"`
	N     uint64 `column:"n"`
}

// RowsAbove counts, by table, the rows of the stream that stand above a position, of places those
// above its record time. Tables without such rows are left out.
func (r *Reader) RowsAbove(ctx context.Context, mark schemas.Position) (map[string]uint64, error) {
	list, err := store.SelectAll(ctx, r.db, rowsAboveQuery, Above(r.stream, mark), store.NewRecords[tableCount]())
	if err != nil {
		return nil, fmt.Errorf("counting rows of %s above %s: %w", r.stream, mark, err)
	}
	counts := make(map[string]uint64, len(list))
	for _, c := range list {
		counts[c.Table] = c.N
	}
	return counts, nil
}

// Above are the parameters of statements about the rows of a stream above a position.
func Above(stream string, to schemas.Position) store.Params {
	within := "0"
	if to.RecordTime == schemas.MinMicros {
		within = "1"
	}
	return store.Params{
		"stream": store.Text(stream), "through_migration": store.Int(to.MigrationID), "through_time": store.Time(store.Clamp(to.RecordTime)),
		"through_id": store.Text(to.UpdateID), "through_offset": store.Int(to.Offset), "within_imports": within,
	}
}
