package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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
	// fail, when set, may fail a write before it is applied.
	fail func(b *schemas.Batch) error
	// forget drops the items once they are counted, for tests of memory and speed.
	forget bool
	items  int
	wrote  chan struct{} // closed and replaced with each batch
}

func newSink() *memorySink {
	return &memorySink{resume: schemas.Resume{Committed: schemas.Start}, at: schemas.Start, wrote: make(chan struct{})}
}

// sinkAt is a sink that has everything through p.
func sinkAt(p schemas.Position) *memorySink {
	s := newSink()
	s.at, s.resume.Committed = p, p
	return s
}

func (s *memorySink) Resume(_ context.Context, stream string) (schemas.Resume, error) {
	if !strings.HasPrefix(stream, "node:") {
		return schemas.Resume{}, fmt.Errorf("%w: stream %q", schemas.ErrDiverged, stream)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resume, nil
}

func (s *memorySink) Write(_ context.Context, b *schemas.Batch) error {
	if s.fail != nil {
		if err := s.fail(b); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.After != s.at || !b.After.Before(b.Through) {
		return fmt.Errorf("%w: batch after %s through %s with %d items follows %s", schemas.ErrDiverged, b.After, b.Through, len(b.Items), s.at)
	}
	last := b.After
	for i := range b.Items {
		p := b.Items[i].Position()
		if !last.Before(p) || b.Through.Before(p) || b.Items[i].Update.IsImport() != b.Items[0].Update.IsImport() {
			return fmt.Errorf("%w: item %d at %s is outside (%s, %s] or of another kind", schemas.ErrDiverged, i, p, last, b.Through)
		}
		last = p
	}
	s.at, s.resume.Committed = b.Through, b.Through
	s.items += len(b.Items)
	close(s.wrote)
	s.wrote = make(chan struct{})
	if s.forget {
		return nil
	}
	for i := range b.Items {
		s.lines = append(s.lines, string(schemas.AppendItem(nil, &b.Items[i])))
	}
	s.batches = append(s.batches, *b)
	return nil
}

// await waits until done is true of s, which it must not change.
func (s *memorySink) await(t testing.TB, done func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		ok, wrote := done(), s.wrote
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-wrote:
		case <-deadline:
			t.Fatalf("the sink has %d items at %s and waits for more", s.items, s.at)
		}
	}
}

// testLog writes to the test's log.
func testLog(t testing.TB) *slog.Logger { return ingesttest.Log(t, slog.LevelWarn) }

func newIngester(t testing.TB, u *upstream, sink stream.Sink, change func(*Config)) *Ingester {
	t.Helper()
	// A checkpoint behind the last update is written at once: tests wait for the end of the stream.
	cfg := Config{BaseURL: u.URL, Settings: stream.Settings{Sink: sink, Log: testLog(t)}, MigrationID: migrationID, Poll: 5 * time.Millisecond, TempDir: t.TempDir(), CheckpointEvery: 1}
	if change != nil {
		change(&cfg)
	}
	ing, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return ing
}

// running starts ing.Run and returns a function that ends it and gives its error.
func running(t testing.TB, ing *Ingester) (stop func() error) {
	ctx, cancel := context.WithCancelCause(testContext(t))
	done := make(chan error, 1)
	go func() { done <- ing.Run(ctx) }()
	return func() error {
		cancel(errTestOver)
		select {
		case err := <-done:
			return err
		case <-time.After(2 * time.Minute):
			t.Fatal("Run does not end")
			return nil
		}
	}
}

var errTestOver = errors.New("the test is over")

// testContext ends a test that hangs with a message rather than a panic.
func testContext(t testing.TB) context.Context { return ingesttest.Context(t, 30*time.Second) }

// sameLines compares what arrived with what should have.
func sameLines(t testing.TB, got, want []string) { t.Helper(); ingesttest.SameLines(t, got, want) }

// until waits for a condition.
func until(t testing.TB, holds func() bool) { t.Helper(); ingesttest.Until(t, holds) }
