package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// compactScan is a scan of the network that answers in compact_json whatever is asked for.
func compactScan(t *testing.T, ledger *devnet.Ledger) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = bytes.ReplaceAll(body, []byte("protobuf_json"), []byte("compact_json"))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		ledger.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestIngestOfCompactJSON ingests history from a scan that gives values without their types, which are
// in the catalogue. Of what the store holds, only none at the end of a record is different: the
// simulated network writes it, and compact_json does not tell it from a field that is absent.
func TestIngestOfCompactJSON(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, _ := networkOfDays(t, 400, 2)
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--catalog", "../../bench/catalog", "--scan-url", compactScan(t, ledger))
	v := parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", data))
	for table, want := range served(t, ledger) {
		got := v.Tables[table]
		same := got == want
		if table == "updates" || table == "events" || table == "active_contracts" {
			same = got.Rows == want.Rows && got.Rows > 200
		}
		if !same {
			t.Errorf("table %s: %s, the network served %s", table, got, want)
		}
	}
	if !v.OK {
		t.Errorf("findings %q", v.Findings)
	}
}
