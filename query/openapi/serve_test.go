package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

func documents(t *testing.T, naming query.Naming) []openapi.Document {
	t.Helper()
	list, err := openapi.Documents(naming)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// serve serves the documents and returns the base URL.
func serve(t *testing.T) string {
	t.Helper()
	return serveDocuments(t, documents(t, query.Neutral)...)
}

func serveDocuments(t *testing.T, documents ...openapi.Document) string {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError + 1}))
	return querytest.Serve(t, query.Config{Log: log, Mounts: []query.Mount{openapi.Mount(documents...)}}).URL
}

func get(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestServedContents(t *testing.T) {
	base := serve(t)
	for path, contentType := range map[string]string{
		"/openapi/scan.yaml": "application/yaml; charset=utf-8",
		"/openapi/scan.json": "application/json; charset=utf-8",
		"/openapi":           "application/json; charset=utf-8",
		"/docs":              "text/html; charset=utf-8",
		"/docs/scan":         "text/html; charset=utf-8",
		"/docs/style.css":    "text/css; charset=utf-8",
	} {
		r, body := get(t, base+path)
		tag := r.Header.Get("ETag")
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != contentType || tag == "" || body == "" {
			t.Errorf("%s = %d, %s, tag %q, %d bytes", path, r.StatusCode, r.Header.Get("Content-Type"), tag, len(body))
		}
		if r, body := get(t, base+path, "If-None-Match", `"other", `+tag); r.StatusCode != 304 || body != "" || r.Header.Get("ETag") != tag {
			t.Errorf("%s with its tag = %d with %d bytes", path, r.StatusCode, len(body))
		}
		if r, _ := get(t, base+path, "If-None-Match", `"other"`); r.StatusCode != 200 {
			t.Errorf("%s with another tag = %d", path, r.StatusCode)
		}
		if policy := r.Header.Get("Content-Security-Policy"); (policy != "") != strings.HasPrefix(contentType, "text/html") {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
	if r, body := get(t, base+"/openapi/scan.yaml"); r.StatusCode != 200 || body != string(openapi.Scan) {
		t.Error("the document is not served as it is written")
	}
	r, body := get(t, base+"/openapi/scan.yaml", "Accept-Encoding", "gzip")
	zr, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil || r.Header.Get("Content-Encoding") != "gzip" || !bytes.Equal(plain, openapi.Scan) {
		t.Errorf("compressed: %d bytes, %v", len(plain), err)
	}
}

func TestIndexNamesWhatIsServed(t *testing.T) {
	base := serve(t)
	_, body := get(t, base+"/openapi")
	var index struct {
		Documents []struct{ Name, Title, YAML, JSON, Page string }
	}
	if err := json.Unmarshal([]byte(body), &index); err != nil || len(index.Documents) != len(documents(t, query.Neutral)) {
		t.Fatalf("index %s, %v", body, err)
	}
	for _, d := range index.Documents {
		for _, path := range []string{d.YAML, d.JSON, d.Page} {
			if r, _ := get(t, base+path); r.StatusCode != 200 {
				t.Errorf("%s of document %s = %d", path, d.Name, r.StatusCode)
			}
		}
	}
}

// What a document says once of many operations is written out in what is served.
func TestSharedResponsesAreWrittenOut(t *testing.T) {
	for name, document := range map[string][]byte{"scan": openapi.Scan, "ledger": openapi.Ledger, "validator": openapi.Validator} {
		for _, wrong := range []string{"x-shared-responses", "'#/components/responses/'"} {
			if bytes.Contains(document, []byte(wrong)) {
				t.Errorf("document %s has %s", name, wrong)
			}
		}
		if want := "\n        '500': {$ref: '#/components/responses/InternalError'}\n"; !bytes.Contains(document, []byte(want)) {
			t.Errorf("document %s lacks %q", name, want)
		}
	}
}

// The JSON form has the members of the YAML one, in its order.
func TestJSONEqualsYAML(t *testing.T) {
	text, err := openapi.JSON(openapi.Scan)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := yaml.Unmarshal(openapi.Scan, &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &b); err != nil { // JSON is YAML too
		t.Fatal(err)
	}
	wantText, err := yaml.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	gotText, err := yaml.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) || !bytes.Equal(gotText, wantText) {
		t.Error("the JSON form differs from the YAML one")
	}
	if i, j := bytes.Index(text, []byte(`"openapi":`)), bytes.Index(text, []byte(`"components":`)); i != 1 || j < i {
		t.Errorf("the order of the members has changed: openapi at %d, components at %d", i, j)
	}
}

// A page loads nothing from elsewhere, runs nothing, and its links lead somewhere.
func TestPagesStandAlone(t *testing.T) {
	base := serve(t)
	for _, path := range []string{"/docs", "/docs/scan"} {
		_, page := get(t, base+path)
		for _, forbidden := range []string{"<script", " style=", " src=", " onclick", "http://", "https://", "ZgotmplZ"} {
			if strings.Contains(page, forbidden) {
				t.Errorf("%s has %q", path, forbidden)
			}
		}
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if ids[m[1]] {
				t.Errorf("%s has two places %s", path, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if place, inside := strings.CutPrefix(m[1], "#"); inside {
				if !ids[place] {
					t.Errorf("%s links to %s, which is not there", path, m[1])
				}
			} else if r, _ := get(t, base+m[1]); r.StatusCode != 200 {
				t.Errorf("%s links to %s, which answers %d", path, m[1], r.StatusCode)
			}
		}
	}
}

func TestPageShowsEveryOperation(t *testing.T) {
	base := serve(t)
	_, page := get(t, base+"/docs/scan")
	var d struct {
		Paths map[string]map[string]struct {
			ID      string   `yaml:"operationId"`
			Aliases []string `yaml:"x-aliases"`
		}
	}
	if err := yaml.Unmarshal(openapi.Scan, &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if op.ID == "" || !strings.Contains(page, `<article id="`+op.ID+`">`) {
				t.Errorf("operation %s %s is not on the page", method, path)
			}
			for _, alias := range op.Aliases {
				if !strings.Contains(page, alias) {
					t.Errorf("alias %s is not on the page", alias)
				}
			}
		}
	}
}

func TestBrokenDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"not YAML":               "a: [",
		"a list":                 "- a",
		"paths are a list":       "paths: [a]",
		"parameter is not there": "paths: {/a: {get: {parameters: [{$ref: '#/components/parameters/X'}]}}}",
		"response is not there":  "paths: {/a: {get: {responses: {'200': {$ref: '#/components/responses/X'}}}}}",
	} {
		base := serveDocuments(t, openapi.Document{Name: "x", YAML: []byte(text)})
		for _, path := range []string{"/docs/x", "/docs", "/openapi"} {
			if r, body := get(t, base+path); r.StatusCode != 500 {
				t.Errorf("%s: %s = %d %s", name, path, r.StatusCode, body)
			}
		}
	}
}
