package lab

import (
	"context"
	_ "embed"
	"fmt"
	"time"
)

//go:embed sql/table_sizes.sql
var tableSizes string

//go:embed sql/table_contents.sql
var tableContents string

//go:embed sql/unassignments.sql
var unassignmentCount string

//go:embed sql/background_work.sql
var backgroundWork string

// HistoryTables hold what the upstream said; the others are derived or journals.
var HistoryTables = []string{"updates", "events", "imports", "verdicts"}

// TableFacts describe a table as it is on disk.
type TableFacts struct {
	Rows  uint64 `json:"rows"`
	Bytes uint64 `json:"bytes"`
	Parts uint64 `json:"parts"`
	// Content is a sum over hashes of the rows of a history table, without regard to
	// their order: equal contents have equal sums.
	Content uint64 `json:"content,omitempty"`
}

// Tables asks for the facts of all tables that have rows.
func (s *EngineStore) Tables(ctx context.Context) (map[string]TableFacts, error) {
	rows, err := s.Conn.Query(ctx, tableSizes)
	if err != nil {
		return nil, fmt.Errorf("measuring tables: %w", err)
	}
	defer rows.Close()
	facts := make(map[string]TableFacts)
	for rows.Next() {
		var name string
		var f TableFacts
		if err := rows.Scan(&name, &f.Rows, &f.Bytes, &f.Parts); err != nil {
			return nil, fmt.Errorf("measuring tables: %w", err)
		}
		facts[name] = f
	}
	return facts, rows.Err()
}

// contents is tables with the content sums of the history tables.
func (s *EngineStore) contents(ctx context.Context) (map[string]TableFacts, error) {
	facts, err := s.Tables(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := s.sums(ctx)
	for name, content := range sums {
		f := facts[name]
		f.Content = content
		facts[name] = f
	}
	return facts, err
}

// sums are the content sums of the history tables.
func (s *EngineStore) sums(ctx context.Context) (map[string]uint64, error) {
	rows, err := s.Conn.Query(ctx, tableContents)
	if err != nil {
		return nil, fmt.Errorf("hashing tables: %w", err)
	}
	defer rows.Close()
	sums := make(map[string]uint64)
	for rows.Next() {
		var name string
		var content uint64
		if err := rows.Scan(&name, &content); err != nil {
			return nil, fmt.Errorf("hashing tables: %w", err)
		}
		sums[name] = content
	}
	return sums, rows.Err()
}

// unassignments counts the updates that have no row in table events: the network counts
// their event members as events, the store keeps them in the row of the update.
func (s *EngineStore) unassignments(ctx context.Context) (n uint64, err error) {
	if err := s.Conn.QueryRow(ctx, unassignmentCount).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting unassignments: %w", err)
	}
	return n, nil
}

const (
	settlePoll    = 250 * time.Millisecond
	settleTimeout = 5 * time.Minute
)

// Settle waits until the engine has merged what it wants to merge: until it has run no
// merge and changed no part for the time quiet. Nothing forces it, so several parts may
// be left, as in use.
func (s *EngineStore) Settle(ctx context.Context, quiet time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("merges are still running after %s", settleTimeout))
	defer cancel()
	var last uint64
	changed := time.Now()
	for time.Since(changed) < quiet {
		var merges, parts uint64
		if err := s.Conn.QueryRow(ctx, backgroundWork).Scan(&merges, &parts); err != nil {
			return fmt.Errorf("waiting for merges: %w", err)
		}
		if merges > 0 || parts != last {
			last, changed = parts, time.Now()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for merges: %w", context.Cause(ctx))
		case <-time.After(settlePoll):
		}
	}
	return nil
}
