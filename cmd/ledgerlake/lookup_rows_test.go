package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestCopiesAnswerLikeHistory asks for everything by id of a query tier that reads copies by
// update id and of one that does not, and then adds history that is not copied yet.
func TestCopiesAnswerLikeHistory(t *testing.T) {
	needEngine(t)
	_, upstream := network(t, 600)
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", upstream)
	if out := string(mustRun(t, "verify", "--data", data, "--check", "hashes,lookups", "--stream", "scan")); strings.Contains(out, "lookups") {
		t.Errorf("verify says of copies that are not there:\n%s", out)
	}
	server := start(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	base := waitForURL(t, server)
	paths := lookupPaths(t, base)
	want := make([]string, len(paths))
	for i, path := range paths {
		want[i] = get(t, base+path)
	}
	stop(t, server)

	server = start(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--lookup-rows")
	compareLookups(t, waitForURL(t, server), paths[:50], want) // nothing is copied yet
	stop(t, server)

	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", upstream, "--lookup-rows")
	out := string(mustRun(t, "verify", "--data", data, "--check", "lookups"))
	if !strings.Contains(out, "lookups") || strings.Contains(out, " 0 copies") {
		t.Errorf("verify says of the copies:\n%s", out)
	}
	server = start(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--lookup-rows")
	base = waitForURL(t, server)
	compareLookups(t, base, paths, want)
	if status, _ := answer(t, base, "GET /v0/events/1220none"); status != http.StatusNotFound {
		t.Errorf("an unknown id is answered with %d", status)
	}
}

// lookupPaths are lookups of some updates and verdicts, in both encodings.
func lookupPaths(t *testing.T, base string) (paths []string) {
	t.Helper()
	for i, element := range allPages(t, base, "/v0/events", "protobuf_json") {
		if i%7 != 0 {
			continue
		}
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

func compareLookups(t *testing.T, base string, paths []string, want []string) {
	t.Helper()
	for i, path := range paths {
		if got := get(t, base+path); got != want[i] {
			t.Fatalf("%s:\n%s\nwithout copies\n%s", path, got, want[i])
		}
	}
}
