package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// addLookups writes the lookup objects of a published segment, from its Parquet objects:
// the parts, then the index, then the row that names them. It is safe to repeat.
func (e *Exporter) addLookups(ctx context.Context, row store.SegmentRow) error {
	if row.Manifest == "" || row.Version == 0 {
		return fmt.Errorf("segment %s was never published", row.Ref())
	}
	m, err := e.catalog.ManifestOf(&row)
	if err != nil {
		return err
	}
	overwrite := row.Version > 1 // objects of an earlier version may be there
	x, err := e.writeLookups(ctx, m, overwrite)
	if err != nil {
		return err
	}
	data, err := x.Encode()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if err := e.publisher.put(ctx, schemas.LookupIndexKey(m.Ref()), bytes.NewReader(data), int64(len(data)), sum, "application/json", overwrite); err != nil {
		return err
	}
	// A segment that was withdrawn or has expired meanwhile must not come back by this.
	now, err := e.catalog.LastSegment(ctx, m.Ref())
	if err != nil {
		return err
	}
	if now.State != published.Published || now.ManifestHash != row.ManifestHash {
		return fmt.Errorf("segment %s was withdrawn meanwhile", m.Ref())
	}
	if err := x.Enter(&now); err != nil {
		return err
	}
	now.Version++
	return e.catalog.Segments.Append(ctx, now)
}

// writeLookups puts the lookup objects of a segment into the bucket.
func (e *Exporter) writeLookups(ctx context.Context, m *published.Manifest, overwrite bool) (x *published.LookupIndex, err error) {
	w := &lookupWriter{ref: m.Ref(), tempDir: e.cfg.TempDir, put: func(ctx context.Context, part published.LookupPart, content *bucket.Spool, sum [32]byte) error {
		return e.publisher.put(ctx, part.Key, content.File(), part.Bytes, sum, lookupType, overwrite)
	}}
	defer func() { err = errors.Join(err, w.close()) }()
	var line []byte
	err = archive.EachUpdate(ctx, e.parts(), m, func(u *schemas.Update) error {
		line = archive.AppendLine(line[:0], u)
		return w.add(ctx, u, line)
	})
	if err != nil {
		return nil, err
	}
	parts, err := w.finish(ctx)
	return &published.LookupIndex{FormatVersion: schemas.ParquetVersion, Segment: m.Ref(), Root: m.Root, Parts: parts}, err
}
