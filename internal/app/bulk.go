package app

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// bulk gives the query tier the published objects.
type bulk struct {
	exporter  *export.Exporter
	downloads *bucket.Downloads
	layouts   []string // that are published
}

// newBulk returns what the query tier offers of the bucket.
func (o *objects) newBulk() (bulk, error) {
	exporter, err := o.newExporter()
	downloads := bucket.NewDownloads(bucket.DownloadsConfig{Client: o.bucket, Folder: o.folder})
	return bulk{exporter: exporter, downloads: downloads, layouts: o.p.cfg.BulkLayouts}, err
}

// ActiveSet returns the objects of the latest active set at or before an instant. Of
// two migrations with segments of the same time it is the lower one's: the other one
// began after that time's start.
func (b bulk) ActiveSet(ctx context.Context, format scan.Format, at schemas.Micros) (schemas.Micros, []scan.Object, error) {
	if format == scan.JSONZstd {
		return b.networkSet(ctx, at)
	}
	periods, _, err := b.exporter.Published(ctx)
	if err != nil {
		return 0, nil, err
	}
	var latest *export.Period
	for i := range periods {
		if p := &periods[i]; p.Start <= at && (latest == nil || p.Start > latest.Start) {
			latest = p
		}
	}
	if latest == nil {
		return 0, nil, schemas.ErrNotFound
	}
	found, err := b.exporter.ObjectsOf(ctx, []schemas.SegmentRef{latest.Segment}, schemas.ParquetACS)
	if err != nil {
		return 0, nil, err
	}
	set, ok := found[latest.Segment]
	if !ok { // withdrawn since
		return 0, nil, schemas.ErrNotFound
	}
	objects, err := objectsOf(set)
	return latest.Start, objects, err
}

// Segments returns the first published segments that overlap (start, end], at most limit, up
// to the first gap.
func (b bulk) Segments(ctx context.Context, format scan.Format, start, end schemas.Micros, limit int) ([]scan.Segment, schemas.Micros, error) {
	if format == scan.JSONZstd {
		return b.networkSegments(ctx, start, end, limit)
	}
	periods, published, err := b.exporter.Published(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	periods = slices.DeleteFunc(periods, func(p export.Period) bool { return p.Start >= end || p.End <= start })
	periods = periods[:min(limit, len(periods))]
	refs := make([]schemas.SegmentRef, len(periods))
	for i, p := range periods {
		refs[i] = p.Segment
	}
	found, err := b.exporter.ObjectsOf(ctx, refs, schemas.ParquetUpdates)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	list := make([]scan.Segment, 0, len(periods))
	for _, p := range periods {
		updates, ok := found[p.Segment]
		if !ok { // withdrawn since the list was read
			return list, min(published, p.Start), nil
		}
		objects, err := objectsOf(updates)
		if err != nil {
			return nil, schemas.MinMicros, err
		}
		list = append(list, scan.Segment{MigrationID: p.Segment.MigrationID, Start: p.Start, End: p.End, Objects: objects})
	}
	return list, published, nil
}

// Published returns the record time up to which everything is published.
func (b bulk) Published(ctx context.Context, format scan.Format) (schemas.Micros, error) {
	if format == scan.JSONZstd {
		_, published, err := b.exporter.NetworkFolders(ctx)
		return published, err
	}
	_, published, err := b.exporter.Published(ctx)
	return published, err
}

// Objects looks published objects up by their keys.
func (b bulk) Objects(ctx context.Context, keys ...string) (map[string]scan.Object, error) {
	found, err := b.exporter.Find(ctx, keys...)
	if err != nil {
		return nil, err
	}
	network, err := b.exporter.FindNetwork(ctx, keys...)
	if err != nil {
		return nil, err
	}
	objects := make(map[string]scan.Object, len(found)+len(network))
	for key, o := range found {
		if objects[key], err = objectOf(o.Key, o.Bytes, o.SHA256); err != nil {
			return nil, err
		}
	}
	for key, o := range network {
		if objects[key], err = objectOf(o.Key, o.Bytes, o.SHA256); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// Progress says how far the exports are.
func (b bulk) Progress(ctx context.Context) ([]scan.Pipeline, error) {
	var all []export.Pipeline
	for _, layout := range b.layouts {
		if layout == settings.LayoutNetwork {
			network, err := b.exporter.NetworkProgress(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, network...)
			continue
		}
		parquet, err := b.exporter.ParquetProgress(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, parquet)
	}
	pipelines := make([]scan.Pipeline, len(all))
	for i, p := range all {
		pipelines[i] = scan.Pipeline(p)
	}
	return pipelines, nil
}

// Checksums looks up the SHA-256 of objects that are published or wait for peers.
func (b bulk) Checksums(ctx context.Context, keys ...string) (map[string][32]byte, error) {
	found, err := b.exporter.Checksums(ctx, keys...)
	if err != nil {
		return nil, err
	}
	sums := make(map[string][32]byte, len(found))
	for key, sum := range found {
		o, err := objectOf(key, 0, sum)
		if err != nil {
			return nil, err
		}
		sums[key] = o.SHA256
	}
	return sums, nil
}

// Open streams a range of an object.
func (b bulk) Open(ctx context.Context, o scan.Object, from, to int64) (io.ReadCloser, error) {
	return b.downloads.Open(ctx, bucket.Wanted{Key: o.Key, Size: o.Bytes, SHA256: o.SHA256}, from, to)
}

func objectOf(key string, bytes int64, hexSum string) (scan.Object, error) {
	sum, err := hex.DecodeString(hexSum)
	if err != nil || len(sum) != 32 {
		return scan.Object{}, fmt.Errorf("the listed SHA-256 of %s is not one", key)
	}
	return scan.Object{Key: key, Bytes: bytes, SHA256: [32]byte(sum)}, nil
}

func objectsOf(list []export.Object) ([]scan.Object, error) {
	objects := make([]scan.Object, len(list))
	for i, o := range list {
		var err error
		if objects[i], err = objectOf(o.Key, o.Bytes, o.SHA256); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// bulkFormats are the formats of the listings in which the layouts are given.
func bulkFormats(c *settings.Config) []scan.Format {
	var formats []scan.Format
	if c.Publishes(settings.LayoutParquet) {
		formats = append(formats, scan.Parquet)
	}
	if c.Publishes(settings.LayoutNetwork) {
		formats = append(formats, scan.JSONZstd)
	}
	return formats
}
