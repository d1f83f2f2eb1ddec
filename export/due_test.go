package export

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestDueSegments(t *testing.T) {
	at := func(migrationID int64, text string) schemas.Update {
		g := newGenerator(uint64(migrationID))
		return g.transaction(migrationID, micros(text), 1)
	}
	imported := newGenerator(9).importUpdate(1, micros("2026-07-01T00:00:00Z"))
	end := func(migrationID int64, text string) schemas.Position {
		return schemas.EndOf(migrationID, micros(text))
	}
	older := at(0, "2026-07-01T23:00:00Z")
	midnight := at(0, "2026-07-03T00:00:00Z")
	verdict := newGenerator(3).verdict(end(0, "2026-07-05T12:00:00Z"))
	tests := []struct {
		name      string
		updates   []schemas.Update
		imports   []schemas.Update
		verdicts  []schemas.Item
		watermark schemas.Position
		contracts *schemas.Position // as the watermark if nil
		want      []string
	}{
		{name: "an empty stream", watermark: schemas.Start},
		{name: "the first day is still open", updates: []schemas.Update{older}, watermark: end(0, "2026-07-02T00:00:00Z"),
			want: []string{"imports"}},
		{name: "the watermark has passed the day", updates: []schemas.Update{older}, watermark: end(0, "2026-07-02T00:00:00.000001Z"),
			want: []string{"imports", "2026-07-01"}},
		{name: "a day is listed only when history reaches it", updates: []schemas.Update{older}, watermark: end(0, "2026-07-09T00:00:00Z"),
			want: []string{"imports", "2026-07-01"}},
		{name: "a day without history in between is a segment", updates: []schemas.Update{older, at(0, "2026-07-04T00:00:01Z")},
			watermark: end(0, "2026-07-04T00:00:01Z"), want: []string{"imports", "2026-07-01", "2026-07-02", "2026-07-03"}},
		{name: "midnight belongs to the day before", updates: []schemas.Update{older, midnight}, watermark: end(0, "2026-07-09T00:00:00Z"),
			want: []string{"imports", "2026-07-01", "2026-07-02"}},
		{name: "imports alone are open until history begins", imports: []schemas.Update{imported}, watermark: imported.Position()},
		{name: "imports of the next migration do not close the last day", updates: []schemas.Update{older}, imports: []schemas.Update{imported},
			watermark: imported.Position(), want: []string{"imports"}},
		{name: "history of the next migration closes it", updates: []schemas.Update{older, at(1, "2026-07-01T23:30:00Z")},
			imports: []schemas.Update{imported}, watermark: end(1, "2026-07-01T23:30:00Z"), want: []string{"imports", "2026-07-01", "1/imports"}},
		{name: "verdicts without updates make days too", updates: []schemas.Update{older}, verdicts: []schemas.Item{verdict},
			watermark: end(0, "2026-07-06T00:00:01Z"),
			want:      []string{"imports", "2026-07-01", "2026-07-02", "2026-07-03", "2026-07-04", "2026-07-05"}},
		{name: "lifetimes that lag hold back what needs them", updates: []schemas.Update{older, at(0, "2026-07-03T00:00:01Z")},
			watermark: end(0, "2026-07-03T00:00:01Z"), contracts: new(end(0, "2026-07-02T00:00:00Z")), want: []string{"imports", "2026-07-01"}},
		{name: "lifetimes past the start of the day suffice", updates: []schemas.Update{older, at(0, "2026-07-03T00:00:01Z")},
			watermark: end(0, "2026-07-03T00:00:01Z"), contracts: new(end(0, "2026-07-02T00:00:01Z")), want: []string{"imports", "2026-07-01", "2026-07-02"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := &memorySource{updates: tt.updates, imports: tt.imports, verdicts: tt.verdicts, watermark: tt.watermark, contracts: tt.watermark}
			if tt.contracts != nil {
				src.contracts = *tt.contracts
			}
			e := newTestExporter(t, src, &discard{}, &memoryCatalog{}, nil)
			due, err := e.DueSegments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := names(due); !slices.Equal(got, tt.want) {
				t.Errorf("due are %v, want %v", got, tt.want)
			}
		})
	}
}

// names are the parts of the references that differ, "1/..." for migration 1.
func names(refs []schemas.SegmentRef) []string {
	var list []string
	for _, ref := range refs {
		name := ref.Date
		if ref.IsImports() {
			name = "imports"
		}
		if ref.MigrationID > 0 {
			name = fmt.Sprintf("%d/%s", ref.MigrationID, name)
		}
		list = append(list, name)
	}
	return list
}

func TestOpenSegmentIsNotExported(t *testing.T) {
	c := &memoryCatalog{}
	e := newTestExporter(t, twoMigrations(1, 20), &discard{}, c, nil)
	for _, ref := range []schemas.SegmentRef{
		{Stream: "scan", MigrationID: 1, Date: "2026-07-04"}, // open
		{Stream: "scan", MigrationID: 0, Date: "2026-06-30"}, // before history
		{Stream: "scan", MigrationID: 2},                     // not begun
		{Stream: "node:x", MigrationID: 0, Date: "2026-07-01"},
		{Stream: "scan", MigrationID: 0, Date: "yesterday"},
	} {
		if err := e.ExportSegment(t.Context(), ref); err == nil {
			t.Errorf("%s was exported", ref)
		}
	}
	if len(c.Rows) > 0 {
		t.Errorf("%d rows were written", len(c.Rows))
	}
}

// A stream with an update that is dated years ahead has no closed segments but those before the
// clock's time, and none once it stands there: what lies between was never read.
func TestNothingIsClosedInTheFuture(t *testing.T) {
	at := func(migrationID int64, text string) schemas.Update {
		return newGenerator(uint64(migrationID)).transaction(migrationID, micros(text), 1)
	}
	exporter := func(updates ...schemas.Update) *Exporter {
		last := schemas.EndOf(updates[len(updates)-1].MigrationID, updates[len(updates)-1].RecordTime)
		return newTestExporter(t, &memorySource{updates: updates, watermark: last, contracts: last}, &discard{}, &memoryCatalog{}, func(c *testConfig) {
			c.catalogConfig.Now, c.Ahead = func() time.Time { return micros("2026-07-04T12:00:00Z").Time() }, time.Hour
		})
	}
	future := exporter(at(0, "2026-07-01T23:00:00Z"), at(0, "2036-07-01T00:00:00Z"))
	if due, err := future.DueSegments(t.Context()); !errors.Is(err, published.ErrFuture) {
		t.Errorf("%d segments are due with error %v, want %v", len(due), err, published.ErrFuture)
	}
	if units, err := future.catalog.ClosedFolders(t.Context()); !errors.Is(err, published.ErrFuture) {
		t.Errorf("%d folders are closed with error %v, want %v", len(units), err, published.ErrFuture)
	}

	// A later migration has gone on at the right time.
	gone := exporter(at(0, "2026-07-01T23:00:00Z"), at(0, "2036-07-01T00:00:00Z"), at(1, "2026-07-04T11:00:00Z"))
	due, err := gone.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"imports", "2026-07-01", "2026-07-02", "2026-07-03", "1/imports"}; !slices.Equal(names(due), want) {
		t.Errorf("due are %v, want %v", names(due), want)
	}
	if units, err := gone.catalog.ClosedFolders(t.Context()); err != nil || len(units) > 6 {
		t.Errorf("%d folders are closed, error %v", len(units), err)
	}
}
