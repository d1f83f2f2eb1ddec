package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/bytedance/sonic"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// DecodeEvents reads a page of /v0/events: {"events": [...]}. The values in it are
// in the given encoding. The items refer to page, which must not change any more.
// Errors wrap ErrMalformed and name the element.
func DecodeEvents(page []byte, enc Encoding) ([]Item, error) {
	var body struct {
		Events *[]wireItem `json:"events"`
	}
	if err := decodePage(page, &body); err != nil {
		return nil, err
	}
	if body.Events == nil {
		return nil, fmt.Errorf("%w: the page has no member \"events\"", ErrMalformed)
	}
	items := make([]Item, len(*body.Events))
	for i := range *body.Events {
		if err := (*body.Events)[i].item(enc, &items[i]); err != nil {
			return nil, fmt.Errorf("%w: element %d: %w", ErrMalformed, i, err)
		}
	}
	return items, nil
}

// DecodeUpdates reads a page of /v1/updates, /v2/updates, updates-before or
// import-updates: {"transactions": [...]}. The items refer to page, which must not
// change any more.
func DecodeUpdates(page []byte, enc Encoding) ([]Item, error) {
	var body struct {
		Transactions *[]wireUpdate `json:"transactions"`
	}
	if err := decodePage(page, &body); err != nil {
		return nil, err
	}
	if body.Transactions == nil {
		return nil, fmt.Errorf("%w: the page has no member \"transactions\"", ErrMalformed)
	}
	items := make([]Item, len(*body.Transactions))
	for i := range *body.Transactions {
		u, err := (*body.Transactions)[i].update(enc)
		if err != nil {
			return nil, fmt.Errorf("%w: element %d: %w", ErrMalformed, i, err)
		}
		items[i].Update = u
	}
	return items, nil
}

// decodePage reads a page in canonical form, so that every raw value inside is
// canonical as well; a page in another form is rewritten first. Either way UTF-8,
// duplicate keys and depth are checked. Strings and raw values of the result refer to
// the page, or to its rewritten form: pages are large, and copying them costs as much
// as reading them.
func decodePage(page []byte, into any) error {
	canonical := page
	if !jsonscan.IsCanonical(page) {
		var err error
		if canonical, err = jsonscan.AppendCanonical(make([]byte, 0, len(page)), page); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	text := unsafe.String(unsafe.SliceData(canonical), len(canonical))
	if err := sonic.ConfigDefault.UnmarshalFromString(text, into); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, shortJSONError(err))
	}
	return nil
}

// shortJSONError cuts the excerpt of the page that sonic puts below its message.
func shortJSONError(err error) error {
	text, _, cut := strings.Cut(err.Error(), "\n")
	if !cut {
		return err
	}
	return fmt.Errorf("%s", strings.TrimSpace(text))
}

// rawValue is a JSON value that refers to the page it was read from.
type rawValue = sonic.NoCopyRawMessage

type wireItem struct {
	Update  *wireUpdate      `json:"update"`
	Verdict *wireVerdict     `json:"verdict"`
	Traffic *wireTraffic     `json:"traffic_summary"`
	App     *wireAppActivity `json:"app_activity_records"`
}

type wireUpdate struct {
	UpdateID     string               `json:"update_id"`
	MigrationID  *int64               `json:"migration_id"`
	WorkflowID   string               `json:"workflow_id"`
	RecordTime   string               `json:"record_time"`
	Synchronizer string               `json:"synchronizer_id"`
	EffectiveAt  string               `json:"effective_at"`
	Roots        []string             `json:"root_event_ids"`
	Events       map[string]wireEvent `json:"events_by_id"`
	Hash         string               `json:"external_transaction_hash"`
	Event        *wireReassignment    `json:"event"`
}

type wireReassignment struct {
	Submitter    string     `json:"submitter"`
	Source       string     `json:"source_synchronizer"`
	Target       string     `json:"target_synchronizer"`
	MigrationID  *int64     `json:"migration_id"`
	UnassignID   string     `json:"unassign_id"`
	Counter      *int64     `json:"reassignment_counter"`
	ContractID   string     `json:"contract_id"`
	CreatedEvent *wireEvent `json:"created_event"`
}

type wireEvent struct {
	EventType   string   `json:"event_type"`
	EventID     string   `json:"event_id"`
	ContractID  string   `json:"contract_id"`
	TemplateID  string   `json:"template_id"`
	PackageName string   `json:"package_name"`
	Arguments   rawValue `json:"create_arguments"`
	CreatedAt   string   `json:"created_at"`
	Signatories []string `json:"signatories"`
	Observers   []string `json:"observers"`
	Choice      string   `json:"choice"`
	Argument    rawValue `json:"choice_argument"`
	Result      rawValue `json:"exercise_result"`
	Children    []string `json:"child_event_ids"`
	Consuming   *bool    `json:"consuming"`
	Acting      []string `json:"acting_parties"`
	InterfaceID string   `json:"interface_id"`
}

