package scan

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

type refsAnswer struct {
	RecordTime string      `json:"record_time"`
	Refs       []objectRef `json:"object_refs"`
	Token      *string     `json:"next_page_token"`
}

// library publishes five days of Parquet with two objects each, and nothing in the
// network's format.
func library(s *served) {
	s.bulk.segments = map[Format][]Segment{}
	for day := range 5 {
		start := at("2026-07-01T00:00:00Z") + schemas.Micros(day)*24*3600*1e6
		seg := Segment{MigrationID: 1, Start: start, End: start + 24*3600*1e6}
		for part := range 2 {
			key := fmt.Sprintf("updates/v1/migration_id=1/date=2026-07-%02d/part-%05d.parquet", day+1, part)
			seg.Objects = append(seg.Objects, s.bulk.put(key, strings.Repeat(key, 100)))
		}
		s.bulk.segments[Parquet] = append(s.bulk.segments[Parquet], seg)
	}
	set := s.bulk.put("acs/v1/date=2026-07-03/part 0~é.parquet", "contracts")
	s.bulk.sets = map[Format]map[schemas.Micros][]Object{Parquet: {at("2026-07-03T00:00:00Z"): {set}}}
	s.bulk.put("private/secrets.json", "secret")
}

func (s *served) listing(start, end, format string, size int) (refs []objectRef, tokens int) {
	s.t.Helper()
	after := ""
	for range 100 {
		var page refsAnswer
		s.ok("POST", "/v0/history/bulk/updates", fmt.Sprintf(`{"start_record_time":"%s","end_record_time":"%s","page_size":%d,"format":"%s"%s}`, start, end, size, format, after), &page)
		refs = append(refs, page.Refs...)
		if page.Token == nil {
			return refs, tokens
		}
		tokens++
		if len(page.Refs) == 0 && after == `,"next_page_token":"`+*page.Token+`"` {
			return refs, tokens // nothing new was published
		}
		after = `,"next_page_token":"` + *page.Token + `"`
	}
	s.t.Fatal("the listing does not end")
	return nil, 0
}

func TestBulkUpdates(t *testing.T) {
	s := serve(t, world())
	library(s)
	cases := []struct {
		name, start, end string
		size, want       int
	}{
		{"everything published", "2026-07-01T00:00:00Z", "2026-07-06T00:00:00Z", 1000, 10},
		{"in pages of one segment", "2026-07-01T00:00:00Z", "2026-07-06T00:00:00Z", 2, 10},
		{"in pages that do not fit segments", "2026-07-01T00:00:00Z", "2026-07-06T00:00:00Z", 5, 10},
		{"one day", "2026-07-02T00:00:00Z", "2026-07-03T00:00:00Z", 1000, 2},
		{"parts of two days", "2026-07-02T23:59:59Z", "2026-07-03T00:00:00.000001Z", 1000, 4},
		{"beyond what is published", "2026-07-05T00:00:00Z", "2026-08-01T00:00:00Z", 1000, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			refs, _ := s.listing(c.start, c.end, "parquet", c.size)
			if len(refs) != c.want {
				t.Errorf("%d objects, want %d", len(refs), c.want)
			}
			for _, ref := range refs {
				s.fetch(ref)
			}
		})
	}
	s.refused("POST", "/v0/history/bulk/updates", `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-02T00:00:00Z","page_size":1,"format":"parquet"}`, 400, "too small")
}

