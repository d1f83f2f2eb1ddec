package schemas

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// rawValue is a JSON value that refers to the page it was read from.
type rawValue = []byte

// wireInt is a number that need not be there.
type wireInt struct {
	n     int64
	there bool
}

type wireItem struct {
	Update  *wireUpdate
	Verdict *wireVerdict
	Traffic *wireTraffic
	App     *wireAppActivity
}

type wireUpdate struct {
	UpdateID     string
	MigrationID  wireInt
	WorkflowID   string
	RecordTime   string
	Synchronizer string
	EffectiveAt  string
	Roots        []string
	Events       []wireNode
	hasEvents    bool
	Hash         string
	Event        *wireReassignment
}

// wireNode is a member of events_by_id.
type wireNode struct {
	id string
	wireEvent
}

type wireReassignment struct {
	Submitter    string
	Source       string
	Target       string
	MigrationID  wireInt
	UnassignID   string
	Counter      wireInt
	ContractID   string
	CreatedEvent *wireEvent
}

type wireEvent struct {
	EventType    string
	EventID      string
	ContractID   string
	TemplateID   string
	PackageName  string
	Arguments    rawValue
	CreatedAt    string
	Signatories  []string
	Observers    []string
	Choice       string
	Argument     rawValue
	Result       rawValue
	Children     []string
	Consuming    bool
	hasConsuming bool
	Acting       []string
	InterfaceID  string
}

type wireVerdict struct {
	UpdateID     string
	MigrationID  wireInt
	Synchronizer string
	RecordTime   string
	Finalization string
	Parties      []string
	Participant  string
	Result       string
	Group        int32
	Round        wireInt
	Views        rawValue
}

type wireTraffic struct {
	Total     wireInt
	Envelopes rawValue
}

type wireAppActivity struct {
	Round   wireInt
	Records rawValue
}

// wireReader reads the elements of a page. What it returns is good until the next
// element is read; strings, lists of strings and raw values stay.
type wireReader struct {
	jsonscan.Cursor
	// member is the last one that was begun, for errors.
	member string
	// texts is what lists of strings are cut from.
	texts []string
	// The parts of the element under way.
	updated    wireUpdate
	reassigned wireReassignment
	created    wireEvent
	judged     wireVerdict
	traffic    wireTraffic
	activity   wireAppActivity
}

// page reads the elements of one member of the page and passes over the others. The error
// counts only if the reader has not failed.
func (r *wireReader) page(name string, element func(*wireReader, *Item) error) (items []Item, err error) {
	found := false
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch {
		case r.member != name:
			r.Raw()
		case !r.Null():
			found = true
			if items, err = r.elements(element); err != nil {
				return nil, err
			}
		}
	}
	r.End()
	if !found {
		return nil, fmt.Errorf("the page has no member %q", name)
	}
	return items, nil
}

func (r *wireReader) elements(element func(*wireReader, *Item) error) ([]Item, error) {
	items := []Item{}
	for l := r.List(); l.Next(); {
		items = append(items, Item{})
		if err := element(r, &items[len(items)-1]); err != nil {
			return nil, fmt.Errorf("element %d: %w", len(items)-1, err)
		}
	}
	return items, nil
}

func (r *wireReader) item() wireItem {
	var w wireItem
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "update":
			w.Update = optional(r, (*wireReader).update)
		case "verdict":
			w.Verdict = optional(r, (*wireReader).verdict)
		case "traffic_summary":
			w.Traffic = optional(r, (*wireReader).trafficSummary)
		case "app_activity_records":
			w.App = optional(r, (*wireReader).appActivity)
		default:
			r.Raw()
		}
	}
	return w
}

// optional reads a value unless it is null.
func optional[T any](r *wireReader, read func(*wireReader) *T) *T {
	if r.Null() {
		return nil
	}
	return read(r)
}

func (r *wireReader) update() *wireUpdate {
	w := &r.updated
	*w = wireUpdate{Events: w.Events[:0]}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "update_id":
			w.UpdateID = r.text()
		case "migration_id":
			w.MigrationID = r.int()
		case "workflow_id":
			w.WorkflowID = r.text()
		case "record_time":
			w.RecordTime = r.text()
		case "synchronizer_id":
			w.Synchronizer = r.text()
		case "effective_at":
			w.EffectiveAt = r.text()
		case "root_event_ids":
			w.Roots = r.list()
		case "events_by_id":
			if !r.Null() {
				w.hasEvents = true
				w.Events = r.nodes(w.Events)
			}
		case "external_transaction_hash":
			w.Hash = r.text()
		case "event":
			w.Event = optional(r, (*wireReader).reassignment)
		default:
			r.Raw()
		}
	}
	return w
}