type wireVerdict struct {
	UpdateID     string   `json:"update_id"`
	MigrationID  *int64   `json:"migration_id"`
	Synchronizer string   `json:"domain_id"`
	RecordTime   string   `json:"record_time"`
	Finalization string   `json:"finalization_time"`
	Parties      []string `json:"submitting_parties"`
	Participant  string   `json:"submitting_participant_uid"`
	Result       string   `json:"verdict_result"`
	Group        int32    `json:"mediator_group"`
	Round        *int64   `json:"round_number"`
	Views        rawValue `json:"transaction_views"`
}

type wireTraffic struct {
	Total     *int64   `json:"total_traffic_cost"`
	Envelopes rawValue `json:"envelope_traffic_summaries"`
}

type wireAppActivity struct {
	Round   *int64   `json:"round_number"`
	Records rawValue `json:"records"`
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
		return fmt.Errorf("update %s and its verdict disagree on where they stand in history", it.Update.UpdateID)
	}
	if w.Traffic != nil {
		if w.Traffic.Total == nil || !isArray(w.Traffic.Envelopes) {
			return fmt.Errorf("update %s has an incomplete traffic summary", it.Verdict.UpdateID)
		}
		it.Traffic = &TrafficSummary{TotalCost: *w.Traffic.Total, Envelopes: w.Traffic.Envelopes}
	}
	if w.App != nil {
		if w.App.Round == nil || !isArray(w.App.Records) {
			return fmt.Errorf("update %s has an incomplete app activity record", it.Verdict.UpdateID)
		}
		it.AppActivity = &AppActivity{RoundNumber: *w.App.Round, Records: w.App.Records}
	}
	return nil
}

func isArray(raw rawValue) bool  { return len(raw) > 0 && raw[0] == '[' }
func isObject(raw rawValue) bool { return len(raw) > 0 && raw[0] == '{' }

func (w *wireVerdict) verdict() (*Verdict, error) {
	if w.UpdateID == "" || w.MigrationID == nil || w.Synchronizer == "" || !isObject(w.Views) {
		return nil, fmt.Errorf("verdict of update %q lacks a required member", w.UpdateID)
	}
	v := &Verdict{
		UpdateID: w.UpdateID, MigrationID: *w.MigrationID, SynchronizerID: w.Synchronizer,
		SubmittingParties: w.Parties, SubmittingParticipantUID: w.Participant,
		Result: w.Result, MediatorGroup: w.Group, RoundNumber: -1, Views: w.Views,
	}
	if w.Round != nil {
		v.RoundNumber = *w.Round
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
	if w.Events == nil {
		return fmt.Errorf("neither events_by_id nor event is there")
	}
	if w.MigrationID == nil || w.Synchronizer == "" {
		return fmt.Errorf("migration_id or synchronizer_id is missing")
	}
	u.Kind, u.MigrationID, u.SynchronizerID = Transaction, *w.MigrationID, w.Synchronizer
	u.WorkflowID, u.ExternalTransactionHash = w.WorkflowID, w.Hash
	if u.EffectiveAt, err = storableTime(w.EffectiveAt); err != nil {
		return fmt.Errorf("effective_at: %w", err)
	}
	if u.RootEvents, err = nodeNumbers(u.UpdateID, w.Roots); err != nil {
		return err
	}
	u.Events = make([]Event, len(w.Events))
	for id, we := range w.Events {
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
			return fmt.Errorf("the tree is not numbered in preorder: node %d stands where %d should", n, next)
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
	if w.MigrationID == nil || w.Counter == nil || w.Source == "" || w.Target == "" {
		return fmt.Errorf("the reassignment lacks a required member")
	}
	if u.RecordTime == MinMicros {
		return fmt.Errorf("a reassignment cannot be an import")
	}
	u.MigrationID = *w.MigrationID
	u.Reassignment = &Reassignment{
		Submitter: w.Submitter, SourceSynchronizer: w.Source, TargetSynchronizer: w.Target,
		UnassignID: w.UnassignID, Counter: *w.Counter, ContractID: w.ContractID,
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
		if w.Choice == "" || w.Consuming == nil || len(w.Argument) == 0 {
			return fmt.Errorf("choice, choice_argument or consuming is missing")
		}
		e.Kind, e.Choice, e.InterfaceID = Exercised, w.Choice, w.InterfaceID
		e.Argument, e.Result = w.Argument, orNull(w.Result)
		e.Consuming, e.ActingParties = *w.Consuming, w.Acting
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
