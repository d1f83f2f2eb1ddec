package nodeapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// itemAt returns the update at an offset, false if the node's parties see none there.
func (n *readServer) itemAt(offset int64) (history.NodeItem, bool) {
	s := n.store
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	i := s.Node.After(offset - 1)
	if i == len(s.Node.Entries) || s.Node.Entries[i].Offset != offset {
		return history.NodeItem{}, false
	}
	return s.NodeItem(i), true
}

// cut returns an update as a format has it: as an element of a stream. It is empty if the
// format has none of its events, unless bare says that it goes without events then.
func (n *readServer) cut(item history.NodeItem, f *updateFormat, bare bool) ([]byte, error) {
	u, err := n.loaded(item)
	if err != nil {
		return nil, err
	}
	element := u.cutter.update(nil, f, u.frame, &u.record)
	if len(element) == 0 && bare {
		element = append(element, u.frame[:u.record.Events.Start]...)
		element = append(element, u.frame[u.record.Events.End:]...)
	}
	return element, nil
}

// loaded returns a stream that has read an update and is closed: for its buffers and its
// cutter.
func (n *readServer) loaded(item history.NodeItem) (*updateStream, error) {
	u := &updateStream{store: n.store, view: n.view, cutter: cutter{names: n.view.Names}}
	u.frames.Open(n.store.Files[history.NodeFile])
	u.records.Open(n.store.Files[history.NodeRecordFile])
	defer u.Close()
	return u, u.load(&item)
}

const (
	transactionHead = `{"update":{"Transaction":{"value":`
	transactionTail = `}}}`
)

// answerTransaction answers with a transaction, which is taken out of the element of a stream.
func answerTransaction(element []byte) rawJSON {
	transaction := element[len(transactionHead) : len(element)-len(transactionTail)]
	return append(append(rawJSON(`{"transaction":`), transaction...), '}')
}

type updateByIDRequest struct {
	ID     *string           `json:"updateId"`
	Format *wireUpdateFormat `json:"updateFormat"`
}

func (n *readServer) updateByID(r *http.Request, q *updateByIDRequest) (any, error) {
	if q.ID == nil {
		return nil, reply.BadRequest("invalid body: updateId is required")
	}
	number, ok := n.view.Names.IDs.UpdateNumber(*q.ID)
	offset := int64(-1)
	if ok && number < 1<<32 { // numbers of entries are no more
		offset = n.view.OffsetOf(number)
	}
	return n.updateAt(r.Context(), offset, *q.ID, q.Format)
}

type updateByOffsetRequest struct {
	Offset *int64            `json:"offset"`
	Format *wireUpdateFormat `json:"updateFormat"`
}

func (n *readServer) updateByOffset(r *http.Request, q *updateByOffsetRequest) (any, error) {
	if q.Offset == nil {
		return nil, reply.BadRequest("invalid body: offset is required")
	}
	if *q.Offset <= 0 {
		return nil, invalidArgument("offset %d is not positive", *q.Offset)
	}
	return n.updateAt(r.Context(), *q.Offset, strconv.FormatInt(*q.Offset, 10), q.Format)
}

// updateAt answers with the update at an offset, which the client calls name.
func (n *readServer) updateAt(ctx context.Context, offset int64, name string, format *wireUpdateFormat) (any, error) {
	f, err := n.formats.update(&updatesRequest{Format: format})
	if err != nil {
		return nil, err
	}
	if err := principalOf(ctx).mayReadUpdates(f); err != nil {
		return nil, err
	}
	missing := nodeRefusal("UPDATE_NOT_FOUND", "Update not found, or not visible: %s", name)
	item, ok := n.itemAt(offset)
	if !ok || offset <= n.options.PrunedOffset {
		return nil, missing
	}
	element, err := n.cut(item, f, false)
	if err == nil && len(element) == 0 {
		err = missing
	}
	return rawJSON(element), err
}
