package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updatePages is the source that only witnesses use: POST /v2/updates/get-updates-page.
const updatePages Source = "pages"

// witness reads a stretch of the stream a second time, by another operation than the one it
// came by. Offsets have gaps, of updates that the stream's parties do not see, so an answer
// that is empty or short shows nothing by itself: it may be a gap, or an answer that was
// lost on its way. Two operations that were implemented separately hardly lose the same.
type witness struct {
	client   *client
	cfg      *Config
	splitter *decoder
	warn     func(ctx context.Context, text string, args ...any)

	// absent are the operations that failed in this session, until they are tried again.
	absent map[Source]time.Time
	alone  bool // it was said that there is no second operation
}

func newWitness(c *client, cfg *Config) *witness {
	return &witness{client: c, cfg: cfg, absent: map[Source]time.Time{}, warn: cfg.Log.WarnContext,
		splitter: newDecoder(cfg.MigrationID, func(string, string) {})}
}

// beginSession forgets which operations failed before. Most of them fail while the whole node
// does, and when it answers again, the next best witness may lose the same as the list.
func (w *witness) beginSession() { clear(w.absent) }

// errLacks says that an answer lacks updates that another operation has.
var errLacks = fmt.Errorf("%w: an answer lacks updates", schemas.ErrMalformed)

// confirm returns an error that wraps errLacks if another operation of the node has an
// update in (after, through] that is not among the elements, which came by a source in the
// order of offsets. What only the elements have is taken as it is: the witness is wrong
// then, and another one is asked. When the node offers no second operation, the same one
// has to say the same again.
func (w *witness) confirm(ctx context.Context, by Source, after, through int64, elements [][]byte) error {
	others := 0
	// The most different comes first: what damages one list may damage all.
	for _, other := range []Source{WebSocket, updatePages, Lists, Flats} {
		if other == by || w.cfg.Now().Before(w.absent[other]) {
			continue
		}
		err := w.compare(ctx, other, by, after, through, elements)
		if err == nil || errors.Is(err, errLacks) || remote.Ended(ctx) != nil {
			return err
		}
		others++
		w.absent[other] = w.cfg.Now().Add(w.cfg.TryWebSocketEvery)
	}
	if !w.alone {
		w.alone = true
		w.warn(ctx, "no second operation of the node confirms its lists: a missing update cannot be detected", "source", by)
	}
	return w.compare(ctx, by, by, after, through, elements)
}

// has reports whether the node has an update in (after, through] by another operation than
// the given one; false also if that is unknown.
func (w *witness) has(ctx context.Context, not Source, after, through int64) bool {
	for _, other := range []Source{updatePages, Lists, Flats} {
		if other == not || w.cfg.Now().Before(w.absent[other]) {
			continue
		}
		err := w.compare(ctx, other, not, after, through, nil)
		if err == nil || errors.Is(err, errLacks) {
			return err != nil
		}
		if refused(err) {
			w.absent[other] = w.cfg.Now().Add(w.cfg.TryWebSocketEvery)
		}
	}
	return false
}

// compare reads (after, through] by one source and compares it with elements that came by
// another.
func (w *witness) compare(ctx context.Context, by, first Source, after, through int64, elements [][]byte) error {
	next := func() (offset int64, err error) { // of the next update among the elements, 0 at the end
		for len(elements) > 0 {
			offset, err := w.offset(elements[0])
			if err != nil || offset > 0 {
				return offset, err
			}
			elements = elements[1:]
		}
		return 0, nil
	}
	lacks := func(who Source, offset int64, other Source) error {
		return fmt.Errorf("between offsets %d and %d, %s lacks the update at offset %d, which %s has", after, through, who, offset, other)
	}
	err := w.read(ctx, by, after, through, func(element []byte) error {
		if len(elements) > 0 && bytes.Equal(elements[0], element) {
			elements = elements[1:]
			return nil
		}
		offset, err := w.offset(element)
		if err != nil || offset == 0 {
			return err
		}
		listed, err := next()
		switch {
		case err != nil:
			return err
		case listed == 0 || offset < listed:
			return w.fail(first, after, fmt.Errorf("%w: %w", errLacks, lacks(first, offset, by)))
		case listed < offset:
			return lacks(by, listed, first)
		}
		elements = elements[1:]
		return nil
	})
	if err != nil {
		return err
	}
	if listed, err := next(); err != nil || listed > 0 {
		return errors.Join(err, lacks(by, listed, first))
	}
	return nil
}

func (w *witness) fail(by Source, after int64, err error) *Error {
	return &Error{Upstream: w.client.name, Operation: operationOf(by), Cursor: schemas.AtOffset(after).String(), Err: err}
}

// offset is that of the update in an element, 0 for a checkpoint.
func (w *witness) offset(element []byte) (int64, error) {
	offset, isUpdate, err := w.splitter.offsetOf(element)
	if !isUpdate {
		offset = 0
	}
	return offset, err
}

// operationOf is the path behind a source.
func operationOf(s Source) string {
	switch s {
	case updatePages:
		return pagesOperation
	case Flats:
		return flatsOperation
	}
	return updatesOperation
}

// read passes on the elements of (after, through], in the order of offsets.
func (w *witness) read(ctx context.Context, by Source, after, through int64, take func(element []byte) error) error {
	switch by {
	case WebSocket:
		return w.client.subscribe(ctx, &subscription{
			operation: updatesOperation, cursor: schemas.AtOffset(after).String(),
			request: w.cfg.updatesAfter(after, through), idle: w.cfg.RequestTimeout, take: take,
		})
	case updatePages:
		return w.readPages(ctx, after, through, take)
	}
	return w.readLists(ctx, by, after, through, take)
}

// readLists reads by list calls, each of which begins where the one before ended.
func (w *witness) readLists(ctx context.Context, by Source, after, through int64, take func(element []byte) error) error {
	elements := newJSONReader(func(string, string) {})
	for limit := firstLimit; after < through; {
		body, err := w.client.do(ctx, &call{
			method: http.MethodPost, operation: operationOf(by), cursor: schemas.AtOffset(after).String(),
			query: url.Values{"limit": {strconv.Itoa(limit)}}, body: w.cfg.updatesAfter(after, through),
		})
		if (tooLong(err) || errors.Is(err, remote.ErrTooLarge)) && limit > 1 {
			limit /= 2
			continue
		}
		if err != nil {
			return err
		}
		count, last := 0, []byte(nil)
		err = elements.elements(body, func(element []byte) error {
			count++
			last = element
			return take(element)
		})
		if err != nil || count < limit {
			return err
		}
		end, _, err := w.splitter.offsetOf(last)
		if err != nil {
			return err
		}
		if end <= after {
			return fmt.Errorf("%w: a list of offsets after %d ends at %d", schemas.ErrMalformed, after, end)
		}
		after = end
	}
	return nil
}

// readPages reads by pages, each of which has the token of the next one.
func (w *witness) readPages(ctx context.Context, after, through int64, take func(element []byte) error) error {
	pages := newJSONReader(func(string, string) {})
	q := updatesPageRequest{Begin: after, End: through, PageSize: firstLimit, UpdateFormat: w.cfg.updatesAfter(after, through).UpdateFormat}
	return pages.eachPage("updates", func(token string) ([]byte, error) {
		q.PageToken = token
		return w.client.do(ctx, &call{
			method: http.MethodPost, operation: pagesOperation, cursor: schemas.AtOffset(after).String(), body: q,
		})
	}, take)
}
