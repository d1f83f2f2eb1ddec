package node

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// activeEntry is an element of the active contract set.
type activeEntry struct {
	// update is the import update of the contract, nil for elements without an active one.
	update *schemas.Update
	// counter is how often the contract was reassigned.
	counter int64
	// token continues the set after this element, "" if the node gives none.
	token string
}

// decodeActive reads an element of the active contract set at an offset. The result
// refers to body, which must not change any more. Errors are those of decodeElement.
func (d *decoder) decodeActive(body []byte, offset int64) (activeEntry, error) {
	var a activeEntry
	d.events, d.locals, d.offsets = d.events[:0], d.locals[:0], d.offsets[:0]
	d.outerMembers = d.outerMembers[:0]
	workflow, synchronizer, found := "", "", false
	err := d.in.text(body, func(key []byte) (err error) {
		switch string(key) {
		case "workflowId":
			workflow, err = d.in.string("workflowId")
		case "streamContinuationToken":
			a.token, err = d.in.string("streamContinuationToken")
		case "contractEntry":
			if found = true; d.in.null() {
				return nil
			}
			err = d.in.oneOf("contractEntry", func(kind []byte) (err error) {
				synchronizer, err = d.activeKind(string(kind), &a)
				return err
			})
		default:
			err = d.addMember(&d.outerMembers, key)
		}
		return err
	})
	if err != nil || !found {
		if own := ownErrorOf(body); own != nil {
			return a, own
		}
	}
	if err == nil && !found && a.token == "" {
		err = fmt.Errorf("it has no contractEntry")
	}
	if err == nil && synchronizer != "" {
		a.update, err = d.importUpdate(offset, workflow, synchronizer, a.counter)
	}
	if err != nil {
		return a, fmt.Errorf("%w: an active contract: %w", schemas.ErrMalformed, err)
	}
	return a, nil
}

// activeKind reads one kind of entry and returns the synchronizer on which its contract
// is active, "" if it is not. A contract that left one synchronizer and has not arrived
// at another is not active anywhere: its assignment is still to come.
func (d *decoder) activeKind(kind string, a *activeEntry) (synchronizer string, err error) {
	switch kind {
	case "JsActiveContract":
		return d.activeContract(a)
	case "JsIncompleteAssigned":
		return d.incompleteAssigned(a)
	case "JsIncompleteUnassigned", "JsEmpty":
		return "", d.in.skip()
	}
	return "", &unknownKind{"an active contract of kind", kind}
}

func (d *decoder) activeContract(a *activeEntry) (synchronizer string, err error) {
	err = d.in.object("JsActiveContract", func(key []byte) (err error) {
		switch string(key) {
		case "createdEvent":
			return d.created(true)
		case "synchronizerId":
			synchronizer, err = d.in.string("synchronizerId")
			return err
		case "reassignmentCounter":
			a.counter, err = d.in.int64("reassignmentCounter")
			return err
		}
		return d.addMember(&d.outerMembers, key)
	})
	if err == nil && (len(d.events) != 1 || synchronizer == "") {
		err = fmt.Errorf("createdEvent or synchronizerId is missing")
	}
	return synchronizer, err
}

// incompleteAssigned reads a contract that has arrived at its synchronizer while the
// other one has not reported yet that it left.
func (d *decoder) incompleteAssigned(a *activeEntry) (synchronizer string, err error) {
	var r reassigned
	err = d.in.object("JsIncompleteAssigned", func(key []byte) error {
		if string(key) == "assignedEvent" {
			return d.assigned(&r, true)
		}
		return d.addMember(&d.outerMembers, key)
	})
	if err != nil {
		return "", err
	}
	if len(d.events) != 1 {
		return "", fmt.Errorf("an incomplete assignment has no assignedEvent")
	}
	a.counter = r.Counter
	// The counter is added like that of any active contract.
	l := &d.locals[0]
	parts := []any{`"reassignmentId":`, r.UnassignID, `"source":`, r.SourceSynchronizer}
	if r.Submitter != "" {
		parts = append(parts, `"submitter":`, r.Submitter)
	}
	return r.TargetSynchronizer, d.addExtras(l, parts...)
}

// importUpdate makes the import update of the contract just read. The update that
// created it is not known: what is reported, the offset at which the contract was
// activated last, as which node, and how often it was reassigned, goes into the extras. As
// an import the event is the only one, number 0.
func (d *decoder) importUpdate(offset int64, workflow, synchronizer string, counter int64) (*schemas.Update, error) {
	e, l := &d.events[0], &d.locals[0]
	activated := d.offsets[0]
	if activated == 0 || activated > offset {
		return nil, fmt.Errorf("contract %s of the set at offset %d was activated at offset %d", e.ContractID, offset, activated)
	}
	if counter < 0 {
		return nil, fmt.Errorf("contract %s has reassignmentCounter %d", e.ContractID, counter)
	}
	if err := d.addExtras(l, `"nodeId":`, int64(e.Node), `"offset":`, activated, `"reassignmentCounter":`, counter); err != nil {
		return nil, err
	}
	if err := d.addAround("entry"); err != nil {
		return nil, err
	}
	e.Node, l.LastDescendant, l.ACSDelta = 0, 0, true
	u := &schemas.Update{
		Kind: schemas.Transaction, MigrationID: d.migrationID, SynchronizerID: synchronizer, RecordTime: schemas.MinMicros,
		UpdateID: e.ContractID, Encoding: schemas.CompactJSON, WorkflowID: workflow, EffectiveAt: e.CreatedAt,
		RootEvents: d.nodeSlab.copyOf([]int32{0}),
		Local:      &schemas.LocalUpdate{Offset: offset, PaidTrafficCost: -1},
	}
	e.EventID = d.eventID(e.ContractID, e.Node)
	u.Events = d.eventSlab.copyOf(d.events[:1])
	u.Events[0].Local = &d.localSlab.copyOf(d.locals[:1])[0]
	return u, nil
}
