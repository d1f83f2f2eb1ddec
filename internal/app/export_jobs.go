package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ExportMemory is what exports need, however many: 300 MB live at most, whatever the segments,
// and room to collect garbage in. Only as many row groups are open as an exporter has workers.
const ExportMemory = 448 << 20

// ExportJobs lets jobs export and ask what is due, in the layouts that are published.
type ExportJobs struct {
	exporter *export.Exporter
	temp     string   // where objects wait for their upload
	layouts  []string // as in setting bulk-layouts
	limits   ExportLimits
	// retention is the age from which on nothing is exported any more, 0 = none.
	retention time.Duration
	// disagreed is the first disagreement with peers that a job of this process met.
	disagreed *atomic.Pointer[error]
}

// NewExportJobs returns the jobs of an exporter, whose objects wait for their upload in folder temp,
// in layouts as in setting bulk-layouts.
func NewExportJobs(exporter *export.Exporter, temp string, layouts []string) ExportJobs {
	return ExportJobs{exporter: exporter, temp: temp, layouts: layouts, disagreed: new(atomic.Pointer[error])}
}

func (w *worker) newExportJobs() (ExportJobs, error) {
	exporter, err := w.objects.newExporter()
	j := NewExportJobs(exporter, w.p.cfg.Data, w.p.cfg.BulkLayouts)
	j.limits, j.retention = w.limits, w.p.cfg.BulkRetention
	return j, err
}

// Handlers are those of the layouts: what is named first is published first.
func (j ExportJobs) Handlers() []jobs.Handler {
	var handlers []jobs.Handler
	for _, layout := range j.layouts {
		if layout == settings.LayoutNetwork {
			handlers = append(handlers, jobs.ExportNetwork(j))
		} else {
			handlers = append(handlers, jobs.ExportSegments(j))
		}
	}
	return handlers
}

// Due names the tasks of all that is due.
func (j ExportJobs) Due(ctx context.Context) (map[string]bool, error) {
	ids := make(map[string]bool)
	for _, h := range j.Handlers() {
		tasks, err := h.Due(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			ids[t.ID] = true
		}
	}
	return ids, nil
}

// ExportSegment exports one segment. What a person must look at is not repeated.
func (j ExportJobs) ExportSegment(ctx context.Context, ref schemas.SegmentRef, progress jobs.ProgressFunc) error {
	progress(0, 1)
	if err := j.classify(j.exporter.ExportSegment(ctx, ref)); err != nil {
		return err
	}
	progress(1, 1)
	return nil
}

// ExportNetwork is ExportSegment for the network's layout.
func (j ExportJobs) ExportNetwork(ctx context.Context, ref schemas.NetworkRef, progress jobs.ProgressFunc) error {
	progress(0, 1)
	if err := j.classify(j.exporter.Network().Export(ctx, ref)); err != nil {
		return err
	}
	progress(1, 1)
	return nil
}

// classify marks errors that repeating cannot help, and those that pass however long it takes.
func (j ExportJobs) classify(err error) error {
	switch err = store.Explain(err); {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return jobs.Passing(fmt.Errorf("the disk of %s is full, free some space: %w", j.temp, err))
	case errors.Is(err, export.ErrNotAgreed):
		return jobs.NotYet(err)
	case errors.Is(err, export.ErrDisagreed):
		j.disagreed.CompareAndSwap(nil, &err)
		return err // repeated: a peer may find out that it was wrong
	case errors.Is(err, published.ErrConflict), schemas.NeedsPerson(err):
		return jobs.Permanent(err)
	case bucket.Passes(err), store.Passes(err):
		return jobs.Passing(err)
	}
	return err
}

// DueSegments lists closed segments that are not published, oldest first.
func (j ExportJobs) DueSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	all, err := j.exporter.DueSegments(ctx)
	if err != nil {
		return nil, err
	}
	var due []schemas.SegmentRef
	for _, ref := range all {
		start, end, err := ref.Bounds()
		if err != nil {
			return nil, err
		}
		if ref.IsImports() || j.wants(start, end) {
			due = append(due, ref)
		}
	}
	return due, nil
}

// DueNetwork lists what is closed and not published in the network's layout. The day of a
// folder is the one before its end.
func (j ExportJobs) DueNetwork(ctx context.Context) ([]schemas.NetworkRef, error) {
	all, err := j.exporter.Catalog().DueFolders(ctx)
	if err != nil {
		return nil, err
	}
	var due []schemas.NetworkRef
	for _, ref := range all {
		if j.wants(ref.End-schemas.DaySegments.Micros(), ref.End) {
			due = append(due, ref)
		}
	}
	return due, nil
}

// wants reports whether a stretch of record times lies within the limits and is not so old
// that it would expire at once.
func (j ExportJobs) wants(start, end schemas.Micros) bool {
	if j.retention > 0 && end < schemas.MicrosOf(time.Now().Add(-j.retention)) {
		return false
	}
	return j.limits.hold(start, end)
}

// ExportLimits limit what is exported by its record times. The zero value does not.
type ExportLimits struct {
	after, through schemas.Micros // exclusive, inclusive
	begins, ends   bool           // whether there is such a limit
}

// ParseLimits reads the first and the last day or hour, "" for no limit.
func ParseLimits(from, to string) (l ExportLimits, err error) {
	if from != "" {
		l.begins = true
		if l.after, _, err = schemas.SegmentBounds(from); err != nil {
			return l, fmt.Errorf("--from: %w", err)
		}
	}
	if to != "" {
		l.ends = true
		if _, l.through, err = schemas.SegmentBounds(to); err != nil {
			return l, fmt.Errorf("--to: %w", err)
		}
	}
	if l.begins && l.ends && l.after >= l.through {
		return l, fmt.Errorf("--from %s is after --to %s: nothing is between them", from, to)
	}
	return l, nil
}

// hold reports whether a stretch of record times, the start exclusive, lies within the
// limits as a whole.
func (l ExportLimits) hold(start, end schemas.Micros) bool {
	return (!l.begins || start >= l.after) && (!l.ends || end <= l.through)
}
