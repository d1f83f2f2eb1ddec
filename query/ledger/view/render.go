package view

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// AppendUpdate appends {"update": {...}}, or {"transaction": {...}} if the format is of one alone,
// with what the format lets through of u, with all of its events. visible is false, and nothing is appended, when that is nothing. Members
// come in the order of canonical JSON but for those that this release does not know.
// Consuming exercises should have Local.Contract if the selection asks for it: without it
// witnesses are taken for stakeholders. An error means that the stored update is damaged.
func (f *UpdateFormat) AppendUpdate(dst []byte, u *schemas.Update) (out []byte, visible bool, err error) {
	start := len(dst)
	if u.Local == nil {
		return dst, false, fmt.Errorf("writing update %s: %w", u.UpdateID, errNotLocal)
	}
	switch u.Kind {
	case schemas.Topology:
		dst, visible, err = f.topology.append(dst, u)
	case schemas.Transaction:
		if f.transactions != nil {
			dst, visible, err = f.transactions.appendTransaction(dst, u, f.shape, f.wrapper())
		}
	case schemas.Assignment, schemas.Unassignment:
		if f.reassignments != nil {
			dst, visible, err = f.reassignments.appendReassignment(dst, u)
		}
	default:
		err = fmt.Errorf("it is of kind %q", u.Kind)
	}
	if err != nil {
		return dst[:start], false, fmt.Errorf("writing update %s: %w", u.UpdateID, err)
	}
	if !visible {
		dst = dst[:start]
	}
	return dst, visible, nil
}

func (f *EventFormat) appendTransaction(dst []byte, u *schemas.Update, s shape, around wrapper) ([]byte, bool, error) {
	submitter := f.isSubmitter(u)
	dst = append(dst, around.head...)
	if submitter && u.Local.CommandID != "" {
		dst = append(appendText(append(dst, `"commandId":`...), u.Local.CommandID), ',')
	}
	dst = append(dst, `"effectiveAt":"`...)
	w := eventWriter{format: f, update: u, offset: u.Local.Offset}
	w.timeAt, w.time = len(dst), u.EffectiveAt
	dst = schemas.AppendShortTime(dst, u.EffectiveAt)
	w.timeEnd = len(dst)
	if s == tree {
		dst = append(dst, `","eventsById":{`...)
	} else {
		dst = append(dst, `","events":[`...)
	}
	visible := false
	for i := range u.Events {
		before := len(dst)
		if visible {
			dst = append(dst, ',')
		}
		out, shown, err := w.append(dst, &u.Events[i], s)
		if err != nil {
			return dst, false, fmt.Errorf("event %d: %w", u.Events[i].Node, err)
		}
		if dst = out; !shown {
			dst = dst[:before]
			continue
		}
		visible = true
	}
	if !visible {
		return dst, false, nil
	}
	if s == tree {
		return append(f.appendTail(append(dst, '}'), u, submitter), around.end...), true, nil
	}
	dst = append(dst, ']')
	if u.ExternalTransactionHash != "" {
		hash, err := hex.DecodeString(u.ExternalTransactionHash)
		if err != nil {
			return dst, false, fmt.Errorf("its hash is damaged: %w", err)
		}
		dst = append(dst, `,"externalTransactionHash":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, hash), '"')
	}
	return append(f.appendTail(dst, u, submitter), around.end...), true, nil
}

// appendTail appends the members that transactions and reassignments have behind their events.
func (f *EventFormat) appendTail(dst []byte, u *schemas.Update, submitter bool) []byte {
	dst = strconv.AppendInt(append(dst, `,"offset":`...), u.Local.Offset, 10)
	if submitter && u.Local.PaidTrafficCost >= 0 {
		dst = strconv.AppendInt(append(dst, `,"paidTrafficCost":`...), u.Local.PaidTrafficCost, 10)
	}
	dst = schemas.AppendRecordTime(append(dst, `,"recordTime":"`...), u.RecordTime)
	dst = appendText(append(dst, `","synchronizerId":`...), u.SynchronizerID)
	dst = appendTrace(dst, u)
	dst = appendText(append(dst, `,"updateId":`...), u.UpdateID)
	if u.WorkflowID != "" {
		dst = appendText(append(dst, `,"workflowId":`...), u.WorkflowID)
	}
	// What it says of whom is not known: only who reads for any party may see all.
	if f.anyParty != nil {
		dst = appendMembers(dst, u.Local.Extras)
	}
	return dst
}

func appendTrace(dst []byte, u *schemas.Update) []byte {
	if len(u.Local.TraceContext) == 0 {
		return dst
	}
	return append(append(dst, `,"traceContext":`...), u.Local.TraceContext...)
}

// isSubmitter reports whether the reader is a submitter of u, or reads for any party.
func (f *EventFormat) isSubmitter(u *schemas.Update) bool {
	switch {
	case f.anyParty != nil:
		return true
	case u.Local.CommandID == "" && u.Local.PaidTrafficCost < 0:
		return false // nothing to tell
	case u.Reassignment != nil:
		return f.byParty[u.Reassignment.Submitter] != nil
	}
	root := 0
	for i := range u.Events {
		if root == len(u.RootEvents) {
			return false
		}
		e := &u.Events[i]
		if e.Node != u.RootEvents[root] {
			continue
		}
		root++
		if f.namesAny(e.ActingParties) || e.Kind == schemas.Created && f.namesAny(e.Signatories) {
			return true
		}
	}
	return false
}

func (f *EventFormat) namesAny(parties []string) bool {
	return slices.ContainsFunc(parties, func(p string) bool { return f.byParty[p] != nil })
}

// AppendCheckpoint appends an update that says how far a stream has come. times are in the
// order in which they are to appear.
func AppendCheckpoint(dst []byte, offset int64, times []nodehistory.SynchronizerTime) []byte {
	dst = strconv.AppendInt(append(dst, `{"update":{"OffsetCheckpoint":{"value":{"offset":`...), offset, 10)
	dst = append(dst, `,"synchronizerTimes":[`...)
	for i, t := range times {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schemas.AppendRecordTime(append(dst, `{"recordTime":"`...), t.RecordTime)
		dst = append(appendText(append(dst, `","synchronizerId":`...), t.SynchronizerID), '}')
	}
	return append(dst, `]`+endOfUpdate...)
}
