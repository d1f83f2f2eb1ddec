package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/browser"
)

// What a page may weigh over the wire, and how much of it may be moved by what comes later.
const (
	maxPageBytes   = 150_000
	maxScriptBytes = 60_000
	maxShift       = 0.05
)

// How many pages are opened of a kind, such as the pages of updates, and how many of those that differ in
// their parameters alone.
const (
	perKind  = 2
	perQuery = 1
)

// The ways in which each page is looked at, beside desk.
var (
	phone = browser.Look{Width: 360, Height: 740, Dark: true}
	night = browser.Look{Width: 1280, Height: 900, Dark: true}
	wall  = browser.Look{Width: 3840, Height: 2160}
	still = browser.Look{Width: 1280, Height: 900, NoScripts: true}
)

// Of axe-core, what the size of the window and the theme may change.
var (
	rulesOfSize  = []string{"color-contrast", "target-size", "scrollable-region-focusable"}
	rulesOfTheme = []string{"color-contrast"}
)

// TestPages opens all pages that links lead to from the overview, a few of each kind.
func TestPages(t *testing.T) {
	s := onStage(t)
	c := &crawl{stage: s, seen: map[string]int{}}
	c.add("/")
	tab := open(t, s)
	begin := time.Now()
	for len(c.queue) > 0 {
		path := c.queue[0]
		c.queue = c.queue[1:]
		t.Run(strings.ReplaceAll(path, "/", "·"), func(t *testing.T) { c.page(t, tab, path) })
	}
	t.Logf("%d pages of %d kinds in %s", c.opened, len(c.seen), time.Since(begin).Round(time.Second))
	if c.opened < 3 {
		t.Errorf("only %d pages were opened: links lead nowhere", c.opened)
	}
}

// crawl is the pages that are to be opened.
type crawl struct {
	*stage
	queue  []string
	seen   map[string]int // by kind, and by kind with the names of parameters
	known  []string
	opened int
}

// wanted says that a page is new, and not enough of its kind are noted.
func (c *crawl) wanted(path string) bool {
	k, query := kind(path)
	limit := perKind
	if query != "" {
		limit = perQuery
	}
	return !slices.Contains(c.known, path) && c.seen[k+query] < limit && c.seen[k] < 2*perKind
}

// add notes a page.
func (c *crawl) add(path string) {
	k, query := kind(path)
	c.known, c.queue = append(c.known, path), append(c.queue, path)
	c.seen[k]++
	if query != "" {
		c.seen[k+query]++
	}
}

// variable is a part of a path that says which one: an id, a number, a name with its package.
var variable = regexp.MustCompile(`^(.*[0-9:%].*|.{25,})$`)

// several are folders whose pages are alike, though the last parts of their paths are names.
var several = []string{"/analytics/", "/questions/", "/assets/"}

// kind is what pages have in common of whose paths only ids differ, and the names of their parameters.
func kind(path string) (kind, query string) {
	u, err := url.Parse(path)
	if err != nil {
		return path, ""
	}
	parts := strings.Split(u.EscapedPath(), "/")
	for i, part := range parts {
		alike := i == 2 && i == len(parts)-1 && slices.Contains(several, "/"+parts[1]+"/")
		if alike || variable.MatchString(part) {
			parts[i] = "{}"
		}
	}
	if names := slices.Sorted(maps.Keys(u.Query())); len(names) > 0 {
		query = "?" + strings.Join(names, "&")
	}
	return strings.Join(parts, "/"), query
}

// page opens a page in all ways, and checks it.
func (c *crawl) page(t *testing.T, tab *browser.Tab, path string) {
	v := c.visit(t, tab, desk, path)
	c.opened++
	t.Logf("%d bytes, %d of them scripts, seen after %s", v.Bytes, v.Scripts, v.Paint)
	c.report(t, tab, "1280 px", append(v.Problems, faults(v)...))
	c.follow(t, tab)
	words := text(t, tab)
	c.look(t, tab, night)
	c.report(t, tab, "dark", nil, rulesOfTheme...)
	c.look(t, tab, wall)
	if width, err := browser.Evaluate[int](tab, "document.scrollingElement.scrollWidth"); err != nil || width > int(wall.Width) {
		t.Errorf("3840 px: the page is %d px wide, %v", width, err)
	}
	v = c.visit(t, tab, phone, path)
	c.report(t, tab, "360 px", append(v.Problems, faults(v)...), rulesOfSize...)
	c.without(t, tab, path, words)
}

