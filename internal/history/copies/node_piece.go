package copies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodePieceForm is the first byte of the copy of a node's update; another form of it would
// have another.
const nodePieceForm = 1

// Which parts an update, or an event, has, as bits.
const (
	nodeHasReassignment = 1 << iota
	nodeHasTrace
	nodeHasTopology
	nodeHasExtras
)

const (
	nodeConsuming = 1 << iota
	nodeACSDelta
	nodeHasLocal
	nodeEventHasExtras
	nodeHasResult
	nodeNamed // the event's id follows from that of the update
)

// AppendNodePiece appends a copy of an update of a node's stream, whole but for what
// LocalEvent.Contract adds.
func AppendNodePiece(dst []byte, u *schemas.Update) []byte {
	w := nodePiece{append(dst, nodePieceForm)}
	l, r := u.Local, u.Reassignment
	w.number(l.Offset)
	w.text(string(u.Kind))
	w.flags(bit(r != nil, nodeHasReassignment), bit(l.TraceContext != nil, nodeHasTrace), bit(l.Topology != nil, nodeHasTopology), bit(l.Extras != nil, nodeHasExtras))
	w.number(u.MigrationID)
	w.text(u.SynchronizerID)
	w.number(int64(u.RecordTime))
	w.text(u.UpdateID)
	w.text(string(u.Encoding))
	w.text(u.WorkflowID)
	w.number(int64(u.EffectiveAt))
	w.text(u.ExternalTransactionHash)
	w.numbers(u.RootEvents)
	if r != nil {
		for _, s := range []string{r.Submitter, r.SourceSynchronizer, r.TargetSynchronizer, r.UnassignID, r.ContractID} {
			w.text(s)
		}
		w.number(r.Counter)
	}
	w.text(l.CommandID)
	w.number(l.PaidTrafficCost)
	for _, raw := range [][]byte{l.TraceContext, l.Topology, l.Extras} {
		if raw != nil {
			w.bytes(raw)
		}
	}
	w.count(len(u.Events))
	for i := range u.Events {
		w.event(u, &u.Events[i])
	}
	return w.out
}

// nodePiece writes fields one after another, texts with their length before them.
type nodePiece struct{ out []byte }

func (w *nodePiece) event(u *schemas.Update, e *schemas.Event) {
	l := e.Local
	named := schemas.IsEventID(e.EventID, u.UpdateID, e.Node)
	w.flags(bit(e.Consuming, nodeConsuming), bit(l != nil && l.ACSDelta, nodeACSDelta), bit(l != nil, nodeHasLocal),
		bit(l != nil && l.Extras != nil, nodeEventHasExtras), bit(e.Result != nil, nodeHasResult), bit(named, nodeNamed))
	if !named {
		w.text(e.EventID)
	}
	w.number(int64(e.Node))
	for _, s := range []string{string(e.Kind), e.ContractID, e.TemplateID, e.PackageName, e.Choice, e.InterfaceID} {
		w.text(s)
	}
	w.bytes(e.Argument)
	w.number(int64(e.CreatedAt))
	w.texts(e.Signatories)
	w.texts(e.Observers)
	if e.Result != nil {
		w.bytes(e.Result)
	}
	w.texts(e.ActingParties)
	w.numbers(e.Children)
	if l == nil {
		return
	}
	w.texts(l.Witnesses)
	w.number(int64(l.LastDescendant))
	if l.Extras != nil {
		w.bytes(l.Extras)
	}
}

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

func (w *nodePiece) flags(bits ...byte) {
	all := byte(0)
	for _, b := range bits {
		all |= b
	}
	w.out = append(w.out, all)
}

func (w *nodePiece) number(n int64) { w.out = binary.AppendVarint(w.out, n) }

func (w *nodePiece) count(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *nodePiece) text(s string) {
	w.count(len(s))
	w.out = append(w.out, s...)
}

func (w *nodePiece) bytes(b []byte) {
	w.count(len(b))
	w.out = append(w.out, b...)
}

func (w *nodePiece) texts(list []string) {
	w.count(len(list))
	for _, s := range list {
		w.text(s)
	}
}

func (w *nodePiece) numbers(list []int32) {
	w.count(len(list))
	for _, n := range list {
		w.number(int64(n))
	}
}

var errNodePiece = errors.New("not a copy of an update")

