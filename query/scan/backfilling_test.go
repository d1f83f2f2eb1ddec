package scan

import (
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBackfilling(t *testing.T) {
	s := serve(t, world())
	var info struct {
		Previous   *int64        `json:"previous_migration_id"`
		Ranges     []recordRange `json:"record_time_range"`
		LastImport *string       `json:"last_import_update_id"`
		Complete   bool          `json:"complete"`
		Imports    bool          `json:"import_updates_complete"`
	}
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Previous == nil || *info.Previous != 0 || info.LastImport == nil || *info.LastImport != "00import2" || !info.Complete || !info.Imports ||
		len(info.Ranges) != 1 || info.Ranges[0] != (recordRange{sync1, "2026-07-02T00:10:00.000000Z", "2026-07-02T04:40:00.000000Z"}) {
		t.Errorf("migration 1: %+v", info)
	}
	info.Previous, info.LastImport = nil, nil
	body := s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":0}`, &info)
	if info.Previous != nil || info.LastImport != nil {
		t.Errorf("migration 0: %s", body)
	}

	// Imports may still grow while the watermark is among them.
	last := s.source.imports[2].Position()
	s.source.setMark(last)
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Imports || len(info.Ranges) != 0 {
		t.Errorf("migration 1 with imports only: %+v", info)
	}
	s.source.setMark(world().mark)
	s.health.set(false, nil)
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Complete || info.Imports {
		t.Errorf("migration 1 during backfill: %+v", info)
	}
	var status struct{ Complete *bool }
	s.ok("GET", "/v0/backfilling/status", "", &status)
	if status.Complete == nil || *status.Complete {
		t.Errorf("status during backfill: %+v", status)
	}
}

func TestUpdatesBefore(t *testing.T) {
	for _, chunk := range []int64{1, 1 << 20} {
		s := serve(t, world(), func(c *Config) { c.ChunkBytes = chunk })
		var all []schemas.Item
		before := "2026-07-09T00:00:00Z"
		for {
			body := s.ok("POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"`+sync1+`","before":"`+before+`","count":20}`, new(updatesAnswer))
			page, err := schemas.DecodeUpdates([]byte(body), schemas.ProtobufJSON)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if !strings.Contains(body, schemas.WireOffset) {
				t.Error("no offset")
			}
			all = append(all, page...)
			before = page[len(page)-1].Update.RecordTime.String()
		}
		if len(all) != 48 {
			t.Fatalf("%d updates, want 48", len(all))
		}
		for i, it := range all {
			if i > 0 && it.Update.RecordTime >= all[i-1].Update.RecordTime {
				t.Errorf("update %d is not older than the one before", i)
			}
			if got := string(it.Update.Events[0].Argument); got != string(coin(schemas.ProtobufJSON, alice, 1)) {
				t.Errorf("update %d is not in protobuf_json: %s", i, got)
			}
		}
		var page updatesAnswer
		s.ok("POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"`+sync1+`","before":"2026-07-01T04:00:00Z","at_or_after":"2026-07-01T02:00:00.000001Z","count":20}`, &page)
		if len(page.Transactions) != 4 {
			t.Errorf("%d updates between two instants, want 4", len(page.Transactions))
		}
	}
}

func TestImportUpdates(t *testing.T) {
	s := serve(t, world())
	var ids []string
	after := ""
	for {
		body := s.ok("POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"`+after+`","limit":2}`, new(updatesAnswer))
		page, err := schemas.DecodeUpdates([]byte(body), schemas.ProtobufJSON)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, it := range page {
			ids = append(ids, it.Update.UpdateID)
			if !it.Update.IsImport() || string(it.Update.Events[0].Argument) != string(coin(schemas.ProtobufJSON, bob, 1)) {
				t.Errorf("import %+v", it.Update)
			}
		}
		after = ids[len(ids)-1]
	}
	if got := strings.Join(ids, " "); got != "00import0 00import1 00import2" {
		t.Errorf("imports %s", got)
	}
	var page updatesAnswer
	s.ok("POST", "/v0/backfilling/import-updates", `{"migration_id":7,"after_update_id":"","limit":2}`, &page)
	if page.Transactions == nil || len(page.Transactions) != 0 {
		t.Errorf("imports of an unknown migration: %v", page.Transactions)
	}
}

// The list of migrations may be cached from before the last imports; the answer that
// calls them complete must not name an earlier one as the last.
func TestMigrationInfoNeverPairsCompleteImportsWithAnOldLastID(t *testing.T) {
	source := world()
	end := source.mark
	source.setMark(source.imports[0].Position())
	s := serve(t, source, func(c *Config) { c.WatermarkTTL = time.Hour })
	// Loads the list, but not the watermark.
	s.refused("POST", "/v0/backfilling/updates-before",
		`{"migration_id":9,"synchronizer_id":"x","before":"2026-07-02T00:00:00Z","count":1}`, 404, "No data")
	source.setMark(end)
	var info migrationInfo
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if last := source.imports[2].UpdateID; !info.ImportUpdatesComplete || info.LastImportUpdateID != last {
		t.Errorf("import_updates_complete %v with last id %s, want %s", info.ImportUpdatesComplete, info.LastImportUpdateID, last)
	}
}
