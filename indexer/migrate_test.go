package indexer

import (
	"errors"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestMigrateRefusesALaterStore has a store that a later version has opened.
func TestMigrateRefusesALaterStore(t *testing.T) {
	s := enginetest.Start(t)
	version := func(want int64) {
		t.Helper()
		if got, err := Version(t.Context(), s.Conn); err != nil || got != want {
			t.Errorf("Version() = %d, %v, want %d", got, err, want)
		}
	}
	version(0)
	if err := Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	known := int64(schemas.StoreVersion())
	version(known)
	if err := s.Conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", known+1); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), s.DSN); !errors.Is(err, ErrNewerStore) {
		t.Errorf("a store of a later version: %v", err)
	}
	version(known + 1)
}
