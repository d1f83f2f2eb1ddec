package app

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// deriveRest brings the lifetimes of all streams up to the end of their history. A process that was
// stopped leaves them a little behind, for the next one that ingests to continue; verify on the same
// folder must not have to wait for that one. It does so only with an embedded engine, whose folder is
// locked: no other process derives at the same time.
func (s *stack) deriveRest(ctx context.Context) error {
	if s.app.cfg.ClickHouseDSN != "" {
		return nil
	}
	nodes, err := s.nodeStreams(ctx, "")
	if err != nil {
		return err
	}
	for _, stream := range append(nodes, schemas.ScanStream) {
		if err := s.deriveLifetimes(ctx, stream); err != nil {
			return fmt.Errorf("deriving contract lifetimes of stream %s: %w", stream, err)
		}
	}
	return nil
}

// deriveLifetimes brings the lifetimes of a stream up to the end of its history, unless they are there.
// Nothing is derived of a damaged store.
func (s *stack) deriveLifetimes(ctx context.Context, stream string) error {
	reader := history.NewReader(s.db, stream)
	end, err := reader.Watermark(ctx)
	if err != nil {
		return err
	}
	derived, err := reader.ContractsWatermark(ctx)
	if err != nil || derived == end {
		return err
	}
	if err := s.lookForDamage(ctx); err != nil {
		return err
	}
	return indexer.NewLifetimes(s.db, stream, 0, s.app.log).CatchUp(ctx)
}
