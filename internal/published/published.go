package published

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// History says how much history of a stream is held; *history.Reader does. It must be safe
// for concurrent use.
type History interface {
	// Stream names the stream.
	Stream() string
	// Watermark is the position up to which the stream is complete and final.
	Watermark(ctx context.Context) (schemas.Position, error)
	// ContractsWatermark is the position up to which active sets can be read.
	ContractsWatermark(ctx context.Context) (schemas.Position, error)
	// MovementsWatermark is the position up to which movements are derived, schemas.Start for a
	// stream of which none are.
	MovementsWatermark(ctx context.Context) (schemas.Position, error)
	// Migrations sums up what is held, by ascending id.
	Migrations(ctx context.Context) ([]history.Migration, error)
	// NextVerdict is the position of the first verdict after a position and up to another one
	// of the same migration; ok is false if there is none.
	NextVerdict(ctx context.Context, after, through schemas.Position) (at schemas.Position, ok bool, err error)
}

// Config says what a catalogue is about. Fields without a default are required.
type Config struct {
	Tables  Tables
	History History
	// Segments is how much time a segment holds, defaults to schemas.DaySegments. A bucket
	// and its catalogue hold segments of one length: see ErrSegmentLength.
	Segments schemas.SegmentLength
	// Lookups says that segments without lookup objects are due.
	Lookups bool
	// Ahead is how far ahead of Now a segment or folder may end to be closed. 0 means that there
	// is no such limit.
	Ahead time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// cachedManifests is how many decoded manifests a catalogue keeps: decoding is most of the work
// of a lookup, and downloads come back to the same segments.
const cachedManifests = 256

// manifestID names a version of a segment, which never changes.
type manifestID struct {
	ref     schemas.SegmentRef
	version int64
}

func newManifests() *memo.LRU[manifestID, *Manifest] {
	return memo.NewLRU(cachedManifests, func(manifestID, *Manifest) int64 { return 1 })
}

// Catalog says what is published of one stream, and what can be. It is safe for concurrent
// use.
type Catalog struct {
	Tables
	stream    string
	segments  schemas.SegmentLength
	lookups   bool
	closed    *closed
	manifests *memo.LRU[manifestID, *Manifest]
}

// New returns a catalogue. It sends nothing yet.
func New(cfg Config) (*Catalog, error) {
	if cfg.History == nil || cfg.Tables == (Tables{}) {
		return nil, errors.New("the catalogue of published objects needs Tables and History")
	}
	if cfg.Segments == "" {
		cfg.Segments = schemas.DaySegments
	}
	if !slices.Contains(schemas.SegmentLengths[:], cfg.Segments) {
		return nil, fmt.Errorf("segments are of length %s or %s, not %q", schemas.DaySegments, schemas.HourSegments, cfg.Segments)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	stream := cfg.History.Stream()
	return &Catalog{
		Tables: cfg.Tables, stream: stream, segments: cfg.Segments, lookups: cfg.Lookups, manifests: newManifests(),
		closed: &closed{history: cfg.History, stream: stream, length: cfg.Segments, ahead: cfg.Ahead, now: cfg.Now},
	}, nil
}

// Stream names the stream.
func (c *Catalog) Stream() string { return c.stream }

// ManifestOf returns the manifest of a version of a segment. It is shared and must not be
// changed.
func (c *Catalog) ManifestOf(row *store.SegmentRow) (*Manifest, error) {
	id := manifestID{row.Ref(), row.Version}
	if m, ok := c.manifests.Get(id); ok {
		return m, nil
	}
	m, err := DecodeManifest([]byte(row.Manifest))
	if err == nil {
		c.manifests.Put(id, m)
	}
	return m, err
}

// LastSegment returns the latest version of a segment, UnpublishedSegment if there is none.
func (c *Catalog) LastSegment(ctx context.Context, ref schemas.SegmentRef) (store.SegmentRow, error) {
	return last(ctx, c.Segments, ref, UnpublishedSegment)
}

// LastFolder returns the latest version of a folder, UnpublishedFolder if there is none.
func (c *Catalog) LastFolder(ctx context.Context, ref schemas.NetworkRef) (store.NetworkFolderRow, error) {
	return last(ctx, c.Folders, ref, UnpublishedFolder)
}

func last[R, T any](ctx context.Context, rows Rows[R, T], ref R, none func(R) T) (T, error) {
	found, err := rows.Some(ctx, []R{ref})
	if err != nil || len(found) == 0 {
		return none(ref), err
	}
	return found[0], nil
}

// CheckLength returns ErrSegmentLength if a segment has another length.
func (c *Catalog) CheckLength(ref schemas.SegmentRef) error {
	if ref.IsImports() || ref.Length() == c.segments {
		return nil
	}
	return fmt.Errorf("%w: %s exists, but the configured length is %s", ErrSegmentLength, ref, c.segments)
}

// AllSegments returns the latest version of every segment, or ErrSegmentLength.
func (c *Catalog) AllSegments(ctx context.Context) ([]store.SegmentRow, error) {
	rows, err := c.Segments.All(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if err := c.CheckLength(rows[i].Ref()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Keys lists what is in a bucket; *bucket.Client does.
type Keys interface {
	// All walks over the objects whose keys begin with prefix, in the order of their keys.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
}

// CheckSegments returns ErrSegmentLength if the catalogue or the bucket has segments of
// another length. The catalogue need not know what is in the bucket: it may be new.
func (c *Catalog) CheckSegments(ctx context.Context, in Keys) error {
	if _, err := c.AllSegments(ctx); err != nil {
		return err
	}
	for o, err := range in.All(ctx, schemas.ManifestPrefix(c.stream)) {
		if err != nil {
			return fmt.Errorf("looking for segments in the bucket: %w", err)
		}
		ref, ok := schemas.ParseManifestKey(o.Key)
		if !ok || ref.IsImports() {
			continue
		}
		return c.CheckLength(ref) // the others are as this one
	}
	return nil
}
