package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestCopiesAnswerLikeHistory asks for everything by id of a query tier that reads copies by
// update id and of one that does not, and then adds history that is not copied yet.
func TestCopiesAnswerLikeHistory(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	base := h.served(t)
	store := []string{"--clickhouse-dsn", startEngine(t, filepath.Join(h.copied(t), "engine")).OwnerDSN()}
	serve := append(store, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--lookup-rows")
	if out := string(mustRun(t, append(store, "verify", "--check", "hashes,lookups", "--stream", "scan")...)); strings.Contains(out, "lookups") {
		t.Errorf("verify says of copies that are not there:\n%s", out)
	}
	paths := lookupPaths(t, base)
	want := make([]string, len(paths))
	for i, path := range paths {
		want[i] = get(t, base+path)
	}

	server := start(t, serve...)
	compareLookups(t, waitForURL(t, server), paths[:30], want) // nothing is copied yet
	stop(t, server)

	mustRun(t, append(store, "ingest", "--once", "--scan-url", h.upstream, "--lookup-rows")...)
	out := string(mustRun(t, append(store, "verify", "--check", "lookups")...))
	if !strings.Contains(out, "lookups") || strings.Contains(out, " 0 copies") {
		t.Errorf("verify says of the copies:\n%s", out)
	}
	server = start(t, serve...)
	base = waitForURL(t, server)
	compareLookups(t, base, paths, want)
	if status, _ := answer(t, base, "GET /v0/events/1220none"); status != http.StatusNotFound {
		t.Errorf("an unknown id is answered with %d", status)
	}
}

// lookupPaths are lookups of some updates and verdicts, in both encodings: of one of each shape at
// least.
func lookupPaths(t *testing.T, base string) (paths []string) {
	t.Helper()
	seen := make(map[string]bool)
	for i, element := range allPages(t, base, "/v0/events", "protobuf_json") {
		shape := shapeOf(t, element)
		if i%schematest.Rounds(23, 7) != 0 && seen[shape] {
			continue
		}
		seen[shape] = true
		var event struct {
			Update, Verdict struct {
				UpdateID string `json:"update_id"`
			}
		}
		if err := json.Unmarshal(element, &event); err != nil {
			t.Fatal(err)
		}
		id := event.Verdict.UpdateID
		if event.Update.UpdateID != "" {
			id = event.Update.UpdateID
			paths = append(paths, "/v2/updates/"+id)
		}
		paths = append(paths, "/v0/events/"+id, "/v0/events/"+id+"?daml_value_encoding=protobuf_json")
	}
	return paths
}

// shapeOf says which members an element has, and its update and its verdict.
func shapeOf(t *testing.T, element []byte) string {
	t.Helper()
	whole := parse[map[string]json.RawMessage](t, element)
	members := slices.Sorted(maps.Keys(whole))
	for _, name := range []string{"update", "verdict"} {
		if raw := whole[name]; raw != nil {
			part := parse[map[string]json.RawMessage](t, raw)
			members = append(append(members, name), slices.Sorted(maps.Keys(part))...)
		}
	}
	return strings.Join(members, " ")
}

func compareLookups(t *testing.T, base string, paths []string, want []string) {
	t.Helper()
	for i, path := range paths {
		if got := get(t, base+path); got != want[i] {
			t.Fatalf("%s:\n%s\nwithout copies\n%s", path, got, want[i])
		}
	}
}
