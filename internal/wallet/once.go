package wallet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
)

// running are the actions with a tracking id that are being done in this process.
type running struct {
	mu  sync.Mutex
	ids map[string]struct{}
}

// begin reports whether an id is free, and takes it until end.
func (r *running) begin(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.ids[id]; taken {
		return false
	}
	if r.ids == nil {
		r.ids = map[string]struct{}{}
	}
	r.ids[id] = struct{}{}
	return true
}

func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, id)
}

// maxRecent is how many ids of actions are remembered.
const maxRecent = 10_000

// attempt is one action with a tracking id.
type attempt struct {
	// commandID is the same for all actions with that id.
	commandID string
	// after is an offset up to which the store knows of none.
	after int64
}

// tracker lets actions with one tracking id happen once: of those that run in this process, of
// those that it has done, and of those that the store or the node knows.
type tracker struct {
	reader  Reader
	running running
	// recent has the results of repeatable actions that this process has done within sameFor. The
	// node knows them as well, but only of commands that could be executed again: with too little
	// money left it would report that an action failed which was done.
	recent *memo.Recent[string, any]
}

func newTracker(reader Reader) *tracker {
	return &tracker{reader: reader, recent: memo.NewRecent[string, any](maxRecent, sameFor, time.Now)}
}

// commandID makes the id of a command of what it is to do once.
func commandID(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return kind + "-" + hex.EncodeToString(sum[:16])
}

// repeatable is repeatableFor sameFor.
func repeatable[T any](ctx context.Context, w *tracker, kind, party, id string, do func(attempt) (T, error)) (T, error) {
	return repeatableFor(ctx, w, sameFor, kind, party, id, do)
}

// repeatableFor does an action once: another one with the same id within some time, at most sameFor,
// has the result of the first. do sets the command id of its submission, and DeduplicateFor to that time, unless the
// ledger lets it happen only once.
func repeatableFor[T any](ctx context.Context, w *tracker, within time.Duration, kind, party, id string, do func(attempt) (T, error)) (result T, err error) {
	err = w.once(ctx, kind, party, id, nil, func(a attempt) error {
		if first, ok := w.recent.Get(a.commandID); ok {
			result = first.(T)
			return nil
		}
		if result, err = do(a); err == nil {
			w.recent.Put(a.commandID, result, time.Now().Add(within-sameFor))
		}
		return err
	})
	return result, err
}

// once does an action unless one with the same id has succeeded. known looks it up in the store and
// may be nil; the node knows what the store does not show yet.
func (w *tracker) once(ctx context.Context, kind, party, id string, known func(context.Context) (bool, error), do func(attempt) error) error {
	a := attempt{commandID: commandID(kind, party, id)}
	if !w.running.begin(a.commandID) {
		return fail(ErrInFlight, "an identical submission is in flight: %s", id)
	}
	defer w.running.end(a.commandID)
	if known != nil {
		// The offset comes first: what follows it is found by the node.
		var err error
		if a.after, err = w.reader.End(ctx); err != nil {
			return err
		}
		switch found, err := known(ctx); {
		case err != nil:
			return err
		case found:
			return fail(ErrConflict, "this was submitted before: %s", id)
		}
	}
	err := do(a)
	var e *Error
	if errors.As(err, &e) && e.Kind == ErrConflict && e.ContractID == "" {
		e.Message = "this was submitted before: " + id
	}
	return err
}
