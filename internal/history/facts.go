package history

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

//go:embed sql/latest_fact.sql
var latestFactQuery string

// LatestFact returns the last row of a key, which may say that the upstream knows nothing
// any more; schemas.ErrNotFound if there never was one.
func (r *Reader) LatestFact(ctx context.Context, key facts.Key) (facts.Fact, error) {
	var rows []facts.Fact
	block := store.NewFacts()
	err := r.db.Select(ctx, latestFactQuery, store.Params{
		"stream": store.Text(r.stream), "operation": store.Text(string(key.Operation)), "arguments": store.Text(key.Arguments),
	}, block, func() error {
		rows = block.AppendTo(rows)
		return nil
	})
	if err != nil {
		return facts.Fact{}, fmt.Errorf("reading fact %s: %w", key, err)
	}
	if len(rows) == 0 {
		return facts.Fact{}, fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return rows[0], nil
}

// Fact returns the latest fact of a key, schemas.ErrNotFound if nothing is known now.
func (r *Reader) Fact(ctx context.Context, key facts.Key) (facts.Fact, error) {
	f, err := r.LatestFact(ctx, key)
	if err == nil && !f.Known() {
		err = fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return f, err
}
