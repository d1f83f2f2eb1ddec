package nodeapi

import (
	"bytes"
	"net/http"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// contractEvents knows where on the node's stream each contract begins and ends. It is
// built when somebody asks for the first time, and then follows the stream.
type contractEvents struct {
	store *history.Store

	mu       sync.Mutex
	scanned  int // entries of the stream
	created  map[uint64]eventPlace
	archived map[uint64]eventPlace
}

// eventPlace is an event of an entry of the node's stream.
type eventPlace struct{ entry, event int32 }

func newContractEvents(s *history.Store) *contractEvents {
	return &contractEvents{store: s, created: map[uint64]eventPlace{}, archived: map[uint64]eventPlace{}}
}

// of returns where a contract begins and ends; nil for what the node's parties do not see.
// A contract that came from another synchronizer begins with its assignment.
func (c *contractEvents) of(contract uint64) (created, archived *eventPlace, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.follow(); err != nil {
		return nil, nil, err
	}
	if place, ok := c.created[contract]; ok {
		created = &place
	}
	if place, ok := c.archived[contract]; ok {
		archived = &place
	}
	return created, archived, nil
}

// follow reads what the stream has had since the last time.
func (c *contractEvents) follow() error {
	var records history.BlockReader
	records.Open(c.store.Files[history.NodeRecordFile])
	defer records.Close()
	var packed []byte
	var record history.NodeRecord
	var reader history.RecordReader
	for {
		c.store.Mu.RLock()
		more := c.scanned < len(c.store.Node.Entries)
		var item history.NodeItem
		if more {
			item = c.store.NodeItem(c.scanned)
		}
		c.store.Mu.RUnlock()
		if !more {
			return nil
		}
		var err error
		if packed, err = records.Append(packed[:0], item.Record.Start, item.Record.Size); err != nil {
			return err
		}
		record.Decode(&reader, packed)
		c.add(&record)
		c.scanned++
	}
}

func (c *contractEvents) add(r *history.NodeRecord) {
	for i := range r.List {
		e := &r.List[i]
		place := eventPlace{int32(c.scanned), int32(i)}
		switch {
		case !e.AcsDelta: // also of contracts that end in the transaction in which they begin
		case e.Kind == history.CreatedKind, e.Kind == history.AssignedKind:
			if _, known := c.created[e.Contract]; !known {
				c.created[e.Contract] = place
			}
		case e.Kind == history.ExercisedKind:
			c.archived[e.Contract] = place
		}
	}
}

type contractEventsRequest struct {
	ContractID *string          `json:"contractId"`
	Format     *wireEventFormat `json:"eventFormat"`
}

// eventsByContractID answers with the events by which a contract began and ended.
func (n *readServer) eventsByContractID(r *http.Request, q *contractEventsRequest) (any, error) {
	if q.ContractID == nil {
		return nil, reply.BadRequest("invalid body: contractId is required")
	}
	f, err := n.formats.events(q.Format)
	if err != nil {
		return nil, err
	}
	if err := principalOf(r.Context()).mayReadEvents(f); err != nil {
		return nil, err
	}
	missing := nodeRefusal("CONTRACT_EVENTS_NOT_FOUND", "Contract events not found, or not visible: %s", *q.ContractID)
	number, ok := n.view.Names.IDs.ContractNumber(*q.ContractID)
	if !ok {
		return nil, missing
	}
	created, archived, err := n.events.of(number)
	if err != nil {
		return nil, err
	}
	body := []byte{'{'}
	for _, place := range []*eventPlace{created, archived} {
		if place == nil {
			continue
		}
		if body, err = n.appendContractEvent(body, f, *place); err != nil {
			return nil, err
		}
	}
	if len(body) == 1 {
		return nil, missing
	}
	return rawJSON(model.Closing(body, '}')), nil
}

// appendContractEvent appends a member for an event and a comma, nothing if the format does
// not have the event.
func (n *readServer) appendContractEvent(dst []byte, f *eventFormat, place eventPlace) ([]byte, error) {
	n.store.Mu.RLock()
	item := n.store.NodeItem(int(place.entry))
	n.store.Mu.RUnlock()
	u, err := n.loaded(item)
	if err != nil {
		return dst, err
	}
	e := &u.record.List[place.event]
	ps, w := u.cutter.matching(f, e.Stakeholders, e.Template, e.ContractVersion)
	if len(ps) == 0 || item.Offset <= n.options.PrunedOffset {
		return dst, nil
	}
	const archivedHead, archivedTail = `{"ArchivedEvent":`, `}`
	if e.Kind == history.ExercisedKind {
		start := len(dst) + len(`"archived":{"archivedEvent":`)
		dst = append(dst, `"archived":{"archivedEvent":`...)
		dst = u.cutter.archived(dst, item.Offset, e, ps, w)
		dst = append(dst[:start], dst[start+len(archivedHead):len(dst)-len(archivedTail)]...)
	} else {
		dst = u.cutter.createdEvent(append(dst, `"created":{"createdEvent":`...), u.frame, e, ps, w)
	}
	dst = model.AppendPlain(append(dst, `,"synchronizerId":`...), synchronizerOf(u.frame, &u.record))
	return append(dst, `},`...), nil
}

// synchronizerOf finds the synchronizer in the bytes of an update.
func synchronizerOf(frame []byte, r *history.NodeRecord) string {
	_, rest, _ := bytes.Cut(frame[r.Events.End:], []byte(`"synchronizerId":"`))
	id, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(id)
}
