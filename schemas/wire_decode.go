package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// DecodeEvents reads a page of /v0/events: {"events": [...]}. The values in it are
// in the given encoding. The items refer to page, which must not change any more.
// Errors wrap ErrMalformed and name the element.
func DecodeEvents(page []byte, enc Encoding) ([]Item, error) {
	return decodePage(page, "events", func(r *wireReader, it *Item) error {
		w := r.item()
		if r.Failed() {
			return nil // decodePage sees it
		}
		return w.item(enc, it)
	})
}

// DecodeUpdates reads a page of /v1/updates, /v2/updates, updates-before or
// import-updates: {"transactions": [...]}. The items refer to page, which must not
// change any more.
func DecodeUpdates(page []byte, enc Encoding) ([]Item, error) {
	return decodePage(page, "transactions", func(r *wireReader, it *Item) (err error) {
		w := r.update()
		if r.Failed() {
			return nil // decodePage sees it
		}
		it.Update, err = w.update(enc)
		return err
	})
}

// decodePage reads the elements of one member of a page. The page is read in canonical
// form, so that every raw value inside is canonical as well; a page in another form is
// rewritten first. Either way UTF-8, duplicate keys and depth are checked. Strings and raw
// values of the result refer to the page, or to its rewritten form: pages are large, and
// copying them costs as much as reading them.
func decodePage(page []byte, member string, element func(*wireReader, *Item) error) ([]Item, error) {
	r := wireReader{Cursor: jsonscan.NewCursor(page)}
	items, err := r.page(member, element)
	if r.Failed() {
		canonical, rewriteErr := jsonscan.AppendCanonical(make([]byte, 0, len(page)), page)
		if rewriteErr != nil {
			return nil, fmt.Errorf("%w: %w", ErrMalformed, rewriteErr)
		}
		r = wireReader{Cursor: jsonscan.NewCursor(canonical)}
		items, err = r.page(member, element)
	}
	switch {
	case r.Failed():
		return nil, fmt.Errorf("%w: member %q has a value of the wrong kind, at byte %d of the canonical page", ErrMalformed, r.member, r.Offset())
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return items, nil
}

func (w *wireItem) item(enc Encoding, it *Item) (err error) {
	if w.Update == nil && w.Verdict == nil {
		return fmt.Errorf("an event has neither update nor verdict")
	}
	if w.Update != nil {
		if it.Update, err = w.Update.update(enc); err != nil {
			return err
		}
	}
	if w.Verdict == nil {
		if w.Traffic != nil || w.App != nil {
			return fmt.Errorf("update %s has side data without a verdict", w.Update.UpdateID)
		}
		return nil
	}
	if it.Verdict, err = w.Verdict.verdict(); err != nil {
		return err
	}
	if it.Update != nil && it.Update.Position() != (&Item{Verdict: it.Verdict}).Position() {
		return fmt.Errorf("update %s and its verdict disagree on their position in history", it.Update.UpdateID)
	}
	if w.Traffic != nil {
		if !w.Traffic.Total.there || !isArray(w.Traffic.Envelopes) {
			return fmt.Errorf("update %s has an incomplete traffic summary", it.Verdict.UpdateID)
		}
		it.Traffic = &TrafficSummary{TotalCost: w.Traffic.Total.n, Envelopes: w.Traffic.Envelopes}
	}
	if w.App != nil {
		if !w.App.Round.there || !isArray(w.App.Records) {
			return fmt.Errorf("update %s has an incomplete app activity record", it.Verdict.UpdateID)
		}
		it.AppActivity = &AppActivity{RoundNumber: w.App.Round.n, Records: w.App.Records}
	}
	return nil
}

func isArray(raw rawValue) bool  { return len(raw) > 0 && raw[0] == '[' }
func isObject(raw rawValue) bool { return len(raw) > 0 && raw[0] == '{' }

func (w *wireVerdict) verdict() (*Verdict, error) {
	if w.UpdateID == "" || !w.MigrationID.there || w.Synchronizer == "" || !isObject(w.Views) {
		return nil, fmt.Errorf("verdict of update %q lacks a required member", w.UpdateID)
	}
	v := &Verdict{
		UpdateID: w.UpdateID, MigrationID: w.MigrationID.n, SynchronizerID: w.Synchronizer,
		SubmittingParties: w.Parties, SubmittingParticipantUID: w.Participant,
		Result: w.Result, MediatorGroup: w.Group, RoundNumber: -1, Views: w.Views,
	}
	if w.Round.there {
		v.RoundNumber = w.Round.n
	}
	var err error
	if v.RecordTime, err = historyTime(w.RecordTime); err != nil {
		return nil, fmt.Errorf("verdict of update %s: %w", w.UpdateID, err)
	}
	if v.FinalizationTime, err = storableTime(w.Finalization); err != nil {
		return nil, fmt.Errorf("verdict of update %s: finalization time: %w", w.UpdateID, err)
	}
	return v, nil
}

func (w *wireUpdate) update(enc Encoding) (*Update, error) {
	if w.UpdateID == "" {
		return nil, fmt.Errorf("an update has no update_id")
	}
	u := &Update{UpdateID: w.UpdateID, Encoding: enc}
	err := w.fill(u)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", short(w.UpdateID), err)
	}
	return u, nil
}

