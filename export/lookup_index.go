package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LookupIndex describes the lookup objects of a segment. It is stored beside them, and it
// is not part of the manifest, so that manifests are equal whoever has lookup objects.
type LookupIndex struct {
	FormatVersion string             `json:"format_version"`
	Segment       schemas.SegmentRef `json:"segment"`
	// Root is that of the segment's manifest: the objects have the rows of no other.
	Root string `json:"root"`
	// Parts are the objects in the order of their updates; none if there are no updates.
	Parts []LookupPart `json:"parts"`
}

func (x *LookupIndex) encode() ([]byte, error) {
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the lookup index of %s: %w", x.Segment, err)
	}
	return append(data, '\n'), nil
}

func decodeLookupIndex(data []byte) (*LookupIndex, error) {
	var x LookupIndex
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, fmt.Errorf("decoding a lookup index: %w", err)
	}
	if x.FormatVersion != schemas.ParquetVersion {
		return nil, fmt.Errorf("the lookup index of %s has format version %q, this program reads %q", x.Segment, x.FormatVersion, schemas.ParquetVersion)
	}
	return &x, nil
}

// check makes sure that the index is that of a segment and that its parts fit.
func (x *LookupIndex) check(m *Manifest) error {
	if x.Segment != m.Ref() || x.Root != m.Root {
		return fmt.Errorf("the lookup index is for segment %s with root %s, not for %s with %s", x.Segment, x.Root, m.Ref(), m.Root)
	}
	var rows int64
	for n, p := range x.Parts {
		index := int64(p.Buckets) * int64(p.BucketBytes)
		if p.Key != schemas.LookupKey(x.Segment, n) || p.Buckets <= 0 || p.BucketBytes <= 0 || p.BucketBytes%entryBytes != 0 || p.FilterBytes <= 0 ||
			p.IndexOffset < 0 || p.IndexOffset+index > p.FilterOffset || p.FilterOffset+int64(p.FilterBytes) != p.Bytes {
			return fmt.Errorf("the index or the filter of %s does not fit into its %d bytes", p.Key, p.Bytes)
		}
		rows += p.Rows
	}
	if want := m.table(schemas.ParquetUpdates).Rows + m.table(schemas.ParquetImports).Rows; rows != want {
		return fmt.Errorf("the lookup objects of %s have %d updates, its tables %d", x.Segment, rows, want)
	}
	return nil
}

// lookupIndex returns the index that the row holds, or nil if the segment has no lookup
// objects.
func (r *segmentRow) lookupIndex() (*LookupIndex, error) {
	if r.LookupIndex == "" {
		return nil, nil
	}
	return decodeLookupIndex([]byte(r.LookupIndex))
}

// lookupKeys lists the segment's lookup objects, the index last.
func (r *segmentRow) lookupKeys() ([]string, error) {
	x, err := r.lookupIndex()
	if x == nil || err != nil {
		return nil, err
	}
	var keys []string
	for _, p := range x.Parts {
		keys = append(keys, p.Key)
	}
	return append(keys, schemas.LookupIndexKey(x.Segment)), nil
}

// setLookups enters an index into the row.
func (r *segmentRow) setLookups(x *LookupIndex) error {
	data, err := x.encode()
	r.LookupIndex, r.LookupObjects = string(data), int64(len(x.Parts)+1)
	return err
}

// lacksLookups reports whether a segment is published without the lookup objects that are
// wanted.
func (e *Exporter) lacksLookups(row *segmentRow) bool {
	return e.cfg.Lookups && row.State == published && row.LookupObjects == 0
}

// addLookups writes the lookup objects of a published segment, from its Parquet objects:
// the parts, then the index, then the row that names them. It is safe to repeat.
func (e *Exporter) addLookups(ctx context.Context, row segmentRow) error {
	if row.Manifest == "" || row.Version == 0 {
		return fmt.Errorf("segment %s was never published", row.ref())
	}
	m, err := e.manifests.of(&row)
	if err != nil {
		return err
	}
	overwrite := row.Version > 1 // objects of an earlier version may be there
	x, err := e.writeLookups(ctx, m, overwrite)
	if err != nil {
		return err
	}
	data, err := x.encode()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if err := e.put(ctx, schemas.LookupIndexKey(m.Ref()), bytes.NewReader(data), int64(len(data)), sum, "application/json", overwrite); err != nil {
		return err
	}
	// A segment that was withdrawn or has expired meanwhile must not come back by this.
	now, err := e.catalog.last(ctx, m.Ref())
	if err != nil {
		return err
	}
	if now.State != published || now.ManifestHash != row.ManifestHash {
		return fmt.Errorf("segment %s was withdrawn meanwhile", m.Ref())
	}
	if err := now.setLookups(x); err != nil {
		return err
	}
	now.Version++
	return e.catalog.append(ctx, now)
}

// writeLookups puts the lookup objects of a segment into the bucket.
func (e *Exporter) writeLookups(ctx context.Context, m *Manifest, overwrite bool) (x *LookupIndex, err error) {
	w := &lookupWriter{ref: m.Ref(), tempDir: e.cfg.TempDir, put: func(ctx context.Context, part LookupPart, content *spool, sum [32]byte) error {
		return e.put(ctx, part.Key, content.file, part.Bytes, sum, lookupType, overwrite)
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
	x, err := decodeLookupIndex(data)
	if err == nil {
		err = x.check(m)
	}
	if err != nil {
		return nil, nil, mismatchf("%s: %w", key, err)
	}
	return x, data, nil
}