// report reports problems, and what axe-core finds.
func (c *crawl) report(t *testing.T, tab *browser.Tab, how string, problems []string, rules ...string) {
	t.Helper()
	found, err := c.axe.Check(tab, rules...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(problems, found...) {
		t.Errorf("%s: %s", how, p)
	}
}

func (c *crawl) look(t *testing.T, tab *browser.Tab, look browser.Look) {
	t.Helper()
	if err := tab.Look(look); err != nil {
		t.Fatal(err)
	}
	if !look.NoScripts {
		if err := tab.Settle(); err != nil {
			t.Fatal(err)
		}
	}
}

// visit opens a page in one way.
func (c *crawl) visit(t *testing.T, tab *browser.Tab, look browser.Look, path string) *browser.Visit {
	t.Helper()
	if err := tab.Look(look); err != nil {
		t.Fatal(err)
	}
	v, err := tab.Visit(c.url + path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// faults are what is wrong with a visit by its numbers.
func faults(v *browser.Visit) (list []string) {
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	note(v.Status != 200, "the status is %d", v.Status)
	note(v.Overflow > 0, "the page is %d px wider than its window", v.Overflow)
	note(v.Shift > maxShift, "the layout shifts by %.3f", v.Shift)
	note(v.Bytes > maxPageBytes, "it weighs %d bytes", v.Bytes)
	note(v.Scripts > maxScriptBytes, "its scripts weigh %d bytes", v.Scripts)
	return list
}

// readText is the words of a page that are there with and without scripts: charts are drawn by scripts, and
// have their numbers in a table as well. Times go on.
const readText = `(() => {
	const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	const words = [];
	while (walk.nextNode()) {
		if (!walk.currentNode.parentElement.closest(".plot, noscript, script, time")) words.push(...walk.currentNode.data.split(/\s+/));
	}
	return words.filter(Boolean);
})()`

func text(t *testing.T, tab *browser.Tab) []string {
	t.Helper()
	words, err := browser.Evaluate[[]string](tab, readText)
	if err != nil {
		t.Fatal(err)
	}
	for i, word := range words {
		words[i] = passing.ReplaceAllString(word, "0")
	}
	return words
}

// passing are numbers and the units of durations: they go on while a page is looked at twice.
var passing = regexp.MustCompile(`^(ms|s|min|h)$|[0-9]+(\.[0-9]+)?`)

// without opens a page without scripts, where all has to be there that is to be read. As the network goes
// on, a page may have changed between two looks at it, but not again and again.
func (c *crawl) without(t *testing.T, tab *browser.Tab, path string, want []string) {
	var got []string
	for range 3 {
		c.visit(t, tab, still, path)
		if got = text(t, tab); slices.Equal(got, want) {
			return
		}
		c.visit(t, tab, desk, path)
		if want = text(t, tab); slices.Equal(got, want) {
			return
		}
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("from word %d on it has %q without scripts, and %q with them", at, got[at:min(at+8, len(got))], want[at:min(at+8, len(want))])
}

// follow notes the pages that links of a page lead to; the documents of the interfaces are none of the
// console's.
func (c *crawl) follow(t *testing.T, tab *browser.Tab) {
	links, err := browser.Evaluate[[]string](tab, `[...document.querySelectorAll("a[href^='/']:not([download], [href^='/docs'])")].map(a => a.getAttribute("href"))`)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		link, _, _ = strings.Cut(link, "#")
		if link != "" && c.wanted(link) && isPage(t, c.url+link) {
			c.add(link)
		}
	}
}

// isPage says that an address has a page and not a file, which a browser saves. What does not answer is
// opened, too, so that it is found out.
func isPage(t *testing.T, address string) bool {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Errorf("a link leads to %s: %v", address, err)
		return false
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode != http.StatusOK || strings.HasPrefix(response.Header.Get("Content-Type"), "text/html")
}
