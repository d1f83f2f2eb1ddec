package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Config says what to export and where to. All fields without a default are required.
type Config struct {
	// Whole, if set, returns an error unless the store has all rows of history, as far as can be
	// told quickly. It is asked before anything is read to be published and again before what was
	// written of it is: a part of a table may be lost meanwhile.
	Whole func(ctx context.Context) error
	// Source is the history to export.
	Source Source
	// Conn reaches the store's tables segments and network_folders.
	Conn driver.Conn
	// Objects is the bucket that is exported to.
	Objects Objects
	// TempDir holds objects on their way to and from the bucket: at most one part
	// per table and worker. Defaults to os.TempDir().
	TempDir string
	// Log is required.
	Log *slog.Logger
	// Now defaults to time.Now. It shows in the log and in the metadata of Iceberg tables, and
	// says how old objects are.
	Now func() time.Time
	// Ahead is how far ahead of Now a segment or folder may end to be closed. 0 means that there
	// is no such limit.
	Ahead time.Duration
	// Workers is how many groups of tables are written at once, of all segments that are
	// being exported: each holds a row group in memory. As many columns of a row group are
	// compressed at once. Defaults to 2. It does not change what is written.
	Workers int
	// PageRows is how many updates, verdicts or contracts are read from the source at
	// once. Defaults to 1000. It does not change what is written.
	PageRows int
	// BatchItems bounds the batches of a restore. Defaults to 4096.
	BatchItems int
	// Segments is how much time a segment holds, defaults to schemas.DaySegments. A bucket
	// and its catalog hold segments of one length: see ErrSegmentLength.
	Segments schemas.SegmentLength
	// Lookups adds lookup objects to the segments, also to those that are published already:
	// see lookup.go. They are beside the segment: its manifest is the same with and without.
	Lookups bool
	// Iceberg is the bucket of Objects once more, in which the metadata of Iceberg tables over
	// the published segments are kept: see package iceberg. nil keeps none.
	Iceberg iceberg.Objects
	// Layout cuts tables into row groups and parts. It defaults to DefaultLayout, and
	// anything else makes objects that do not compare with those of other operators:
	// it is for tests.
	Layout Layout
	// NetworkCut cuts objects in the network's layout. It defaults to DefaultNetworkCut, and
	// anything else is for tests.
	NetworkCut NetworkCut
	// Agree is how many of Peers must have made the same objects before any of a segment or
	// folder is published. 0 publishes without asking.
	Agree int
	Peers []Peer
	// Catalog converts contract values into the encodings of the network's layout.
	// Defaults to values.Default().
	Catalog *values.Catalog
}

// Layout cuts the rows of a table into row groups and parts. It looks at nothing but
// the rows, so that the cuts are the same everywhere.
type Layout struct {
	// A row group is closed by the row with which it holds RowsPerGroup rows or
	// BytesPerGroup bytes before encoding, whichever comes first.
	RowsPerGroup  int `json:"rows_per_group"`
	BytesPerGroup int `json:"bytes_per_group"`
	// GroupsPerPart is the number of row groups of a part, but for the last part.
	GroupsPerPart int `json:"groups_per_part"`
}

// DefaultLayout belongs to the format version: it may change only with that.
//
// 64 MiB before encoding make about 10 MiB in the file, which a reader can fetch in
// one request, and bound the writer's memory; 16 of them make a part of at most
// about 200 MiB, which uploads in one go.
var DefaultLayout = Layout{RowsPerGroup: 128 << 10, BytesPerGroup: 64 << 20, GroupsPerPart: 16}

func (c *Config) setDefaults() error {
	if c.Source == nil || c.Conn == nil || c.Objects == nil || c.Log == nil {
		return errors.New("export: Source, Conn, Objects and Log are all required")
	}
	if c.TempDir == "" {
		c.TempDir = os.TempDir()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Whole == nil {
		c.Whole = func(context.Context) error { return nil }
	}
	if c.Workers == 0 {
		c.Workers = 2
	}
	if c.PageRows == 0 {
		c.PageRows = 1000
	}
	if c.BatchItems == 0 {
		c.BatchItems = 4096
	}
	if c.Layout == (Layout{}) {
		c.Layout = DefaultLayout
	}
	if c.NetworkCut == (NetworkCut{}) {
		c.NetworkCut = DefaultNetworkCut
	}
	if c.Catalog == nil {
		c.Catalog = values.Default()
	}
	if c.Segments == "" {
		c.Segments = schemas.DaySegments
	}
	if !slices.Contains(schemas.SegmentLengths[:], c.Segments) {
		return fmt.Errorf("export: segments are of length %s or %s, not %q", schemas.DaySegments, schemas.HourSegments, c.Segments)
	}
	if c.Agree < 0 || c.Agree > len(c.Peers) {
		return fmt.Errorf("export: %d of %d peers cannot agree", c.Agree, len(c.Peers))
	}
	if c.Workers < 0 || c.PageRows < 0 || c.BatchItems < 0 || c.Layout.RowsPerGroup <= 0 || c.Layout.BytesPerGroup <= 0 || c.Layout.GroupsPerPart <= 0 {
		return fmt.Errorf("export: workers %d, page rows %d, batch items %d and layout %+v must be positive", c.Workers, c.PageRows, c.BatchItems, c.Layout)
	}
	return nil
}