// TestBulkUpdatesOfManyHours lists more segments than are read at a time, most of them
// without objects.
func TestBulkUpdatesOfManyHours(t *testing.T) {
	s := serve(t, world())
	s.bulk.segments = map[Format][]Segment{}
	const hour = schemas.Micros(3600 * 1e6)
	start, want := at("2026-07-01T00:00:00Z"), 0
	for i := range 3*segmentsAtOnce + 1 {
		for migration := range int64(2) {
			seg := Segment{MigrationID: migration, Start: start + schemas.Micros(i)*hour, End: start + schemas.Micros(i+1)*hour}
			if i%97 == 0 || i == 3*segmentsAtOnce {
				seg.Objects = []Object{s.bulk.put(fmt.Sprintf("updates/%d/%d", migration, i), "rows")}
				want++
			}
			s.bulk.segments[Parquet] = append(s.bulk.segments[Parquet], seg)
		}
	}
	end := start + (3*segmentsAtOnce+1)*hour
	for _, size := range []int{1, 7, 1000} {
		refs, tokens := s.listing(start.String(), end.String(), "parquet", size)
		seen := make(map[string]bool)
		for _, ref := range refs {
			seen[ref.URL] = true
		}
		if len(refs) != want || len(seen) != want {
			t.Errorf("in pages of %d: %d objects, %d of them different, want %d", size, len(refs), len(seen), want)
		}
		if size == 1000 && tokens != 0 {
			t.Errorf("a listing that fits a page has %d tokens", tokens)
		}
	}
}

// fetch downloads a listed object and checks its digest.
func (s *served) fetch(ref objectRef) string {
	s.t.Helper()
	path, ok := strings.CutPrefix(ref.URL, "https://scan.example.com")
	if !ok || !strings.HasPrefix(path, "/api/scan/v0/history/bulk/download/") || strings.Count(path, "/") != 7 {
		s.t.Fatalf("url %s", ref.URL)
	}
	r := s.do("GET", path, "")
	sum := sha256.Sum256([]byte(r.body))
	if r.status != 200 || base64.StdEncoding.EncodeToString(sum[:]) != ref.Digest {
		s.t.Errorf("%s = %d, %d bytes with another digest than listed", path, r.status, len(r.body))
	}
	return r.body
}

func TestBulkTokenAsksAgainLater(t *testing.T) {
	s := serve(t, world())
	library(s)
	all := s.bulk.segments[Parquet]
	s.bulk.segments[Parquet] = all[:3]
	body := `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-06T00:00:00Z","page_size":100,"format":"parquet"%s}`
	var first, empty, rest refsAnswer
	s.ok("POST", "/v0/history/bulk/updates", fmt.Sprintf(body, ""), &first)
	if len(first.Refs) != 6 || first.Token == nil {
		t.Fatalf("%d objects, token %v", len(first.Refs), first.Token)
	}
	next := fmt.Sprintf(body, `,"next_page_token":"`+*first.Token+`"`)
	s.ok("POST", "/v0/history/bulk/updates", next, &empty)
	if len(empty.Refs) != 0 || empty.Token == nil || *empty.Token != *first.Token {
		t.Errorf("with nothing new: %d objects, token %v", len(empty.Refs), empty.Token)
	}
	s.bulk.segments[Parquet] = all
	s.ok("POST", "/v0/history/bulk/updates", next, &rest)
	if len(rest.Refs) != 4 || rest.Token != nil {
		t.Errorf("later: %d objects, token %v", len(rest.Refs), rest.Token)
	}
	s.refused("POST", "/v0/history/bulk/updates", strings.Replace(next, "07-06", "07-05", 1), 400, "token")
}

func TestBulkActiveSet(t *testing.T) {
	s := serve(t, world())
	library(s)
	var got refsAnswer
	s.ok("GET", "/v0/history/bulk/acs?format=parquet&at_or_before_record_time=2026-07-04T12:00:00Z", "", &got)
	if got.RecordTime != "2026-07-03T00:00:00.000000Z" || len(got.Refs) != 1 || s.fetch(got.Refs[0]) != "contracts" {
		t.Errorf("got %+v", got)
	}
	s.refused("GET", "/v0/history/bulk/acs?format=parquet&at_or_before_record_time=2026-07-02T12:00:00Z", "", 404, "No active contract set")
}

// The network's own format, which is the default, is refused rather than listed empty.
func TestBulkFormatThatIsNotPublished(t *testing.T) {
	s := serve(t, world())
	library(s)
	const text = "Bulk objects are not published in this format: ask for format=parquet."
	body := `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-02T00:00:00Z","page_size":10%s}`
	for _, format := range []string{"", "json_zstd"} {
		query, member := "", ""
		if format != "" {
			query, member = "&format="+format, `,"format":"`+format+`"`
		}
		s.refused("GET", "/v0/history/bulk/acs?at_or_before_record_time=2026-07-04T12:00:00Z"+query, "", 501, text)
		s.refused("POST", "/v0/history/bulk/updates", fmt.Sprintf(body, member), 501, text)
	}
}

