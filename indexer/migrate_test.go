package indexer

import (
	"context"
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

// TestMigrationsAreReported has a new store, and one from before the newest tables.
func TestMigrationsAreReported(t *testing.T) {
	s := enginetest.Start(t)
	known := int64(schemas.StoreVersion())
	migrate := func() (steps []Migration) {
		t.Helper()
		if err := MigrateAndReport(t.Context(), s.DSN, func(m Migration) {
			if !m.Waiting { // the server takes a moment to see that the last migration is over
				steps = append(steps, m)
			}
		}); err != nil {
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

// TestLockOfMigrations has a second process wait until the first one has unlocked, or is gone.
func TestLockOfMigrations(t *testing.T) {
	s := enginetest.Start(t)
	first, err := open(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	second, err := open(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, end := range []string{"unlocked", "gone"} {
		ctx, kill := context.WithCancel(t.Context())
		held, unlock, err := lock(ctx, first, func() {}) // the server may still be ending the lock of the round before
		if err != nil {
			t.Fatal(err)
		}
		waits := make(chan struct{})
		locked := make(chan error, 1)
		go func() {
			_, unlock, err := lock(t.Context(), second, func() { close(waits) })
			if err == nil {
				unlock()
			}
			locked <- err
		}()
		<-waits
		if err := held.Err(); err != nil {
			t.Errorf("the lock is lost: %v", err)
		}
		if end == "gone" {
			kill()
		} else {
			unlock()
		}
		if err := <-locked; err != nil {
			t.Errorf("after the first one has %s: %v", end, err)
		}
		if held.Err() == nil {
			t.Errorf("%s, the first one still has the lock", end)
		}
		kill()
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}
