package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// WireOffset is the only offset that the consistent scan operations give: 18 hex
// digits of the number 1. Offsets are local to a node and never a cursor here.
const WireOffset = "000000000000000001"

// ValueWriter writes the contract values of an event in some encoding. Each method
// appends one JSON value to dst.
type ValueWriter interface {
	AppendCreateArguments(dst []byte, e *Event) []byte
	AppendChoiceArgument(dst []byte, e *Event) []byte
	AppendExerciseResult(dst []byte, e *Event) []byte
}

// StoredValues writes contract values exactly as they are stored.
type StoredValues struct{}

// AppendCreateArguments appends e.Argument.
func (StoredValues) AppendCreateArguments(dst []byte, e *Event) []byte {
	return append(dst, e.Argument...)
}

// AppendChoiceArgument appends e.Argument.
func (StoredValues) AppendChoiceArgument(dst []byte, e *Event) []byte {
	return append(dst, e.Argument...)
}

// AppendExerciseResult appends e.Result.
func (StoredValues) AppendExerciseResult(dst []byte, e *Event) []byte {
	return append(dst, e.Result...)
}

// UpdateForm chooses among the shapes in which the scan operations give an update.
type UpdateForm struct {
	// WithOffset adds the constant offset to transactions (v1 and backfilling);
	// reassignments carry it in every form.
	WithOffset bool
	// NodeLocal is the form of v0: event ids begin with "#", and offsets are those of
	// LocalOffset.
	NodeLocal bool
	// Published is the form of the network's bulk files: what is absent is null, the interface_id of
	// exercises of a template's own choices and the created_in_update_id of contracts, and created_at
	// has the fewest fraction digits.
	Published bool
	// Values defaults to StoredValues.
	Values ValueWriter
}

// values returns the writer of contract values.
func (f *UpdateForm) values() ValueWriter {
	if f.Values == nil {
		return StoredValues{}
	}
	return f.Values
}

// LocalOffset is the offset that v0 gives an update at a position: 18 hexadecimal digits
// of a number that never falls in the order of history. Its upper bits are the migration,
// the lower 53 the microseconds since 1970, 0 for import updates. The network's own are
// local to a node and mean nothing elsewhere; neither do these, beyond their order.
func LocalOffset(p Position) string {
	const timeBits = 53 // until the year 2255
	time := min(max(int64(p.RecordTime), 0), 1<<timeBits-1)
	migration := min(max(p.MigrationID, 0), 1<<(63-timeBits)-1)
	return fmt.Sprintf("%018x", uint64(migration)<<timeBits|uint64(time))
}

// appendCreatedAt appends the member created_at.
func (f *UpdateForm) appendCreatedAt(dst []byte, at Micros) []byte {
	dst = append(dst, `,"created_at":"`...)
	if f.Published {
		dst = AppendFewestDigits(dst, at)
	} else {
		dst = AppendShortTime(dst, at)
	}
	return append(dst, '"')
}

// appendOffset appends the member offset.
func appendOffset(dst []byte, u *Update, form *UpdateForm) []byte {
	offset := WireOffset
	if form.NodeLocal {
		offset = LocalOffset(u.Position())
	}
	return appendMember(dst, "offset", offset)
}

// appendEventID appends the id of an event.
func appendEventID(dst []byte, id string, form *UpdateForm) []byte {
	start := len(dst)
	dst = appendString(dst, id)
	if form.NodeLocal {
		dst = slices.Insert(dst, start+1, '#')
	}
	return dst
}

// AppendUpdate appends u as canonical JSON: sorted keys, no white space. With the
// zero form that is the element of /v2/updates that digests are taken over. What it appends
// for an update that CheckComplete refuses is not of the interface.
func AppendUpdate(dst []byte, u *Update, form UpdateForm) []byte {
	return appendUpdate(dst, u, &form, nil)
}

// Span is a part of some bytes, To being exclusive.
type Span struct{ From, To int }

// AppendUpdateSpans is AppendUpdate in the zero form, and appends to spans where in dst its
// events stand, which are as AppendEvent writes them, in the order of u.Events; of a
// reassignment it is the one that AppendReassignmentEvent writes.
func AppendUpdateSpans(dst []byte, u *Update, spans []Span) ([]byte, []Span) {
	n := len(u.Events)
	if u.Kind != Transaction {
		n = 1
	}
	spans = slices.Grow(spans, n)[:len(spans)+n]
	return appendUpdate(dst, u, &UpdateForm{}, spans[len(spans)-n:]), spans
}

