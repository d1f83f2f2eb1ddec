package stream

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Writer hands batches to the sink, one at a time, and retries what fails. It is safe for
// concurrent use.
type Writer struct {
	settings *Settings
	progress *Progress
	log      *slog.Logger
	mu       sync.Mutex // held while the sink takes a batch
}

// NewWriter writes to the sink of the settings, which must have their defaults. Retries
// and what was written are counted in progress.
func NewWriter(settings *Settings, progress *Progress, log *slog.Logger) *Writer {
	return &Writer{settings: settings, progress: progress, log: log}
}

// Resume asks the sink for the position of a stream, with retries.
func (w *Writer) Resume(ctx context.Context, stream string) (resume schemas.Resume, err error) {
	err = w.retry(ctx, "reading the position of the stream", func() (err error) {
		resume, err = w.settings.Sink.Resume(ctx, stream)
		return err
	})
	return resume, err
}

// Write stores a batch, with retries. It returns nil once the batch is stored; an error
// for which schemas.NeedsPerson is true; the failure that lasted for GiveUpAfter; or the
// reason why ctx ended.
func (w *Writer) Write(ctx context.Context, b Batch) error {
	begin := w.settings.Now()
	err := w.retry(ctx, "writing the batch", func() error { return w.WriteOnce(ctx, b.Batch) })
	if err != nil {
		return fmt.Errorf("%d items after %s through %s: %w", len(b.Items), b.After, b.Through, err)
	}
	w.progress.Wrote(b)
	w.log.DebugContext(ctx, "wrote batch", "items", len(b.Items), "bytes", b.Bytes, "through", b.Through,
		"elapsed", w.settings.Now().Sub(begin))
	return nil
}

// WriteOnce hands a batch to the sink without retries and without counting it.
func (w *Writer) WriteOnce(ctx context.Context, b *schemas.Batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings.Sink.Write(ctx, b)
}

// retry calls the sink until it works, needs a person, ctx ends or it is time to give up.
func (w *Writer) retry(ctx context.Context, doing string, call func() error) error {
	begin := w.settings.Now()
	for tries := 1; ; tries++ {
		err := call()
		switch {
		case err == nil:
			return nil
		case schemas.NeedsPerson(err):
			return fmt.Errorf("%s: %w", doing, err)
		case remote.Ended(ctx) != nil:
			return remote.Ended(ctx)
		case w.settings.GivesUp(begin):
			return fmt.Errorf("%s: giving up after %d attempts: %w", doing, tries, err)
		}
		w.progress.Retried(err)
		wait := w.settings.Backoff(tries)
		if remote.Growing(tries) {
			w.log.WarnContext(ctx, "sink failed", "doing", doing, "err", err, "attempts", tries, "retry_in", wait)
		}
		if err := remote.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
