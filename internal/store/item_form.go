package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// itemForm is the first byte of an item in one piece; another form of it would have another.
const itemForm = 1

// What an item in one piece has, as bits of its second byte.
const (
	hasUpdate = 1 << iota
	hasVerdict
	hasTraffic
	hasAppActivity
)

// AppendItem appends an item of public history in one piece: its fields in a fixed order,
// numbers as varints, texts and JSON values with their length before them. A node's own
// stream is not kept so; what is local to it is left out.
func AppendItem(dst []byte, it *schemas.Item) []byte {
	w := itemWriter{append(dst, itemForm, 0)}
	flags := len(dst) + 1
	if it.Update != nil {
		w.buf[flags] |= hasUpdate
		w.update(it.Update)
	}
	if it.Verdict != nil {
		w.buf[flags] |= hasVerdict
		w.verdict(it.Verdict)
	}
	if t := it.Traffic; t != nil {
		w.buf[flags] |= hasTraffic
		w.number(t.TotalCost)
		w.value(t.Envelopes)
	}
	if a := it.AppActivity; a != nil {
		w.buf[flags] |= hasAppActivity
		w.number(a.RoundNumber)
		w.value(a.Records)
	}
	return w.buf
}

type itemWriter struct{ buf []byte }

func (w *itemWriter) number(n int64)    { w.buf = binary.AppendVarint(w.buf, n) }
func (w *itemWriter) count(n int)       { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }
func (w *itemWriter) text(s string)     { w.count(len(s)); w.buf = append(w.buf, s...) }
func (w *itemWriter) value(json []byte) { w.count(len(json)); w.buf = append(w.buf, json...) }

func (w *itemWriter) flag(is bool) {
	b := byte(0)
	if is {
		b = 1
	}
	w.buf = append(w.buf, b)
}

func (w *itemWriter) texts(list []string) {
	w.count(len(list))
	for _, s := range list {
		w.text(s)
	}
}

func (w *itemWriter) nodes(list []int32) {
	w.count(len(list))
	for _, n := range list {
		w.number(int64(n))
	}
}

func (w *itemWriter) update(u *schemas.Update) {
	w.text(string(u.Kind))
	w.number(u.MigrationID)
	w.text(u.SynchronizerID)
	w.number(int64(u.RecordTime))
	w.text(u.UpdateID)
	w.text(string(u.Encoding))
	w.text(u.WorkflowID)
	w.number(int64(u.EffectiveAt))
	w.text(u.ExternalTransactionHash)
	w.nodes(u.RootEvents)
	w.flag(u.Reassignment != nil)
	if r := u.Reassignment; r != nil {
		w.texts([]string{r.Submitter, r.SourceSynchronizer, r.TargetSynchronizer, r.UnassignID, r.ContractID})
		w.number(r.Counter)
	}
	w.count(len(u.Events))
	for i := range u.Events {
		w.event(u, &u.Events[i])
	}
}

// event leaves out an id that follows from the node number.
func (w *itemWriter) event(u *schemas.Update, e *schemas.Event) {
	w.text(string(e.Kind))
	w.number(int64(e.Node))
	id := e.EventID
	if id == schemas.EventID(u.UpdateID, e.Node) {
		id = ""
	}
	w.text(id)
	w.text(e.TemplateID)
	w.text(e.PackageName)
	w.text(e.Choice)
	w.text(e.InterfaceID)
	w.flag(e.Consuming)
	w.number(int64(e.CreatedAt))
	w.texts(e.Signatories)
	w.texts(e.Observers)
	w.texts(e.ActingParties)
	w.nodes(e.Children)
	w.value(e.Argument)
	w.value(e.Result)
	w.text(e.ContractID)
}

func (w *itemWriter) verdict(v *schemas.Verdict) {
	w.text(v.UpdateID)
	w.number(v.MigrationID)
	w.text(v.SynchronizerID)
	w.number(int64(v.RecordTime))
	w.number(int64(v.FinalizationTime))
	w.texts(v.SubmittingParties)
	w.text(v.SubmittingParticipantUID)
	w.text(v.Result)
	w.number(int64(v.MediatorGroup))
	w.number(v.RoundNumber)
	w.value(v.Views)
}

var errItemForm = errors.New("not an item in one piece")

