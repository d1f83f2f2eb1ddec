package nodeapi

import (
	"context"
	"io"
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
	updateHead      = `{"update":`
	updateTail      = `}`
)

// transactionOf takes a transaction out of the element of a stream.
func transactionOf(element []byte) string {
	return string(element[len(transactionHead) : len(element)-len(transactionTail)])
}

// sendText answers with JSON that is there as texts.
func sendText(w http.ResponseWriter, texts ...string) error {
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	w.Header().Set("Content-Type", reply.ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(size))
	for _, t := range texts {
		io.WriteString(w, t) // if the client is gone, nobody is left to tell
	}
	return nil
}

func (n *readServer) updateByID(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		ID     *string           `json:"updateId"`
		Format *wireUpdateFormat `json:"updateFormat"`
	}
	if err := readRequest(r, &q); err != nil {
		return err
	}
	if q.ID == nil {
		return reply.BadRequest("invalid body: updateId is required")
	}
	number, ok := n.view.Names.IDs.UpdateNumber(*q.ID)
	offset := int64(-1)
	if ok && number < 1<<32 { // numbers of entries are no more
		offset = n.view.OffsetOf(number)
	}
	return n.sendUpdate(w, r.Context(), offset, *q.ID, q.Format)
}

func (n *readServer) updateByOffset(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Offset *int64            `json:"offset"`
		Format *wireUpdateFormat `json:"updateFormat"`
	}
	if err := readRequest(r, &q); err != nil {
		return err
	}
	if q.Offset == nil {
		return reply.BadRequest("invalid body: offset is required")
	}
	if *q.Offset <= 0 {
		return invalidArgument("offset %d is not positive", *q.Offset)
	}
	return n.sendUpdate(w, r.Context(), *q.Offset, strconv.FormatInt(*q.Offset, 10), q.Format)
}

// sendUpdate answers with the update at an offset, which the client calls name.
func (n *readServer) sendUpdate(w http.ResponseWriter, ctx context.Context, offset int64, name string, format *wireUpdateFormat) error {
	f, err := n.formats.update(&updatesRequest{Format: format}, false)
	if err != nil {
		return err
	}
	if err := principalOf(ctx).mayReadUpdates(f); err != nil {
		return err
	}
	missing := nodeRefusal("UPDATE_NOT_FOUND", "Update not found, or not visible: %s", name)
	item, ok := n.itemAt(offset)
	if !ok || offset <= n.options.PrunedOffset {
		return missing
	}
	element, err := n.cut(item, f, false)
	if err != nil {
		return err
	}
	if len(element) == 0 {
		return missing
	}
	return sendText(w, updateHead, string(element[len(updateHead):len(element)-len(updateTail)]), updateTail)
}
