package indexer

import (
	"errors"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A stream that was stopped for good stays so over a restart, until its rows are dropped.
func TestStoppedStreamIsRefused(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	for range 2 { // over tables that exist, and when nothing is left to do
		if err := Migrate(t.Context(), f.dsn); err != nil {
			t.Fatalf("migrating again: %v", err)
		}
	}
	const stream, other, reason = "node:one", "node:two", "it lacks an update: drop its rows"
	if _, err := NewSinks(f.db, f.log).Resume(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was done and not answered is done again
		if err := NewSinks(f.db, f.log).Stop(t.Context(), stream, reason); err != nil {
			t.Fatal(err)
		}
	}
	restarted := NewSinks(f.db, f.log)
	for range 2 {
		if _, err := restarted.Resume(t.Context(), stream); !errors.Is(err, schemas.ErrDiverged) || !strings.Contains(err.Error(), reason) {
			t.Errorf("the stopped stream: error %v", err)
		}
	}
	if _, err := restarted.Resume(t.Context(), other); err != nil {
		t.Errorf("another stream: %v", err)
	}
	if err := f.db.Exec(t.Context(), "ALTER TABLE milestones DELETE WHERE stream = '"+stream+"' SETTINGS mutations_sync = 2", "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSinks(f.db, f.log).Resume(t.Context(), stream); err != nil {
		t.Errorf("after its rows were dropped: %v", err)
	}
	if err := NewSinks(f.db, f.log).Stop(t.Context(), stream, reason); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSinks(f.db, f.log).Resume(t.Context(), stream); !errors.Is(err, schemas.ErrDiverged) {
		t.Errorf("stopped again: error %v", err)
	}
}
