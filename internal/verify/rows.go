package verify

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// renderer renders each row and feeds it to the digests of tables. It is used by one goroutine.
type renderer struct {
	buf   []byte
	id    []byte
	order []*schemas.Event

	updates, events, imports, verdicts, traffic, appActivity schemas.Digest
}

// take returns the digests since the last call.
func (r *renderer) take() Tables {
	t := Tables{
		"updates": r.updates, "events": r.events, "verdicts": r.verdicts,
		"traffic": r.traffic, "app_activity": r.appActivity,
	}
	switch {
	case r.imports.Rows > 0 && r.updates.Rows == 0:
		t = Tables{"imports": r.imports}
	case r.imports.Rows > 0: // a node's own stream is not cut at its imports
		t["imports"] = r.imports
	}
	r.updates, r.events, r.imports = schemas.Digest{}, schemas.Digest{}, schemas.Digest{}
	r.verdicts, r.traffic, r.appActivity = schemas.Digest{}, schemas.Digest{}, schemas.Digest{}
	return t
}

// item adds one item.
func (r *renderer) item(it *schemas.Item) {
	if it.Update != nil {
		r.buf = r.update(r.buf[:0], it.Update)
	}
	if it.Verdict != nil {
		r.buf = schemas.AppendVerdict(r.buf[:0], it.Verdict)
		r.verdicts.Add(r.buf)
	}
	if it.Traffic != nil {
		r.buf = schemas.AppendTrafficRow(r.buf[:0], it.Verdict.UpdateID, it.Traffic)
		r.traffic.Add(r.buf)
	}
	if it.AppActivity != nil {
		r.buf = schemas.AppendAppActivityRow(r.buf[:0], it.Verdict.UpdateID, it.AppActivity)
		r.appActivity.Add(r.buf)
	}
}

var noEvents = []byte(`"events_by_id":{`)

// update appends u as schemas.AppendUpdate does and digests it and its events. What it
// appends to may be used again.
func (r *renderer) update(line []byte, u *schemas.Update) []byte {
	switch {
	case u.Local != nil:
		return r.local(line, u)
	case u.IsImport():
		line = schemas.AppendUpdate(line, u, schemas.UpdateForm{WithOffset: true})
		r.imports.Add(line)
		return line
	case u.Kind != schemas.Transaction:
		line = schemas.AppendReassignmentEvent(line, u)
		r.events.Add(line)
		line = schemas.AppendUpdate(line[:0], u, schemas.UpdateForm{})
	default:
		line = r.transaction(line, u)
	}
	r.updates.Add(line)
	return line
}

// local appends an update of a node's own stream, and digests it and its events.
func (r *renderer) local(line []byte, u *schemas.Update) []byte {
	line = schemas.AppendLocalUpdate(line, u)
	whole := len(line)
	for i := range u.Events {
		line = schemas.AppendLocalEvent(line[:whole], u, &u.Events[i])
		if !u.IsImport() {
			r.events.Add(line[whole:])
		}
	}
	line = schemas.AppendLocalUpdate(line[:whole], u)
	if u.IsImport() {
		r.imports.Add(line[whole:])
	} else {
		r.updates.Add(line[whole:])
	}
	return line[:whole]
}

// transaction appends the frame of u and puts its events, each rendered once, into it.
func (r *renderer) transaction(line []byte, u *schemas.Update) []byte {
	events := u.Events
	u.Events = nil
	start := len(line)
	line = schemas.AppendUpdate(line, u, schemas.UpdateForm{})
	u.Events = events
	at := start + bytes.Index(line[start:], noEvents) + len(noEvents)
	rest := bytes.Clone(line[at:]) // short: all but the events
	line = line[:at]
	for i, e := range r.textOrder(events) {
		if i > 0 {
			line = append(line, ',')
		}
		r.id = append(r.id[:0], e.EventID...)
		line = append(jsonscan.AppendString(line, r.id), ':')
		from := len(line)
		line = schemas.AppendEvent(line, u, e)
		r.events.Add(line[from:])
	}
	return append(line, rest...)
}

// textOrder returns the events in the order in which events_by_id has them: that of node
// numbers as texts.
func (r *renderer) textOrder(events []schemas.Event) []*schemas.Event {
	r.order = r.order[:0]
	for i := range events {
		r.order = append(r.order, &events[i])
	}
	if len(events) > 10 { // up to ten nodes, numbers and texts sort alike
		slices.SortFunc(r.order, func(a, b *schemas.Event) int {
			var x, y [11]byte
			return slices.Compare(strconv.AppendInt(x[:0], int64(a.Node), 10), strconv.AppendInt(y[:0], int64(b.Node), 10))
		})
	}
	return r.order
}

// Tables are digests by table name: updates, events, imports, verdicts, traffic,
// app_activity, and a set of active contracts under active_contracts or acs. The
// rows behind each are the canonical JSON that the network's interface gives for them.
type Tables map[string]schemas.Digest

// Sum merges the digests of disjoint sets of rows. Every table of history is in the
// result, also when empty.
func Sum(parts ...Tables) Tables {
	sum := Tables{"updates": {}, "events": {}, "imports": {}, "verdicts": {}, "traffic": {}, "app_activity": {}}
	for _, part := range parts {
		sum.merge(part)
	}
	return sum
}

func (t Tables) merge(o Tables) {
	for table, digest := range o {
		merged := t[table]
		merged.Merge(digest)
		t[table] = merged
	}
}

// Differences lists, in words, where two sets of tables differ; none means equal.
// Only tables that both name are compared.
func Differences(aName string, a Tables, bName string, b Tables) []string {
	var list []string
	for _, table := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[table]; ok && other != a[table] {
			list = append(list, fmt.Sprintf("table %s: %s has %s, %s has %s", table, aName, a[table], bName, other))
		}
	}
	return list
}
