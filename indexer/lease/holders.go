package lease

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/has_leases.sql
var hasLeases string

// Holder is who wrote a stream last.
type Holder struct {
	Stream, Process string
	// Released says that the process writes no more, Age how old its last sign of life is.
	Released bool
	Age      time.Duration
}

// Holders returns who wrote each stream last, by stream. There are none where nobody has written since
// the server was started. The store is only read.
func Holders(ctx context.Context, db *store.DB) (holders []Holder, err error) {
	db = db.First()
	tables, _, err := store.SelectOne(ctx, db, hasLeases, nil, store.NewRecords[store.Count]())
	if err != nil {
		return nil, fmt.Errorf("looking for table leases: %w", err)
	}
	if tables.N == 0 {
		return nil, nil
	}
	signs, err := readSigns(ctx, db, "")
	if err != nil {
		return nil, err
	}
	for i := range signs {
		s := &signs[i]
		if len(holders) == 0 || holders[len(holders)-1].Stream != s.Stream { // the latest term comes first
			holders = append(holders, Holder{s.Stream, s.Process, s.Released, age(s)})
		}
	}
	return holders, nil
}
