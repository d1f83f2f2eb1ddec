package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Exporter exports one stream. It is safe for concurrent use, also by several
// processes: two runs of one segment write the same bytes.
type Exporter struct {
	cfg       Config
	catalog   *published.Catalog
	publisher *publisher
	pages     pages
	network   *network.Exporter
	tables    *iceberg.Tables // nil for none
	codecs    *codecs
	// workers has an element for each group of tables that is being written.
	workers chan struct{}
	log     *slog.Logger
}

// New returns an exporter. It sends nothing yet.
func New(cfg Config) (*Exporter, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	log := cfg.Log.With("stream", cfg.Catalog.Stream())
	e := &Exporter{
		cfg: cfg, catalog: cfg.Catalog,
		publisher: &publisher{
			objects: cfg.Objects, stream: cfg.Catalog.Stream(), mustAgree: cfg.Agree, peers: cfg.Peers, journal: cfg.Catalog.Journal, log: log,
		},
		pages:  pages{cfg.Source, cfg.PageRows},
		codecs: newCodecs(cfg.Workers), workers: make(chan struct{}, cfg.Workers), log: log,
	}
	e.network = &network.Exporter{
		Catalog: cfg.Catalog, Pages: e.pages, Publisher: e.publisher, Objects: cfg.Objects, Whole: cfg.Whole, Values: cfg.Values,
		Cut: cfg.NetworkCut, TempDir: cfg.TempDir, Workers: cfg.Workers, Now: cfg.Now, Log: log,
	}
	var err error
	e.tables, err = newIcebergTables(&cfg, log)
	return e, err
}

// Catalog says what is published and what can be.
func (e *Exporter) Catalog() *published.Catalog { return e.catalog }

// Network exports the same stream in the network's own layout.
func (e *Exporter) Network() *network.Exporter { return e.network }

// parts reads the exporter's own objects back.
func (e *Exporter) parts() archive.Parts {
	return archive.Parts{Objects: e.cfg.Objects, TempDir: e.cfg.TempDir}
}

// ExportSegment publishes a segment. It is safe to repeat: a published segment is left as
// it is, like one that has expired, and a run that was cut off is finished. ErrNotClosed
// means that the segment may still grow, ErrConflict that the bucket holds other bytes
// under one of its keys, which a person must look at.
func (e *Exporter) ExportSegment(ctx context.Context, ref schemas.SegmentRef) error {
	if err := e.check(ctx, ref); err != nil {
		return err
	}
	last, err := e.catalog.LastSegment(ctx, ref)
	if err != nil {
		return err
	}
	if last.State == published.Published || last.State == published.Expired {
		return e.complete(ctx, last) // which may be all that the last run lacked
	}
	if err := e.catalog.MustBeClosed(ctx, ref); err != nil {
		return err
	}
	return e.export(ctx, ref, last)
}

// DueSegments lists the segments that are closed and not published, oldest first. Among
// them are those that are published and lack something beside: lookup objects, where they
// are wanted, derived tables, and for at most one the link in the chain, or any change of the
// Iceberg tables.
func (e *Exporter) DueSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	due, err := e.catalog.DueSegments(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := e.catalog.AllSegments(ctx)
	if err != nil {
		return nil, err
	}
	same, err := e.tables.UpToDate(ctx, publishedSegments(rows))
	if err != nil || same {
		return due, err
	}
	// All tables are updated with any segment. The last one is the least likely to expire.
	for i := range slices.Backward(rows) {
		if ref := rows[i].Ref(); rows[i].State == published.Published {
			if !slices.Contains(due, ref) {
				due = append(due, ref)
			}
			break
		}
	}
	slices.SortFunc(due, schemas.SegmentRef.Compare)
	return due, nil
}

// check refuses a segment that this exporter does not make, or not beside those that there are.
func (e *Exporter) check(ctx context.Context, ref schemas.SegmentRef) error {
	if ref.Stream != e.catalog.Stream() {
		return fmt.Errorf("segment %s is not of stream %s", ref, e.catalog.Stream())
	}
	if err := ref.Check(); err != nil {
		return err
	}
	if err := e.catalog.CheckLength(ref); err != nil {
		return err
	}
	_, err := e.catalog.AllSegments(ctx)
	return err
}

