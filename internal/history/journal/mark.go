package journal

import (
	"context"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Mark reads the watermark of a stream and remembers the highest one that it has read: history
// up to it does not change. It is safe for concurrent use.
type Mark struct {
	db     *store.DB
	stream string
	passed atomic.Pointer[schemas.Position]
}

// NewMark returns the mark of a stream.
func NewMark(db *store.DB, stream string) *Mark { return &Mark{db: db, stream: stream} }

// Read is Watermark of the stream.
func (m *Mark) Read(ctx context.Context) (schemas.Position, error) {
	watermark, err := Watermark(ctx, m.db, m.stream)
	for err == nil {
		known := m.passed.Load()
		if known != nil && !known.Before(watermark) || m.passed.CompareAndSwap(known, &watermark) {
			break
		}
	}
	return watermark, err
}

// Passed returns the highest watermark that was read, nil before the first.
func (m *Mark) Passed() *schemas.Position { return m.passed.Load() }
