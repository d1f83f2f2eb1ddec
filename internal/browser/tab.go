package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take for one thing before that is an error: much longer than it does
// on a busy machine.
const patience = 30 * time.Second

// Look is how a page is looked at.
type Look struct {
	Width, Height int64
	Dark          bool
	// NoScripts says that scripts do not run.
	NoScripts bool
}

// Tab is a page of one person. It is not safe for concurrent use.
type Tab struct {
	ctx    context.Context
	cancel context.CancelFunc
	notes  notes
	// still says that scripts do not run, nor do promises and frames of what is evaluated.
	still bool
}

// Open opens an empty tab of a person who has no cookies yet.
func (b *Browser) Open() (*Tab, error) {
	t := &Tab{}
	t.ctx, t.cancel = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.notes.init()
	err := chromedp.Listen(t.ctx, t.notes.event)
	if err == nil {
		_, err = chromedp.Call(t.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	}
	if err != nil {
		t.cancel()
		return nil, fmt.Errorf("opening a tab: %w", err)
	}
	return t, nil
}

// Close closes the tab and forgets its cookies.
func (t *Tab) Close() { t.cancel() }

// do runs steps, all of which together may take as long as one page may.
func (t *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Look sets how pages are looked at from now on.
func (t *Tab) Look(l Look) error {
	theme := "light"
	if l.Dark {
		theme = "dark"
	}
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err == nil {
		_, err = chromedp.Call(t.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.NoScripts})
	}
	if err != nil {
		return fmt.Errorf("setting how pages are looked at: %w", err)
	}
	t.still = l.NoScripts
	return t.do("setting the size of pages", chromedp.EmulateViewport(l.Width, l.Height))
}

// Visit opens an address and waits until all is there: see Settle. Whatever its status, a page is no error.
// Without scripts only the URL, the status, the bytes and the problems of a Visit are known.
func (t *Tab) Visit(url string) (*Visit, error) {
	t.notes.reset()
	return t.arrive("opening "+url, chromedp.Navigate(url))
}

// Back does what the button of a browser does. A page that the browser has kept is shown as it was left; its
// Visit has no status.
func (t *Tab) Back() (*Visit, error) {
	t.notes.reset()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	history, err := chromedp.Run(ctx, chromedp.NavigationEntries())
	if err == nil && history.CurrentIndex < 1 {
		err = errors.New("there is no page before this one")
	}
	if err == nil {
		_, err = chromedp.Call(ctx, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
	}
	if err == nil {
		err = t.notes.wait(ctx, func() bool { return t.notes.landed })
	}
	if err != nil {
		return nil, fmt.Errorf("going back: %w", err)
	}
	return t.arrived()
}

// Reload loads the page again.
func (t *Tab) Reload() (*Visit, error) {
	t.notes.reset()
	return t.arrive("loading again", chromedp.Reload())
}

func (t *Tab) arrive(what string, step chromedp.Action[chromedp.Void]) (*Visit, error) {
	if err := t.do(what, step); err != nil && !refused(err) {
		return nil, err
	}
	return t.arrived()
}

// refused says that a page was loaded and has a status of an error, which a visit tells.
func refused(err error) bool {
	var load *chromedp.LoadError
	return errors.As(err, &load) && strings.Contains(load.ErrorText, "HTTP_RESPONSE_CODE_FAILURE")
}

// arrived waits until a page is all there, and tells what it came to.
func (t *Tab) arrived() (*Visit, error) {
	if err := t.Settle(); err != nil {
		return nil, err
	}
	visit := t.notes.visit()
	if t.still {
		var err error
		visit.URL, err = Evaluate[string](t, "location.href")
		return &visit, err
	}
	facts, err := Evaluate[facts](t, factsScript)
	if err != nil {
		return nil, err
	}
	visit.URL, visit.Overflow, visit.Shift, visit.Paint = facts.URL, facts.Overflow, facts.Shift, time.Duration(facts.Paint*float64(time.Millisecond))
	return &visit, nil
}

// Settle waits until nothing that the page loads is under way. Streams of events are: they go on as long as
// the page does.
func (t *Tab) Settle() error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	for {
		if err := t.notes.quiet(ctx); err != nil {
			return fmt.Errorf("waiting for what the page loads: %w", err)
		}
		if t.still {
			return nil
		}
		// What has come may be waited for by a script that asks for more: two frames later it has.
		if _, err := Evaluate[bool](t, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))`); err != nil {
			return err
		}
		if t.notes.isQuiet() {
			return nil
		}
	}
}

// Evaluate returns what a JavaScript expression, or its promise, comes to. The policy of the page does
// not concern it.
func Evaluate[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return value, fmt.Errorf("evaluating %.80s: %w", expression, err)
	}
	return value, nil
}

// Press presses keys, such as "\t".
func (t *Tab) Press(keys string, options ...chromedp.KeyOption) error {
	return t.do("pressing keys", chromedp.KeyEvent(keys, options...))
}

// Picture is what is seen, as PNG; the whole page if it is not too long.
func (t *Tab) Picture() ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return nil, fmt.Errorf("taking a picture: %w", err)
	}
	return picture, nil
}

// Text is the text of the main part of a page, with each run of space as one.
func (t *Tab) Text() (string, error) {
	return Evaluate[string](t, `document.querySelector("main")?.innerText.replace(/\s+/g, " ") ?? ""`)
}

// SetCookie sets a cookie of the page's site in place of what it is.
func (t *Tab) SetCookie(url, name, value string) error {
	_, err := chromedp.Call(t.ctx, network.SetCookie, network.SetCookieParams{URL: url, Name: name, Value: value, Path: "/"})
	if err != nil {
		return fmt.Errorf("setting a cookie: %w", err)
	}
	return nil
}
