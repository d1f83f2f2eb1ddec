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

// memoryNetworkCatalog is a networkCatalog that passes the same tests as the one in the store.
type memoryNetworkCatalog struct {
	mu   sync.Mutex
	rows []networkRow
}

func (c *memoryNetworkCatalog) append(_ context.Context, row networkRow) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, row)
	return nil
}

func (c *memoryNetworkCatalog) latest() []networkRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	byRef := make(map[schemas.NetworkRef]networkRow)
	for _, row := range c.rows {
		if row.Version >= byRef[row.ref()].Version {
			byRef[row.ref()] = row
		}
	}
	var rows []networkRow
	for _, row := range byRef {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b networkRow) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Kind, b.Kind))
	})
	return rows
}

func (c *memoryNetworkCatalog) all(context.Context) ([]networkRow, error) {
	rows := c.latest()
	for i := range rows {
		rows[i].Objects = ""
	}
	return rows, nil
}

func (c *memoryNetworkCatalog) some(_ context.Context, refs []schemas.NetworkRef) ([]networkRow, error) {
	return slices.DeleteFunc(c.latest(), func(r networkRow) bool { return !slices.Contains(refs, r.ref()) }), nil
}

func (c *memoryNetworkCatalog) last(_ context.Context, ref schemas.NetworkRef) (networkRow, error) {
	for _, row := range c.latest() {
		if row.ref() == ref {
			return row, nil
		}
	}
	return newNetworkRow(ref), nil
}

func TestMemoryNetworkCatalog(t *testing.T) { testNetworkCatalog(t, &memoryNetworkCatalog{}) }

// testNetworkCatalog is the contract of a catalog that is empty for stream scan.
func testNetworkCatalog(t *testing.T, c networkCatalog) {
	ctx := t.Context()
	second, third := micros("2026-07-02T00:00:00Z"), micros("2026-07-03T00:00:00Z")
	first := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: schemas.MinMicros, End: second}
	set := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkACS, Start: second, End: third}
	next := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkUpdates, Start: second, End: third}
	row := func(ref schemas.NetworkRef, version int64, state string) networkRow {
		r := newNetworkRow(ref)
		r.Version, r.State, r.Objects = version, state, `[{"ä":"'\\"}]`
		r.Count, r.Rows, r.Bytes = 1, 1<<40, 1<<41
		return r
	}
	if none, err := c.last(ctx, set); err != nil || none != newNetworkRow(set) {
		t.Fatalf("without rows there is %+v, %v", none, err)
	}
	if none, err := c.some(ctx, nil); err != nil || len(none) > 0 {
		t.Fatalf("of no references there is %+v, %v", none, err)
	}
	rows := []networkRow{
		row(next, 1, published), row(set, 1, published), row(set, 1, published), // doubled by a repeat
		row(set, 2, withdrawn), row(first, 1, published),
	}
	for _, r := range rows {
		if err := c.append(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := c.last(ctx, set); err != nil || last != rows[3] {
		t.Errorf("the latest row is %+v, %v; want %+v", last, err, rows[3])
	}
	bare := func(r networkRow) networkRow { r.Objects = ""; return r }
	if all, err := c.all(ctx); err != nil || !slices.Equal(all, []networkRow{bare(rows[4]), bare(rows[3]), bare(rows[0])}) {
		t.Errorf("all gives %+v, %v", all, err)
	}
	never := schemas.NetworkRef{Stream: "scan", Kind: schemas.NetworkACS, Start: third, End: third + day}
	if some, err := c.some(ctx, []schemas.NetworkRef{next, never, set, next}); err != nil || !slices.Equal(some, []networkRow{rows[3], rows[0]}) {
		t.Errorf("some gives %+v, %v", some, err)
	}
}
