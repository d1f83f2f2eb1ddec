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
func (s *State) LatestFact(ctx context.Context, key facts.Key) (facts.Fact, error) {
	fact, ok, err := store.SelectOne(ctx, s.db, latestFactQuery, store.Params{
		"stream": store.Text(s.stream), "operation": store.Text(string(key.Operation)), "arguments": store.Text(key.Arguments),
	}, store.NewFacts())
	if err != nil {
		return facts.Fact{}, fmt.Errorf("reading fact %s: %w", key, err)
	}
	if !ok {
		return facts.Fact{}, fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return fact, nil
}

// Fact returns the latest fact of a key, schemas.ErrNotFound if nothing is known now.
func (s *State) Fact(ctx context.Context, key facts.Key) (facts.Fact, error) {
	f, err := s.LatestFact(ctx, key)
	if err == nil && !f.Known() {
		err = fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return f, err
}