func (w *wireUpdate) fill(u *Update) (err error) {
	if u.RecordTime, err = ParseTime(w.RecordTime); err != nil {
		return fmt.Errorf("record time: %w", err)
	}
	if u.RecordTime != MinMicros && !storable(u.RecordTime) {
		return fmt.Errorf("record time %s is outside 1900 to 2262", u.RecordTime)
	}
	if w.Event != nil {
		return w.Event.fill(u)
	}
	if !w.hasEvents {
		return fmt.Errorf("events_by_id or event is missing")
	}
	if !w.MigrationID.there || w.Synchronizer == "" {
		return fmt.Errorf("migration_id or synchronizer_id is missing")
	}
	u.Kind, u.MigrationID, u.SynchronizerID = Transaction, w.MigrationID.n, w.Synchronizer
	u.WorkflowID, u.ExternalTransactionHash = w.WorkflowID, w.Hash
	if u.EffectiveAt, err = storableTime(w.EffectiveAt); err != nil {
		return fmt.Errorf("effective_at: %w", err)
	}
	if u.RootEvents, err = nodeNumbers(u.UpdateID, w.Roots); err != nil {
		return err
	}
	u.Events = make([]Event, len(w.Events))
	for i := range w.Events {
		id, we := w.Events[i].id, &w.Events[i].wireEvent
		n, err := nodeNumber(u.UpdateID, id)
		if err != nil {
			return err
		}
		if int(n) >= len(u.Events) {
			return fmt.Errorf("event %s: node numbers are not dense: %d events", id, len(u.Events))
		}
		if we.EventID != id {
			return fmt.Errorf("event %s says that its id is %q", id, we.EventID)
		}
		if err := we.event(u.UpdateID, n, &u.Events[n]); err != nil {
			return fmt.Errorf("event %s: %w", id, err)
		}
	}
	return u.checkTree()
}

// checkTree makes sure that a walk from the roots meets every event once, in the
// order of the node numbers.
func (u *Update) checkTree() error {
	next := int32(0)
	pending := slices.Clone(u.RootEvents)
	slices.Reverse(pending)
	for len(pending) > 0 {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if n != next || int(n) >= len(u.Events) {
			return fmt.Errorf("the tree is not numbered in preorder: it has node %d in place of node %d", n, next)
		}
		next++
		for _, child := range slices.Backward(u.Events[n].Children) {
			pending = append(pending, child)
		}
	}
	if int(next) != len(u.Events) {
		return fmt.Errorf("%d of %d events cannot be reached from the roots", len(u.Events)-int(next), len(u.Events))
	}
	return nil
}