// appendUpdate fills spans, one for each event, unless there are none.
func appendUpdate(dst []byte, u *Update, form *UpdateForm, spans []Span) []byte {
	if u.Kind != Transaction {
		dst = append(dst, `{"event":`...)
		from := len(dst)
		dst = appendReassignmentEvent(dst, u, form)
		if spans != nil {
			spans[0] = Span{from, len(dst)}
		}
		dst = appendOffset(dst, u, form)
		dst = append(dst, `,"record_time":"`...)
		dst = AppendRecordTime(dst, u.RecordTime)
		dst = append(dst, `","update_id":`...)
		dst = appendString(dst, u.UpdateID)
		return append(dst, '}')
	}
	dst = append(dst, `{"effective_at":"`...)
	dst = AppendShortTime(dst, u.EffectiveAt)
	dst = append(dst, `","events_by_id":{`...)
	for i, n := range textOrder(u.Events) {
		if i > 0 {
			dst = append(dst, ',')
		}
		e := &u.Events[n]
		dst = appendEventID(dst, e.EventID, form)
		dst = append(dst, ':')
		from := len(dst)
		dst = appendEvent(dst, u.UpdateID, e, form)
		if spans != nil {
			spans[n] = Span{from, len(dst)}
		}
	}
	dst = append(dst, '}')
	if u.ExternalTransactionHash != "" {
		dst = appendMember(dst, "external_transaction_hash", u.ExternalTransactionHash)
	}
	dst = append(dst, `,"migration_id":`...)
	dst = strconv.AppendInt(dst, u.MigrationID, 10)
	if form.WithOffset || form.NodeLocal {
		dst = appendOffset(dst, u, form)
	}
	dst = append(dst, `,"record_time":"`...)
	dst = AppendRecordTime(dst, u.RecordTime)
	dst = append(dst, `","root_event_ids":`...)
	dst = appendEventIDs(dst, u.UpdateID, u.RootEvents, form)
	dst = appendMember(dst, "synchronizer_id", u.SynchronizerID)
	dst = appendMember(dst, "update_id", u.UpdateID)
	dst = appendMember(dst, "workflow_id", u.WorkflowID)
	return append(dst, '}')
}

// AppendEvent appends the node e of update u as it stands in events_by_id.
func AppendEvent(dst []byte, u *Update, e *Event) []byte {
	return AppendEventForm(dst, u.UpdateID, e, UpdateForm{})
}

// AppendEventForm appends an event of an update as it stands in events_by_id, in a form.
func AppendEventForm(dst []byte, updateID string, e *Event, form UpdateForm) []byte {
	return appendEvent(dst, updateID, e, &form)
}

// AppendReassignmentEvent appends the event member of the reassignment u.
func AppendReassignmentEvent(dst []byte, u *Update) []byte {
	return AppendReassignmentEventForm(dst, u, UpdateForm{})
}

// AppendReassignmentEventForm appends the event member of the reassignment u in a form.
func AppendReassignmentEventForm(dst []byte, u *Update, form UpdateForm) []byte {
	return appendReassignmentEvent(dst, u, &form)
}

func appendReassignmentEvent(dst []byte, u *Update, form *UpdateForm) []byte {
	r := u.Reassignment
	if r == nil {
		r = new(Reassignment)
	}
	if u.Kind == Assignment {
		dst = append(dst, `{"created_event":`...)
		if len(u.Events) > 0 {
			dst = appendEvent(dst, u.UpdateID, &u.Events[0], form)
		} else {
			dst = append(dst, "null"...)
		}
	} else {
		dst = append(dst, `{"contract_id":`...)
		dst = appendString(dst, r.ContractID)
	}
	dst = append(dst, `,"migration_id":`...)
	dst = strconv.AppendInt(dst, u.MigrationID, 10)
	dst = append(dst, `,"reassignment_counter":`...)
	dst = strconv.AppendInt(dst, r.Counter, 10)
	dst = appendMember(dst, "source_synchronizer", r.SourceSynchronizer)
	dst = appendMember(dst, "submitter", r.Submitter)
	dst = appendMember(dst, "target_synchronizer", r.TargetSynchronizer)
	dst = appendMember(dst, "unassign_id", r.UnassignID)
	return append(dst, '}')
}

func appendEvent(dst []byte, updateID string, e *Event, form *UpdateForm) []byte {
	switch e.Kind {
	case Created:
		return appendCreated(dst, e, form)
	case Unassigned:
		return appendUnassigned(dst, e, form)
	}
	dst = append(dst, `{"acting_parties":`...)
	dst = appendStrings(dst, e.ActingParties)
	dst = append(dst, `,"child_event_ids":`...)
	dst = appendEventIDs(dst, updateID, e.Children, form)
	dst = appendMember(dst, "choice", e.Choice)
	dst = append(dst, `,"choice_argument":`...)
	dst = form.values().AppendChoiceArgument(dst, e)
	dst = append(dst, `,"consuming":`...)
	dst = strconv.AppendBool(dst, e.Consuming)
	dst = appendMember(dst, "contract_id", e.ContractID)
	dst = append(dst, `,"event_id":`...)
	dst = appendEventID(dst, e.EventID, form)
	dst = append(dst, `,"event_type":"exercised_event","exercise_result":`...)
	dst = form.values().AppendExerciseResult(dst, e)
	if e.InterfaceID != "" {
		dst = appendMember(dst, "interface_id", e.InterfaceID)
	} else if form.Published {
		dst = append(dst, `,"interface_id":null`...)
	}
	dst = appendMember(dst, "package_name", e.PackageName)
	dst = appendMember(dst, "template_id", e.TemplateID)
	return append(dst, '}')
}

