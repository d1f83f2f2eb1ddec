package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Exporter exports one stream. It is safe for concurrent use, also by several
// processes: two runs of one segment write the same bytes.
type Exporter struct {
	cfg           Config
	stream        string
	catalog       catalog
	network       networkCatalog
	disagreements disagreements
	pace          pace
	closed        *knownClosed
	// manifests holds decoded manifests for listings and lookups.
	manifests *manifestCache
	// tables are nil unless Config.Iceberg is set.
	tables *iceberg.Tables
	codecs *codecs
	// workers has an element for each group of tables that is being written.
	workers chan struct{}
	log     *slog.Logger
}

// New returns an exporter. It sends nothing yet.
func New(cfg Config) (*Exporter, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	stream := cfg.Source.Stream()
	e := &Exporter{
		cfg: cfg, stream: stream, catalog: storeCatalog{conn: cfg.Conn, stream: stream},
		network:       storeNetworkCatalog{conn: cfg.Conn, stream: stream},
		disagreements: storeDisagreements{conn: cfg.Conn}, pace: storePace{conn: cfg.Conn},
		closed:    new(knownClosed),
		manifests: newManifestCache(cachedManifests), codecs: newCodecs(cfg.Workers), workers: make(chan struct{}, cfg.Workers), log: cfg.Log.With("stream", stream),
	}
	var err error
	e.tables, err = e.newTables()
	return e, err
}

// parts reads the exporter's own objects back.
func (e *Exporter) parts() partSource {
	return partSource{objects: e.cfg.Objects, tempDir: e.cfg.TempDir}
}

// ExportSegment publishes a segment. It is safe to repeat: a published segment is left as
// it is, like one that has expired, and a run that was cut off is finished. ErrNotClosed
// means that the segment may still grow, ErrConflict that the bucket holds other bytes
// under one of its keys, which a person must look at.
func (e *Exporter) ExportSegment(ctx context.Context, ref schemas.SegmentRef) error {
	if err := e.check(ctx, ref); err != nil {
		return err
	}
	last, err := e.catalog.last(ctx, ref)
	if err != nil {
		return err
	}
	if last.State == published || last.State == expired {
		return e.complete(ctx, last) // which may be all that the last run lacked
	}
	if err := e.mustBeClosed(ctx, ref); err != nil {
		return err
	}
	return e.export(ctx, ref, last)
}

// Reexport withdraws a segment and publishes it again, overwriting its objects. It is
// for a segment whose history or format was wrong. While it runs, and if it is cut off
// until the next ExportSegment, the segment is not listed.
func (e *Exporter) Reexport(ctx context.Context, ref schemas.SegmentRef) error {
	if err := e.check(ctx, ref); err != nil {
		return err
	}
	if err := e.mustBeClosed(ctx, ref); err != nil {
		return err
	}
	last, err := e.catalog.last(ctx, ref)
	if err != nil {
		return err
	}
	last.Version++
	last.State = withdrawn
	if err := e.catalog.append(ctx, last); err != nil {
		return fmt.Errorf("withdrawing segment %s: %w", ref, err)
	}
	return e.export(ctx, ref, last)
}

// check refuses a segment that this exporter does not make, or not beside those that there are.
func (e *Exporter) check(ctx context.Context, ref schemas.SegmentRef) error {
	if ref.Stream != e.stream {
		return fmt.Errorf("segment %s is not of stream %s", ref, e.stream)
	}
	if err := ref.Check(); err != nil {
		return err
	}
	if err := e.checkLength(ref); err != nil {
		return err
	}
	_, err := e.allRows(ctx)
	return err
}

