package node

import (
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

const (
	// firstLimit is the number of elements to ask for at first: the default of the
	// node's own limit. A node that allows more is asked for more.
	firstLimit = 200
	maxLimit   = 4000
	// firstWindow and maxWindow are the offsets to ask for at a time.
	firstWindow = 10_000
	maxWindow   = 1 << 40
)

// lists reads the stream by list calls, a window of offsets at a time. It learns how
// much a node gives at once and is kept from session to session.
type lists struct {
	client    *client
	cfg       *Config
	operation string
	splitter  *decoder
	source    Source
	witness   *witness

	limit, ceiling int // elements to ask for, and what was too many, 0 = nothing yet
	window         int64
}

func newLists(c *client, cfg *Config, source Source, w *witness) *lists {
	return &lists{
		client: c, cfg: cfg, operation: operationOf(source), source: source, witness: w, limit: firstLimit, window: firstWindow,
		splitter: newDecoder(cfg.MigrationID, func(string, string) {}),
	}
}

// frame is a piece of the stream: an element, or the news that all elements through an
// offset were there.
type frame struct {
	body    []byte
	covered int64
}

// emit passes frames on in order. It waits while there is no room for them.
type emit func(ctx context.Context, f frame) error

// read emits what lies in (from, to]. With to = 0 it follows the ledger's end, which
// end asks for, until change, if that is set.
func (l *lists) read(ctx context.Context, from, to int64, change time.Time, end func(context.Context) (int64, error), out emit) error {
	for at := from; ; {
		upTo := to
		if to == 0 {
			var err error
			if upTo, err = end(ctx); err != nil {
				return err
			}
			if upTo < at {
				return l.fail(at, fmt.Errorf("the ledger's end moved back to offset %d", upTo))
			}
		}
		for at < upTo {
			next, err := l.page(ctx, at, upTo, out)
			if err != nil {
				return err
			}
			at = next
		}
		if to > 0 {
			return nil
		}
		if !change.IsZero() && !l.cfg.Now().Before(change) {
			return errChange
		}
		if err := remote.Sleep(ctx, l.cfg.Poll); err != nil {
			return err
		}
	}
}

func (l *lists) fail(at int64, err error) *Error {
	return &Error{Upstream: l.client.name, Operation: l.operation, Cursor: schemas.AtOffset(at).String(), Err: err}
}

// page emits the elements of one call and returns the offset through which the stream
// is complete then.
func (l *lists) page(ctx context.Context, at, end int64, out emit) (int64, error) {
	for {
		through := min(end, at+l.window)
		limit := l.limit
		body, err := l.client.do(ctx, &call{
			method: http.MethodPost, operation: l.operation, cursor: schemas.AtOffset(at).String(),
			query: url.Values{"limit": {strconv.Itoa(limit)}}, body: l.cfg.updatesAfter(at, through),
		})
		switch {
		case err == nil:
			return l.take(ctx, body, at, through, limit, out)
		case !tooLong(err) && !errors.Is(err, remote.ErrTooLarge), limit == 1 && through == at+1:
			return at, err
		default:
			l.ceiling = limit
			l.limit = max(1, limit/2)
			l.window = max(1, (through-at)/2)
		}
	}
}

// take emits the elements of an answer to a call for (at, through] with a limit, once
// another operation has confirmed that it has no others.
func (l *lists) take(ctx context.Context, body []byte, at, through int64, limit int, out emit) (int64, error) {
	var elements [][]byte
	err := l.splitter.in.elements(body, func(element []byte) error { elements = append(elements, element); return nil })
	if err != nil {
		return at, l.located(at, err)
	}
	good, last := l.inOrder(elements, at, through)
	count := len(elements)
	switch {
	case good < count:
		through = last
	case count >= limit:
		through = max(at, last)
	}
	if err := l.witness.confirm(ctx, l.source, at, through, elements[:good]); err != nil {
		return at, err
	}
	for _, element := range elements[:min(good+1, count)] { // one that is out of order is refused with its reason
		if err := out(ctx, frame{body: element}); err != nil {
			return at, err
		}
	}
	if good < count || count >= limit && last <= at {
		return at, l.fail(at, fmt.Errorf("%w: a list of offsets after %d through %d is out of order after offset %d", schemas.ErrMalformed, at, through, last))
	}
	l.adapt(count, limit)
	return through, out(ctx, frame{covered: through})
}

// inOrder counts the leading elements that are in the order of offsets within
// (at, through], and returns the highest of their offsets, at if there are none.
func (l *lists) inOrder(elements [][]byte, at, through int64) (good int, last int64) {
	last, before := at, at
	for i, element := range elements {
		offset, isUpdate, err := l.splitter.offsetOf(element)
		if err != nil || isUpdate && offset <= before || offset > through {
			return i, last
		}
		if isUpdate {
			before = offset
		}
		last = max(last, offset)
	}
	return len(elements), last
}

func (l *lists) located(at int64, err error) error {
	if schemas.NeedsPerson(err) {
		return l.fail(at, err)
	}
	return err
}

// adapt asks for more the next time, unless the node has said that it is too much.
func (l *lists) adapt(count, limit int) {
	if more := min(2*limit, maxLimit); count >= limit && (l.ceiling == 0 || more < l.ceiling) {
		l.limit = more
	}
	if count < limit/2 {
		l.window = min(2*l.window, maxWindow)
	}
}
