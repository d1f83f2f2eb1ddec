package export

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// bareUpdates are updates of which only the position counts.
func bareUpdates(at ...schemas.Position) []schemas.Update {
	updates := make([]schemas.Update, len(at))
	for i, p := range at {
		updates[i] = schemas.Update{MigrationID: p.MigrationID, RecordTime: p.RecordTime, UpdateID: fmt.Sprint(i), SynchronizerID: "s"}
	}
	return updates
}

// TestNetworkUnits holds the cuts to the network's rules.
func TestNetworkUnits(t *testing.T) {
	at := func(migration int64, text string) schemas.Position {
		return schemas.Position{MigrationID: migration, RecordTime: micros(text)}
	}
	tests := []struct {
		name                 string
		updates              []schemas.Position
		watermark, contracts schemas.Position // zero: EndOf the last update
		want                 []string
	}{
		{name: "no history"},
		{name: "a day that is under way", updates: []schemas.Position{at(0, "2026-07-01T10:00:00Z")}},
		{
			name:    "the first folder begins at the beginning and has no set",
			updates: []schemas.Position{at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-02T00:00:00.000001Z")},
			want:    []string{"updates ~02 0..0", "ACS 02~03 in 0"},
		},
		{
			name:    "midnight belongs to the day before, and a set needs an update after it",
			updates: []schemas.Position{at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-02T00:00:00Z")},
			want:    []string{"updates ~02 0..0"},
		},
		{
			name:    "an update at the very first midnight is not before it",
			updates: []schemas.Position{at(0, "2026-07-02T00:00:00Z"), at(0, "2026-07-02T05:00:00Z")},
			want:    []string{"updates ~02 0..0"},
		},
		{
			name:    "days without updates have folders and sets",
			updates: []schemas.Position{at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-04T10:00:00Z")},
			want: []string{
				"updates ~02 0..0", "ACS 02~03 in 0", "updates 02~03 0..0", "ACS 03~04 in 0", "updates 03~04 0..0", "ACS 04~05 in 0",
			},
		},
		{
			name: "a folder goes on from one migration into the next",
			updates: []schemas.Position{
				at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-02T08:00:00Z"), at(1, "2026-07-02T12:00:00Z"), at(1, "2026-07-03T12:00:00Z"),
			},
			want: []string{"updates ~02 0..0", "ACS 02~03 in 0", "updates 02~03 0..1", "ACS 03~04 in 1"},
		},
		{
			name: "between migrations there is no set",
			updates: []schemas.Position{
				at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-01T20:00:00Z"), at(1, "2026-07-03T12:00:00Z"), at(1, "2026-07-04T12:00:00Z"),
			},
			want: []string{"updates ~02 0..1", "updates 02~03 1..1", "updates 03~04 1..1", "ACS 04~05 in 1"},
		},
		{
			name:      "a migration without history closes nothing",
			updates:   []schemas.Position{at(0, "2026-07-01T10:00:00Z")},
			watermark: schemas.EndOf(1, schemas.MinMicros),
		},
		{
			name:      "the watermark closes a day, too",
			updates:   []schemas.Position{at(0, "2026-07-01T10:00:00Z")},
			watermark: schemas.EndOf(0, micros("2026-07-02T00:00:00Z")),
			want:      []string{"updates ~02 0..0"},
		},
		{
			name:      "a set waits for lifetimes, updates do not",
			updates:   []schemas.Position{at(0, "2026-07-01T10:00:00Z"), at(0, "2026-07-03T10:00:00Z")},
			contracts: schemas.EndOf(0, micros("2026-07-02T23:00:00Z")),
			want:      []string{"updates ~02 0..0", "ACS 02~03 in 0", "updates 02~03 0..0"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := &memorySource{updates: bareUpdates(tt.updates...), watermark: tt.watermark, contracts: tt.contracts}
			if src.watermark == (schemas.Position{}) && len(tt.updates) > 0 {
				last := tt.updates[len(tt.updates)-1]
				src.watermark = schemas.EndOf(last.MigrationID, last.RecordTime)
			}
			if src.contracts == (schemas.Position{}) {
				src.contracts = src.watermark
			}
			e := newTestExporter(t, src, openMemory(nil), &memoryCatalog{}, nil)
			units, err := e.catalog.ClosedFolders(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			after := schemas.Start
			for _, u := range units {
				got = append(got, sketch(u))
				if err := u.Ref.Check(); err != nil {
					t.Error(err)
				}
				if u.Ref.Kind == schemas.NetworkUpdates {
					if u.After != after {
						t.Errorf("%s begins at %s, the one before ends at %s", u.Ref, u.After, after)
					}
					after = u.Through
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// sketch writes a unit with the days of its folder.
func sketch(u published.Folder) string {
	days := ""
	if u.Ref.Start != schemas.MinMicros {
		days = fmt.Sprintf("%02d", u.Ref.Start.Time().Day())
	}
	days += fmt.Sprintf("~%02d", u.Ref.End.Time().Day())
	if u.Ref.Kind == schemas.NetworkACS {
		return fmt.Sprintf("ACS %s in %d", days, u.MigrationID)
	}
	return fmt.Sprintf("updates %s %d..%d", days, max(0, u.After.MigrationID), u.Through.MigrationID)
}

func TestExportNetworkRefusesWhatIsNotClosed(t *testing.T) {
	e := newTestExporter(t, twoMigrations(3, 20), openMemory(nil), &memoryCatalog{}, nil)
	open := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: micros("2026-07-04T00:00:00Z"), End: micros("2026-07-05T00:00:00Z")}
	if err := e.network.Export(t.Context(), open); !errors.Is(err, published.ErrNotClosed) {
		t.Errorf("an open day: %v", err)
	}
	wrong := open
	wrong.End++
	if err := e.network.Export(t.Context(), wrong); err == nil || errors.Is(err, published.ErrNotClosed) {
		t.Errorf("no folder: %v", err)
	}
	other := open
	other.Stream = "node:x"
	if err := e.network.Export(t.Context(), other); err == nil || errors.Is(err, published.ErrNotClosed) {
		t.Errorf("another stream: %v", err)
	}
}
