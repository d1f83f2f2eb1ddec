package main

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

// get returns the body of a 200 answer.
func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %s, %v", url, response.Status, body, err)
	}
	return string(body)
}

// statusURL waits until an ingest has told where its status page is.
func statusURL(t *testing.T, l *ledgerlake) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, rest, ok := strings.Cut(l.stdout.String(), "streams: "); ok {
			if url, _, ended := strings.Cut(rest, "/streams"); ended {
				return url
			}
		}
	}
	t.Fatalf("no URL after 30 s\n%s", tail(l.stderr.String()))
	return ""
}

// TestStreamsPage watches an ingest by its status page and metrics.
func TestStreamsPage(t *testing.T) {
	t.Parallel()
	needEngine(t)
	_, url := network(t, 3000)
	base := statusURL(t, start(t, "ingest", "--data", t.TempDir(), "--scan-url", url, "--status-listen", "127.0.0.1:0"))
	var reports []app.StreamReport
	deadline := time.Now().Add(30 * time.Second)
	derived := func(r app.StreamReport) bool {
		return r.Stream == "scan/contracts" && r.Watermark == reports[0].Watermark
	}
	for len(reports) == 0 || reports[0].Live == nil || reports[0].Live.Phase != "following" || reports[0].Items < 3000 || !slices.ContainsFunc(reports, derived) {
		if time.Now().After(deadline) {
			t.Fatalf("the streams do not get to the end: %+v", reports)
		}
		time.Sleep(50 * time.Millisecond)
		reports = nil
		if err := json.Unmarshal([]byte(get(t, base+"/streams?format=json")), &reports); err != nil {
			t.Fatal(err)
		}
	}
	if r := reports[0]; r.Stream != "scan" || r.Items < 3000 || r.Live.Updates < 3000 || r.WatermarkTime == nil || len(r.Live.Upstreams) != 1 || r.Live.Upstreams[0].State != "up" {
		t.Errorf("report %+v, live %+v", r, r.Live)
	}
	contains(t, "page", get(t, base+"/streams"), "scan\n", "scan/contracts\n", "watermark", "following", "updates/s", "upstream")
	contains(t, "metrics", get(t, base+"/metrics"),
		`ledgerlake_stream_batches_total{stream="scan"}`, `ledgerlake_stream_phase{phase="following",stream="scan"} 1`,
		`ledgerlake_stream_watermark_seconds{stream="scan/contracts"}`, "ledgerlake_streams_readable 1")
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the %s lacks %q:\n%.2000s", what, want, text)
		}
	}
}
