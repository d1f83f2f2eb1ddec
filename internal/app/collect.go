package app

import (
	"context"
	"fmt"
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

func (s *stack) newCollections() (collections, error) {
	cfg := &s.app.cfg
	exporter, err := s.newExporter()
	return collections{
		exporter: exporter, bucket: s.bucket, interval: cfg.GCInterval,
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

// collectNow is export --gc.
func (s *stack) collectNow(ctx context.Context) error {
	c, err := s.newCollections()
	if err != nil {
		return err
	}
	done, err := c.exporter.CollectAndRecord(ctx, c.bucket, c.rules)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.app.stdout, "removed %d objects (%s), %d unfinished uploads; %d segments and folders expired\n",
		done.Objects, megabytes(done.Bytes), done.Uploads, done.Expired)
	return err
}