// TestBulkFormatsSideBySide publishes the network's own format, too: it is the one that is
// listed unless the client asks for another, and progress is that of both.
func TestBulkFormatsSideBySide(t *testing.T) {
	s := serve(t, world(), func(c *Config) { c.BulkFormats = []Format{Parquet, JSONZstd} })
	library(s)
	first := Segment{Start: schemas.MinMicros, End: at("2026-07-02T00:00:00Z")}
	first.Objects = []Object{s.bulk.put("0001-01-01T00:00:00Z~2026-07-02T00:00:00Z/updates_compact_json_0.zstd", "lines")}
	s.bulk.segments[JSONZstd] = []Segment{first}
	var page refsAnswer
	s.ok("POST", "/v0/history/bulk/updates", `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-03T00:00:00Z","page_size":10}`, &page)
	const escaped = "/download/0001-01-01T00%3A00%3A00Z%7E2026-07-02T00%3A00%3A00Z%2Fupdates_compact_json_0.zstd"
	if len(page.Refs) != 1 || page.Token == nil || s.fetch(page.Refs[0]) != "lines" || !strings.HasSuffix(page.Refs[0].URL, escaped) {
		t.Errorf("got %+v, want one object and a token to ask again", page)
	}
	if refs, _ := s.listing("2026-07-01T00:00:00Z", "2026-07-06T00:00:00Z", "parquet", 100); len(refs) != 10 {
		t.Errorf("%d Parquet objects, want 10", len(refs))
	}
	s.refused("GET", "/v0/history/bulk/acs?at_or_before_record_time=2026-07-04T12:00:00Z", "", 404, "No active contract set")
	for at, want := range map[string]string{"2026-07-02T00:00:00Z": "true", "2026-07-02T00:00:00.000001Z": "false"} {
		var progress struct{}
		if body := s.ok("GET", "/v0/history/bulk/progress?record_time="+at, "", &progress); !strings.Contains(body, `"beyond_requested_record_time":`+want) {
			t.Errorf("progress at %s: %s, want %s", at, body, want)
		}
	}
}