// ReadNodePiece reads what AppendNodePiece wrote. The update refers to piece, which must not be
// changed afterwards.
func ReadNodePiece(piece []byte) (u schemas.Update, err error) {
	if len(piece) == 0 || piece[0] != nodePieceForm {
		return u, fmt.Errorf("%w: %d bytes do not begin like one", errNodePiece, len(piece))
	}
	r := nodePieceReader{pieceReader{rest: piece[1:]}}
	l := &schemas.LocalUpdate{Offset: r.number()}
	u.Local, u.Kind = l, schemas.UpdateKind(r.text())
	has := r.flags()
	u.MigrationID, u.SynchronizerID, u.RecordTime = r.number(), r.text(), schemas.Micros(r.number())
	u.UpdateID, u.Encoding, u.WorkflowID = r.text(), schemas.Encoding(r.text()), r.text()
	u.EffectiveAt, u.ExternalTransactionHash, u.RootEvents = schemas.Micros(r.number()), r.text(), r.numbers()
	if has&nodeHasReassignment != 0 {
		u.Reassignment = &schemas.Reassignment{
			Submitter: r.text(), SourceSynchronizer: r.text(), TargetSynchronizer: r.text(), UnassignID: r.text(), ContractID: r.text(), Counter: r.number(),
		}
	}
	l.CommandID, l.PaidTrafficCost = r.text(), r.number()
	l.TraceContext, l.Topology, l.Extras = r.bytesIf(has&nodeHasTrace), r.bytesIf(has&nodeHasTopology), r.bytesIf(has&nodeHasExtras)
	if n := r.length(); n > 0 {
		u.Events = make([]schemas.Event, n)
		locals := make([]schemas.LocalEvent, n)
		for i := range u.Events {
			r.event(&u, &u.Events[i], &locals[i])
		}
	}
	if r.failed || len(r.rest) > 0 {
		return schemas.Update{}, fmt.Errorf("%w: %d bytes end early or late", errNodePiece, len(piece))
	}
	return u, nil
}

// nodePieceReader reads fields one after another. After a failure all that follow are empty.
type nodePieceReader struct{ pieceReader }

func (r *nodePieceReader) event(u *schemas.Update, e *schemas.Event, l *schemas.LocalEvent) {
	has := r.flags()
	if has&nodeNamed == 0 {
		e.EventID = r.text()
	}
	e.Node = int32(r.number())
	if has&nodeNamed != 0 {
		e.EventID = schemas.EventID(u.UpdateID, e.Node)
	}
	e.Consuming = has&nodeConsuming != 0
	e.Kind, e.ContractID, e.TemplateID, e.PackageName = schemas.EventKind(r.text()), r.text(), r.text(), r.text()
	e.Choice, e.InterfaceID, e.Argument = r.text(), r.text(), orNil(r.bytes())
	e.CreatedAt, e.Signatories, e.Observers = schemas.Micros(r.number()), r.texts(), r.texts()
	e.Result = r.bytesIf(has & nodeHasResult)
	e.ActingParties, e.Children = r.texts(), r.numbers()
	if has&nodeHasLocal == 0 {
		return
	}
	e.Local, l.ACSDelta = l, has&nodeACSDelta != 0
	l.Witnesses, l.LastDescendant, l.Extras = r.texts(), int32(r.number()), r.bytesIf(has&nodeEventHasExtras)
}

func (r *nodePieceReader) flags() byte {
	if r.failed = r.failed || len(r.rest) == 0; r.failed {
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// length is a number of elements, each of which takes at least a byte.
func (r *nodePieceReader) length() int {
	n := r.count()
	if r.failed = r.failed || n > len(r.rest); r.failed {
		return 0
	}
	return n
}

func (r *nodePieceReader) bytes() []byte {
	n := r.length()
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *nodePieceReader) bytesIf(has byte) []byte {
	if has == 0 {
		return nil
	}
	return r.bytes()
}

// text shares the memory of the piece.
func (r *nodePieceReader) text() string {
	b := r.bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func (r *nodePieceReader) texts() []string {
	n := r.length()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.text()
	}
	return list
}

func (r *nodePieceReader) numbers() []int32 {
	n := r.length()
	if n == 0 {
		return nil
	}
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(r.number())
	}
	return list
}

// orNil is nil for a text that is absent.
func orNil(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return text
}
