package scan

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/internal/ingesttest"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// memorySink keeps what it is given and checks that batches join.
type memorySink struct {
	mu      sync.Mutex
	resume  schemas.Resume
	at      schemas.Position
	batches []schemas.Batch
	lines   []string
	busy    bool
	// fail, when set, may fail a write before it is applied.
	fail func(b *schemas.Batch) error
	// forget drops the items once they are counted, for tests of memory and speed.
	forget bool
	items  int
}

func newSink() *memorySink {
	return &memorySink{resume: schemas.Resume{Committed: schemas.Start}, at: schemas.Start}
}

func (s *memorySink) Resume(context.Context, string) (schemas.Resume, error) { return s.resume, nil }

func (s *memorySink) Write(_ context.Context, b *schemas.Batch) error {
	s.mu.Lock()
	if s.busy {
		s.mu.Unlock()
		return fmt.Errorf("%w: two writes at a time", schemas.ErrDiverged)
	}
	s.busy = true
	s.mu.Unlock()
	err := s.write(b)
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
	return err
}

func (s *memorySink) write(b *schemas.Batch) error {
	if s.fail != nil {
		if err := s.fail(b); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.After != s.at || len(b.Items) == 0 || b.Through != b.Items[len(b.Items)-1].Position() {
		return fmt.Errorf("%w: batch after %s through %s with %d items follows %s", schemas.ErrDiverged, b.After, b.Through, len(b.Items), s.at)
	}
	for i := range b.Items {
		p, first := b.Items[i].Position(), b.Items[0].Position()
		if p.MigrationID != first.MigrationID || (p.RecordTime == schemas.MinMicros) != (first.RecordTime == schemas.MinMicros) {
			return fmt.Errorf("%w: batch mixes %s and %s", schemas.ErrDiverged, first, p)
		}
	}
	s.at = b.Through
	s.items += len(b.Items)
	if s.forget {
		return nil
	}
	for i := range b.Items {
		s.lines = append(s.lines, string(schemas.AppendItem(nil, &b.Items[i])))
	}
	s.batches = append(s.batches, *b)
	return nil
}

func (s *memorySink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items
}

// testLog writes to the test's log.
func testLog(t testing.TB) *slog.Logger { return ingesttest.Log(t, slog.LevelInfo) }

func newIngester(t testing.TB, u *upstream, sink stream.Sink, change func(*Config)) *Ingester {
	t.Helper()
	cfg := Config{BaseURL: u.URL, Settings: stream.Settings{Sink: sink, Log: testLog(t)}, Poll: 5 * time.Millisecond, Refresh: 20 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	ing, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return ing
}

// testContext ends a test that hangs with a message rather than a panic.
func testContext(t testing.TB) context.Context { return ingesttest.Context(t, 60*time.Second) }

// sameLines compares what arrived with what should have.
func sameLines(t testing.TB, got, want []string) { t.Helper(); ingesttest.SameLines(t, got, want) }

// until waits for a condition.
func until(t testing.TB, holds func() bool) { t.Helper(); ingesttest.Until(t, holds) }
