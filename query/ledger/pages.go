package ledger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
)

// pageSize is how many elements a page has.
func (a *API) pageSize(asked int64) (int, error) {
	switch {
	case asked > int64(a.cfg.MaxPageSize):
		return 0, failure(invalidArgument, "maxPageSize %d is above the limit of %d.", asked, a.cfg.MaxPageSize)
	case asked == 0:
		return min(a.cfg.ListLimit, a.cfg.MaxPageSize), nil
	}
	return int(asked), nil
}

// updatesPageAnswer is all of a JsGetUpdatesPageResponse but its updates.
type updatesPageAnswer struct {
	Lowest  int64  `json:"lowestPageOffsetExclusive"`
	Highest int64  `json:"highestPageOffsetInclusive"`
	Next    string `json:"nextPageToken,omitempty"`
}

func (a *API) updatesPage(ctx context.Context, r *reading) error {
	known, err := r.node.knownNames(ctx)
	if err != nil {
		return err
	}
	q, err := view.ParseUpdatesPage(r.RawBody(), known)
	if err != nil {
		return err
	}
	size, err := a.pageSize(q.MaxPageSize)
	if err != nil {
		return err
	}
	if err := r.who.MayRead(q.Format.Readers()); err != nil {
		return err
	}
	c, err := a.updatesPageCursor(ctx, r, q)
	if err != nil {
		return err
	}
	from := c.position()
	return a.page(ctx, r, `{"updates":[`, c, size, func() any {
		answer := updatesPageAnswer{Lowest: from, Highest: c.after}
		if q.Descending {
			answer = updatesPageAnswer{Lowest: c.through, Highest: from}
		}
		if c.after < c.through {
			answer.Next = a.tokens.Seal(r.node.updatesDigest(q), binary.AppendVarint(binary.AppendVarint(nil, c.after), c.through))
		}
		return answer
	})
}

// updatesPageCursor reads what is left after the page before: the stretch of a first page
// is fixed by its token, even when the stream has grown.
func (a *API) updatesPageCursor(ctx context.Context, r *reading, q *view.UpdatesPage) (*updateCursor, error) {
	b, err := r.node.boundsOf(ctx, q.Begin, q.End)
	if err != nil {
		return nil, err
	}
	if err := b.checkRange(q.Begin, q.End); err != nil {
		return nil, err
	}
	c := &updateCursor{
		node: r.node, from: r.node.lists(), format: q.Format, sel: q.Format.Selection(),
		after: q.Begin, through: b.end, descending: q.Descending,
	}
	if q.End != nil {
		c.through = *q.End
	}
	if q.Token == "" {
		return c, nil
	}
	payload, ok := a.tokens.Open(r.node.updatesDigest(q), q.Token)
	after, n := binary.Varint(payload)
	through, m := binary.Varint(payload[max(n, 0):])
	if !ok || n <= 0 || m <= 0 {
		return nil, badPageToken()
	}
	c.after, c.through = after, through
	return c, nil
}

func badPageToken() error {
	return failure(invalidArgument, "The pageToken does not belong to this request.")
}

// updatesDigest identifies a request for pages of updates for its tokens.
func (n *node) updatesDigest(q *view.UpdatesPage) []byte {
	format := q.Format.Digest()
	digest := binary.AppendVarint([]byte("updates "+n.Participant+" "), q.Begin)
	if q.End != nil {
		digest = binary.AppendVarint(digest, *q.End)
	}
	if q.Descending {
		digest = append(digest, "descending"...)
	}
	return append(digest, format[:]...)
}

// page answers with the elements of a cursor, at most size, and then with the members of rest.
func (a *API) page(ctx context.Context, r *reading, open string, c cursor, size int, rest func() any) error {
	ctx, err := a.reserve(ctx, r, size)
	if err != nil {
		return err
	}
	return r.Produce(ctx, func(ctx context.Context, dst []byte) ([]byte, bool, error) {
		dst, _, err := a.gather(ctx, append(dst, open...), size, c, func(time.Time) (bool, error) { return false, nil })
		if err != nil {
			return dst, false, err
		}
		members, err := json.Marshal(rest())
		if err != nil {
			return dst, false, err
		}
		return append(append(append(dst, "],"...), members[1:len(members)-1]...), '}'), false, nil
	})
}

// activePageAnswer is all of a JsGetActiveContractsPageResponse but its contracts.
type activePageAnswer struct {
	Offset int64  `json:"activeAtOffset"`
	Next   string `json:"nextPageToken,omitempty"`
}

func (a *API) activePage(ctx context.Context, r *reading) error {
	known, err := r.node.knownNames(ctx)
	if err != nil {
		return err
	}
	q, err := view.ParseActivePage(r.RawBody(), known)
	if err != nil {
		return err
	}
	size, err := a.pageSize(q.MaxPageSize)
	if err != nil {
		return err
	}
	at, after, err := a.activePagePlace(ctx, r, q)
	if err != nil {
		return err
	}
	if _, err := r.mayReadActive(ctx, q.Format, at); err != nil {
		return err
	}
	c := &activeCursor{source: r.node.Source, format: q.Format, query: nodehistory.ActiveQuery{Offset: at, Selection: q.Format.Selection(), After: after}}
	if err := r.node.awaitActive(ctx, at); err != nil {
		return err
	}
	return a.page(ctx, r, `{"activeContracts":[`, c, size, func() any {
		answer := activePageAnswer{Offset: at}
		if c.more {
			answer.Next = a.tokens.Seal(r.node.activeDigest("page", 0, q.Format), keyPayload(binary.AppendVarint(nil, at), c.query.After))
		}
		return answer
	})
}

// activePagePlace says which set a page is of and after which of its contracts it begins. The
// set of a first page is fixed by its token, even when the stream has grown; the request for another
// page may name the offset that the first answer gave.
func (a *API) activePagePlace(ctx context.Context, r *reading, q *view.ActivePage) (at int64, after history.ContractKey, err error) {
	switch {
	case q.Token != "":
		payload, ok := a.tokens.Open(r.node.activeDigest("page", 0, q.Format), q.Token)
		at, n := binary.Varint(payload)
		if after, ok = readKey(payload[max(n, 0):], ok && n > 0); !ok || q.Offset != nil && *q.Offset != at {
			return 0, after, badPageToken()
		}
		return at, after, nil
	case q.Offset != nil:
		return *q.Offset, after, nil
	}
	at, err = r.node.ends.current(ctx)
	return at, after, err
}
