package operations

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// shownJobs is how many jobs of a state are shown.
const shownJobs = 50

// maxID is the longest id of a job.
const maxID = 500

// jobsView is the jobs of a state.
type jobsView struct {
	now    time.Time
	state  string
	counts map[string]int
	jobs   []Job
	form   string
	note   string
}

// jobs shows the jobs of a state.
func (o *Operations) jobs(ctx context.Context, v *page.View) (page.Page, error) {
	queue := o.queue()
	if queue == nil {
		return page.Page{}, query.Errorf(query.Disabled, "%s", noQueue)
	}
	counts, err := queue.Counts(ctx)
	if err != nil {
		return page.Page{}, unreachable(err)
	}
	view := jobsView{now: o.now(), state: v.Param("state"), counts: counts, form: o.pages.LocalForm(v), note: notes[v.Param("done")]}
	if view.state == "" {
		view.state = States[0]
	}
	if !slices.Contains(States, view.state) {
		return page.Page{}, query.Errorf(query.Invalid, "Jobs are in no state %.40q.", view.state)
	}
	if view.jobs, err = queue.List(ctx, view.state, shownJobs); err != nil {
		return page.Page{}, unreachable(err)
	}
	return page.Page{Title: "Jobs", Section: page.Operations, Body: jobs(v, view)}, nil
}

// notes are what is said after an action.
var notes = map[string]string{
	"retry":  "The job runs as soon as a worker is free.",
	"cancel": "The job was stopped, or taken off the queue. It comes back as long as its work is due.",
	"look":   "What is due is being queued.",
}

func unreachable(err error) error {
	return &query.Error{Code: query.Unavailable, Msg: "The queue does not answer.", Err: err}
}

// act does something with the job that a form names.
func (o *Operations) act(do func(Jobs, context.Context, string) error) page.Handler {
	return func(ctx context.Context, v *page.View) (page.Page, error) {
		queue := o.queue()
		if queue == nil {
			return page.Page{}, query.Errorf(query.Disabled, "%s", noQueue)
		}
		id := v.Field("id")
		if id == "" || len(id) > maxID {
			return page.Page{}, query.Errorf(query.Invalid, "The form names no job.")
		}
		err := do(queue, ctx, id)
		if errors.Is(err, ErrNoJob) {
			return page.Page{}, query.Errorf(query.NotFound, "The job is no longer there: it may be done, or running.")
		}
		if err != nil {
			return page.Page{}, unreachable(err)
		}
		return page.Page{See: "/operations/jobs?" + url.Values{"state": {v.Field("state")}, "done": {v.Field("act")}}.Encode()}, nil
	}
}

// look has what is due queued now.
func (o *Operations) look(_ context.Context, v *page.View) (page.Page, error) {
	queue := o.queue()
	if queue == nil || !queue.Look() {
		return page.Page{}, query.Errorf(query.Disabled, "This process runs no jobs: the one that does looks for them every 10 seconds.")
	}
	return page.Page{See: "/operations/jobs?" + url.Values{"state": {"pending"}, "done": {"look"}}.Encode()}, nil
}

// progress says how far a run is, and when it ends at that rate.
func (j Job) progress(now time.Time) string {
	if j.Started.IsZero() {
		return ""
	}
	elapsed := now.Sub(j.Started)
	switch {
	case j.Total <= 0 && j.Done <= 0:
		return "for " + span(elapsed)
	case j.Total <= 0:
		return fmt.Sprintf("%d, for %s", j.Done, span(elapsed))
	}
	text := fmt.Sprintf("%s (%d of %d), for %s", share(j.Done, j.Total), j.Done, j.Total, span(elapsed))
	if j.Done > 0 && j.Done < j.Total {
		text += ", " + span(time.Duration(float64(elapsed)*float64(j.Total-j.Done)/float64(j.Done))) + " left"
	}
	return text
}

// cancelText is what cancelling does to a job.
func cancelText(j Job) string {
	if j.State == "active" {
		return "Stop"
	}
	return "Remove"
}