// export writes the segment's objects, its manifest and its row, in that order: a
// crash between them leaves objects that nobody lists and that the next run finds
// equal. Where peers must agree, the objects wait in staging until they do, and a row says
// so. last is the segment's latest row, or one of version 0 if it has none.
func (e *Exporter) export(ctx context.Context, ref schemas.SegmentRef, last segmentRow) error {
	start := e.cfg.Now()
	if last.State != staged && overwrites(last.State, last.Version) { // what is staged went before it was
		if err := e.excludeFromTables(ctx); err != nil {
			return fmt.Errorf("exporting segment %s again: %w", ref, err)
		}
	}
	manifest, last, err := e.write(ctx, ref, last)
	if err != nil {
		return fmt.Errorf("exporting segment %s: %w", ref, err)
	}
	overwrite := overwrites(last.State, last.Version)
	if last.State == staged {
		if err := e.settle(ctx, manifest.batch(), overwrite); err != nil {
			return errors.Join(fmt.Errorf("publishing segment %s: %w", ref, err), e.stageAgain(err, func() error {
				last.Version++
				last.State = withdrawn
				return e.catalog.append(ctx, last)
			}))
		}
	}
	if overwrite {
		if err := e.unlinkStale(ctx, manifest); err != nil {
			return fmt.Errorf("exporting segment %s: %w", ref, err)
		}
	}
	sum, err := e.putManifest(ctx, manifest, overwrite)
	if err != nil {
		return fmt.Errorf("exporting segment %s: %w", ref, err)
	}
	row, err := segmentRowOf(manifest, sum, published, last.Version+1)
	if err != nil {
		return fmt.Errorf("exporting segment %s: %w", ref, err)
	}
	if err := e.catalog.append(ctx, row); err != nil {
		return fmt.Errorf("publishing segment %s: %w", ref, err)
	}
	if last.State == staged {
		e.unstage(ctx, manifest.batch())
	}
	e.log.InfoContext(ctx, "exported segment", "segment", ref.String(), "objects", row.Objects,
		"rows", row.Rows, "bytes", row.Bytes, "elapsed", e.cfg.Now().Sub(start))
	return e.complete(ctx, row)
}

// complete adds what stands beside a published segment: its lookup objects, the links that
// have become possible, and its place in the Iceberg tables.
func (e *Exporter) complete(ctx context.Context, row segmentRow) error {
	if e.lacksLookups(&row) {
		if err := e.addLookups(ctx, row); err != nil {
			return fmt.Errorf("writing lookup objects of segment %s: %w", row.ref(), err)
		}
	}
	if err := e.extendChain(ctx); err != nil {
		return err
	}
	return e.updateTables(ctx)
}

// write writes the segment's objects, unless they are staged already, and returns its
// manifest and its latest row.
func (e *Exporter) write(ctx context.Context, ref schemas.SegmentRef, last segmentRow) (*Manifest, segmentRow, error) {
	if last.State == staged {
		manifest, err := decodeManifest([]byte(last.Manifest))
		return manifest, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	manifest, err := e.writeTables(ctx, ref, overwrites(last.State, last.Version))
	if err != nil {
		return nil, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	if err := e.deleteStale(ctx, last, manifest); err != nil {
		return nil, last, fmt.Errorf("removing old parts: %w", err)
	}
	if e.cfg.Agree == 0 {
		return manifest, last, nil
	}
	data, err := manifest.encode()
	if err != nil {
		return nil, last, err
	}
	row, err := segmentRowOf(manifest, sha256.Sum256(data), staged, last.Version+1)
	if err != nil {
		return nil, last, err
	}
	return manifest, row, e.catalog.append(ctx, row)
}

// deleteStale removes parts of an earlier version that the new one does not have,
// while the segment is still withdrawn, and lookup objects, which are written anew.
func (e *Exporter) deleteStale(ctx context.Context, last segmentRow, now *Manifest) error {
	if last.Manifest == "" {
		return nil
	}
	before, err := decodeManifest([]byte(last.Manifest))
	if err != nil {
		return err
	}
	lookups, err := last.lookupKeys()
	if err != nil {
		return err
	}
	for _, key := range slices.Backward(lookups) { // the index first
		if err := e.cfg.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	keep := make(map[string]bool)
	for _, p := range now.parts() {
		keep[p.Key] = true
	}
	for _, p := range before.parts() {
		if keep[p.Key] {
			continue
		}
		if err := e.cfg.Objects.Delete(ctx, p.Key); err != nil {
			return err
		}
	}
	return nil
}
