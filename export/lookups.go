package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
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
	if now.State != Published || now.ManifestHash != row.ManifestHash {
		return fmt.Errorf("segment %s was withdrawn meanwhile", m.Ref())
	}
	if err := x.Enter(&now); err != nil {
		return err
	}
	now.Version++
	return e.catalog.Segments.Append(ctx, now)
}

// writeLookups puts the lookup objects of a segment into the bucket.
func (e *Exporter) writeLookups(ctx context.Context, m *Manifest, overwrite bool) (x *LookupIndex, err error) {
	w := &lookupWriter{ref: m.Ref(), tempDir: e.cfg.TempDir, put: func(ctx context.Context, part LookupPart, content *bucket.Spool, sum [32]byte) error {
		return e.publisher.put(ctx, part.Key, content.File(), part.Bytes, sum, lookupType, overwrite)
	}}
	defer func() { err = errors.Join(err, w.close()) }()
	var line []byte
	err = eachUpdate(ctx, e.parts(), m, func(u *schemas.Update) error {
		line = appendLine(line[:0], u)
		return w.add(ctx, u, line)
	})
	if err != nil {
		return nil, err
	}
	parts, err := w.finish(ctx)
	return &LookupIndex{FormatVersion: schemas.ParquetVersion, Segment: m.Ref(), Root: m.Root, Parts: parts}, err
}

// appendLine appends an update's canonical JSON: what a row of table updates is, or of
// table imports.
func appendLine(dst []byte, u *schemas.Update) []byte {
	return schemas.AppendUpdate(dst, u, schemas.UpdateForm{WithOffset: u.IsImport()})
}

// readLookupIndex returns the index of a segment from the bucket, or nil if it has none. One
// of other rows is an error.
func readLookupIndex(ctx context.Context, objects Reads, m *Manifest) (*LookupIndex, []byte, error) {
	key := schemas.LookupIndexKey(m.Ref())
	body, err := objects.Get(ctx, key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", key, err)
	}
	x, err := DecodeLookupIndex(data)
	if err == nil {
		err = x.Check(m)
	}
	if err != nil {
		return nil, nil, Mismatchf("%s: %w", key, err)
	}
	return x, data, nil
}
