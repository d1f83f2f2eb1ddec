package node

import (
	"maps"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// batcher cuts updates that arrive in order into batches. The batch being filled
// covers what lies after its beginning and through the offset that was covered last.
type batcher struct {
	stream.Batcher
	// every is the least time between two batches of which the second has no items.
	every time.Duration
	now   func() time.Time

	through schemas.Position
	flushed time.Time // when the last batch was taken

	// reached is the record time of the last update of each synchronizer in the batches that
	// were taken, gathered that in the batch being filled.
	reached, gathered map[string]schemas.Micros
}

// add takes an update. The caller has made sure that there is room.
func (b *batcher) add(u *schemas.Update, size int64) {
	b.Append(schemas.Item{Update: u}, size)
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
	if len(b.Items) > 0 {
		return true
	}
	return b.After.Before(b.through) && b.now().Sub(b.flushed) >= b.every
}

// batch is what has been gathered.
func (b *batcher) batch() stream.Batch { return b.Batch(b.through) }

// taken begins the next batch after the one that was gathered was handed over.
func (b *batcher) taken() {
	b.Next(b.through)
	b.flushed = b.now()
	maps.Copy(b.reached, b.gathered)
	clear(b.gathered)
}

// drop forgets what was gathered since the last batch.
func (b *batcher) drop() {
	b.through = b.After
	b.Next(b.After)
	clear(b.gathered)
}
