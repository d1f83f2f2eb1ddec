package verify

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// renderer renders each row once and feeds it to the digests of tables and to the hash of
// the batch. It is used by one goroutine.
type renderer struct {
	buf   []byte
	id    []byte
	order []*schemas.Event
	hash  *xxh3.Hasher // of the batch under way
	// outside leaves items out of that hash.
	outside bool
	// digests says whether rows are digested.
	digests bool

	updates, events, imports, verdicts, traffic, appActivity schemas.Digest
}

func newRenderer(digests bool) *renderer { return &renderer{hash: xxh3.New(), digests: digests} }

// add digests a row.
func (r *renderer) add(d *schemas.Digest, row []byte) {
	if r.digests {
		d.Add(row)
	}
}

// take returns the digests since the last call.
func (r *renderer) take() Tables {
	t := Tables{
		"updates": r.updates, "events": r.events, "verdicts": r.verdicts,
		"traffic": r.traffic, "app_activity": r.appActivity,
	}
	if r.imports.Rows > 0 {
		t = Tables{"imports": r.imports}
	}
	r.updates, r.events, r.imports = schemas.Digest{}, schemas.Digest{}, schemas.Digest{}
	r.verdicts, r.traffic, r.appActivity = schemas.Digest{}, schemas.Digest{}, schemas.Digest{}
	return t
}

// item adds one item. The line of the batch's hash is schemas.AppendItem and a line feed,
// put together from parts that are digested on the way.
func (r *renderer) item(it *schemas.Item) {
	line := append(r.buf[:0], '{')
	sep := ""
	member := func(name string) {
		line = append(append(append(append(line, sep...), '"'), name...), '"', ':')
		sep = ","
	}
	if it.AppActivity != nil {
		member("app_activity_records")
		line = schemas.AppendAppActivity(line, it.AppActivity)
	}
	if it.Traffic != nil {
		member("traffic_summary")
		line = schemas.AppendTraffic(line, it.Traffic)
	}
	if it.Update != nil {
		member("update")
		line = r.update(line, it.Update)
	}
	if it.Verdict != nil {
		member("verdict")
		start := len(line)
		line = schemas.AppendVerdict(line, it.Verdict)
		r.add(&r.verdicts, line[start:])
	}
	line = append(line, '}', '\n')
	if !r.outside {
		_, _ = r.hash.Write(line)
	}
	r.buf = line
	if r.digests {
		r.sideRows(line, it)
	}
}

// sideRows digests the rows of side data, which name their update. They are rendered
// behind the line, in memory that is there already.
func (r *renderer) sideRows(line []byte, it *schemas.Item) {
	if it.Traffic != nil {
		start := len(line)
		line = schemas.AppendTrafficRow(line, it.Verdict.UpdateID, it.Traffic)
		r.traffic.Add(line[start:])
	}
	if it.AppActivity != nil {
		start := len(line)
		line = schemas.AppendAppActivityRow(line, it.Verdict.UpdateID, it.AppActivity)
		r.appActivity.Add(line[start:])
	}
	r.buf = line
}

var noEvents = []byte(`"events_by_id":{`)

// update appends u as schemas.AppendUpdate does and digests it and its events.
func (r *renderer) update(line []byte, u *schemas.Update) []byte {
	start := len(line)
	switch {
	case u.IsImport():
		line = schemas.AppendUpdate(line, u, schemas.UpdateForm{})
		whole := len(line)
		line = schemas.AppendUpdate(line, u, schemas.UpdateForm{WithOffset: true})
		r.add(&r.imports, line[whole:])
		return line[:whole]
	case u.Kind != schemas.Transaction:
		line = schemas.AppendUpdate(line, u, schemas.UpdateForm{})
		whole := len(line)
		line = schemas.AppendReassignmentEvent(line, u)
		r.add(&r.events, line[whole:])
		line = line[:whole]
	default:
		line = r.transaction(line, u)
	}
	r.add(&r.updates, line[start:])
	return line
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
		r.add(&r.events, line[from:])
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

// batchHash returns the hash of the items since the last call.
func (r *renderer) batchHash() [16]byte {
	sum := r.hash.Sum128().Bytes()
	r.hash.Reset()
	return sum
}
