package openapitest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
)

func shop(t *testing.T) *Document {
	t.Helper()
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(text, []string{"", "/api/shop"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const goodBody = `{"limit":3,"when":"2026-07-01T00:00:00Z"}`

func TestCheck(t *testing.T) {
	d := shop(t)
	cases := []struct {
		name, request, sent string
		status              int
		contentType, body   string
		want                string // part of the complaint, "" for none
	}{
		{"good", "POST /things", goodBody, 200, "application/json", `{"things":[{"id":1}]}`, ""},
		{"with a prefix", "POST /api/shop/things", goodBody, 200, "application/json; charset=utf-8", `{"things":[]}`, ""},
		{"documented error", "POST /things", `{}`, 400, "application/json", `{"error":"x"}`, ""},
		{"other status", "POST /things", goodBody, 500, "application/json", `{"error":"x"}`, "status 500 is not documented"},
		{"other media type", "POST /things", goodBody, 200, "text/plain", `{"things":[]}`, "media type text/plain"},
		{"no media type", "POST /things", goodBody, 200, "", `{"things":[]}`, "content type"},
		{"other charset", "POST /things", goodBody, 200, "application/json; charset=latin1", `{"things":[]}`, "charset"},
		{"member missing", "POST /things", goodBody, 200, "application/json", `{}`, "things"},
		{"member too many", "POST /things", goodBody, 200, "application/json", `{"things":[],"more":1}`, "more"},
		{"member too many inside", "POST /things", goodBody, 200, "application/json", `{"things":[{"id":1,"colour":"red"}]}`, "colour"},
		{"other type", "POST /things", goodBody, 200, "application/json", `{"things":[{"id":"1"}]}`, "id"},
		{"too large a number", "POST /things", goodBody, 200, "application/json", `{"things":[{"id":9223372036854775808}]}`, "int64"},
		{"not JSON", "POST /things", goodBody, 200, "application/json", `{"things":[`, "not JSON"},
		{"not UTF-8", "POST /things", `{}`, 400, "application/json", "{\"error\":\"\xff\"}", "UTF-8"},
		{"no body", "POST /things", goodBody, 200, "application/json", ``, "not JSON"},
		{"error of another shape", "POST /things", `{}`, 400, "application/json", `{"message":"x"}`, "error"},
		{"a body where none is", "GET /things/5", "", 204, "", "x", "body where none"},
		{"none where none is", "GET /things/5", "", 204, "", "", ""},
		{"a header is missing", "GET /things/6", "", 200, "application/json", `{"id":6}`, "X-Count"},
		{"lines", "GET /things/first", "", 200, "application/x-ndjson", "{\"id\":1}\n{\"id\":2}\n", ""},
		{"a line is wrong", "GET /things/first", "", 200, "application/x-ndjson", "{\"id\":1}\n{\"x\":2}\n", "line 2"},
		{"slashes in a key", "GET /files/a/b%2Fc", "", 200, "application/octet-stream", "bytes", ""},
		{"unknown path", "GET /nothing", "", 404, "application/json", `{"error":"x"}`, ""},
		{"unknown path that answers", "GET /nothing", "", 200, "application/json", `{}`, "no operation"},
		{"unknown path, error of another shape", "GET /nothing", "", 404, "application/json", `{}`, "error"},
		{"other method", "GET /things", "", 405, "application/json", `{"error":"x"}`, ""},
		{"other method, not found", "GET /things", "", 404, "application/json", `{"error":"x"}`, "no operation"},
		{"head too large", "GET /things/first", "", 431, "application/json", `{"error":"x"}`, ""},
		{"head", "HEAD /things/first", "", 200, "application/x-ndjson", "", ""},
		{"head with a body", "HEAD /things/first", "", 200, "application/x-ndjson", "x", "HEAD"},

		{"sent by another name", "POST /things", `{"limit":3,"when":"2026-07-01T00:00:00Z","sort":"new"}`, 200, "application/json", `{"things":[]}`, ""},
		{"sent null", "POST /things", `{"limit":3,"when":"2026-07-01T00:00:00Z","kind":null}`, 200, "application/json", `{"things":[]}`, ""},
		{"sent too little", "POST /things", `{"limit":3}`, 200, "application/json", `{"things":[]}`, "request that succeeded"},
		{"sent out of range", "POST /things", `{"limit":11,"when":"2026-07-01T00:00:00Z"}`, 200, "application/json", `{"things":[]}`, "request that succeeded"},
		{"sent another type in the path", "GET /things/x", "", 204, "", "", "parameter id"},
		{"sent another type in the query", "GET /things/5?full=maybe", "", 204, "", "", "parameter full"},
		{"sent too often", "GET /things/5?tags=a&tags=b&tags=c", "", 204, "", "", "parameter tags"},
		{"sent what is not known", "GET /things/5?colour=red", "", 204, "", "", "colour is not documented"},
		{"sent well", "GET /objects/5?full=true&tags=a&tags=b", "", 204, "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			method, path, _ := strings.Cut(c.request, " ")
			r := httptest.NewRequest(method, path, nil)
			header := http.Header{}
			if c.contentType != "" {
				header.Set("Content-Type", c.contentType)
			}
			err := d.Check(r, []byte(c.sent), Answer{c.status, header, []byte(c.body)})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("complaint %v, want %q", err, c.want)
			}
		})
	}
}

func TestNeverSucceeded(t *testing.T) {
	d := shop(t)
	answer := Answer{200, http.Header{"Content-Type": {"application/json"}}, []byte(`{"things":[]}`)}
	if err := d.Check(httptest.NewRequest("POST", "/api/shop/things", nil), []byte(goodBody), answer); err != nil {
		t.Fatal(err)
	}
	answer.Status, answer.Body = 400, []byte(`{"error":"x"}`)
	if err := d.Check(httptest.NewRequest("GET", "/things/5", nil), nil, answer); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.NeverSucceeded("GET /things/first"), ", "); got != "GET /files/{object_key}, GET /things/{id}" {
		t.Errorf("never succeeded: %s", got)
	}
}

