package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestBulkByHours publishes hours, lists and downloads them, and refuses days beside them.
func TestBulkByHours(t *testing.T) {
	s := openTestApp(t)
	s.p.cfg.BulkSegments = string(schemas.HourSegments)
	const minutes = 60 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 4, Items: 30, Migrations: 1, Step: 10 * minutes}).Items)
	b, err := s.objects.newBulk()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.objects.newExporter()
	if err != nil {
		t.Fatal(err)
	}
	exportAll(t, e)
	all, through, err := b.Segments(t.Context(), scan.Parquet, 0, schemas.MaxMicros, 1000)
	if err != nil || len(all) < 3 || through != all[len(all)-1].End {
		t.Fatalf("%d segments through %s, %v", len(all), through, err)
	}
	for i, x := range all {
		if x.End-x.Start != schemas.HourSegments.Micros() || i > 0 && x.Start != all[i-1].End {
			t.Errorf("segment %d is (%s, %s]", i, x.Start, x.End)
		}
	}
	if at, _, err := b.ActiveSet(t.Context(), scan.Parquet, all[2].Start+5*minutes); err != nil || at != all[2].Start {
		t.Errorf("the latest set is that of %s, %v; want %s", at, err, all[2].Start)
	}
	object := all[1].Objects[0]
	if !strings.Contains(object.Key, "/hour=") {
		t.Errorf("an hour has object %s", object.Key)
	}
	checkDownloads(t, s, object)

	s.objects.exporter, s.objects.catalog, s.p.cfg.BulkSegments = nil, nil, string(schemas.DaySegments)
	_, err = s.objects.newExporter()
	if !errors.Is(err, published.ErrSegmentLength) || !strings.Contains(err.Error(), "--bulk-segments") {
		t.Errorf("days beside hours: %v", err)
	}
}

// checkDownloads downloads an object from the bucket's folder, whole and in part, before and
// after it was damaged.
func checkDownloads(t *testing.T, s *App, o scan.Object) {
	t.Helper()
	server, err := s.servers.newServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	base := "http://" + server.Addr() + "/v0/history/bulk/download/"
	get := func(key, ranges string) (int, string) {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, base+url.PathEscape(key), nil)
		if err != nil {
			t.Fatal(err)
		}
		if ranges != "" {
			request.Header.Set("Range", ranges)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(content)
	}
	status, content := get(o.Key, "")
	if sum := sha256.Sum256([]byte(content)); status != http.StatusOK || sum != o.SHA256 {
		t.Fatalf("%s: %d, SHA-256 %s", o.Key, status, hex.EncodeToString(sum[:]))
	}
	if status, part := get(o.Key, "bytes=4-99"); status != http.StatusPartialContent || part != content[4:100] {
		t.Errorf("a range of %s: %d with %d bytes", o.Key, status, len(part))
	}
	for key, want := range map[string]int{
		"../gateway.json":                                       http.StatusBadRequest,
		"updates/../../../gateway.json":                         http.StatusBadRequest,
		schemas.ManifestKey(schemas.SegmentRef{Stream: "scan"}): http.StatusNotFound,
	} {
		if status, _ := get(key, ""); status != want {
			t.Errorf("%s: %d, want %d", key, status, want)
		}
	}
	damaged := []byte(content)
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(filepath.Join(s.objects.folder, filepath.FromSlash(o.Key)), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ranges := range []string{"", "bytes=4-99"} {
		if status, _ := get(o.Key, ranges); status != http.StatusInternalServerError {
			t.Errorf("a damaged object, range %q: %d, want 500", ranges, status)
		}
	}
}
