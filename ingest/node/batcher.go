package node

import (
	"maps"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// batcher gathers updates that arrive in order into batches. The batch being filled
// covers what lies after its beginning and through the offset that was covered last.
type batcher struct {
	stream   string
	maxItems int
	maxBytes int64
	// every is the least time between two batches of which the second has no items.
	every time.Duration
	now   func() time.Time

	after, through schemas.Position
	items          []schemas.Item
	bytes          int64
	checkpoints    int64
	flushed        time.Time // when the last batch was taken

	// reached is the record time of the last update of each synchronizer in the batches that
	// were taken, gathered that in the batch being filled.
	reached, gathered map[string]schemas.Micros
}

// filled is a finished batch with its size on the wire.
type filled struct {
	batch              *schemas.Batch
	bytes, checkpoints int64
}

// room reports whether an item of the given size may be added to the batch.
func (b *batcher) room(size int64) bool {
	return len(b.items) == 0 || len(b.items) < b.maxItems && b.bytes+size <= b.maxBytes
}

// add takes an update. The caller has made sure that there is room.
func (b *batcher) add(u *schemas.Update, size int64) {
	b.items = append(b.items, schemas.Item{Update: u})
	b.bytes += size
	b.through = u.Position()
	b.gathered[u.SynchronizerID] = u.RecordTime
}

// last is the record time of the last update of a synchronizer, the earliest time if none came
// since the process began.
func (b *batcher) last(synchronizer string) schemas.Micros {
	for _, times := range []map[string]schemas.Micros{b.gathered, b.reached} {
		if t, ok := times[synchronizer]; ok {
			return t
		}
	}
	return schemas.MinMicros
}

// cover notes that there is nothing more through p.
func (b *batcher) cover(p schemas.Position) {
	if b.through.Before(p) {
		b.through = p
	}
}

// worth reports whether the batch should be handed over when somebody waits for it.
func (b *batcher) worth() bool {
	if len(b.items) > 0 {
		return true
	}
	return b.after.Before(b.through) && b.now().Sub(b.flushed) >= b.every
}

// batch is what has been gathered.
func (b *batcher) batch() filled {
	return filled{
		batch: &schemas.Batch{Stream: b.stream, After: b.after, Through: b.through, Items: b.items},
		bytes: b.bytes, checkpoints: b.checkpoints,
	}
}

// taken begins the next batch after the one that was gathered was handed over.
func (b *batcher) taken() {
	b.after, b.items, b.bytes, b.checkpoints = b.through, make([]schemas.Item, 0, min(b.maxItems, len(b.items))), 0, 0
	b.flushed = b.now()
	maps.Copy(b.reached, b.gathered)
	clear(b.gathered)
}

// drop forgets what was gathered since the last batch.
func (b *batcher) drop() {
	b.through, b.items, b.bytes, b.checkpoints = b.after, nil, 0, 0
	clear(b.gathered)
}
