package indexer

import (
	"errors"
	"testing"
	"time"

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

// TestMigrationsAreReported has a new store, and one from before the newest tables.
func TestMigrationsAreReported(t *testing.T) {
	s := enginetest.Start(t)
	known := int64(schemas.StoreVersion())
	migrate := func() (steps []Migration) {
		t.Helper()
		if err := MigrateAndReport(t.Context(), s.DSN, func(m Migration) { steps = append(steps, m) }); err != nil {
			t.Fatal(err)
		}
		for i, m := range steps {
			if m.To != known || m.Step != i+1 || m.Steps != len(steps) || m.Name == "" {
				t.Errorf("step %d is reported as %+v", i+1, m)
			}
		}
		return steps
	}
	made := migrate()
	if len(made) < 20 || made[0].From != 0 || made[0].Name != "0001_batches" {
		t.Errorf("a new store is reported as %+v", made)
	}
	if steps := migrate(); len(steps) > 0 {
		t.Errorf("a store of today is reported as %+v", steps)
	}
	if err := s.Conn.Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id >= 150"); err != nil {
		t.Fatal(err)
	}
	again := migrate()
	if len(again) < 2 || again[0].From >= 150 || again[0].Name != "0150_party_offsets" {
		t.Errorf("a store from before version 150 is reported as %+v", again)
	}
}

// TestWaitsForAnotherProcess has one that has completed the migration, and one that has ended before.
func TestWaitsForAnotherProcess(t *testing.T) {
	s := enginetest.Start(t)
	if err := Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	db, err := open(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	m := &migrator{db: db, silence: 300 * time.Millisecond}
	known := int64(schemas.StoreVersion())
	for version, want := range map[int64]bool{known: true, known + 1: false} {
		if complete, err := m.awaitOther(t.Context(), version); err != nil || complete != want {
			t.Errorf("awaitOther(%d) = %v, %v, want %v", version, complete, err, want)
		}
	}
}
