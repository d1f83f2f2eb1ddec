package export

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/segments.sql
	segmentsQuery string
	//go:embed sql/segment.sql
	segmentQuery string
	//go:embed sql/segments_between.sql
	segmentsBetweenQuery string
	//go:embed sql/segments_by_ref.sql
	segmentsByRefQuery string
	//go:embed sql/insert_segment.sql
	insertSegment string
)

// States of a segment in the catalog, as in table segments.
const (
	withdrawn = "withdrawn"
	published = "published"
	// staged is a segment whose objects are written and wait for peers to agree.
	staged = "staged"
	// expired is a segment whose objects were removed because of their age.
	expired = "expired"
)

// segmentRow is a row of table segments.
type segmentRow struct {
	Stream       string `ch:"stream"`
	MigrationID  int64  `ch:"migration_id"`
	Date         string `ch:"segment_date"`
	Version      int64  `ch:"version"`
	State        string `ch:"state"`
	Start        int64  `ch:"start_time"`
	End          int64  `ch:"end_time"`
	ManifestKey  string `ch:"manifest_key"`
	ManifestHash string `ch:"manifest_sha256"`
	Manifest     string `ch:"manifest"`
	Objects      int64  `ch:"object_count"`
	Rows         int64  `ch:"total_rows"`
	Bytes        int64  `ch:"total_bytes"`
	// Root is the manifest's, and Link the segment's link in the chain, "" while it has none.
	Root string `ch:"root"`
	Link string `ch:"chain_link"`
	// LookupIndex is the content of the segment's LookupIndexKey and LookupObjects the number
	// of objects that it names, with itself; "" and 0 if the segment has no lookup objects.
	LookupIndex   string `ch:"lookup_index"`
	LookupObjects int64  `ch:"lookup_objects"`
}

// chained reports whether the segment has its place in the chain: it is published, or it was
// and has expired.
func (r *segmentRow) chained() bool {
	return r.State == published || r.State == expired && r.ManifestHash != ""
}

func (r *segmentRow) ref() schemas.SegmentRef {
	return schemas.SegmentRef{Stream: r.Stream, MigrationID: r.MigrationID, Date: r.Date}
}

// unpublishedRow stands for a segment that was never published.
func unpublishedRow(ref schemas.SegmentRef) segmentRow {
	start, end, _ := ref.Bounds() // whoever asks has checked the reference
	return segmentRow{
		Stream: ref.Stream, MigrationID: ref.MigrationID, Date: ref.Date, State: withdrawn,
		Start: int64(start), End: int64(end), ManifestKey: schemas.ManifestKey(ref),
	}
}

// segmentRowOf returns the row of a segment in a state. sum is that of the manifest's bytes.
func segmentRowOf(m *Manifest, sum [32]byte, state string, version int64) (segmentRow, error) {
	data, err := m.encode()
	if err != nil {
		return segmentRow{}, err
	}
	start, end, err := m.Ref().Bounds()
	if err != nil {
		return segmentRow{}, err
	}
	row := segmentRow{
		Stream: m.Stream, MigrationID: m.MigrationID, Date: m.Date, Version: version, State: state,
		Start: int64(start), End: int64(end), ManifestKey: schemas.ManifestKey(m.Ref()),
		ManifestHash: hex.EncodeToString(sum[:]), Manifest: string(data), Root: m.Root,
	}
	for _, t := range m.Tables {
		row.Rows += t.Rows
	}
	for _, p := range m.parts() {
		row.Objects++
		row.Bytes += p.Bytes
	}
	return row, nil
}

// catalog says which segments of a stream are published.
type catalog interface {
	// all returns the latest row of every segment, by migration and day, without
	// the manifests and lookup indexes.
	all(ctx context.Context) ([]segmentRow, error)
	// between returns the published segments that overlap the record times after from
	// and up to to, by migration and day.
	between(ctx context.Context, from, to schemas.Micros) ([]segmentRow, error)
	// some returns the latest rows of the given segments, at least one, by migration
	// and day. Segments without a row are left out.
	some(ctx context.Context, refs []schemas.SegmentRef) ([]segmentRow, error)
	// last returns the latest row of a segment, or a withdrawn one of version 0 if
	// there is none.
	last(ctx context.Context, ref schemas.SegmentRef) (segmentRow, error)
	// append adds a row. Repeating it is harmless: equal rows count as one.
	append(ctx context.Context, row segmentRow) error
}

// storeCatalog is the stream's part of table segments.
type storeCatalog struct {
	conn   driver.Conn
	stream string
}

func (c storeCatalog) all(ctx context.Context) ([]segmentRow, error) {
	return c.query(ctx, segmentsQuery, clickhouse.Parameters{"stream": c.stream})
}

func (c storeCatalog) between(ctx context.Context, from, to schemas.Micros) ([]segmentRow, error) {
	return c.query(ctx, segmentsBetweenQuery, clickhouse.Parameters{
		"stream": c.stream, "from": fmt.Sprint(int64(from)), "to": fmt.Sprint(int64(to)),
	})
}

func (c storeCatalog) some(ctx context.Context, refs []schemas.SegmentRef) ([]segmentRow, error) {
	migrations, dates := make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		if err := ref.Check(); err != nil { // a date of another form could end the array
			return nil, err
		}
		migrations[i], dates[i] = strconv.FormatInt(ref.MigrationID, 10), "'"+ref.Date+"'"
	}
	return c.query(ctx, segmentsByRefQuery, clickhouse.Parameters{
		"stream": c.stream, "migrations": "[" + strings.Join(migrations, ",") + "]", "dates": "[" + strings.Join(dates, ",") + "]",
	})
}

func (c storeCatalog) last(ctx context.Context, ref schemas.SegmentRef) (segmentRow, error) {
	rows, err := c.query(ctx, segmentQuery, clickhouse.Parameters{
		"stream": c.stream, "migration": fmt.Sprint(ref.MigrationID), "date": ref.Date,
	})
	if err != nil || len(rows) == 0 {
		return unpublishedRow(ref), err
	}
	return rows[0], nil
}

func (c storeCatalog) query(ctx context.Context, query string, params clickhouse.Parameters) ([]segmentRow, error) {
	rows, err := selectRows[segmentRow](ctx, c.conn, query, params)
	if err != nil {
		return nil, fmt.Errorf("reading the exported segments of %s: %w", c.stream, err)
	}
	return rows, nil
}

func (c storeCatalog) append(ctx context.Context, row segmentRow) error {
	return appendRow(ctx, c.conn, insertSegment, &row, row.ref())
}

// selectRows reads what a query over the catalogs finds.
func selectRows[T any](ctx context.Context, conn driver.Conn, query string, params clickhouse.Parameters) (rows []T, err error) {
	err = conn.Select(clickhouse.Context(ctx, clickhouse.WithParameters(params)), &rows, query)
	return rows, err
}

// appendRow inserts one row, which is a pointer to a struct, into a catalog. what names it
// in errors.
func appendRow(ctx context.Context, conn driver.Conn, insert string, row any, what fmt.Stringer) error {
	// The row must be there when the call returns, whatever the server's default.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
	batch, err := conn.PrepareBatch(ctx, insert)
	if err != nil {
		return fmt.Errorf("preparing the row of %s: %w", what, err)
	}
	if err := batch.AppendStruct(row); err != nil {
		return fmt.Errorf("encoding the row of %s: %w", what, err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("inserting the row of %s: %w", what, err)
	}
	return nil
}