// recorder is a testing.TB that counts complaints.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }
func (r *recorder) Helper()               {}

func TestTransportReportsAndPassesOn(t *testing.T) {
	const wrong = `{"id":5,"colour":"red"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Count", "1")
		if r.URL.Path == "/things/6" {
			w.Header().Set("Content-Encoding", "gzip")
			zw := gzip.NewWriter(w)
			defer zw.Close()
			_, _ = zw.Write([]byte(`{"id":6}`))
			return
		}
		_, _ = w.Write([]byte(wrong))
	}))
	defer server.Close()
	for path, want := range map[string]int{"/things/5": 1, "/things/6": 0} {
		rec := &recorder{TB: t}
		r, err := http.NewRequest("GET", server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		response, err := shop(t).Transport(rec, http.DefaultTransport).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		if rec.errors != want || path == "/things/5" && body.String() != wrong {
			t.Errorf("%s: %d complaints, want %d; body %s", path, rec.errors, want, body.String())
		}
	}
}

func TestCheckRoutes(t *testing.T) {
	d := shop(t)
	route := func(method, path string) query.Route { return query.Route{Method: method, Path: path} }
	all := []query.Route{
		route("POST", "/things"), route("GET", "/things/{id}"), route("GET", "/objects/{id}"), route("GET", "/things/first"), route("GET", "/files/{object_key:*}"),
	}
	for _, c := range []struct {
		name      string
		routes    []query.Route
		notServed []string
		want      int
	}{
		{"all", all, nil, 0},
		{"one is missing", all[1:], nil, 1},
		{"one is missing and listed", all[1:], []string{"POST /things"}, 0},
		{"listed, but served", all, []string{"POST /things"}, 1},
		{"listed, but not documented", all, []string{"POST /nothing"}, 1},
		{"one is not documented", append(all, route("POST", "/objects/{id}")), nil, 1},
	} {
		rec := &recorder{TB: t}
		if d.CheckRoutes(rec, c.routes, c.notServed); rec.errors != c.want {
			t.Errorf("%s: %d complaints, want %d", c.name, rec.errors, c.want)
		}
	}
}

func TestLoadRefusesBrokenDocuments(t *testing.T) {
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a reference to nothing":  {"'#/components/schemas/Thing'", "'#/components/schemas/Nothing'"},
		"an example that is bad":  {"example: {limit: 3,", "example: {limit: 11,"},
		"a parameter is missing":  {"{name: id, in: path, required: true, schema: {type: integer, format: int64}, example: 5}", "{name: x, in: query, schema: {}}"},
		"a type that is none":     {"id: {type: integer, format: int64}", "id: {type: number7}"},
		"a response with no text": {"'204': {description: None.}", "'204': {}"},
		"not YAML":                {"openapi: 3.1.0", "["},
	} {
		broken := strings.ReplaceAll(string(text), change[0], change[1])
		if _, err := Load([]byte(broken), []string{""}); err == nil || broken == string(text) {
			t.Errorf("%s: no error", name)
		}
	}
}
