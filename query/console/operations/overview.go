package operations

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// askTimeout bounds what each part of the overview waits for.
const askTimeout = 5 * time.Second

// overviewView is how this instance is. What could not be asked has a problem in place of its part.
type overviewView struct {
	now     time.Time
	streams []Stream
	engine  Engine
	objects Objects
	counts  map[string]int

	noStreams, noEngine, noObjects, noJobs string
}

// overview shows how this instance is.
func (o *Operations) overview(ctx context.Context, v *page.View) (page.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	view := overviewView{now: o.now()}
	view.streams, view.noStreams = part(o.cfg.Streams(ctx))
	view.engine, view.noEngine = part(o.cfg.Engine(ctx))
	view.objects, view.noObjects = part(o.cfg.Objects(ctx))
	slices.SortFunc(view.streams, func(a, b Stream) int { return strings.Compare(a.Name, b.Name) })
	if jobs := o.queue(); jobs != nil {
		view.counts, view.noJobs = part(jobs.Counts(ctx))
	} else {
		view.noJobs = noQueue
	}
	return page.Page{Title: "Operations", Section: page.Operations, Body: overview(v, view)}, nil
}

// noQueue says that jobs cannot be shown.
const noQueue = "This process does not reach the queue: the process that runs jobs shows them, or any with --redis-url."

// part is an answer, or the words of its error. Those who see these pages may know it.
func part[T any](answer T, err error) (T, string) {
	if err != nil {
		return answer, err.Error()
	}
	return answer, ""
}

// queue is nil where there is none.
func (o *Operations) queue() Jobs {
	if o.cfg.Jobs == nil {
		return nil
	}
	return o.cfg.Jobs()
}

// settingsView is the settings of a group.
type settingsView struct {
	group string
	list  []Setting
}

// settings shows the settings in effect.
func (o *Operations) settings(_ context.Context, v *page.View) (page.Page, error) {
	var groups []settingsView
	for _, s := range o.cfg.Settings {
		if n := len(groups); n == 0 || groups[n-1].group != s.Group {
			groups = append(groups, settingsView{group: s.Group})
		}
		last := &groups[len(groups)-1]
		last.list = append(last.list, s)
	}
	return page.Page{Title: "Settings", Section: page.Operations, Body: settings(v, groups)}, nil
}

// ago says how long ago something was.
func ago(now time.Time, at *time.Time) string {
	if at == nil || at.IsZero() {
		return "never"
	}
	return span(now.Sub(*at)) + " ago"
}

// span is a time for people: two units of it.
func span(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", max(d.Milliseconds(), 0))
	}
	for _, u := range []struct {
		unit, next   time.Duration
		name, within string
	}{{24 * time.Hour, time.Hour, "d", "h"}, {time.Hour, time.Minute, "h", "min"}, {time.Minute, time.Second, "min", "s"}} {
		if d >= u.unit {
			text := fmt.Sprint(int64(d/u.unit), " ", u.name)
			if rest := int64(d % u.unit / u.next); rest > 0 {
				text += fmt.Sprint(" ", rest, " ", u.within)
			}
			return text
		}
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// size is a number of bytes for people.
func size(bytes int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	n, unit := float64(bytes), 0
	for n >= 1000 && unit < len(units)-1 {
		n /= 1000
		unit++
	}
	return fmt.Sprintf("%.3g %s", n, units[unit])
}

func sprint[N int | int64 | uint64](n N) string { return fmt.Sprint(n) }

// rate is updates per second for people.
func rate(perSecond float64) string { return fmt.Sprintf("%.3g updates/s", perSecond) }

// share is a part of a whole in percent.
func share(part, whole int64) string {
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(max(whole, 1)))
}

// full says when the disk is full.
func (e Engine) full() string {
	if e.FullIn <= 0 {
		return "nothing grows"
	}
	if days := e.FullIn.Hours() / 24; days < 3650 {
		return cmp.Or(span(e.FullIn.Truncate(time.Hour)), "now")
	}
	return "more than ten years"
}

// phaseClass marks phases in which a stream is not as it should be.
func phaseClass(l *Live) string {
	if l.LastError != "" && l.Phase != "live" && l.Phase != "following" {
		return "tag warn"
	}
	return "tag"
}

// rounded is a number of days.
func rounded(days float64) string { return fmt.Sprintf("%.2g", days) }
