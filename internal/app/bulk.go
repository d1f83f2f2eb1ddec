package app

import (
	"context"
	"io"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// bulk gives the query tier the published objects.
type bulk struct {
	catalog   *published.Catalog
	downloads *bucket.Downloads
	layouts   []string // that are published
}

// newBulk returns what the query tier offers of the bucket.
func (o *objects) newBulk() (bulk, error) {
	catalog, err := o.published()
	downloads := bucket.NewDownloads(bucket.DownloadsConfig{Client: o.bucket, Folder: o.folder})
	return bulk{catalog: catalog, downloads: downloads, layouts: o.p.cfg.BulkLayouts}, err
}

// ActiveSet returns the objects of the latest active set at or before an instant. Of
// two migrations with segments of the same time it is the lower one's: the other one
// began after that time's start.
func (b bulk) ActiveSet(ctx context.Context, format scan.Format, at schemas.Micros) (schemas.Micros, []scan.Object, error) {
	if format == scan.JSONZstd {
		return b.networkSet(ctx, at)
	}
	periods, _, err := b.catalog.Periods(ctx)
	if err != nil {
		return 0, nil, err
	}
	var latest *published.Period
	for i := range periods {
		if p := &periods[i]; p.Start <= at && (latest == nil || p.Start > latest.Start) {
			latest = p
		}
	}
	if latest == nil {
		return 0, nil, schemas.ErrNotFound
	}
	found, err := b.catalog.ObjectsOf(ctx, []schemas.SegmentRef{latest.Segment}, schemas.ParquetACS)
	if err != nil {
		return 0, nil, err
	}
	set, ok := found[latest.Segment]
	if !ok { // withdrawn since
		return 0, nil, schemas.ErrNotFound
	}
	return latest.Start, set, nil
}

// Segments returns the first published segments that overlap (start, end], at most limit, up
// to the first gap.
func (b bulk) Segments(ctx context.Context, format scan.Format, start, end schemas.Micros, limit int) ([]scan.Segment, schemas.Micros, error) {
	if format == scan.JSONZstd {
		return b.networkSegments(ctx, start, end, limit)
	}
	periods, through, err := b.catalog.Periods(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	periods = slices.DeleteFunc(periods, func(p published.Period) bool { return p.Start >= end || p.End <= start })
	periods = periods[:min(limit, len(periods))]
	refs := make([]schemas.SegmentRef, len(periods))
	for i, p := range periods {
		refs[i] = p.Segment
	}
	found, err := b.catalog.ObjectsOf(ctx, refs, schemas.ParquetUpdates)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	list := make([]scan.Segment, 0, len(periods))
	for _, p := range periods {
		updates, ok := found[p.Segment]
		if !ok { // withdrawn since the list was read
			return list, min(through, p.Start), nil
		}
		list = append(list, scan.Segment{MigrationID: p.Segment.MigrationID, Start: p.Start, End: p.End, Objects: updates})
	}
	return list, through, nil
}

// Published returns the record time up to which everything is published.
func (b bulk) Published(ctx context.Context, format scan.Format) (schemas.Micros, error) {
	if format == scan.JSONZstd {
		_, through, err := b.catalog.NetworkFolders(ctx)
		return through, err
	}
	_, through, err := b.catalog.Periods(ctx)
	return through, err
}

// Objects looks published objects up by their keys.
func (b bulk) Objects(ctx context.Context, keys ...string) (map[string]scan.Object, error) {
	return b.catalog.Find(ctx, keys...)
}

// Progress says how far the exports are.
func (b bulk) Progress(ctx context.Context) (all []scan.Pipeline, err error) {
	for _, layout := range b.layouts {
		if layout == settings.LayoutNetwork {
			network, err := b.catalog.NetworkProgress(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, network...)
			continue
		}
		parquet, err := b.catalog.ParquetProgress(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, parquet)
	}
	return all, nil
}

// Checksums looks up the SHA-256 of objects that are published or wait for peers.
func (b bulk) Checksums(ctx context.Context, keys ...string) (map[string][32]byte, error) {
	return b.catalog.Checksums(ctx, keys...)
}

// Open streams a range of an object.
func (b bulk) Open(ctx context.Context, o scan.Object, from, to int64) (io.ReadCloser, error) {
	return b.downloads.Open(ctx, bucket.Wanted(o), from, to)
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

// listedEncoding is the one of which the network's listings give the objects. Those of the
// other one can be had by their keys.
const listedEncoding = schemas.CompactJSON

// networkSet is ActiveSet in the network's layout.
func (b bulk) networkSet(ctx context.Context, at schemas.Micros) (schemas.Micros, []scan.Object, error) {
	sets, err := b.catalog.NetworkSets(ctx)
	if err != nil {
		return 0, nil, err
	}
	var latest *schemas.NetworkRef
	for i := range sets { // ascending
		if sets[i].Start <= at {
			latest = &sets[i]
		}
	}
	if latest == nil {
		return 0, nil, schemas.ErrNotFound
	}
	found, err := b.catalog.FolderObjects(ctx, listedEncoding, *latest)
	if err != nil {
		return 0, nil, err
	}
	objects, ok := found[*latest]
	if !ok { // withdrawn since
		return 0, nil, schemas.ErrNotFound
	}
	return latest.Start, objects, nil
}

// networkSegments is Segments in the network's layout, whose folders may hold more than one
// migration.
func (b bulk) networkSegments(ctx context.Context, start, end schemas.Micros, limit int) ([]scan.Segment, schemas.Micros, error) {
	folders, through, err := b.catalog.NetworkFolders(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	var refs []schemas.NetworkRef
	for _, ref := range folders {
		if ref.Start < end && ref.End > start && len(refs) < limit {
			refs = append(refs, ref)
		}
	}
	found, err := b.catalog.FolderObjects(ctx, listedEncoding, refs...)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	list := make([]scan.Segment, 0, len(refs))
	for _, ref := range refs {
		objects, ok := found[ref]
		if !ok { // withdrawn since the list was read
			return list, ref.Start, nil
		}
		list = append(list, scan.Segment{Start: ref.Start, End: ref.End, Objects: objects})
	}
	return list, through, nil
}
