package kept

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/packages"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// followInterval is how soon a process knows packages that another one adds.
const followInterval = 5 * time.Second

// Follower has a catalogue know the packages of a store. It is for one goroutine.
type Follower struct {
	Catalog *values.Catalog
	// Interval is how long Run waits between two looks; 5 s.
	Interval time.Duration

	packages *Packages
	log      *slog.Logger
	state    uint64
}

// Follow returns a follower whose catalogue has what files say, and what the store's packages say now.
func Follow(ctx context.Context, db *store.DB, files *values.Catalog, log *slog.Logger) (*Follower, error) {
	f := &Follower{Catalog: files.Learning(), Interval: followInterval, packages: New(db), log: log}
	_, err := f.step(ctx)
	return f, err
}

// Run has the catalogue know packages that are added or dropped until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	ticker := time.NewTicker(f.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		changed, err := f.step(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			f.log.WarnContext(ctx, "cannot follow the packages of the store", "err", err, "retry_in", f.Interval)
		case changed:
			f.log.InfoContext(ctx, "values are served by what other packages say than before", "templates", len(f.Catalog.Entries()))
		}
	}
}

// step has the catalogue learn the packages if they are others than before, and reports whether they
// are.
func (f *Follower) step(ctx context.Context) (changed bool, err error) {
	state, _, err := store.SelectOne(ctx, f.packages.db, selectState, nil, store.NewRecords[store.Count]())
	if err != nil {
		return false, fmt.Errorf("looking for new packages: %w", err)
	}
	if state.N == f.state {
		return false, nil
	}
	list, err := f.packages.List(ctx)
	if err != nil {
		return false, err
	}
	read := make([]*packages.Package, len(list))
	for i, p := range list {
		read[i] = p.Package
	}
	f.Catalog.Learn(packages.Definitions(read))
	f.state = state.N
	return true, nil
}
