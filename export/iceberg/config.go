package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Objects is the bucket; *bucket.Client is one. Its errors are those of that package.
type Objects interface {
	// Put stores body under key and replaces what is there.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	// PutIfAbsent is Put for a new key, which of several writers one makes; the others get
	// bucket.ErrExists.
	PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	// Get opens an object, or returns bucket.ErrNotFound.
	Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error)
	// All walks over the objects whose keys begin with prefix, in the order of their keys.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// URL names an object to readers of tables, such as "s3://lake/updates/v1/..".
	URL(key string) string
}

// Segment is one published content of a segment.
type Segment struct {
	Ref schemas.SegmentRef
	// Content tells the contents of a segment apart that was published several times: the
	// SHA-256 of its manifest in hex.
	Content string
	// Derived does so for its derived tables; "" while it has none.
	Derived string
	// Version grows each time the segment is withdrawn or published.
	Version int64
}

// File is one Parquet object of a segment.
type File struct {
	Key         string
	Bytes, Rows int64
	// First and Last are the sort keys of the first and the last row.
	First, Last schemas.RowKey
}

// Catalog says what is published. It must be safe for concurrent use.
type Catalog interface {
	// Segments lists what is published now, each segment once.
	Segments(ctx context.Context) ([]Segment, error)
	// Files lists the objects of a table for each of some segments, none where the table has
	// no rows. It returns ErrChanged if one of them is not published with that content any more.
	Files(ctx context.Context, table schemas.ParquetTable, segments []Segment) ([][]File, error)
}

// ErrChanged means that what is published changed while it was being read.
var ErrChanged = errors.New("the published objects have changed meanwhile")

// Config says where tables are. Fields without a default are required.
type Config struct {
	Stream  string
	Objects Objects
	Catalog Catalog
	Log     *slog.Logger
	// Now defaults to time.Now. It stands in the metadata.
	Now func() time.Time
	// Snapshots is how many snapshots a table keeps at most, and versions of its metadata.
	// Defaults to 20.
	Snapshots int
}

func (c *Config) setDefaults() error {
	if c.Stream == "" || c.Objects == nil || c.Catalog == nil || c.Log == nil {
		return errors.New("iceberg: Stream, Objects, Catalog and Log are all required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Snapshots = cmp.Or(c.Snapshots, 20)
	if c.Snapshots < 0 {
		return fmt.Errorf("iceberg: cannot keep %d snapshots", c.Snapshots)
	}
	return nil
}
