package verify_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Copies that lack an update, hold another one or are of nothing are found, and only then.
func TestCopiesAreComparedWithHistory(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	items := schematest.New(schematest.Config{Seed: 12, Items: 80}).Items
	f.write(t, items, 40)
	want := int64(0)
	for _, it := range items {
		if it.Update == nil || !it.Update.IsImport() {
			want++
		}
	}
	if err := indexer.CreateLookupRows(t.Context(), f.db); err != nil {
		t.Fatal(err)
	}
	cfg := verify.Config{Checks: []string{verify.Lookups}, Copies: copies.NewItems(f.db, f.stream, values.Default())}
	if report := f.verify(t, cfg); !sound(report) || report.Checks[0].Checked["copies"] != 0 {
		t.Errorf("nothing is copied: %+v", report.Checks[0])
	}
	if err := indexer.NewLookupRows(f.db, schemas.ScanStream, values.Default(), 0, slog.New(slog.DiscardHandler)).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if report := f.verify(t, cfg); !sound(report) || report.Checks[0].Checked["copies"] != want {
		t.Fatalf("all is copied: %+v", report.Checks[0])
	}
	one := "(SELECT min(key) FROM lookup_rows)"
	f.exec(t, "CREATE TABLE kept ENGINE = MergeTree ORDER BY key AS SELECT * FROM lookup_rows")
	for _, damage := range []struct {
		name, want string
		statements []string
	}{
		{"lost", "has no copy", []string{"ALTER TABLE lookup_rows DELETE WHERE key = " + one}},
		{"exchanged", "has no copy", []string{
			"INSERT INTO lookup_rows SELECT key + 1, body FROM kept WHERE key = " + one, "ALTER TABLE lookup_rows DELETE WHERE key = " + one,
		}},
		{"cut", "cannot be read", []string{"INSERT INTO lookup_rows SELECT key, substring(body, 1, length(body) - 9) FROM kept WHERE key = " + one}},
		{"of nothing", "that history does not have", []string{"INSERT INTO lookup_rows SELECT key + 1, body FROM kept WHERE key = " + one}},
	} {
		f.exec(t, damage.statements...)
		report := f.verify(t, cfg)
		if c := report.Checks[0]; c.OK || !strings.Contains(c.Findings[0].What, damage.want) {
			t.Errorf("%s: %+v", damage.name, c)
		}
		f.exec(t, "TRUNCATE TABLE lookup_rows", "INSERT INTO lookup_rows SELECT * FROM kept")
	}
	if report := f.verify(t, cfg); !sound(report) {
		t.Errorf("after repair: %+v", report.Checks[0])
	}
	f.exec(t, "INSERT INTO lookup_rows SELECT key, substring(body, 1, length(body) - 4) || '0000' FROM kept WHERE key = "+one)
	if report := f.verify(t, cfg); sound(report) {
		t.Error("a changed copy is not found")
	}
}
