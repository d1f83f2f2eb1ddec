package scan

import (
	"context"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBatchesKeepTheirBounds(t *testing.T) {
	items := largeHistory(100).items
	size := wireSize(&items[0])
	for name, c := range map[string]struct {
		maxItems int
		maxBytes int64
		most     int
		batches  int
	}{
		"by items":                      {30, 1 << 40, 30, 4},
		"by bytes":                      {1000, 10*size + size/2, 10, 10},
		"an item larger than the bound": {1000, 1, 1, 100},
	} {
		out := make(chan filled, 200)
		b := &batcher{Batcher: stream.Batcher{Stream: "s", MaxItems: c.maxItems, MaxBytes: c.maxBytes, After: schemas.Start}, out: out}
		for from := 0; from < len(items); from += 7 {
			if err := b.add(context.Background(), part{chunk: chunk{items: items[from:min(from+7, len(items))]}, cost: 5}); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		close(out)
		count, batches, cost, after := 0, 0, int64(0), schemas.Start
		for f := range out {
			if f.After != after || f.Through != f.Items[len(f.Items)-1].Position() || len(f.Items) > c.most {
				t.Errorf("%s: %d items after %s through %s", name, len(f.Items), f.After, f.Through)
			}
			count, batches, cost, after = count+len(f.Items), batches+1, cost+f.cost, f.Through
		}
		if count != len(items) || batches != c.batches || cost != 5*15 {
			t.Errorf("%s: %d items in %d batches with cost %d, want %d in %d with 75", name, count, batches, cost, len(items), c.batches)
		}
	}
}

func TestWireSizeIsAboutRight(t *testing.T) {
	for i, it := range append(largeHistory(20).items, generate(0, -1, 50, 200).items...) {
		got, want := wireSize(&it), int64(len(schemas.AppendItem(nil, &it)))
		if got < want*6/10 || got > want*14/10 {
			t.Errorf("item %d takes %d bytes on the wire, estimated %d", i, want, got)
		}
	}
}