// nodes reads events_by_id and appends its members to nodes.
func (r *wireReader) nodes(nodes []wireNode) []wireNode {
	for m := r.Members(); m.Next(); {
		nodes = append(nodes, wireNode{id: m.Key()})
		r.event(&nodes[len(nodes)-1].wireEvent)
	}
	return nodes
}

func (r *wireReader) reassignment() *wireReassignment {
	w := &r.reassigned
	*w = wireReassignment{}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "submitter":
			w.Submitter = r.text()
		case "source_synchronizer":
			w.Source = r.text()
		case "target_synchronizer":
			w.Target = r.text()
		case "migration_id":
			w.MigrationID = r.int()
		case "unassign_id":
			w.UnassignID = r.text()
		case "reassignment_counter":
			w.Counter = r.int()
		case "contract_id":
			w.ContractID = r.text()
		case "created_event":
			if !r.Null() {
				w.CreatedEvent = &r.created
				*w.CreatedEvent = wireEvent{}
				r.event(w.CreatedEvent)
			}
		default:
			r.Raw()
		}
	}
	return w
}

// event reads an event into w, which is empty.
func (r *wireReader) event(w *wireEvent) {
	if r.Null() {
		return
	}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "event_type":
			w.EventType = r.text()
		case "event_id":
			w.EventID = r.text()
		case "contract_id":
			w.ContractID = r.text()
		case "template_id":
			w.TemplateID = r.text()
		case "package_name":
			w.PackageName = r.text()
		case "create_arguments":
			w.Arguments = r.Raw()
		case "created_at":
			w.CreatedAt = r.text()
		case "signatories":
			w.Signatories = r.list()
		case "observers":
			w.Observers = r.list()
		case "choice":
			w.Choice = r.text()
		case "choice_argument":
			w.Argument = r.Raw()
		case "exercise_result":
			w.Result = r.Raw()
		case "child_event_ids":
			w.Children = r.list()
		case "consuming":
			if !r.Null() {
				w.Consuming, w.hasConsuming = r.Bool(), true
			}
		case "acting_parties":
			w.Acting = r.list()
		case "interface_id":
			w.InterfaceID = r.text()
		default:
			r.Raw()
		}
	}
}

func (r *wireReader) verdict() *wireVerdict {
	w := &r.judged
	*w = wireVerdict{}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "update_id":
			w.UpdateID = r.text()
		case "migration_id":
			w.MigrationID = r.int()
		case "domain_id":
			w.Synchronizer = r.text()
		case "record_time":
			w.RecordTime = r.text()
		case "finalization_time":
			w.Finalization = r.text()
		case "submitting_parties":
			w.Parties = r.list()
		case "submitting_participant_uid":
			w.Participant = r.text()
		case "verdict_result":
			w.Result = r.text()
		case "mediator_group":
			group := r.int().n
			if w.Group = int32(group); int64(w.Group) != group {
				r.Fail()
			}
		case "round_number":
			w.Round = r.int()
		case "transaction_views":
			w.Views = r.Raw()
		default:
			r.Raw()
		}
	}
	return w
}

func (r *wireReader) trafficSummary() *wireTraffic {
	w := &r.traffic
	*w = wireTraffic{}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "total_traffic_cost":
			w.Total = r.int()
		case "envelope_traffic_summaries":
			w.Envelopes = r.Raw()
		default:
			r.Raw()
		}
	}
	return w
}

func (r *wireReader) appActivity() *wireAppActivity {
	w := &r.activity
	*w = wireAppActivity{}
	for m := r.Members(); m.Next(); {
		r.member = m.Key()
		switch m.Key() {
		case "round_number":
			w.Round = r.int()
		case "records":
			w.Records = r.Raw()
		default:
			r.Raw()
		}
	}
	return w
}

// text reads a string; null is none.
func (r *wireReader) text() string {
	if r.Null() {
		return ""
	}
	return r.Text()
}

// int reads a number; null is none.
func (r *wireReader) int() wireInt {
	if r.Null() {
		return wireInt{}
	}
	return wireInt{r.Int(), true}
}

// list reads a list of strings; null is none.
func (r *wireReader) list() []string {
	if r.Null() {
		return nil
	}
	const atOnce = 1024
	start := len(r.texts)
	for l := r.List(); l.Next(); {
		if len(r.texts) == cap(r.texts) {
			// The lists that are cut already stay where they are.
			begun := r.texts[start:]
			r.texts = append(make([]string, 0, max(atOnce, 2*len(begun))), begun...)
			start = 0
		}
		r.texts = append(r.texts, r.text())
	}
	return r.texts[start:len(r.texts):len(r.texts)]
}