// ReadItem reads an item that AppendItem wrote. The item refers to piece, which must not
// be changed afterwards.
func ReadItem(piece []byte) (it schemas.Item, err error) {
	if len(piece) < 2 || piece[0] != itemForm {
		return it, fmt.Errorf("%w: it has %d bytes and does not begin with a %d", errItemForm, len(piece), itemForm)
	}
	r := itemReader{buf: piece, all: unsafe.String(unsafe.SliceData(piece), len(piece)), at: 2}
	has := piece[1]
	if has&hasUpdate != 0 {
		it.Update = r.update()
	}
	if has&hasVerdict != 0 {
		it.Verdict = r.verdict()
	}
	if has&hasTraffic != 0 {
		it.Traffic = &schemas.TrafficSummary{TotalCost: r.number(), Envelopes: r.value()}
	}
	if has&hasAppActivity != 0 {
		it.AppActivity = &schemas.AppActivity{RoundNumber: r.number(), Records: r.value()}
	}
	if r.failed || r.at != len(piece) || it.Update == nil && it.Verdict == nil {
		return schemas.Item{}, fmt.Errorf("%w: its %d bytes end before or after its fields", errItemForm, len(piece))
	}
	return it, nil
}

// itemReader reads fields one after another. After a failure all that follows is empty.
type itemReader struct {
	buf    []byte
	all    string // the same as text
	at     int
	failed bool
}

func (r *itemReader) number() int64 {
	n, size := binary.Varint(r.buf[r.at:])
	if r.failed = r.failed || size <= 0; r.failed {
		return 0
	}
	r.at += size
	return n
}

// count reads the length of what follows, which takes at least so many bytes.
func (r *itemReader) count() int {
	n, size := binary.Uvarint(r.buf[r.at:])
	if r.failed = r.failed || size <= 0 || n > uint64(len(r.buf)-r.at-size); r.failed {
		return 0
	}
	r.at += size
	return int(n)
}

func (r *itemReader) text() string {
	n := r.count()
	r.at += n
	return r.all[r.at-n : r.at]
}

// value is nil for a value that is not there.
func (r *itemReader) value() []byte {
	n := r.count()
	if n == 0 {
		return nil
	}
	r.at += n
	return r.buf[r.at-n : r.at : r.at]
}

func (r *itemReader) flag() bool {
	if r.failed = r.failed || r.at >= len(r.buf); r.failed {
		return false
	}
	r.at++
	return r.buf[r.at-1] != 0
}

func (r *itemReader) texts() []string {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.text()
	}
	return list
}

func (r *itemReader) nodes() []int32 {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(r.number())
	}
	return list
}

func (r *itemReader) update() *schemas.Update {
	u := &schemas.Update{
		Kind: schemas.UpdateKind(r.text()), MigrationID: r.number(), SynchronizerID: r.text(), RecordTime: schemas.Micros(r.number()),
		UpdateID: r.text(), Encoding: schemas.Encoding(r.text()), WorkflowID: r.text(), EffectiveAt: schemas.Micros(r.number()),
		ExternalTransactionHash: r.text(), RootEvents: r.nodes(),
	}
	if r.flag() {
		if list := r.texts(); len(list) == 5 {
			u.Reassignment = &schemas.Reassignment{
				Submitter: list[0], SourceSynchronizer: list[1], TargetSynchronizer: list[2], UnassignID: list[3], ContractID: list[4],
				Counter: r.number(),
			}
		} else {
			r.failed = true
		}
	}
	n := r.count()
	if n > 0 {
		u.Events = make([]schemas.Event, n)
	}
	for i := range u.Events {
		r.event(u, &u.Events[i])
	}
	return u
}

func (r *itemReader) event(u *schemas.Update, e *schemas.Event) {
	e.Kind, e.Node, e.EventID = schemas.EventKind(r.text()), int32(r.number()), r.text()
	if e.EventID == "" {
		e.EventID = schemas.EventID(u.UpdateID, e.Node)
	}
	e.TemplateID, e.PackageName, e.Choice, e.InterfaceID, e.Consuming = r.text(), r.text(), r.text(), r.text(), r.flag()
	e.CreatedAt = schemas.Micros(r.number())
	e.Signatories, e.Observers, e.ActingParties, e.Children = r.texts(), r.texts(), r.texts(), r.nodes()
	e.Argument, e.Result, e.ContractID = r.value(), r.value(), r.text()
}

func (r *itemReader) verdict() *schemas.Verdict {
	return &schemas.Verdict{
		UpdateID: r.text(), MigrationID: r.number(), SynchronizerID: r.text(), RecordTime: schemas.Micros(r.number()),
		FinalizationTime: schemas.Micros(r.number()), SubmittingParties: r.texts(), SubmittingParticipantUID: r.text(),
		Result: r.text(), MediatorGroup: int32(r.number()), RoundNumber: r.number(), Views: r.value(),
	}
}
