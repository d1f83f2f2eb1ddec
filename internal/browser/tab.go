package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
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

// Back, Reload and Forward do what the buttons of a browser do.
func (t *Tab) Back() (*Visit, error) {
	t.notes.reset()
	return t.arrive("going back", chromedp.NavigateBack())
}

// Reload loads the page again.
func (t *Tab) Reload() (*Visit, error) {
	t.notes.reset()
	return t.arrive("loading again", chromedp.Reload())
}

// Follow does what leads to another page, such as Click, and waits until that is there.
func (t *Tab) Follow(steps ...chromedp.Action[chromedp.Void]) (*Visit, error) {
	t.notes.reset()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil && !refused(err) {
		return nil, fmt.Errorf("following a link or form: %w", err)
	}
	return t.arrived()
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
