// Package operations has the pages for those who run this instance: streams, jobs, services and settings.
package operations

import (
	"context"
	"errors"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// Config says what the pages show and do.
type Config struct {
	// Open lets anybody who reaches this instance see and do what administrators may: only its own machine does. Requests
	// that another server has passed on are no such ones.
	Open bool
	// Streams says how the streams stand; required, as are Engine, Objects and Settings.
	Streams  func(ctx context.Context) ([]Stream, error)
	Engine   func(ctx context.Context) (Engine, error)
	Objects  func(ctx context.Context) (Objects, error)
	Settings []Setting
	// Jobs reaches the queue. It is nil, or returns nil, where this process cannot.
	Jobs func() Jobs
}

// Stream is how a stream stands.
type Stream struct {
	Name, Watermark string
	WatermarkTime   *time.Time
	Batches         int64
	Items, Events   uint64
	LastCommit      *time.Time
	Damage          string
	// Live is what this process does for it, nil if another one ingests it.
	Live *Live
}

// Live is a stream that this process ingests. Its counts are those of the process.
type Live struct {
	Phase, Detail, Position string
	Lag, ETA                time.Duration
	LagOffsets              int64
	Rate                    float64 // updates per second
	Updates, Retries        int64
	Disagreements           int
	LastError               string
	LastErrorAt             *time.Time
	Upstreams               []Upstream
}

// Upstream is one that a stream is read from.
type Upstream struct {
	URL, State, End   string
	Lag, Latency      time.Duration
	Requests, Retries int64
	Disagreements     int64
	LastError         string
	LastErrorAt       *time.Time
}

// Engine is how the server of the store is.
type Engine struct {
	Version         string
	Uptime          time.Duration
	Memory, Allowed int64 // bytes of memory; Allowed is 0 for no limit
	Queries         int64
	Bytes           int64 // of all tables
	Tables          []Table
	Work            []Work
	Disks           []Disk
	// BytesPerDay is what the last Days have added each; FullIn is when the disk is full at that rate, 0 for never.
	Days        float64
	BytesPerDay int64
	FullIn      time.Duration
}

// Table is what a table takes.
type Table struct {
	Name               string
	Parts, Rows, Bytes int64
}

// Work is something that the server does in the background.
type Work struct {
	Table, Kind, Problem string
	For                  time.Duration
	Progress             float64 // 0 to 1
}

// Disk is a disk of the server.
type Disk struct {
	Name        string
	Free, Total int64
}

// Objects are what is published in the bucket.
type Objects struct {
	Bucket         string
	Count, Bytes   int64
	LastCollection time.Time // of garbage, zero if there was none
}

// Setting is one in effect, with secrets masked.
type Setting struct {
	Group, Name, Value, Usage string
	Changed                   bool
}

// ErrNoJob is an action's error about a job that is no longer there.
var ErrNoJob = errors.New("there is no such job")

// Jobs is the queue of background work.
type Jobs interface {
	// Counts is how many jobs are in each state.
	Counts(ctx context.Context) (map[string]int, error)
	// List returns at most limit jobs in a state.
	List(ctx context.Context, state string, limit int) ([]Job, error)
	// Retry runs a job now that has failed or waits, Cancel stops it or takes it off the queue. Both return ErrNoJob
	// if it is no longer there.
	Retry(ctx context.Context, id string) error
	Cancel(ctx context.Context, id string) error
	// Look queues what is due, if this process runs jobs; ok is false if it does not.
	Look() (ok bool)
}

// Job is one on the queue.
type Job struct {
	ID, Kind, State    string
	Failures, MaxRetry int
	LastError          string
	LastFailed         time.Time
	NextRun            time.Time
	// Started, Done and Total are of a run in this process, else zero.
	Started     time.Time
	Done, Total int64
}

// States are those of jobs, in the order in which they are shown.
var States = []string{"active", "failing", "dead", "delayed", "pending"}

// Operations makes the pages.
type Operations struct {
	cfg   Config
	pages *page.Pages
	now   func() time.Time
}

// New returns the pages over some readers.
func New(cfg Config) *Operations { return &Operations{cfg: cfg, now: time.Now} }

// Routes are the pages.
func (o *Operations) Routes(p *page.Pages) []query.Route {
	o.pages = p
	return []query.Route{
		p.Get("/operations", "operations", o.admins(o.overview)),
		p.Get("/operations/jobs", "jobs", o.admins(o.jobs)),
		p.Get("/operations/settings", "settings", o.admins(o.settings)),
		p.LocalPost("/operations/jobs/retry", "job_retry", o.admins(o.act(Jobs.Retry))),
		p.LocalPost("/operations/jobs/cancel", "job_cancel", o.admins(o.act(Jobs.Cancel))),
		p.LocalPost("/operations/jobs/look", "jobs_look", o.admins(o.look)),
	}
}

// admins refuses those who are no administrators.
func (o *Operations) admins(h page.Handler) page.Handler {
	return func(ctx context.Context, v *page.View) (page.Page, error) {
		if err := o.check(v); err != nil {
			return page.Page{}, err
		}
		return h(ctx, v)
	}
}

func (o *Operations) check(v *page.View) error {
	switch {
	case v.Who != nil && v.Who.Admin, v.Who == nil && o.cfg.Open && !passedOn(v):
		return nil
	case v.Who != nil:
		return query.Errorf(query.Denied, "These pages are for administrators of this instance.")
	}
	return query.Errorf(query.Unauthenticated, "These pages are for administrators of this instance.")
}

// passedOn reports whether another server has passed a request on: it comes from this machine then, whoever sent it.
func passedOn(v *page.View) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if v.Header(name) != "" {
			return true
		}
	}
	return false
}