func (w *wireReassignment) fill(u *Update) error {
	if !w.MigrationID.there || !w.Counter.there || w.Source == "" || w.Target == "" {
		return fmt.Errorf("the reassignment lacks a required member")
	}
	if u.RecordTime == MinMicros {
		return fmt.Errorf("a reassignment cannot be an import")
	}
	u.MigrationID = w.MigrationID.n
	u.Reassignment = &Reassignment{
		Submitter: w.Submitter, SourceSynchronizer: w.Source, TargetSynchronizer: w.Target,
		UnassignID: w.UnassignID, Counter: w.Counter.n, ContractID: w.ContractID,
	}
	if w.CreatedEvent == nil {
		if w.ContractID == "" {
			return fmt.Errorf("the reassignment has neither created_event nor contract_id")
		}
		u.Kind, u.SynchronizerID = Unassignment, w.Source
		return nil
	}
	u.Kind, u.SynchronizerID = Assignment, w.Target
	u.Events = make([]Event, 1)
	if w.CreatedEvent.EventType != "created_event" {
		return fmt.Errorf("created_event has event_type %q", w.CreatedEvent.EventType)
	}
	if err := w.CreatedEvent.event(u.UpdateID, 0, &u.Events[0]); err != nil {
		return fmt.Errorf("created_event: %w", err)
	}
	u.Reassignment.ContractID = u.Events[0].ContractID
	return nil
}

func (w *wireEvent) event(updateID string, n int32, e *Event) (err error) {
	if w.ContractID == "" || w.TemplateID == "" {
		return fmt.Errorf("contract_id or template_id is missing")
	}
	if strings.IndexByte(w.ContractID, '\n') >= 0 {
		return fmt.Errorf("contract id %q has a line break", w.ContractID)
	}
	*e = Event{
		EventID: w.EventID, Node: n, ContractID: w.ContractID, TemplateID: w.TemplateID, PackageName: w.PackageName,
	}
	switch w.EventType {
	case "created_event":
		if len(w.Arguments) == 0 {
			return fmt.Errorf("create_arguments are missing")
		}
		e.Kind, e.Argument = Created, w.Arguments
		e.Signatories, e.Observers = sorted(w.Signatories), sorted(w.Observers)
		if e.CreatedAt, err = storableTime(w.CreatedAt); err != nil {
			return fmt.Errorf("created_at: %w", err)
		}
	case "exercised_event":
		if w.Choice == "" || !w.hasConsuming || len(w.Argument) == 0 {
			return fmt.Errorf("choice, choice_argument or consuming is missing")
		}
		e.Kind, e.Choice, e.InterfaceID = Exercised, w.Choice, w.InterfaceID
		e.Argument, e.Result = w.Argument, orNull(w.Result)
		e.Consuming, e.ActingParties = w.Consuming, w.Acting
		e.Children, err = nodeNumbers(updateID, w.Children)
		return err
	default:
		return fmt.Errorf("event_type %q is neither created_event nor exercised_event", w.EventType)
	}
	return nil
}

func orNull(raw rawValue) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// sorted returns the parties in text order, which every scan gives and digests rely on.
func sorted(parties []string) []string {
	slices.Sort(parties)
	return parties
}

// storable reports whether the store's DateTime64(6) can hold m.
func storable(m Micros) bool {
	const from, to = -2208988800 * 1e6, 9214646400 * 1e6 // 1900-01-01 and 2262-01-01
	return m >= from && m < to
}

func storableTime(s string) (Micros, error) {
	m, err := ParseTime(s)
	if err == nil && !storable(m) {
		err = fmt.Errorf("%q is outside 1900 to 2262", s)
	}
	return m, err
}

// historyTime reads a record time that must not be the import marker.
func historyTime(s string) (Micros, error) {
	m, err := storableTime(s)
	if err != nil {
		return 0, fmt.Errorf("record time: %w", err)
	}
	return m, nil
}

func nodeNumbers(updateID string, ids []string) ([]int32, error) {
	nodes := make([]int32, len(ids))
	for i, id := range ids {
		n, err := nodeNumber(updateID, id)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return nodes, nil
}

// nodeNumber reads n from "<update id>:<n>".
func nodeNumber(updateID, eventID string) (int32, error) {
	digits, ok := strings.CutPrefix(eventID, updateID)
	if !ok || len(digits) < 2 || digits[0] != ':' {
		return 0, fmt.Errorf("event id %q is not <update id>:<node>", eventID)
	}
	n, err := strconv.ParseInt(digits[1:], 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits[1:] {
		return 0, fmt.Errorf("event id %q does not end in a node number", eventID)
	}
	return int32(n), nil
}
