package wallet_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// browser is somebody before the console.
type browser struct {
	*testing.T
	url    string
	client *http.Client
}

func newBrowser(t *testing.T, address string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, address, &http.Client{Jar: jar}}
}

// in returns the browser for a subtest.
func (b *browser) in(t *testing.T) *browser { return &browser{t, b.url, b.client} }

// shown is a page that the browser shows.
type shown struct {
	*testing.T
	status     int
	path, body string
	doc        *html.Node
	header     http.Header
}

func (b *browser) do(method, path string, fields url.Values, header ...string) *shown {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.url+path, strings.NewReader(fields.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(string(body)))
	if err != nil {
		b.Fatal(err)
	}
	return &shown{b.T, answer.StatusCode, answer.Request.URL.RequestURI(), string(body), doc, answer.Header}
}

// open loads a page, and follows where it leads.
func (b *browser) open(path string) *shown { b.Helper(); return b.do("GET", path, nil) }

// press sends the form of a page with an action, with what is typed into some of its fields, by name and
// text in turn.
func (b *browser) press(p *shown, action string, typed ...string) *shown {
	b.Helper()
	return b.do("POST", action, p.fields(action, typed...))
}

// fields are those of a form as it would be sent.
func (p *shown) fields(action string, typed ...string) url.Values {
	p.Helper()
	form := find(p.doc, func(n *html.Node) bool { return n.Data == "form" && attribute(n, "action") == action })
	if form == nil {
		p.Fatalf("%s (%d) has no form for %s:\n%s", p.path, p.status, action, p.text())
	}
	values := url.Values{}
	walk(form, func(n *html.Node) {
		name := attribute(n, "name")
		switch {
		case name == "":
		case n.Data == "input" && attribute(n, "type") == "radio":
			if has(n, "checked") {
				values.Set(name, attribute(n, "value"))
			}
		case n.Data == "input":
			values.Set(name, attribute(n, "value"))
		case n.Data == "textarea":
			values.Set(name, textOf(n))
		case n.Data == "select":
			option := find(n, func(n *html.Node) bool { return n.Data == "option" && has(n, "selected") })
			if option == nil {
				option = find(n, func(n *html.Node) bool { return n.Data == "option" })
			}
			values.Set(name, attribute(option, "value"))
		}
	})
	for i := 0; i+1 < len(typed); i += 2 {
		values.Set(typed[i], typed[i+1])
	}
	return values
}

// wants checks where the browser is, with what status, and what can be read there.
func (p *shown) wants(status int, path string, texts ...string) *shown {
	p.Helper()
	if p.status != status || !strings.HasPrefix(p.path, path) {
		p.Fatalf("the browser is at %s with %d, want %s with %d:\n%s", p.path, p.status, path, status, p.text())
	}
	for _, text := range texts {
		if !strings.Contains(p.text(), text) {
			p.Errorf("%s has no %q:\n%s", p.path, text, p.text())
		}
	}
	return p
}

// link is the address of the first link with a text.
func (p *shown) link(text string) string {
	p.Helper()
	a := find(p.doc, func(n *html.Node) bool { return n.Data == "a" && strings.TrimSpace(textOf(n)) == text })
	if a == nil {
		p.Fatalf("%s has no link %q:\n%s", p.path, text, p.text())
	}
	return attribute(a, "href")
}

// text is what can be read on the page, with single spaces.
func (p *shown) text() string {
	main := find(p.doc, func(n *html.Node) bool { return n.Data == "main" })
	if main == nil {
		return p.body
	}
	return strings.Join(strings.Fields(textOf(main)), " ")
}

// id of the input with a name.
func (p *shown) problemOf(field string) string {
	problem := find(p.doc, func(n *html.Node) bool { return attribute(n, "id") == field+"-problem" })
	if problem == nil {
		return ""
	}
	return textOf(problem)
}

func walk(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		walk(child, visit)
	}
}

func find(n *html.Node, is func(*html.Node) bool) (found *html.Node) {
	walk(n, func(n *html.Node) {
		if found == nil && is(n) {
			found = n
		}
	})
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data + " "
	}
	var b strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		b.WriteString(textOf(child))
	}
	return b.String()
}
