package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/internal/published"
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
	// Catalog says what is published, and what can be, of the source's stream.
	Catalog *published.Catalog
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
	// Workers is how many groups of tables are written at once, of all segments that are
	// being exported: each holds a row group in memory. As many columns of a row group are
	// compressed at once. Defaults to 2. It does not change what is written.
	Workers int
	// PageRows is how many updates, verdicts or contracts are read from the source at
	// once. Defaults to 1000. It does not change what is written.
	PageRows int
	// Iceberg is the bucket of Objects once more, in which the metadata of Iceberg tables over
	// the published segments are kept: see package iceberg. nil keeps none.
	Iceberg iceberg.Objects
	// Layout cuts tables into row groups and parts. It defaults to DefaultLayout, and
	// anything else makes objects that do not compare with those of other operators:
	// it is for tests.
	Layout published.Layout
	// NetworkCut cuts objects in the network's layout. It defaults to DefaultNetworkCut, and
	// anything else is for tests.
	NetworkCut network.Cut
	// Agree is how many of Peers must have made the same objects before any of a segment or
	// folder is published. 0 publishes without asking.
	Agree int
	Peers []Peer
	// Values converts contract values into the encodings of the network's layout.
	// Defaults to values.Default().
	Values *values.Catalog
}

func (c *Config) setDefaults() error {
	if c.Source == nil || c.Catalog == nil || c.Objects == nil || c.Log == nil {
		return errors.New("export: Source, Catalog, Objects and Log are all required")
	}
	c.TempDir = cmp.Or(c.TempDir, os.TempDir())
	c.Workers = cmp.Or(c.Workers, 2)
	c.PageRows = cmp.Or(c.PageRows, 1000)
	c.Layout = cmp.Or(c.Layout, published.DefaultLayout)
	c.NetworkCut = cmp.Or(c.NetworkCut, network.DefaultCut)
	c.Values = cmp.Or(c.Values, values.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Whole == nil {
		c.Whole = func(context.Context) error { return nil }
	}
	if c.Agree < 0 || c.Agree > len(c.Peers) {
		return fmt.Errorf("export: %d of %d peers cannot agree", c.Agree, len(c.Peers))
	}
	if c.Workers < 0 || c.PageRows < 0 || c.Layout.RowsPerGroup <= 0 || c.Layout.BytesPerGroup <= 0 || c.Layout.GroupsPerPart <= 0 {
		return fmt.Errorf("export: workers %d, page rows %d and layout %+v must be positive", c.Workers, c.PageRows, c.Layout)
	}
	return nil
}
