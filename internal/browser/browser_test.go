package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// samplePage is a page with something of everything that a visit tells.
const samplePage = `<!doctype html><html lang="en"><head><title>A page</title><script src="/script.js" defer></script></head>
<body><main><h1>A page</h1><p id="late"></p><p>Text</p><div style="width: 2000px">wide</div><img src="/missing.png"></main></body></html>`

const script = `console.warn("careful"); setTimeout(() => { document.getElementById("late").style.height = "400px"; }, 50);
fetch("/slow").then(answer => answer.text()).then(text => { document.title = text; });
new EventSource("/stream");`

func TestVisit(t *testing.T) {
	if _, err := Find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	b, err := Start(context.Background())
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
	t.Run("with scripts", func(t *testing.T) { visitWith(t, tab, server.URL) })
	t.Run("without", func(t *testing.T) { visitWithout(t, tab, server.URL) })
	t.Run("cookies of others", func(t *testing.T) { apart(t, b, tab) })
	t.Run("axe", func(t *testing.T) { checkBarriers(t, tab, server.URL) })
}

func serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/page":
		http.SetCookie(w, &http.Cookie{Name: "person", Value: "first"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, samplePage)
	case "/script.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, script)
	case "/slow":
		fmt.Fprint(w, "All is there")
	case "/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: first\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		http.NotFound(w, r)
	}
}

func visitWith(t *testing.T, tab *Tab, url string) {
	if err := tab.Look(Look{Width: 1280, Height: 900, Dark: true}); err != nil {
		t.Fatal(err)
	}
	v, err := tab.Visit(url + "/page")
	if err != nil {
		t.Fatal(err)
	}
	if v.Status != 200 || v.URL != url+"/page" || v.Bytes < int64(len(samplePage)+len(script)) || v.Scripts < int64(len(script)) || v.Scripts > v.Bytes || v.Paint <= 0 {
		t.Errorf("the visit is %+v", v)
	}
	if v.Overflow < 700 || v.Shift == 0 {
		t.Errorf("the page overflows by %d px and shifts by %f", v.Overflow, v.Shift)
	}
	problems := strings.Join(v.Problems, "\n")
	for _, want := range []string{"careful", "/missing.png has status 404"} {
		if !strings.Contains(problems, want) {
			t.Errorf("the problems lack %q: %s", want, problems)
		}
	}
	title, err := Evaluate[string](tab, "document.title + matchMedia('(prefers-color-scheme: dark)').matches")
	if err != nil || title != "All is theretrue" {
		t.Errorf("the title is %q, %v: the visit was over before the page", title, err)
	}
}

func visitWithout(t *testing.T, tab *Tab, url string) {
	if err := tab.Look(Look{Width: 360, Height: 700, NoScripts: true}); err != nil {
		t.Fatal(err)
	}
	v, err := tab.Visit(url + "/page")
	if err != nil {
		t.Fatal(err)
	}
	title, err := Evaluate[string](tab, "document.title + innerWidth")
	if err != nil || title != "A page360" || v.Scripts != 0 {
		t.Errorf("without scripts the title is %q, %v, and scripts weigh %d bytes", title, err, v.Scripts)
	}
	if v, err = tab.Visit(url + "/nothing"); err != nil || v.Status != 404 {
		t.Errorf("a page that is not there has %+v, %v", v, err)
	}
}

func apart(t *testing.T, b *Browser, first *Tab) {
	second, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	url, err := Evaluate[string](first, "location.origin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Visit(url + "/nothing"); err != nil {
		t.Fatal(err)
	}
	for who, tab := range map[string]*Tab{"person=first": first, "": second} {
		if cookie, err := Evaluate[string](tab, "document.cookie"); err != nil || cookie != who {
			t.Errorf("the cookies are %q, %v, want %q", cookie, err, who)
		}
	}
}

func checkBarriers(t *testing.T, tab *Tab, url string) {
	axe, err := LoadAxe(filepath.Join("..", "..", "scripts", "browser", "node_modules", "axe-core", "axe.min.js"))
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := tab.Look(Look{Width: 1280, Height: 900}); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Visit(url + "/page"); err != nil {
		t.Fatal(err)
	}
	found, err := axe.Check(tab)
	if err != nil || len(found) != 1 || !strings.HasPrefix(found[0], "axe image-alt") {
		t.Errorf("axe finds %q, %v; the picture has no text", found, err)
	}
}
