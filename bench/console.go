package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
	"github.com/ledgerlake/ledgerlake/internal/browser"
)

// The targets of pages for people.
const (
	maxPageWait   = 50      // ms at the 95th percentile
	maxSearchWait = 100     // ms at the 95th percentile
	maxFirstPaint = 300     // ms
	maxPageBytes  = 150_000 // over the wire, with all that a page loads
	maxScripts    = 60_000  // of them
	pageTurns     = 40
)

// consolePage is a page that is measured: path, or the first address on it that link matches.
type consolePage struct {
	name, path string
	link       *regexp.Regexp
	wait       float64
}

var consolePages = []consolePage{
	{name: "overview", path: "/", wait: maxPageWait},
	{name: "page of 50 updates", path: "/updates", wait: maxPageWait},
	{name: "update", path: "/updates", link: regexp.MustCompile(`href="(/update/[^"]+)"`), wait: maxPageWait},
	{name: "party", path: "/updates", link: regexp.MustCompile(`href="(/party/[^"]+)"`), wait: maxPageWait},
	{name: "round", path: "/rounds", link: regexp.MustCompile(`href="(/round/[^"]+)"`), wait: maxPageWait},
	{name: "search for nonsense", path: "/search?q=nonsense", wait: maxSearchWait},
}

// measureConsole opens pages of the console, as one person does who looks at one after another, and looks at
// what they weigh in a Chromium, if one is installed.
func measureConsole(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	if err := l.Fill(ctx, n.URL, l.Folder("console-lake")); err != nil {
		return err
	}
	p, err := l.Serve(ctx, l.Folder("console-lake"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	var paths []string
	for _, page := range consolePages {
		path, err := page.find(ctx, p.URL)
		if err != nil {
			return err
		}
		paths = append(paths, path)
		l.Say("opening %s", path)
		waits, err := openPages(ctx, p.URL+path)
		if err != nil {
			return err
		}
		s.Add(page.name+", median", waits[len(waits)/2], "ms")
		s.AtMost(page.wait, page.name+", 95th percentile", waits[len(waits)*95/100], "ms")
	}
	return weighPages(ctx, s, p.URL, paths)
}

// find returns the path of the page.
func (c consolePage) find(ctx context.Context, url string) (string, error) {
	if c.link == nil {
		return c.path, nil
	}
	body, err := openPage(ctx, url+c.path)
	if err != nil {
		return "", err
	}
	found := c.link.FindSubmatch(body)
	if found == nil {
		return "", fmt.Errorf("%s links to no %s", c.path, c.name)
	}
	return string(found[1]), nil
}

// openPages opens a page again and again, and returns how many milliseconds each time took, the least first.
func openPages(ctx context.Context, url string) ([]float64, error) {
	waits := make([]float64, pageTurns)
	for i := range waits {
		begin := time.Now()
		if _, err := openPage(ctx, url); err != nil {
			return nil, err
		}
		waits[i] = time.Since(begin).Seconds() * 1000
	}
	slices.Sort(waits)
	return waits, nil
}

// openPage returns a page.
func openPage(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s has status %d", url, response.StatusCode)
	}
	return body, nil
}

// weighPages opens pages in a Chromium with nothing in its cache.
func weighPages(ctx context.Context, s lab.Section, url string, paths []string) (err error) {
	b, err := browser.Start(ctx)
	if errors.Is(err, browser.ErrAbsent) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	tab, err := b.Open()
	if err != nil {
		return err
	}
	defer tab.Close()
	if err := tab.Look(browser.Look{Width: 1280, Height: 900}); err != nil {
		return err
	}
	var bytes, scripts int64
	var paint time.Duration
	for i := range 2 { // the first round is for the browser to come to itself
		for _, path := range paths {
			v, err := tab.Visit(url + path)
			if err != nil {
				return err
			}
			bytes, scripts = max(bytes, v.Bytes), max(scripts, v.Scripts)
			if i > 0 {
				paint = max(paint, v.Paint)
			}
		}
	}
	s.AtMost(maxPageBytes, "heaviest page with all that it loads", float64(bytes), "bytes")
	s.AtMost(maxScripts, "its scripts, compressed", float64(scripts), "bytes")
	s.AtMost(maxFirstPaint, "slowest first paint in a Chromium without a cache", paint.Seconds()*1000, "ms")
	return nil
}
