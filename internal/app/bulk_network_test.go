package app

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// serveApp serves the product and returns its address.
func serveApp(t *testing.T, s *App) string {
	t.Helper()
	server, err := s.servers.newServer(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Addr()
}

// askJSON asks an operation, by GET without a body.
func askJSON(t *testing.T, url, body string, into any) {
	t.Helper()
	raw := askRaw(t, url, body)
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s answered %s: %v", url, raw, err)
	}
}

func askRaw(t *testing.T, url, body string) []byte {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := documented(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s answered %d %s, %v", method, url, response.StatusCode, raw, err)
	}
	return raw
}

type bulkRefs struct {
	RecordTime string                         `json:"record_time"`
	ObjectRefs []struct{ URL, Digest string } `json:"object_refs"`
	Token      string                         `json:"next_page_token"`
}

// linesOf downloads listed objects, checks their digests and returns their lines.
func networkLines(t *testing.T, refs bulkRefs) []string {
	t.Helper()
	var lines []string
	for _, ref := range refs.ObjectRefs {
		data := askRaw(t, ref.URL, "")
		if sum := sha256.Sum256(data); base64.StdEncoding.EncodeToString(sum[:]) != ref.Digest {
			t.Errorf("%s has another digest than listed", ref.URL)
		}
		decoder, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		scanner := bufio.NewScanner(decoder)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
		}
		if err := scanner.Err(); err != nil {
			t.Fatal(err)
		}
		decoder.Close()
	}
	return lines
}

// TestNetworkLayoutAsAClientReadsIt follows the bulk listings as clients of the network do,
// without a format, and compares the lines with the pages of the other operations.
func TestNetworkLayoutAsAClientReadsIt(t *testing.T) {
	s := openTestApp(t)
	const hours = 3600 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 9, Items: 40, Migrations: 2, Step: 4 * hours}).Items)
	if err := indexer.SetBackfilled(t.Context(), s.db.db, schemas.ScanStream); err != nil {
		t.Fatal(err)
	}
	s.p.cfg.BulkLayouts = []string{settings.LayoutNetwork}
	if err := s.worker.exportAll(t.Context(), console.NewProgress(console.New(io.Discard, io.Discard))); err != nil {
		t.Fatal(err)
	}
	base := serveApp(t, s)

	var updates []string
	body := `{"start_record_time":"0001-01-01T00:00:00Z","end_record_time":"2099-01-01T00:00:00Z","page_size":3%s}`
	token, last := "", "?"
	for token != last {
		var page bulkRefs
		last = token
		more := ""
		if token != "" {
			more = fmt.Sprintf(`,"next_page_token":%q`, token)
		}
		askJSON(t, base+"/v0/history/bulk/updates", fmt.Sprintf(body, more), &page)
		for _, line := range networkLines(t, page) {
			updates = append(updates, strings.ReplaceAll(line, `"interface_id":null,`, "")) // pages leave it out
		}
		if token = page.Token; token == "" {
			t.Fatal("the listing of a stretch that goes beyond what is published ends without a token")
		}
		for _, ref := range page.ObjectRefs {
			if !strings.Contains(ref.URL, "updates_compact_json_") {
				t.Errorf("%s is listed", ref.URL)
			}
		}
	}
	folders, through, err := s.objects.catalog.NetworkFolders(t.Context())
	if err != nil || len(folders) < 8 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	if want := pagesThrough(t, base, through); !slices.Equal(updates, asPublished(want)) || len(want) < 40 {
		t.Errorf("the objects hold %d updates, the pages %d, or others", len(updates), len(want))
	}

	sets, err := s.objects.catalog.NetworkSets(t.Context())
	if err != nil || len(sets) < 5 {
		t.Fatalf("%d active sets, %v", len(sets), err)
	}
	for _, ref := range sets {
		var set bulkRefs
		askJSON(t, base+"/v0/history/bulk/acs?at_or_before_record_time="+(ref.Start+1).String(), "", &set)
		if set.RecordTime != ref.Start.String() {
			t.Errorf("the set at %s is that of %s", ref.Start+1, set.RecordTime)
		}
		migration := migrationAt(t, s, ref.Start)
		dumped := askRaw(t, fmt.Sprintf("%s/v0/state/acs/dump?migration_id=%d&at=%s", base, migration, ref.Start), "")
		want := strings.Split(strings.TrimSuffix(string(dumped), "\n"), "\n")
		want = want[:len(want)-1] // the dump ends with a line about itself
		want = asPublished(want)
		got := networkLines(t, set)
		for i := range got {
			if line := strings.Replace(got[i], `"created_in_update_id":null,`, "", 1); line != got[i] && i < len(want) {
				got[i], want[i] = line, createdIn.ReplaceAllString(want[i], "") // the dump knows where it was created
			}
		}
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("the objects of the set at %s hold %d contracts, the dump has %d, or others", ref.Start, len(got), len(want))
		}
	}
	v, err := s.objects.exporter.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 || v.Folders != len(folders)+len(sets) {
		t.Errorf("verifying %d folders found %q, %v", v.Folders, v.Findings, err)
	}
}

var (
	createdAt = regexp.MustCompile(`("created_at":"[^"]*\.\d*[1-9])0+Z"`)
	createdIn = regexp.MustCompile(`"created_in_update_id":"[^"]*",`)
)

// asPublished are lines of pages with the fewest digits in created_at.
func asPublished(lines []string) []string {
	published := make([]string, len(lines))
	for i, line := range lines {
		published[i] = createdAt.ReplaceAllString(line, `${1}Z"`)
	}
	return published
}

// pagesThrough are all updates up to a record time, as the pages have them.
func pagesThrough(t *testing.T, base string, through schemas.Micros) []string {
	t.Helper()
	var page struct{ Transactions []json.RawMessage }
	askJSON(t, base+"/v2/updates", `{"page_size": 1000}`, &page)
	var updates []string
	for _, u := range page.Transactions {
		var at struct {
			RecordTime string `json:"record_time"`
		}
		if err := json.Unmarshal(u, &at); err != nil {
			t.Fatal(err)
		}
		if at.RecordTime <= through.String() {
			updates = append(updates, string(u))
		}
	}
	return updates
}

// migrationAt is the migration that was in use at an instant.
func migrationAt(t *testing.T, s *App, at schemas.Micros) int64 {
	t.Helper()
	migrations, err := s.db.reader.Migrations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range migrations {
		for _, r := range m.Synchronizers {
			if at < r.Max {
				return m.ID
			}
		}
	}
	t.Fatalf("no migration was in use at %s", at)
	return 0
}
