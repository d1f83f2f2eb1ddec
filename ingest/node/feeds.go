package node

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// webSocketTries is how often in a row a websocket may fail, on a node that answers
// calls, before list calls are used instead.
const webSocketTries = 3

// feeds are the ways to read the stream, of which one is in use.
type feeds struct {
	client *client
	cfg    *Config
	order  []Source
	use    int // index in order
	lists  map[Source]*lists
	// witness confirms what lists have, and that a stream which ended early had no more.
	witness *witness

	// broken counts the failures of the websocket in a row; retry is when a stream that
	// follows by list calls tries the websocket again.
	broken int
	retry  time.Time
	// rounds counts how often all of order were refused.
	rounds int
}

func newFeeds(c *client, cfg *Config) *feeds {
	w := newWitness(c, cfg)
	f := &feeds{client: c, cfg: cfg, witness: w, order: []Source{WebSocket, Lists, Flats}, lists: map[Source]*lists{
		Lists: newLists(c, cfg, Lists, w), Flats: newLists(c, cfg, Flats, w),
	}}
	if cfg.Source != Auto {
		f.order = []Source{cfg.Source}
	}
	return f
}

func (f *feeds) source() Source { return f.order[f.use] }

// read emits what lies in (from, to] of the stream, or with to = 0 what comes after
// from until it fails. silent reports whether a websocket on which nothing arrives withholds
// updates.
func (f *feeds) read(ctx context.Context, from, to int64, end func(context.Context) (int64, error), silent func(context.Context) bool, out emit) error {
	if l, ok := f.lists[f.source()]; ok {
		return l.read(ctx, from, to, f.retry, end, out)
	}
	return f.client.subscribe(ctx, &subscription{
		operation: updatesOperation, cursor: schemas.AtOffset(from).String(),
		request: f.cfg.updatesAfter(from, to), idle: f.cfg.IdleTimeout, renew: true,
		take:   func(body []byte) error { return out(ctx, frame{body: body}) },
		silent: silent,
	})
}

// worked notes that the source in use gave something.
func (f *feeds) worked() {
	f.rounds = 0
	if f.source() == WebSocket {
		f.broken = 0
	}
}

// refused continues with the next source. It returns false when all of them were refused.
func (f *feeds) refused() (more bool) {
	f.retry = f.cfg.Now().Add(f.cfg.TryWebSocketEvery)
	if f.use+1 < len(f.order) {
		f.use++
		return true
	}
	f.use = 0
	f.rounds++
	return false
}

// failed notes a failure of the source in use on a node that otherwise answers. It
// returns true if the websocket is given up for now.
func (f *feeds) failed() (changed bool) {
	if f.source() != WebSocket || len(f.order) == 1 {
		return false
	}
	if f.broken++; f.broken < webSocketTries {
		return false
	}
	f.use++
	f.retry = f.cfg.Now().Add(f.cfg.TryWebSocketEvery)
	return true
}

// change goes back to the websocket, which has one try.
func (f *feeds) change() {
	f.use = 0
	f.broken = webSocketTries - 1
}