func TestBulkProgress(t *testing.T) {
	s := serve(t, world())
	library(s) // through 6 July
	for _, c := range []struct {
		at   string
		want bool
	}{
		{"2026-07-01T00:00:00Z", true}, {"2026-07-06T00:00:00Z", true}, {"2026-07-06T00:00:00.000001Z", false},
	} {
		var got struct {
			Beyond *bool `json:"beyond_requested_record_time"`
		}
		s.ok("GET", "/v0/history/bulk/progress?record_time="+c.at, "", &got)
		if got.Beyond == nil || *got.Beyond != c.want {
			t.Errorf("progress beyond %s is %v, want %v", c.at, got.Beyond, c.want)
		}
	}
	s.refused("GET", "/v0/history/bulk/progress?record_time=noon", "", 400, "record_time")
	s.bulk.progress = []Pipeline{
		{Name: "parquet", Done: 3, Staged: 1, Total: 5, Through: at("2026-07-06T00:00:00Z"), Rate: 0.5, ETA: 4},
		{Name: "network_acs", Total: 2, Through: schemas.MinMicros, ETA: -1},
	}
	var all struct{ Pipelines []map[string]any }
	const want = `{"pipelines":[{"name":"parquet","done":3,"staged":1,"total":5,"through":"2026-07-06T00:00:00.000000Z","rate_per_second":0.5,"eta_seconds":4},` +
		`{"name":"network_acs","done":0,"staged":0,"total":2,"rate_per_second":0}]}`
	if body := s.ok("GET", "/v0/history/bulk/progress", "", &all); body != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

func TestBulkChecksums(t *testing.T) {
	s := serve(t, world())
	library(s)
	o := s.bulk.segments[Parquet][1].Objects[0]
	var got struct{ Checksums []checksum }
	body := s.ok("POST", "/v0/history/bulk/checksums", `{"object_keys":["none","`+o.Key+`","private/secrets.json"]}`, &got)
	want := []checksum{{}, {base64.StdEncoding.EncodeToString(o.SHA256[:])}, {}}
	if !slices.Equal(got.Checksums, want) || body != `{"checksums":[{},{"value":"`+want[1].Value+`"},{}]}` {
		t.Errorf("got %s", body)
	}
}

// TestBulkChecksumsOfStagedObjects gives peers what nobody can download.
func TestBulkChecksumsOfStagedObjects(t *testing.T) {
	s := serve(t, world())
	s.bulk.staged = map[string]string{"updates/waiting": "bytes"}
	sum := sha256.Sum256([]byte("bytes"))
	var got struct{ Checksums []checksum }
	s.ok("POST", "/v0/history/bulk/checksums", `{"object_keys":["updates/waiting"]}`, &got)
	if want := []checksum{{base64.StdEncoding.EncodeToString(sum[:])}}; !slices.Equal(got.Checksums, want) {
		t.Errorf("got %+v, want %+v", got.Checksums, want)
	}
	s.refused("GET", "/v0/history/bulk/download/updates%2Fwaiting", "", 404, "no object")
}

func TestBulkNotConfigured(t *testing.T) {
	none := serve(t, world(), func(c *Config) { c.Bulk = nil })
	noURL := serve(t, world(), func(c *Config) { c.PublicURL = "" })
	for _, s := range []*served{none, noURL} {
		s.refused("GET", "/v0/history/bulk/acs?at_or_before_record_time=2026-07-04T12:00:00Z", "", 501, "configured")
		s.refused("POST", "/v0/history/bulk/updates", `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-02T00:00:00Z","page_size":1}`, 501, "configured")
	}
	none.refused("POST", "/v0/history/bulk/checksums", `{"object_keys":[]}`, 501, "configured")
	none.refused("GET", "/v0/history/bulk/progress?record_time=2026-07-06T00:00:00Z", "", 501, "configured")
	none.refused("GET", "/v0/history/bulk/download/x", "", 404, "no object")
}

func TestDownload(t *testing.T) {
	s := serve(t, world())
	content := "0123456789abcdefghij"
	o := s.bulk.put("updates/v1/date=2026-07-01/part-00000.parquet", content)
	s.bulk.put("empty", "")
	s.bulk.put("updates/lost", "x")
	s.bulk.put("private/secrets.json", "secret")
	etag := `"` + hex.EncodeToString(o.SHA256[:]) + `"`
	raw := "/v0/history/bulk/download/updates/v1/date=2026-07-01/part-00000.parquet"
	encoded := "/api/scan/v0/history/bulk/download/" + url.PathEscape(o.Key)
	cases := []struct {
		name, method, path string
		headers            []string
		status             int
		body               string
		contentRange       string
	}{
		{"raw slashes", "GET", raw, nil, 200, content, ""},
		{"encoded slashes", "GET", encoded, nil, 200, content, ""},
		{"never compressed", "GET", raw, []string{"Accept-Encoding", "gzip"}, 200, content, ""},
		{"head", "HEAD", raw, nil, 200, "", ""},
		{"closed range", "GET", raw, []string{"Range", "bytes=2-5"}, 206, "2345", "bytes 2-5/20"},
		{"one byte", "GET", raw, []string{"Range", "bytes=0-0"}, 206, "0", "bytes 0-0/20"},
		{"open range", "GET", raw, []string{"Range", "bytes=15-"}, 206, "fghij", "bytes 15-19/20"},
		{"suffix range", "GET", raw, []string{"Range", "bytes=-3"}, 206, "hij", "bytes 17-19/20"},
		{"suffix longer than the object", "GET", raw, []string{"Range", "bytes=-300"}, 206, content, "bytes 0-19/20"},
		{"end beyond the object", "GET", raw, []string{"Range", "bytes=18-300"}, 206, "ij", "bytes 18-19/20"},
		{"beyond the object", "GET", raw, []string{"Range", "bytes=20-"}, 416, "", "bytes */20"},
		{"empty suffix", "GET", raw, []string{"Range", "bytes=-0"}, 416, "", "bytes */20"},
		{"range of an empty object", "GET", "/v0/history/bulk/download/empty", []string{"Range", "bytes=0-"}, 416, "", "bytes */0"},
		{"empty object", "GET", "/v0/history/bulk/download/empty", nil, 200, "", ""},
		{"several ranges count as none", "GET", raw, []string{"Range", "bytes=0-1,4-5"}, 200, content, ""},
		{"unknown unit", "GET", raw, []string{"Range", "lines=0-1"}, 200, content, ""},
		{"backward range", "GET", raw, []string{"Range", "bytes=5-2"}, 200, content, ""},
		{"no numbers", "GET", raw, []string{"Range", "bytes=a-b"}, 200, content, ""},
		{"huge numbers", "GET", raw, []string{"Range", "bytes=0-99999999999999999999"}, 200, content, ""},
		{"head of a range", "HEAD", raw, []string{"Range", "bytes=2-5"}, 206, "", "bytes 2-5/20"},
		{"already held", "GET", raw, []string{"If-None-Match", `"x", ` + etag}, 304, "", ""},
		{"already held, weakly", "GET", raw, []string{"If-None-Match", "W/" + etag}, 304, "", ""},
		{"any will do", "GET", raw, []string{"If-None-Match", "*"}, 304, "", ""},
		{"another version held", "GET", raw, []string{"If-None-Match", `"x"`}, 200, content, ""},
		{"range of this version", "GET", raw, []string{"Range", "bytes=2-5", "If-Range", etag}, 206, "2345", "bytes 2-5/20"},
		{"range of another version", "GET", raw, []string{"Range", "bytes=2-5", "If-Range", `"x"`}, 200, content, ""},
		{"range since a date", "GET", raw, []string{"Range", "bytes=2-5", "If-Range", "Wed, 01 Jul 2026 00:00:00 GMT"}, 200, content, ""},
		{"unknown key", "GET", "/v0/history/bulk/download/none", nil, 404, "", ""},
		{"not published", "GET", "/v0/history/bulk/download/private/secrets.json", nil, 404, "", ""},
		{"outside", "GET", "/v0/history/bulk/download/updates%2F..%2Fprivate%2Fsecrets.json", nil, 400, "", ""},
		{"published but lost", "GET", "/v0/history/bulk/download/updates/lost", nil, 500, "", ""},
		{"no key", "GET", "/v0/history/bulk/download/", nil, 404, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := s.do(c.method, c.path, "", c.headers...)
			if r.status != c.status || c.status < 400 && r.body != c.body || r.header.Get("Content-Range") != c.contentRange {
				t.Errorf("%d %q, Content-Range %q; want %d %q, %q", r.status, r.body, r.header.Get("Content-Range"), c.status, c.body, c.contentRange)
			}
			if c.status >= 400 && (!strings.HasPrefix(r.body, `{"error":`) || strings.Contains(r.body, "host h")) {
				t.Errorf("error body %s", r.body)
			}
			if c.status == 200 && strings.Contains(c.path, "updates") {
				if r.header.Get("ETag") != etag || r.header.Get("Accept-Ranges") != "bytes" || r.header.Get("Cache-Control") != "public, no-cache" || r.header.Get("Content-Length") != "20" ||
					r.header.Get("Content-Type") != octetStream || r.header.Get("Content-Encoding") != "" {
					t.Errorf("headers %v", r.header)
				}
			}
		})
	}
}

func FuzzParseRange(f *testing.F) {
	f.Add("bytes=0-5", int64(10))
	f.Add("bytes=-5", int64(0))
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		r, err := parseRange(header, size)
		if err == nil && r != nil && (r.from < 0 || r.from >= r.to || r.to > size) {
			t.Errorf("parseRange(%q, %d) = %+v", header, size, *r)
		}
	})
}
