package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
)

// A form is filled in and sent by clicks, once or twice, and the browser goes back to it.
func TestForm(t *testing.T) {
	if _, err := Find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var sent atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodPost {
			sent.Add(1)
			http.Redirect(w, r, "/sent?name="+r.FormValue("name"), http.StatusSeeOther)
			return
		}
		fmt.Fprintf(w, `<!doctype html><title>Form</title><main>%s <form method="post" action="/send"><input name="name" value="nobody"><button>Send</button></form><a href="/other">Other page</a></main>`, r.URL)
	}))
	defer server.Close()
	b, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	tab, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	at := func(v *Visit, err error, want string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := tab.Text()
		if err != nil || v.URL != server.URL+want || len(text) < len(want) || text[:len(want)] != want {
			t.Fatalf("the browser is at %+v with %q, %v, want %s", v, text, err, want)
		}
	}
	v, err := tab.Visit(server.URL + "/form")
	at(v, err, "/form")
	for _, clicks := range []int{1, 2} {
		if err := tab.Fill("/send", "name", "Ann"); err != nil {
			t.Fatal(err)
		}
		v, err = tab.Submit("/send", clicks)
		at(v, err, "/sent?name=Ann")
		v, err = tab.Reload()
		at(v, err, "/sent?name=Ann")
		v, err = tab.Back()
		at(v, err, "/form")
	}
	v, err = tab.Click("Other page")
	at(v, err, "/other")
	if n := sent.Load(); n < 2 || n > 3 {
		t.Errorf("the form was sent %d times by three clicks", n)
	}
}
