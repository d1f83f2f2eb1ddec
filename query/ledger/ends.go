package ledger

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// ends follows the end of the stream: it is read when somebody asks and what is known is too
// old, and again and again while anybody waits for it to move, once for all of them.
type ends struct {
	read func(ctx context.Context) (int64, error)
	// next is the next commit that moves the end.
	next func() store.NextCommit
	log  *slog.Logger
	// fresh is how long an end that was read is good enough, and how often at most it is read
	// for those who wait.
	fresh time.Duration
	now   func() time.Time

	mu      sync.Mutex
	end     int64
	readAt  time.Time
	moved   chan struct{} // closed when end moves
	waiting int
	// reading is what those who ask share, nil when none is under way.
	reading *endReading
	// following says that the goroutine of follow runs.
	following bool
}

func newEnds(read func(context.Context) (int64, error), next func() store.NextCommit, fresh time.Duration, now func() time.Time, log *slog.Logger) *ends {
	return &ends{read: read, next: next, log: log, fresh: fresh, now: now, moved: make(chan struct{})}
}

// endReading is a reading of the end that callers wait for together.
type endReading struct {
	*memo.Read[int64]
	began time.Time
}

// current returns an end that is not older than e.fresh. However many ask, and however long a
// reading takes, each waits for two of them at most: one that began too early, and the next.
func (e *ends) current(ctx context.Context) (int64, error) {
	for asked := e.now(); ; {
		if end, ok := e.known(); ok {
			return end, nil
		}
		reading := e.share(ctx)
		end, err := reading.Wait(ctx)
		if err != nil || asked.Sub(reading.began) < e.fresh {
			return end, err
		}
	}
}

// reaching returns an end as current does, but as of now if an offset is after that: another server of
// the same store may have named a later end to the client.
func (e *ends) reaching(ctx context.Context, offset int64) (int64, error) {
	end, err := e.current(ctx)
	if err != nil || end >= offset {
		return end, err
	}
	for asked := e.now(); ; {
		reading := e.share(ctx)
		if end, err = reading.Wait(ctx); err != nil || !reading.began.Before(asked) {
			return end, err
		}
	}
}

// share returns the reading that is under way, or starts one. No caller's deadline ends it, as
// others wait for it.
func (e *ends) share(ctx context.Context) *endReading {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading != nil {
		return e.reading
	}
	reading := &endReading{began: e.now()}
	reading.Read = memo.Start(context.WithoutCancel(ctx), func(ctx context.Context) (int64, error) {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		return e.refresh(ctx)
	}, func(int64, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.reading = nil
	})
	e.reading = reading
	return reading
}

func (e *ends) known() (int64, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end, e.now().Sub(e.readAt) < e.fresh
}

func (e *ends) refresh(ctx context.Context) (int64, error) {
	at := e.now()
	end, err := e.read(ctx)
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readAt = at
	if end > e.end { // it never moves back, but answers may overtake each other
		e.end = end
		close(e.moved)
		e.moved = make(chan struct{})
	}
	return e.end, nil
}

// after waits until the end is above an offset and returns it.
func (e *ends) after(ctx context.Context, offset int64) (int64, error) {
	if end, err := e.current(ctx); err != nil || end > offset {
		return end, err
	}
	e.join()
	defer e.leave()
	for {
		e.mu.Lock()
		end, moved := e.end, e.moved
		e.mu.Unlock()
		if end > offset {
			return end, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-moved:
		}
	}
}

// join and leave count who waits. While anybody does, one goroutine reads the end.
func (e *ends) join() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting++
	if !e.following {
		e.following = true
		guard.Go(e.follow, e.stopped)
	}
}

func (e *ends) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting--
}

const (
	// readTimeout bounds one reading of the end.
	readTimeout = 10 * time.Second
	// ownPause is how often the end is read for those who wait if this process writes the stream.
	ownPause = 250 * time.Millisecond
)

// stopped notes that nobody reads the end any more, by a panic too.
func (e *ends) stopped(err error) {
	if err == nil {
		return
	}
	e.log.Error("following the end of the stream", "err", err)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.following = false
}

func (e *ends) follow() error {
	failing := false
	for {
		next, began := e.next(), time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		err := guard.Call(func() error {
			_, err := e.refresh(ctx)
			return err
		})
		cancel()
		if failed := err != nil; failed != failing {
			failing = failed
			e.log.Warn("following the end of the stream", "failing", failing, "err", err)
		}
		e.mu.Lock()
		e.following = e.waiting > 0
		again := e.following
		e.mu.Unlock()
		if !again {
			return nil
		}
		next.Await(context.Background(), max(ownPause, e.fresh), e.fresh)
		time.Sleep(time.Until(began.Add(e.fresh)))
	}
}