func appendCreated(dst []byte, e *Event, form *UpdateForm) []byte {
	dst = append(dst, `{"contract_id":`...)
	dst = appendString(dst, e.ContractID)
	dst = append(dst, `,"create_arguments":`...)
	dst = form.values().AppendCreateArguments(dst, e)
	dst = form.appendCreatedAt(dst, e.CreatedAt)
	dst = append(dst, `,"event_id":`...)
	dst = appendEventID(dst, e.EventID, form)
	dst = append(dst, `,"event_type":"created_event","observers":`...)
	dst = appendStrings(dst, e.Observers)
	dst = appendMember(dst, "package_name", e.PackageName)
	dst = append(dst, `,"signatories":`...)
	dst = appendStrings(dst, e.Signatories)
	dst = appendMember(dst, "template_id", e.TemplateID)
	return append(dst, '}')
}

// appendUnassigned appends an event that only a node's own stream has.
func appendUnassigned(dst []byte, e *Event, form *UpdateForm) []byte {
	dst = append(dst, `{"contract_id":`...)
	dst = appendString(dst, e.ContractID)
	dst = append(dst, `,"event_id":`...)
	dst = appendEventID(dst, e.EventID, form)
	dst = append(dst, `,"event_type":"unassigned_event"`...)
	dst = appendMember(dst, "package_name", e.PackageName)
	dst = appendMember(dst, "template_id", e.TemplateID)
	return append(dst, '}')
}

// AppendActiveContract appends a contract as the active contract set gives it.
// createdIn is the update that created it, "" when unknown.
func AppendActiveContract(dst []byte, e *Event, createdIn string, form UpdateForm) []byte {
	dst = append(dst, `{"contract_id":`...)
	dst = appendString(dst, e.ContractID)
	dst = append(dst, `,"create_arguments":`...)
	dst = form.values().AppendCreateArguments(dst, e)
	dst = form.appendCreatedAt(dst, e.CreatedAt)
	if createdIn != "" {
		dst = appendMember(dst, "created_in_update_id", createdIn)
	} else if form.Published {
		dst = append(dst, `,"created_in_update_id":null`...)
	}
	dst = append(dst, `,"observers":`...)
	dst = appendStrings(dst, e.Observers)
	dst = appendMember(dst, "package_name", e.PackageName)
	dst = append(dst, `,"signatories":`...)
	dst = appendStrings(dst, e.Signatories)
	dst = appendMember(dst, "template_id", e.TemplateID)
	return append(dst, '}')
}

// AppendItem appends one element of the event history as canonical JSON, with
// values as stored.
func AppendItem(dst []byte, it *Item) []byte { return AppendItemForm(dst, it, UpdateForm{}) }

// AppendItemForm appends one element of the event history with the update in the
// given form. Members that are absent are left out.
func AppendItemForm(dst []byte, it *Item, form UpdateForm) []byte {
	dst, _, _ = AppendItemSpan(dst, it, form)
	return dst
}

// AppendItemSpan is AppendItemForm that tells where in its result the update stands: from
// begin up to end, which are both 0 for an item without one.
func AppendItemSpan(dst []byte, it *Item, form UpdateForm) (_ []byte, begin, end int) {
	dst = append(dst, '{')
	sep := ""
	if it.AppActivity != nil {
		dst = append(dst, `"app_activity_records":`...)
		dst = AppendAppActivity(dst, it.AppActivity)
		sep = ","
	}
	if it.Traffic != nil {
		dst = append(dst, sep+`"traffic_summary":`...)
		dst = AppendTraffic(dst, it.Traffic)
		sep = ","
	}
	if it.Update != nil {
		dst = append(dst, sep+`"update":`...)
		begin = len(dst)
		if it.Update.Local != nil {
			dst = AppendLocalUpdate(dst, it.Update)
		} else {
			dst = AppendUpdate(dst, it.Update, form)
		}
		end = len(dst)
		sep = ","
	}
	if it.Verdict != nil {
		dst = append(dst, sep+`"verdict":`...)
		dst = AppendVerdict(dst, it.Verdict)
	}
	return append(dst, '}'), begin, end
}

