package app

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// collections lets jobs collect garbage in the bucket.
type collections struct {
	exporter *export.Exporter
	bucket   *bucket.Client
	interval time.Duration
	rules    export.CollectRules
}

func (o *objects) newCollections() (collections, error) {
	cfg := o.p.cfg
	exporter, err := o.newExporter()
	return collections{
		exporter: exporter, bucket: o.bucket, interval: cfg.GCInterval,
		rules: export.CollectRules{Grace: cfg.GCGrace, Retention: cfg.BulkRetention},
	}, err
}

// Collect collects once.
func (c collections) Collect(ctx context.Context) error {
	_, err := c.exporter.CollectAndRecord(ctx, c.bucket, c.rules)
	return err
}

// CollectionDue reports whether the interval has passed since the last time, whichever
// process did it.
func (c collections) CollectionDue(ctx context.Context) (bool, error) {
	last, err := c.exporter.LastCollection(ctx)
	return err == nil && time.Since(last) >= c.interval, err
}

// CollectGarbage removes unused objects and unfinished uploads from the bucket.
func (a *App) CollectGarbage(ctx context.Context) (done export.Collection, err error) {
	if err := a.openForJobs(ctx); err != nil {
		return done, err
	}
	err = a.p.guard(ctx, func(ctx context.Context) error {
		done, err = a.objects.collect(ctx)
		return err
	})
	return done, err
}

// collect collects once, whether or not it is due.
func (o *objects) collect(ctx context.Context) (export.Collection, error) {
	c, err := o.newCollections()
	if err != nil {
		return export.Collection{}, err
	}
	return c.exporter.CollectAndRecord(ctx, c.bucket, c.rules)
}
