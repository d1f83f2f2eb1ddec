package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// lookupType is the media type of zstd: RFC 8878.
const lookupType = "application/zstd"

const (
	// A frame is closed by the line with which it holds frameBytes before compression.
	// On the simulated network that is about 50 KB in the object; a quarter of it would
	// make the objects 12 % larger, four times as much 11 % smaller.
	frameBytes = 512 << 10
	// A part is closed by the update with which it has keysPerPart keys, which bounds
	// what a writer holds in memory.
	keysPerPart = 1 << 20
	// keysPerBucket is how many keys a bucket of the index has on average: a reader
	// fetches one bucket. Buckets have room for the fullest one.
	keysPerBucket = 512
	// filterBits per key make a filter.
	filterBits = 16
)

// lookupWriter writes the lookup objects of a segment. Add updates in order, then
// finish; close in any case.
type lookupWriter struct {
	ref     schemas.SegmentRef
	tempDir string
	// put takes a finished part.
	put     func(ctx context.Context, part published.LookupPart, content *bucket.Spool, sum [32]byte) error
	encoder *zstd.Encoder
	parts   []published.LookupPart

	// The open part.
	part    published.LookupPart
	file    *bucket.Spool
	entries []lookupEntry
	// The open frame.
	frame []byte
	first int // entry of the frame
	buf   []byte
	last  schemas.RowKey
}

// lookupEntry says in which frame a key is found.
type lookupEntry struct {
	key    archive.LookupKey
	offset int64
	length int
}

// add takes in an update and its line without the line feed. The line may change after.
func (w *lookupWriter) add(ctx context.Context, u *schemas.Update, line []byte) error {
	w.last = schemas.RowKey{Time: u.RecordTime, ID: u.UpdateID}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	w.part.Rows++
	w.frame = append(append(w.frame, line...), '\n')
	w.entries = append(w.entries, lookupEntry{key: archive.UpdateKey(u.UpdateID)})
	for _, id := range archive.CreatedIn(u) {
		w.entries = append(w.entries, lookupEntry{key: archive.ContractKey(id)})
	}
	if len(w.frame) >= frameBytes {
		if err := w.endFrame(); err != nil {
			return err
		}
	}
	if len(w.entries) >= keysPerPart {
		return w.endPart(ctx)
	}
	return nil
}

func (w *lookupWriter) open() (err error) {
	if w.encoder == nil {
		// One goroutine and no history between frames: the bytes depend on the lines alone.
		if w.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1)); err != nil {
			return fmt.Errorf("making a zstd encoder: %w", err)
		}
	}
	if w.file, err = bucket.NewSpool(w.tempDir); err != nil {
		return err
	}
	w.part = published.LookupPart{Part: published.Part{Key: schemas.LookupKey(w.ref, len(w.parts)), First: w.key()}}
	return nil
}

// key is that of the last update in the form of the manifest.
func (w *lookupWriter) key() published.Key {
	if w.ref.IsImports() {
		return published.KeyOf(schemas.ParquetImports, w.last)
	}
	return published.KeyOf(schemas.ParquetUpdates, w.last)
}

// endFrame writes the open frame and points the keys of its lines to it.
func (w *lookupWriter) endFrame() error {
	at := w.file.Size()
	w.buf = w.encoder.EncodeAll(w.frame, w.buf[:0])
	if _, err := w.file.Write(w.buf); err != nil {
		return err
	}
	for i := w.first; i < len(w.entries); i++ {
		w.entries[i].offset, w.entries[i].length = at, len(w.buf)
	}
	w.first, w.frame = len(w.entries), w.frame[:0]
	w.part.RowGroups++
	return nil
}

// endPart writes index and filter and puts the part into the bucket.
func (w *lookupWriter) endPart(ctx context.Context) (err error) {
	if len(w.frame) > 0 {
		if err := w.endFrame(); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := errors.Join(w.writeIndex(), w.writeFilter()); err != nil {
		return err
	}
	sum, err := w.file.Finish()
	if err != nil {
		return err
	}
	w.part.Bytes, w.part.Last = w.file.Size(), w.key()
	w.part.SetSum(sum)
	if err := w.put(ctx, w.part, w.file, sum); err != nil {
		return err
	}
	w.parts = append(w.parts, w.part)
	w.entries, w.first = w.entries[:0], 0
	return nil
}

func (w *lookupWriter) writeIndex() error {
	slices.SortFunc(w.entries, func(a, b lookupEntry) int {
		return cmp.Or(cmp.Compare(a.key.High, b.key.High), cmp.Compare(a.key.Low, b.key.Low), cmp.Compare(a.offset, b.offset))
	})
	w.entries = slices.Compact(w.entries)
	buckets := (len(w.entries) + keysPerBucket - 1) / keysPerBucket
	filled := make([]int, buckets)
	for _, e := range w.entries {
		filled[e.key.BucketOf(buckets)]++
	}
	w.part.Buckets, w.part.BucketBytes = buckets, slices.Max(filled)*published.LookupEntryBytes
	var err error
	if w.part.IndexOffset, err = w.skippable(buckets * w.part.BucketBytes); err != nil {
		return err
	}
	bucket := make([]byte, 0, w.part.BucketBytes)
	left := w.entries
	for n := range filled {
		bucket = bucket[:0]
		for _, e := range left[:filled[n]] {
			bucket = archive.AppendEntry(bucket, e.key, e.offset, e.length)
		}
		left = left[filled[n]:]
		bucket = append(bucket, make([]byte, w.part.BucketBytes-len(bucket))...)
		if _, err := w.file.Write(bucket); err != nil {
			return err
		}
	}
	return nil
}

func (w *lookupWriter) writeFilter() (err error) {
	filter := make([]byte, (len(w.entries)*filterBits+7)/8)
	for _, e := range w.entries {
		for i := range archive.FilterHashes {
			at, mask := e.key.Bit(i, len(filter))
			filter[at] |= mask
		}
	}
	sum := sha256.Sum256(filter)
	w.part.FilterBytes, w.part.FilterSHA256 = len(filter), hex.EncodeToString(sum[:])
	if w.part.FilterOffset, err = w.skippable(len(filter)); err != nil {
		return err
	}
	_, err = w.file.Write(filter)
	return err
}

// skippable begins a skippable frame and returns where its content stands.
func (w *lookupWriter) skippable(size int) (offset int64, err error) {
	const magic = 0x184D2A50
	header := binary.LittleEndian.AppendUint32(nil, magic)
	_, err = w.file.Write(binary.LittleEndian.AppendUint32(header, uint32(size)))
	return w.file.Size(), err
}

// finish puts the last part into the bucket and describes all.
func (w *lookupWriter) finish(ctx context.Context) ([]published.LookupPart, error) {
	if w.file != nil {
		if err := w.endPart(ctx); err != nil {
			return nil, err
		}
	}
	return append([]published.LookupPart{}, w.parts...), nil
}

// close removes the temporary file of an open part.
func (w *lookupWriter) close() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	return file.Close()
}

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
	return e.enter(ctx, &row, x)
}

// enter enters what describes objects beside a published segment into a new version of its row.
func (e *Exporter) enter(ctx context.Context, row *store.SegmentRow, description interface{ Enter(*store.SegmentRow) error }) error {
	// A segment that was withdrawn or has expired meanwhile must not come back by this.
	now, err := e.catalog.LastSegment(ctx, row.Ref())
	if err != nil {
		return err
	}
	if now.State != published.Published || now.ManifestHash != row.ManifestHash {
		return fmt.Errorf("segment %s was withdrawn meanwhile", row.Ref())
	}
	if err := description.Enter(&now); err != nil {
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