// AppendVerdict appends v as canonical JSON.
func AppendVerdict(dst []byte, v *Verdict) []byte {
	dst = append(dst, `{"domain_id":`...)
	dst = appendString(dst, v.SynchronizerID)
	dst = append(dst, `,"finalization_time":"`...)
	dst = AppendRecordTime(dst, v.FinalizationTime)
	dst = append(dst, `","mediator_group":`...)
	dst = strconv.AppendInt(dst, int64(v.MediatorGroup), 10)
	dst = append(dst, `,"migration_id":`...)
	dst = strconv.AppendInt(dst, v.MigrationID, 10)
	dst = append(dst, `,"record_time":"`...)
	dst = AppendRecordTime(dst, v.RecordTime)
	dst = append(dst, '"')
	if v.RoundNumber >= 0 {
		dst = append(dst, `,"round_number":`...)
		dst = strconv.AppendInt(dst, v.RoundNumber, 10)
	}
	dst = appendMember(dst, "submitting_participant_uid", v.SubmittingParticipantUID)
	dst = append(dst, `,"submitting_parties":`...)
	dst = appendStrings(dst, v.SubmittingParties)
	dst = append(dst, `,"transaction_views":`...)
	dst = append(dst, v.Views...)
	dst = appendMember(dst, "update_id", v.UpdateID)
	dst = appendMember(dst, "verdict_result", v.Result)
	return append(dst, '}')
}

// AppendTraffic appends t as canonical JSON.
func AppendTraffic(dst []byte, t *TrafficSummary) []byte {
	dst = append(dst, `{"envelope_traffic_summaries":`...)
	dst = append(dst, t.Envelopes...)
	dst = append(dst, `,"total_traffic_cost":`...)
	dst = strconv.AppendInt(dst, t.TotalCost, 10)
	return append(dst, '}')
}

// AppendAppActivity appends a as canonical JSON.
func AppendAppActivity(dst []byte, a *AppActivity) []byte {
	dst = append(dst, `{"records":`...)
	dst = append(dst, a.Records...)
	dst = append(dst, `,"round_number":`...)
	dst = strconv.AppendInt(dst, a.RoundNumber, 10)
	return append(dst, '}')
}

// EventID names node n of an update: "<update id>:<n>".
func EventID(updateID string, n int32) string { return updateID + ":" + strconv.Itoa(int(n)) }

// IsEventID reports whether eventID is EventID(updateID, n), without making that.
func IsEventID(eventID, updateID string, n int32) bool {
	digits, ok := strings.CutPrefix(eventID, updateID)
	if !ok || len(digits) < 2 || digits[0] != ':' {
		return false
	}
	var buf [11]byte
	return digits[1:] == string(strconv.AppendInt(buf[:0], int64(n), 10))
}

// textOrder returns the places of the events in the order of their ids as text, in which :10
// stands before :2. It is the order of events_by_id, not of execution.
func textOrder(events []Event) []int32 {
	ordered := make([]int32, len(events))
	for i := range ordered {
		ordered[i] = int32(i)
	}
	if len(events) > 10 { // up to ten nodes, numbers and texts sort alike
		slices.SortFunc(ordered, func(a, b int32) int { return compareNodes(events[a].Node, events[b].Node) })
	}
	return ordered
}

func compareNodes(a, b int32) int {
	var x, y [11]byte
	return slices.Compare(strconv.AppendInt(x[:0], int64(a), 10), strconv.AppendInt(y[:0], int64(b), 10))
}

func appendMember(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return appendString(dst, value)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

// appendEventIDs appends node numbers as the list of their event ids.
func appendEventIDs(dst []byte, updateID string, nodes []int32, form *UpdateForm) []byte {
	dst = append(dst, '[')
	for i, n := range nodes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendEventID(dst, updateID, form)
		dst = append(dst[:len(dst)-1], ':')
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// appendString appends s as a canonical JSON string without copying it to bytes first.
func appendString(dst []byte, s string) []byte {
	return jsonscan.AppendString(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

// AppendTrafficRow appends t with the id of its update: the row that digests of
// table traffic are taken over.
func AppendTrafficRow(dst []byte, updateID string, t *TrafficSummary) []byte {
	dst = append(dst, `{"traffic_summary":`...)
	dst = AppendTraffic(dst, t)
	dst = appendMember(dst, "update_id", updateID)
	return append(dst, '}')
}

// AppendAppActivityRow appends a with the id of its update: the row that digests of
// table app_activity are taken over.
func AppendAppActivityRow(dst []byte, updateID string, a *AppActivity) []byte {
	dst = append(dst, `{"app_activity_records":`...)
	dst = AppendAppActivity(dst, a)
	dst = appendMember(dst, "update_id", updateID)
	return append(dst, '}')
}
