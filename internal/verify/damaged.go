package verify

import (
	"context"

	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Damaged reads the rows of committed batches back, which are in the order of history, and returns the
// batches of which rows are missing, are there twice or are not what was committed. Of cfg it needs
// Source only.
func Damaged(ctx context.Context, cfg Config, commits []journals.Row) ([]journals.Row, error) {
	cfg.Checks, cfg.SkipDigests = []string{Hashes}, true
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	v := &verification{
		cfg: cfg, apart: true, journal: &journal{commits: commits}, report: &Report{Segments: make(map[schemas.SegmentRef]Tables)},
		checks: map[string]*Check{Hashes: NewCheck(Hashes, 0)},
	}
	for _, c := range commits {
		v.total += int64(c.Items)
	}
	if err := v.readHistory(ctx); err != nil {
		return nil, err
	}
	return v.damaged, nil
}
