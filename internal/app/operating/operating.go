// Package operating gives the console's pages for operators what the parts of a process know.
package operating

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/upkeep"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/query/console/operations"
)

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Engine is how a store's server is.
func Engine(ctx context.Context, db *store.DB) (e operations.Engine, err error) {
	r, err := upkeep.Read(ctx, db)
	if err != nil {
		return e, err
	}
	e = operations.Engine{
		Version: r.Server.Version, Uptime: seconds(r.Server.Uptime), Memory: int64(r.Server.Memory), Allowed: int64(r.Server.Allowed),
		Queries: int64(r.Server.Queries), Bytes: r.Bytes, Days: r.Forecast.Days, BytesPerDay: r.Forecast.BytesPerDay,
	}
	if days := r.Forecast.Left; !math.IsInf(days, 1) {
		e.FullIn = time.Duration(min(days, 36500) * 24 * float64(time.Hour))
	}
	for _, t := range r.Tables {
		e.Tables = append(e.Tables, operations.Table(t))
	}
	for _, w := range r.Work {
		e.Work = append(e.Work, operations.Work{Table: w.Name, Kind: w.Kind, Problem: w.Problem, For: seconds(w.Seconds), Progress: w.Progress})
	}
	for _, d := range r.Disks {
		e.Disks = append(e.Disks, operations.Disk(d))
	}
	return e, nil
}

// Objects sums up what is published in a bucket, in both layouts.
func Objects(ctx context.Context, bucket string, catalog *published.Catalog) (o operations.Objects, err error) {
	o.Bucket = bucket
	segments, err := catalog.AllSegments(ctx)
	if err != nil {
		return o, err
	}
	for i := range segments {
		if r := &segments[i]; r.State == published.Published {
			o.Count += r.Objects
			o.Bytes += r.Bytes
		}
	}
	folders, err := catalog.Folders.All(ctx)
	if err != nil {
		return o, err
	}
	for i := range folders {
		if r := &folders[i]; r.State == published.Published {
			o.Count += r.Count
			o.Bytes += r.Bytes
		}
	}
	o.LastCollection, err = catalog.Journal.LastCollection(ctx)
	return o, err
}

// Jobs are the jobs on a queue. Runs says that this process runs them.
type Jobs struct {
	Queue *jobs.Queue
	Runs  bool
}

// Counts implements operations.Jobs, as do the others.
func (c Jobs) Counts(ctx context.Context) (map[string]int, error) {
	counts, err := c.Queue.Counts(ctx)
	texts := make(map[string]int, len(counts))
	for state, n := range counts {
		texts[string(state)] = n
	}
	return texts, err
}

// List returns some jobs in a state.
func (c Jobs) List(ctx context.Context, state string, limit int) (list []operations.Job, err error) {
	found, err := c.Queue.List(ctx, jobs.State(state), limit)
	for _, s := range found {
		list = append(list, operations.Job{
			ID: s.ID, Kind: s.Kind, State: string(s.State), Failures: s.Failures, MaxRetry: s.MaxRetry, LastError: s.LastError, LastFailed: s.LastFailed,
			NextRun: s.NextRun, Started: s.Started, Done: s.Done, Total: s.Total,
		})
	}
	return list, err
}

// Retry has a job run now.
func (c Jobs) Retry(ctx context.Context, id string) error {
	return known(c.Queue.Retry(ctx, id))
}

// Cancel stops or removes a job.
func (c Jobs) Cancel(ctx context.Context, id string) error {
	return known(c.Queue.Cancel(ctx, id))
}

// known has the console's error in place of the queue's.
func known(err error) error {
	if errors.Is(err, jobs.ErrUnknownTask) {
		return operations.ErrNoJob
	}
	return err
}

// Look has what is due queued.
func (c Jobs) Look() bool {
	if c.Runs {
		c.Queue.Rescan()
	}
	return c.Runs
}
