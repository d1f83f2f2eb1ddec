package export

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// memoryCatalog is a catalog that passes the same tests as the one in the store.
type memoryCatalog struct {
	mu   sync.Mutex
	rows []segmentRow
}

func (c *memoryCatalog) append(_ context.Context, row segmentRow) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, row)
	return nil
}

func (c *memoryCatalog) latest() []segmentRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	byRef := make(map[schemas.SegmentRef]segmentRow)
	for _, row := range c.rows {
		if row.Version >= byRef[row.ref()].Version {
			byRef[row.ref()] = row
		}
	}
	var rows []segmentRow
	for _, row := range byRef {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b segmentRow) int {
		return cmp.Or(cmp.Compare(a.MigrationID, b.MigrationID), strings.Compare(a.Date, b.Date))
	})
	return rows
}

func (c *memoryCatalog) all(context.Context) ([]segmentRow, error) {
	rows := c.latest()
	for i := range rows {
		rows[i].Manifest, rows[i].LookupIndex = "", ""
	}
	return rows, nil
}

func (c *memoryCatalog) between(_ context.Context, from, to schemas.Micros) ([]segmentRow, error) {
	return slices.DeleteFunc(c.latest(), func(r segmentRow) bool {
		return r.State != published || r.Start >= int64(to) || r.End <= int64(from)
	}), nil
}

func (c *memoryCatalog) some(_ context.Context, refs []schemas.SegmentRef) ([]segmentRow, error) {
	return slices.DeleteFunc(c.latest(), func(r segmentRow) bool { return !slices.Contains(refs, r.ref()) }), nil
}

func (c *memoryCatalog) last(_ context.Context, ref schemas.SegmentRef) (segmentRow, error) {
	for _, row := range c.latest() {
		if row.ref() == ref {
			return row, nil
		}
	}
	return unpublishedRow(ref), nil
}

func TestMemoryCatalog(t *testing.T) { testCatalog(t, &memoryCatalog{}) }

// testCatalog is the contract of a catalog that is empty for stream scan.
func testCatalog(t *testing.T, c catalog) {
	ctx := t.Context()
	monday := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-06-29"}
	row := func(ref schemas.SegmentRef, version int64, state string) segmentRow {
		r := unpublishedRow(ref)
		r.Version, r.State, r.Manifest = version, state, `{"ä":"'\\"}`
		r.ManifestHash, r.Objects, r.Rows, r.Bytes = "abc", 1, 1<<40, 1<<41
		r.Root, r.Link, r.LookupIndex, r.LookupObjects = "ab", "cd", `{"ü":1}`, 3
		return r
	}
	none, err := c.last(ctx, monday)
	if err != nil || none != unpublishedRow(monday) {
		t.Fatalf("a segment without rows gives %+v, %v", none, err)
	}
	tuesday := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-06-30"}
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	rows := []segmentRow{
		row(tuesday, 1, published), row(monday, 1, published), row(monday, 1, published), // doubled by a repeat
		row(monday, 2, withdrawn), row(imports, 1, published),
	}
	for _, r := range rows {
		if err := c.append(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := c.last(ctx, monday); err != nil || last != rows[3] {
		t.Errorf("the latest row is %+v, %v; want %+v", last, err, rows[3])
	}
	bare := func(r segmentRow) segmentRow { r.Manifest, r.LookupIndex = "", ""; return r }
	if all, err := c.all(ctx); err != nil || !slices.Equal(all, []segmentRow{bare(rows[4]), bare(rows[3]), bare(rows[0])}) {
		t.Errorf("all gives %+v, %v", all, err)
	}
	never := schemas.SegmentRef{Stream: "scan", MigrationID: 2, Date: "2026-06-30"}
	if some, err := c.some(ctx, []schemas.SegmentRef{tuesday, never, imports, monday, tuesday}); err != nil || !slices.Equal(some, []segmentRow{rows[4], rows[3], rows[0]}) {
		t.Errorf("some gives %+v, %v", some, err)
	}
	start, end, err := tuesday.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		from, to schemas.Micros
		want     []segmentRow
	}{
		{"all", schemas.MinMicros - 1, schemas.MaxMicros, []segmentRow{rows[4], rows[0]}},
		{"a withdrawn segment is not listed", start - day, start, nil},
		{"the end is included", end - 1, end, []segmentRow{rows[0]}},
		{"after the end", end, end + day, nil},
		{"the start is excluded", start - 5, start, nil},
		{"just after the start", start, start + 1, []segmentRow{rows[0]}},
	} {
		got, err := c.between(ctx, tt.from, tt.to)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: between %s and %s: got %+v, %v; want %+v", tt.name, tt.from, tt.to, got, err, tt.want)
		}
	}
}
