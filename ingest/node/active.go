package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// readActive brings the contracts active at an offset into the stream, by ascending
// contract id, from the one after the given id on. The last batch moves the position to
// the offset itself; it may be without items.
func (ing *Ingester) readActive(ctx context.Context, offset int64, after string) error {
	begin := ing.cfg.Now()
	from := schemas.Start
	if after != "" {
		from = importPosition(offset, after)
	}
	if err := ing.fetchActive(ctx, from, schemas.AtOffset(offset), ing.writer.Write); err != nil {
		return fmt.Errorf("reading the contracts active at offset %d, with which the stream begins because the node has pruned earlier history: %w", offset, err)
	}
	ing.moveTo(schemas.AtOffset(offset))
	ing.log.InfoContext(ctx, "the stream begins with the active contracts", "stream", ing.stream, "offset", offset,
		"imports", ing.Status().Imports, "elapsed", ing.cfg.Now().Sub(begin))
	return nil
}

func importPosition(offset int64, contractID string) schemas.Position {
	return schemas.Position{RecordTime: schemas.MinMicros, UpdateID: contractID, Offset: offset}
}

// fetchActive writes the contracts of (after, through] of the set at the offset of
// through, in batches of which the last ends at through.
func (ing *Ingester) fetchActive(ctx context.Context, after, through schemas.Position, write func(context.Context, stream.Batch) error) (err error) {
	ing.status.SetPhase(PhaseActive, fmt.Sprintf("reading the contracts active at offset %d", through.Offset))
	s := newSpool(ing.cfg.TempDir, ing.cfg.SpoolBytes)
	defer func() { err = errors.Join(err, s.close()) }()
	if err := ing.spoolActive(ctx, through.Offset, s); err != nil {
		return err
	}
	ing.status.SetPhase(PhaseActive, fmt.Sprintf("writing %d contracts active at offset %d", s.count, through.Offset))
	b := ing.newBatcher(after)
	add := func(u *schemas.Update, size int64) error {
		p := u.Position()
		if !after.Before(p) || through.Before(p) {
			return nil
		}
		if !b.HasRoom(size) {
			if err := write(ctx, b.batch()); err != nil {
				return err
			}
			b.next()
		}
		b.add(u, size)
		// The id lies in the text of the contract, which must not live as long.
		b.through.UpdateID = strings.Clone(p.UpdateID)
		return nil
	}
	if err := ing.mergeActive(s, through.Offset, add); err != nil {
		return err
	}
	b.cover(through)
	if b.After == b.through {
		return nil // a repeated batch ended just there
	}
	return write(ctx, b.batch())
}

