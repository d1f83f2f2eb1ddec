package stream

import "github.com/ledgerlake/ledgerlake/schemas"

// Batch is a batch to be written and its size in bytes on the wire, which may be an
// estimate.
type Batch struct {
	*schemas.Batch
	Bytes int64
}

// Batcher cuts items that arrive in order into batches. Its fields before After are set
// once.
type Batcher struct {
	Stream   string
	MaxItems int
	MaxBytes int64

	// After is where the batch being filled begins, exclusive.
	After schemas.Position
	// Items are those of the batch being filled, of Bytes bytes.
	Items []schemas.Item
	Bytes int64
}

// HasRoom reports whether an item of the given size fits into the batch being filled.
// Any item fits into an empty one.
func (b *Batcher) HasRoom(size int64) bool {
	return len(b.Items) == 0 || len(b.Items) < b.MaxItems && b.Bytes+size <= b.MaxBytes
}

// Append adds an item, for which the caller has made sure that there is room.
func (b *Batcher) Append(it schemas.Item, size int64) {
	b.Items = append(b.Items, it)
	b.Bytes += size
}

// Batch is the batch being filled, as one that ends at through.
func (b *Batcher) Batch(through schemas.Position) Batch {
	return Batch{&schemas.Batch{Stream: b.Stream, After: b.After, Through: through, Items: b.Items}, b.Bytes}
}

// Next starts the batch that follows the position after.
func (b *Batcher) Next(after schemas.Position) {
	b.After, b.Items, b.Bytes = after, make([]schemas.Item, 0, min(b.MaxItems, len(b.Items))), 0
}
