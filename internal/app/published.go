package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Published looks up single rows in the published objects, without a database.
func (a *App) Published(ctx context.Context, find func(context.Context, *archive.Archive) error) error {
	a.objects.reads = true
	if err := a.objects.open(ctx); err != nil {
		return err
	}
	return a.p.guard(ctx, func(ctx context.Context) error {
		return a.objects.lookUp(ctx, func(archive *archive.Archive) error { return find(ctx, archive) })
	})
}

// lookUp asks the cached manifests first. What they do not have may have been published
// since, and what they have may have been withdrawn.
func (o *objects) lookUp(ctx context.Context, find func(*archive.Archive) error) error {
	cfg := o.archiveConfig()
	if err := makeTemp(cfg); err != nil {
		return err
	}
	if cached, err := archive.OpenCached(cfg); err != nil {
		o.p.log.WarnContext(ctx, "the cache of manifests cannot be used", "err", err)
	} else if err := find(cached); err == nil {
		return nil
	} else if !errors.Is(err, schemas.ErrNotFound) {
		o.p.log.WarnContext(ctx, "not found with cached manifests, reading new ones", "err", err)
	}
	archive, err := archive.Open(ctx, cfg)
	if err != nil {
		return err
	}
	return find(archive)
}

// archiveConfig says where published objects are read from, and cached.
func (o *objects) archiveConfig() archive.Config {
	return archive.Config{
		Objects: o.bucket, TempDir: filepath.Join(o.p.cfg.Data, "tmp"), CacheDir: filepath.Join(o.p.cfg.Data, "cache", "objects"), Log: o.p.log,
	}
}

// makeTemp makes the folder in which objects are that are being read.
func makeTemp(cfg archive.Config) error {
	if err := os.MkdirAll(cfg.TempDir, 0o755); err != nil {
		return fmt.Errorf("creating a folder for unfinished objects: %w", err)
	}
	return nil
}

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
