package lab

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Answers are read whole, one after another on one connection, and whatever is no answer of
// status 200 with a length is an error.
func TestGetterReadsAnswers(t *testing.T) {
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write([]byte(strings.Repeat("x", 2000)))
		case "/small":
			_, _ = w.Write([]byte("y"))
		case "/missing":
			http.Error(w, "no such thing", http.StatusNotFound)
		case "/stream":
			_, _ = w.Write([]byte("z"))
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	g, err := newGetter(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want, err string }{
		{"/large", strings.Repeat("x", 2000), ""},
		{"/small", "y", ""},
		{"/empty", "", ""},
		{"/missing", "", "answers 404: no such thing"},
		{"/small", "y", ""},
		{"/stream", "", "has no length"},
	} {
		body, err := g.get(c.path)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || string(body) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.path, body, err, c.want+c.err)
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections were used", len(connections))
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if _, err := g.get("/small"); err == nil {
		t.Error("a closed connection answers")
	}
}
