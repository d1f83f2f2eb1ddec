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
	// maxWait is the least time between two batches of which the second has fewer than
	// stream.MinSize items, unless it is hurried.
	maxWait time.Duration
	hurried bool
	now     func() time.Time

	through schemas.Position
	flushed time.Time // when the last batch was taken

	// storedTimes is the record time of each synchronizer's last update in the batches that were
	// passed on, pendingTimes that in the batch being filled.
	storedTimes, pendingTimes map[string]schemas.Micros
}

// add takes an update. The caller has made sure that there is room.
func (b *batcher) add(u *schemas.Update, size int64) {
	b.Append(schemas.Item{Update: u}, size)
	b.through = u.Position()
	b.pendingTimes[u.SynchronizerID] = u.RecordTime
}

// last is the record time of the last update of a synchronizer, the earliest time if none came
// since the process began.
func (b *batcher) last(synchronizer string) schemas.Micros {
	for _, times := range []map[string]schemas.Micros{b.pendingTimes, b.storedTimes} {
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

// isDue reports whether the batch should be written before another one is begun.
func (b *batcher) isDue() bool {
	wait, some := b.dueIn()
	return some && (wait == 0 || len(b.Items) > 0)
}

// dueIn is how long the batch may still wait for items before it is written as soon as the writer
// is free; false if there is nothing to write.
func (b *batcher) dueIn() (time.Duration, bool) {
	since := b.now().Sub(b.flushed)
	switch n := len(b.Items); {
	case n >= stream.MinSize || n > 0 && b.hurried:
		return 0, true
	case n > 0:
		return max(0, b.maxWait-since), true
	}
	return max(0, b.every-since), b.After.Before(b.through)
}

// batch is the batch being filled.
func (b *batcher) batch() stream.Batch { return b.Batch(b.through) }

// next begins the next batch once the one being filled was passed on.
func (b *batcher) next() {
	b.Next(b.through)
	b.flushed, b.hurried = b.now(), false
	maps.Copy(b.storedTimes, b.pendingTimes)
	clear(b.pendingTimes)
}

// drop forgets what was added since the last batch.
func (b *batcher) drop() {
	b.through = b.After
	b.Next(b.After)
	clear(b.pendingTimes)
}
