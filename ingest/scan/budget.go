package scan

import (
	"context"
	"sync"
)

// budget bounds the memory of pages that are fetched ahead. Slices are numbered in
// the order of delivery; the one that is due next, the head, is never held back, or
// the others could wait for it for ever with the budget in their hands.
type budget struct {
	limit int64

	mu    sync.Mutex
	used  int64
	head  int64
	freed chan struct{} // closed and replaced whenever waiting may be over
}

func newBudget(limit int64) *budget { return &budget{limit: limit, freed: make(chan struct{})} }

// acquire takes n bytes for slice number seq, or returns the reason why ctx ended.
func (b *budget) acquire(ctx context.Context, seq, n int64) error {
	for {
		b.mu.Lock()
		if seq <= b.head || b.used+n <= b.limit {
			b.used += n
			b.mu.Unlock()
			return nil
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-freed:
		}
	}
}

// release gives n bytes back.
func (b *budget) release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.wake()
}

// advance makes slice number seq the head.
func (b *budget) advance(seq int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.head = seq
	b.wake()
}

func (b *budget) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}