// mergeActive calls add for the spooled contracts by ascending id, each once.
func (ing *Ingester) mergeActive(s *spool, offset int64, add func(u *schemas.Update, size int64) error) error {
	d := ing.newDecoder()
	var last activeEntry
	size := int64(0)
	flush := func() error {
		if last.update == nil {
			return nil
		}
		return add(last.update, size)
	}
	err := s.merge(func(e stored) error {
		next, err := d.decodeActive(e.content, offset)
		switch {
		case err != nil:
			return err
		case last.update == nil || last.update.UpdateID != next.update.UpdateID:
			if err := flush(); err != nil {
				return err
			}
		case last.counter > next.counter:
			return nil // a contract that arrived at a synchronizer may still be listed at its previous one
		case last.counter == next.counter && stream.HashUpdate(last.update) != stream.HashUpdate(next.update):
			return fmt.Errorf("%w: contract %s is listed twice in the set at offset %d with different content",
				schemas.ErrMalformed, next.update.UpdateID, offset)
		}
		last, size = next, int64(len(e.content))
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// activeFeed reads the set at an offset into the spool. token continues an earlier
// attempt and is moved forward.
type activeFeed struct {
	ing    *Ingester
	offset int64
	spool  *spool
	d      *decoder
	pager  *jsonReader // splits answers into elements
	token  string
	limit  int
	// seen is what was read so far.
	seen contractSum
}

// contractSum identifies a set of active contracts, in whatever order they came.
type contractSum struct {
	count int
	sum   uint64
}

func (s *contractSum) add(a activeEntry) {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", a.update.UpdateID, a.counter) // a hash takes everything
	s.count++
	s.sum += h.Sum64()
}

// activeWay is a way to read a set of active contracts.
type activeWay struct {
	name string
	read func(*activeFeed, context.Context) error
}

// activeWays are all of them, the best first.
func activeWays() []activeWay {
	return []activeWay{
		{"websocket " + activeOperation, (*activeFeed).stream},
		{activePagesOperation, (*activeFeed).pages},
		{activeOperation, (*activeFeed).list},
	}
}

// newActiveFeed returns a feed into a spool, or, without one, one that only counts.
func (ing *Ingester) newActiveFeed(offset int64, s *spool) *activeFeed {
	return &activeFeed{ing: ing, offset: offset, spool: s, limit: firstLimit,
		d: newDecoder(ing.cfg.MigrationID, ing.notice), pager: newJSONReader(ing.notice)}
}

// spoolActive reads the whole set at offset into s, by whichever way the node offers.
func (ing *Ingester) spoolActive(ctx context.Context, offset int64, s *spool) error {
	f := ing.newActiveFeed(offset, s)
	ways := activeWays()
	switch ing.cfg.Source {
	case WebSocket:
		ways = ways[:1]
	case Lists, Flats:
		ways = ways[1:]
	}
	failures, all := ing.newFailures(), ways
	for broken := 0; ; {
		before := s.count
		err := ways[0].read(f, ctx)
		if err == nil {
			err = f.confirm(ctx, ways[0])
		}
		if err == nil {
			return nil
		}
		if reason := remote.Ended(ctx); reason != nil {
			return reason
		}
		ing.streamed = ing.streamed || s.count > before
		if s.count > before && f.token != "" {
			failures.reset()
			broken = 0
		}
		f.restart(err)
		if brokenStream(err) {
			broken++
		}
		if len(ways) > 1 && (refused(err) || broken >= webSocketTries) {
			ing.log.WarnContext(ctx, "the active contracts cannot be read in this way, trying the next", "err", err)
			ways, broken = ways[1:], 0
			f.reset()
			continue
		}
		if refused(err) && ing.streamed {
			ways = all // what is in front of the node refuses different operations at different times
		}
		if err := failures.again(ctx, err); err != nil {
			return err
		}
	}
}

// restart forgets what was read unless the node can continue after it.
func (f *activeFeed) restart(err error) {
	var e *Error
	if f.token != "" && (!errors.As(err, &e) || e.Retryable() || e.unauthenticated()) {
		return
	}
	f.reset()
}

// reset forgets what was read.
func (f *activeFeed) reset() {
	f.token, f.seen = "", contractSum{}
	if f.spool != nil {
		f.spool.reset()
	}
}

// confirm reads the set again by another way than the one that it was read by, or by the
// same if the node offers no other, and compares the ids: an answer that is empty, or lacks a
// contract, looks like any other one.
func (f *activeFeed) confirm(ctx context.Context, by activeWay) error {
	f.ing.status.SetPhase(PhaseActive, fmt.Sprintf("confirming %d contracts active at offset %d", f.seen.count, f.offset))
	ways := slices.DeleteFunc(activeWays(), func(w activeWay) bool { return w.name == by.name })
	for _, other := range append(ways, by) {
		again := f.ing.newActiveFeed(f.offset, nil)
		err := other.read(again, ctx)
		switch {
		case remote.Ended(ctx) != nil:
			return remote.Ended(ctx)
		case err != nil && other.name == by.name:
			return err
		case err != nil:
			f.ing.log.DebugContext(ctx, "the active contracts cannot be confirmed this way", "way", other.name, "err", err)
			continue
		case again.seen != f.seen:
			f.token = "" // everything is to be read again
			return f.malformed(fmt.Sprintf("%s returns %d contracts, but %s returns %d or different ones", by.name, f.seen.count, other.name, again.seen.count))
		case other.name == by.name:
			f.ing.log.WarnContext(ctx, "no second operation of the node confirms the active contracts: a missing one cannot be detected", "way", by.name)
		}
		return nil
	}
	return nil
}

func (f *activeFeed) request() activeRequest {
	return activeRequest{ActiveAtOffset: f.offset, EventFormat: f.ing.cfg.eventFormat()}
}

func (f *activeFeed) cursor() string { return schemas.AtOffset(f.offset).String() }

// take spools one element.
func (f *activeFeed) take(body []byte) error {
	a, err := f.d.decodeActive(body, f.offset)
	var e *Error
	switch {
	case errors.As(err, &e):
		e.Upstream, e.Operation, e.Cursor = f.ing.client.name, activeOperation, f.cursor()
		return e
	case err != nil:
		return &Error{Upstream: f.ing.client.name, Operation: activeOperation, Cursor: f.cursor(), Err: err}
	case a.update != nil:
		if f.seen.add(a); f.spool == nil {
			break
		}
		if err := f.spool.add(a.update.UpdateID, a.counter, body); err != nil {
			return final{err}
		}
	}
	f.token = strings.Clone(a.token)
	return nil
}

// stream reads the set by websocket.
func (f *activeFeed) stream(ctx context.Context) error {
	q := f.request()
	q.Continuation = f.token
	return f.ing.client.subscribe(ctx, &subscription{
		operation: activeOperation, cursor: f.cursor(), request: q, idle: f.ing.cfg.IdleTimeout, take: f.take,
	})
}

// call posts a request and returns the answer, asking for fewer elements if the node
// says that they are too many.
func (f *activeFeed) call(ctx context.Context, operation string, request func() any, query func() url.Values) ([]byte, error) {
	for {
		body, err := f.ing.client.do(ctx, &call{
			method: http.MethodPost, operation: operation, cursor: f.cursor(), query: query(), body: request(),
		})
		if !tooLong(err) || f.limit == 1 {
			return body, err
		}
		f.limit /= 2
	}
}

// pages reads the set page by page.
func (f *activeFeed) pages(ctx context.Context) error {
	f.reset()
	q := f.request()
	return f.located(f.pager.eachPage("activeContracts", func(token string) ([]byte, error) {
		q.PageToken = token
		return f.call(ctx, activePagesOperation, func() any { q.PageSize = f.limit; return q }, func() url.Values { return nil })
	}, f.take))
}

// list reads the set by list calls, each of which continues the one before.
func (f *activeFeed) list(ctx context.Context) error {
	for limited := true; ; {
		q := f.request()
		q.Continuation = f.token
		body, err := f.call(ctx, activeOperation, func() any { return q }, func() url.Values {
			if !limited {
				return nil
			}
			return url.Values{"limit": {strconv.Itoa(f.limit)}}
		})
		if err != nil {
			if tooLong(err) {
				return final{fmt.Errorf("the node returns active contracts only as short lists, and they do not all fit into one: allow the websocket %s: %w", activeOperation, err)}
			}
			return err
		}
		count, before := 0, f.token
		err = f.pager.elements(body, func(element []byte) error { count++; return f.take(element) })
		switch {
		case err != nil:
			return f.located(err)
		case !limited || count < f.limit:
			return nil
		case f.token == "":
			// A node that gives no token to continue with has to return everything at once.
			limited = false
			f.limit = 1
			f.reset()
		case f.token == before:
			return f.malformed("a list ends with the token that it was requested with")
		}
	}
}

// located says of whose answer it is that it is malformed.
func (f *activeFeed) located(err error) error {
	var e *Error
	if errors.As(err, &e) || !errors.Is(err, schemas.ErrMalformed) {
		return err
	}
	return &Error{Upstream: f.ing.client.name, Operation: activeOperation, Cursor: f.cursor(), Err: err}
}

func (f *activeFeed) malformed(text string) error {
	return &Error{Upstream: f.ing.client.name, Operation: activeOperation, Cursor: f.cursor(),
		Err: fmt.Errorf("%w: %s", schemas.ErrMalformed, text)}
}