// export writes the segment's objects, its manifest and its row, in that order: a
// crash between them leaves objects that nobody lists and that the next run finds
// equal. Where peers must agree, the objects wait in staging until they do, and a row says
// so. last is the segment's latest row, or one of version 0 if it has none.
func (e *Exporter) export(ctx context.Context, ref schemas.SegmentRef, last store.SegmentRow) error {
	start := e.cfg.Now()
	if last.State != published.Staged && published.Overwrites(last.State, last.Version) { // what is staged went before it was
		if err := e.tables.Exclude(ctx); err != nil {
			return fmt.Errorf("exporting segment %s again: %w", ref, err)
		}
	}
	manifest, last, err := e.write(ctx, ref, last)
	if err != nil {
		return fmt.Errorf("exporting segment %s: %w", ref, err)
	}
	overwrite := published.Overwrites(last.State, last.Version)
	var row store.SegmentRow
	list := func() error {
		if overwrite {
			if err := e.unlinkStale(ctx, manifest); err != nil {
				return err
			}
		}
		sum, err := e.putManifest(ctx, manifest, overwrite)
		if err != nil {
			return err
		}
		if row, err = published.SegmentRow(manifest, sum, published.Published, last.Version+1); err != nil {
			return err
		}
		return e.catalog.Segments.Append(ctx, row)
	}
	withdraw := func() error {
		last.Version++
		last.State = published.Withdrawn
		return e.catalog.Segments.Append(ctx, last)
	}
	if err := e.publisher.Publish(ctx, manifest.Batch(), last.State == published.Staged, overwrite, list, withdraw); err != nil {
		return fmt.Errorf("publishing segment %s: %w", ref, err)
	}
	e.log.InfoContext(ctx, "exported segment", "segment", ref.String(), "objects", row.Objects,
		"rows", row.Rows, "bytes", row.Bytes, "elapsed", e.cfg.Now().Sub(start))
	return e.complete(ctx, row)
}

// complete adds what stands beside a published segment: its lookup objects, the links that
// have become possible, its derived tables, and its place in the Iceberg tables.
func (e *Exporter) complete(ctx context.Context, row store.SegmentRow) error {
	if e.catalog.LacksLookups(&row) {
		if err := e.addLookups(ctx, row); err != nil {
			return fmt.Errorf("writing lookup objects of segment %s: %w", row.Ref(), err)
		}
	}
	if err := e.extendChain(ctx); err != nil {
		return err
	}
	if err := e.tables.Update(ctx); err != nil {
		return err
	}
	lacks, err := e.catalog.LacksDerived(ctx, &row)
	if err != nil || !lacks {
		return err
	}
	if err := e.addDerived(ctx, row.Ref()); err != nil {
		return fmt.Errorf("writing derived tables of segment %s: %w", row.Ref(), err)
	}
	return e.tables.Update(ctx)
}

// write writes the segment's objects, unless they are staged already, and returns its
// manifest and its latest row.
func (e *Exporter) write(ctx context.Context, ref schemas.SegmentRef, last store.SegmentRow) (*published.Manifest, store.SegmentRow, error) {
	if last.State == published.Staged {
		manifest, err := published.DecodeManifest([]byte(last.Manifest))
		return manifest, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	manifest, err := e.writeTables(ctx, ref, published.Overwrites(last.State, last.Version))
	if err != nil {
		return nil, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	if err := e.deleteStale(ctx, last, manifest); err != nil {
		return nil, last, fmt.Errorf("removing old parts: %w", err)
	}
	if !e.publisher.Stages() {
		return manifest, last, nil
	}
	data, err := manifest.Encode()
	if err != nil {
		return nil, last, err
	}
	row, err := published.SegmentRow(manifest, sha256.Sum256(data), published.Staged, last.Version+1)
	if err != nil {
		return nil, last, err
	}
	return manifest, row, e.catalog.Segments.Append(ctx, row)
}

// deleteStale removes parts of an earlier version that the new one does not have,
// while the segment is still withdrawn, and what stands beside it, which is written anew.
func (e *Exporter) deleteStale(ctx context.Context, last store.SegmentRow, now *published.Manifest) error {
	if last.Manifest == "" {
		return nil
	}
	before, err := published.DecodeManifest([]byte(last.Manifest))
	if err != nil {
		return err
	}
	stale, err := published.KeysBeside(&last)
	if err != nil {
		return err
	}
	slices.Reverse(stale) // what describes others first
	keep := make(map[string]bool)
	for _, p := range now.AllParts() {
		keep[p.Key] = true
	}
	for _, p := range before.AllParts() {
		if !keep[p.Key] {
			stale = append(stale, p.Key)
		}
	}
	return e.removeAll(ctx, stale)
}

// putManifest stores the manifest and returns its SHA-256.
func (e *Exporter) putManifest(ctx context.Context, m *published.Manifest, overwrite bool) (sum [32]byte, err error) {
	data, err := m.Encode()
	if err != nil {
		return sum, err
	}
	sum = sha256.Sum256(data)
	return sum, e.publisher.put(ctx, schemas.ManifestKey(m.Ref()), bytes.NewReader(data), int64(len(data)), sum, "application/json", overwrite)
}
