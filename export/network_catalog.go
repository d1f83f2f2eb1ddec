package export

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/network_folders.sql
	networkFoldersQuery string
	//go:embed sql/network_folder.sql
	networkFolderQuery string
	//go:embed sql/network_folders_by_ref.sql
	networkFoldersByRefQuery string
	//go:embed sql/insert_network_folder.sql
	insertNetworkFolder string
)

// networkRow is a row of table network_folders.
type networkRow struct {
	Stream  string `ch:"stream"`
	Kind    string `ch:"kind"`
	Start   int64  `ch:"start_time"`
	End     int64  `ch:"end_time"`
	Version int64  `ch:"version"`
	State   string `ch:"state"`
	Objects string `ch:"objects"`
	Count   int64  `ch:"object_count"`
	Rows    int64  `ch:"total_rows"`
	Bytes   int64  `ch:"total_bytes"`
}

func (r *networkRow) ref() schemas.NetworkRef {
	return schemas.NetworkRef{
		Stream: r.Stream, Kind: schemas.NetworkKind(r.Kind), Start: schemas.Micros(r.Start), End: schemas.Micros(r.End),
	}
}

// lines returns what the row's objects hold, by encoding.
func (r *networkRow) lines() ([]NetworkLines, error) {
	if r.Objects == "" {
		return nil, nil
	}
	var lines []NetworkLines
	if err := json.Unmarshal([]byte(r.Objects), &lines); err != nil {
		return nil, fmt.Errorf("decoding the objects of %s: %w", r.ref(), err)
	}
	return lines, nil
}

// newNetworkRow returns a row of version 0 that stands for what was never published.
func newNetworkRow(ref schemas.NetworkRef) networkRow {
	return networkRow{Stream: ref.Stream, Kind: string(ref.Kind), Start: int64(ref.Start), End: int64(ref.End), State: withdrawn}
}

func networkRowOf(ref schemas.NetworkRef, lines []NetworkLines, state string, version int64) (networkRow, error) {
	row := newNetworkRow(ref)
	encoded, err := json.Marshal(lines)
	if err != nil {
		return row, fmt.Errorf("encoding the objects of %s: %w", ref, err)
	}
	row.Version, row.State, row.Objects = version, state, string(encoded)
	for i := range lines {
		row.Rows += lines[i].Rows
		for _, o := range lines[i].Objects {
			row.Count++
			row.Bytes += o.Bytes
		}
	}
	return row, nil
}

// networkCatalog says what is published in the network's layout.
type networkCatalog interface {
	// all returns the latest row of every kind and folder by (start, kind), without the
	// objects.
	all(ctx context.Context) ([]networkRow, error)
	// some returns the latest rows of the given references, by (start, kind). Those without
	// a row are left out.
	some(ctx context.Context, refs []schemas.NetworkRef) ([]networkRow, error)
	// last returns the latest row of a reference, or a withdrawn one of version 0.
	last(ctx context.Context, ref schemas.NetworkRef) (networkRow, error)
	// append adds a row. Repeating it is harmless: equal rows count as one.
	append(ctx context.Context, row networkRow) error
}

// storeNetworkCatalog is the stream's part of table network_folders.
type storeNetworkCatalog struct {
	conn   driver.Conn
	stream string
}

func (c storeNetworkCatalog) all(ctx context.Context) ([]networkRow, error) {
	return c.query(ctx, networkFoldersQuery, clickhouse.Parameters{"stream": c.stream})
}

func (c storeNetworkCatalog) some(ctx context.Context, refs []schemas.NetworkRef) ([]networkRow, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	kinds, starts, ends := make([]string, len(refs)), make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		if err := ref.Check(); err != nil { // a kind of another form could end the array
			return nil, err
		}
		kinds[i] = "'" + string(ref.Kind) + "'"
		starts[i], ends[i] = strconv.FormatInt(int64(ref.Start), 10), strconv.FormatInt(int64(ref.End), 10)
	}
	array := func(list []string) string { return "[" + strings.Join(list, ",") + "]" }
	return c.query(ctx, networkFoldersByRefQuery, clickhouse.Parameters{
		"stream": c.stream, "kinds": array(kinds), "starts": array(starts), "ends": array(ends),
	})
}

func (c storeNetworkCatalog) last(ctx context.Context, ref schemas.NetworkRef) (networkRow, error) {
	rows, err := c.query(ctx, networkFolderQuery, clickhouse.Parameters{
		"stream": c.stream, "kind": string(ref.Kind), "start": fmt.Sprint(int64(ref.Start)), "end": fmt.Sprint(int64(ref.End)),
	})
	if err != nil || len(rows) == 0 {
		return newNetworkRow(ref), err
	}
	return rows[0], nil
}

func (c storeNetworkCatalog) query(ctx context.Context, query string, params clickhouse.Parameters) ([]networkRow, error) {
	rows, err := selectRows[networkRow](ctx, c.conn, query, params)
	if err != nil {
		return nil, fmt.Errorf("reading what is published of %s in the network's layout: %w", c.stream, err)
	}
	return rows, nil
}

func (c storeNetworkCatalog) append(ctx context.Context, row networkRow) error {
	return appendRow(ctx, c.conn, insertNetworkFolder, &row, row.ref())
}
