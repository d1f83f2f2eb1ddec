// Package storetest opens the stores of tests as the product does.
package storetest

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Open returns a DB of a store, which is closed when the test ends.
func Open(t testing.TB, s *enginetest.Store) *store.DB {
	t.Helper()
	db, err := store.OpenOn(t.Context(), s.DSN, s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
