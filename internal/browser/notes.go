package browser

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// Visit is what the loading of a page came to.
type Visit struct {
	// URL is where the page is, after what it was sent on by.
	URL    string
	Status int64
	// Problems are what the page complained of: errors and warnings of scripts and of its policy, and what could
	// not be loaded. That the page itself has a status of an error is none.
	Problems []string
	// Bytes is what came over the wire for it all, compressed, and Scripts what of it are scripts.
	Bytes, Scripts int64
	// Overflow is by how many pixels the page is wider than its window, and Shift how much of it was moved
	// by what came later (the cumulative layout shift).
	Overflow int64
	Shift    float64
	// Paint is when something was seen first, from the request on.
	Paint time.Duration
}

// facts is what a page knows of itself.
type facts struct {
	URL      string  `json:"url"`
	Overflow int64   `json:"overflow"`
	Shift    float64 `json:"shift"`
	Paint    float64 `json:"paint"`
}

const factsScript = `new Promise(done => {
	let shift = 0;
	const sum = list => { for (const entry of list) if (!entry.hadRecentInput) shift += entry.value; };
	const observer = new PerformanceObserver(list => sum(list.getEntries()));
	observer.observe({ type: "layout-shift", buffered: true });
	setTimeout(() => {
		sum(observer.takeRecords());
		observer.disconnect();
		const paint = performance.getEntriesByName("first-contentful-paint")[0];
		const root = document.scrollingElement;
		done({ url: location.href, overflow: Math.max(0, root.scrollWidth - root.clientWidth), shift, paint: paint ? paint.startTime : 0 });
	}, 30);
})`

// request is what a page loads.
type request struct {
	url    string
	kind   network.ResourceType
	loader cdp.LoaderID // of the page that asks for it
	// stream says that it never ends.
	stream bool
}

// notes are what a tab has seen since its last reset.
type notes struct {
	mu      sync.Mutex
	changed chan struct{} // closed and made again with every change
	loading map[network.RequestID]*request
	landed  bool // a page has been loaded, or is shown again
	now     Visit
}

func (n *notes) init() {
	n.changed, n.loading = make(chan struct{}), make(map[network.RequestID]*request)
}

// reset begins a visit.
func (n *notes) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now, n.landed, n.loading = Visit{}, false, make(map[network.RequestID]*request)
}

func (n *notes) visit() Visit {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now
}

// event notes an event of the tab.
func (n *notes) event(event any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		n.loading[e.RequestID] = &request{url: e.Request.URL, kind: e.Type, loader: e.LoaderID}
	case *network.EventResponseReceived:
		n.received(e)
	case *network.EventLoadingFinished:
		if r := n.loading[e.RequestID]; r != nil {
			n.now.Bytes += int64(e.EncodedDataLength)
			if r.kind == network.ResourceTypeScript {
				n.now.Scripts += int64(e.EncodedDataLength)
			}
		}
		delete(n.loading, e.RequestID)
	case *network.EventLoadingFailed:
		if r := n.loading[e.RequestID]; r != nil && !r.stream && !e.Canceled {
			n.problem("%s could not be loaded: %s %s", r.url, e.ErrorText, e.BlockedReason)
		}
		delete(n.loading, e.RequestID)
	case *page.EventLoadEventFired:
		n.landed = true
	case *page.EventFrameNavigated:
		n.landed = n.landed || e.Type == page.NavigationTypeBackForwardCacheRestore
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			n.problem("console %s: %s", e.Type, spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		n.problem("exception: %s", thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		n.logged(e.Entry)
	default:
		return
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// received notes the head of an answer.
func (n *notes) received(e *network.EventResponseReceived) {
	r := n.loading[e.RequestID]
	if r == nil {
		return
	}
	r.stream = e.Response.MimeType == "text/event-stream"
	switch {
	case e.Type == network.ResourceTypeDocument:
		n.now.Status = e.Response.Status
		// What the page before it still loads is given up without a word.
		maps.DeleteFunc(n.loading, func(_ network.RequestID, r *request) bool { return r.loader != e.LoaderID })
	case e.Response.Status >= 400:
		n.problem("%s has status %d", r.url, e.Response.Status)
	}
}

// logged notes what the browser says of a page. That it could not load something is noted as such.
func (n *notes) logged(e *log.Entry) {
	if e.Source != log.EntrySourceNetwork && (e.Level == log.EntryLevelError || e.Level == log.EntryLevelWarning) {
		n.problem("%s %s: %s", e.Source, e.Level, e.Text)
	}
}

func (n *notes) problem(format string, args ...any) {
	n.now.Problems = append(n.now.Problems, fmt.Sprintf(format, args...))
}

// spoken is what was written to the console.
func spoken(args []*runtime.RemoteObject) (text string) {
	for _, a := range args {
		if a.Value != nil {
			text += string(a.Value) + " "
		} else {
			text += a.Description + " "
		}
	}
	return text
}

func thrown(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// isQuiet says that nothing is loading but streams.
func (n *notes) isQuiet() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.quietLocked()
}

func (n *notes) quietLocked() bool {
	for _, r := range n.loading {
		if !r.stream {
			return false
		}
	}
	return true
}

// quiet waits until nothing is loading but streams.
func (n *notes) quiet(ctx context.Context) error {
	if err := n.wait(ctx, n.quietLocked); err != nil {
		return fmt.Errorf("%w; still loading: %s", err, n.pending())
	}
	return nil
}

// wait waits until something is so, which is asked for under the lock.
func (n *notes) wait(ctx context.Context, so func() bool) error {
	for {
		n.mu.Lock()
		done, changed := so(), n.changed
		n.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (n *notes) pending() (list string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.loading {
		if !r.stream {
			list += r.url + " "
		}
	}
	return list
}
