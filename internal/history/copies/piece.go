package copies

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	codec "github.com/ledgerlake/ledgerlake/schemas/values" // the package has values of its own
)

// pieceForm is the first byte after the text of a piece; another form of it would have another.
const pieceForm = 2

// What is so of a piece, as bits of the byte after that.
const (
	pieceHasUpdate = 1 << iota
	pieceHasVerdict
	// pieceTransaction says that the update is a transaction.
	pieceTransaction
	// pieceProtobuf says that the values of the update are stored in protobuf JSON.
	pieceProtobuf
	// pieceExact says that the item itself can be read out of the text.
	pieceExact
)

// pieceBuffers keeps the memory of texts while pieces are made.
var pieceBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Piece is a copy of an item as it is kept in table lookup_rows, unpacked: the text with
// which most lookups are answered, and what must be known to do so without reading it.
type Piece struct {
	// Text is the item in compact JSON, as GET /v0/events/{update_id} gives it.
	Text []byte
	// Catalog is the fingerprint of the catalogue by which the values in Text were converted.
	Catalog     uint64
	MigrationID int64
	RecordTime  schemas.Micros

	flags         byte
	id            int // where the update id stands in Text, in quotes
	update, after int // where the update begins and ends in Text
	// originals are the values of events that do not follow from those in Text, each with its
	// length before it; 0 is the length of one that follows. None without pieceProtobuf.
	originals []byte
}

// AppendPiece appends the piece of an item of public history.
func AppendPiece(dst []byte, it *schemas.Item, catalog *codec.Catalog) []byte {
	buf := pieceBuffers.Get().(*[]byte)
	defer pieceBuffers.Put(buf)
	// It is read first: a catalogue that learns meanwhile makes a copy that is not used, never one that
	// is taken for up to date.
	fingerprint := catalog.Fingerprint()
	text, begin, end := appendCompact((*buf)[:0], it, catalog)
	*buf = text
	at := it.Position()
	p := Piece{Text: text, Catalog: fingerprint, MigrationID: at.MigrationID, RecordTime: at.RecordTime, update: begin, after: end}
	if it.Update != nil {
		p.flags |= pieceHasUpdate
		if it.Update.Kind == schemas.Transaction {
			p.flags |= pieceTransaction
		}
		if it.Update.Encoding == schemas.ProtobufJSON {
			p.flags |= pieceProtobuf
		}
	}
	if it.Verdict != nil {
		p.flags |= pieceHasVerdict
	}
	member := jsonscan.AppendString([]byte(`"update_id":`), []byte(at.UpdateID))
	p.id = bytes.LastIndex(text, member) + len(`"update_id":`)
	if p.isExact(it, catalog) {
		p.flags |= pieceExact
	}
	return p.appendTo(dst)
}

// appendTo writes the text, values as they were stored, what is known of both, and how many
// bytes that takes. The text comes first so that an answer begins where its memory does.
func (p *Piece) appendTo(dst []byte) []byte {
	dst = append(append(dst, p.Text...), p.originals...)
	start := len(dst)
	dst = append(dst, pieceForm, p.flags)
	dst = binary.LittleEndian.AppendUint64(dst, p.Catalog)
	dst = binary.AppendVarint(dst, p.MigrationID)
	dst = binary.AppendVarint(dst, int64(p.RecordTime))
	for _, n := range []int{len(p.originals), p.id, p.update, p.after} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return append(dst, byte(len(dst)-start))
}

// appendCompact appends an item as GET /v0/events/{update_id} gives it, and tells where its
// update stands.
func appendCompact(dst []byte, it *schemas.Item, catalog *codec.Catalog) (_ []byte, begin, end int) {
	var form schemas.UpdateForm
	if it.Update != nil {
		form.Values = codec.Writer{Catalog: catalog, Want: schemas.CompactJSON}.For(it.Update.Encoding)
	}
	return schemas.AppendItemSpan(dst, it, form)
}

// isExact reports whether what is read out of the text is the item; it notes the values that
// are to be taken from elsewhere.
func (p *Piece) isExact(it *schemas.Item, catalog *codec.Catalog) bool {
	got, err := p.decode()
	if err != nil || got.Position() != it.Position() {
		return false
	}
	again := pieceBuffers.Get().(*[]byte)
	defer pieceBuffers.Put(again)
	if *again = schemas.AppendItem((*again)[:0], &got); !bytes.Equal(*again, p.Text) {
		return false
	}
	if p.flags&pieceProtobuf == 0 {
		return true
	}
	w := codec.Writer{Catalog: catalog, Want: schemas.CompactJSON}
	return slices.EqualFunc(got.Update.Events, it.Update.Events, func(got, stored schemas.Event) bool {
		p.noteOriginal(stored.Argument, func() ([]byte, error) { return w.RestoreArgument(&got) })
		p.noteOriginal(stored.Result, func() ([]byte, error) { return w.RestoreResult(&got) })
		return got.EventID == stored.EventID
	})
}

// noteOriginal appends a value of an event to p.originals, which has one for each: empty where
// the value can be restored.
func (p *Piece) noteOriginal(stored []byte, restore func() ([]byte, error)) {
	if restored, err := restore(); err == nil && bytes.Equal(restored, stored) {
		stored = nil
	}
	p.originals = binary.AppendUvarint(p.originals, uint64(len(stored)))
	p.originals = append(p.originals, stored...)
}

var errPiece = errors.New("not an item in one piece")

// ReadPiece takes apart what AppendPiece made. The result refers to piece, which
// must not be changed afterwards.
func ReadPiece(piece []byte) (p Piece, err error) {
	bad := func(why string) (Piece, error) {
		return Piece{}, fmt.Errorf("%w: %d bytes %s", errPiece, len(piece), why)
	}
	if len(piece) == 0 {
		return bad("are too few")
	}
	end := len(piece) - 1 - int(piece[len(piece)-1])
	if end < 1 || len(piece)-1-end < pieceFixed || piece[end] != pieceForm {
		return bad("do not end like one")
	}
	p.flags, p.Catalog = piece[end+1], binary.LittleEndian.Uint64(piece[end+2:])
	r := pieceReader{rest: piece[end+pieceFixed : len(piece)-1]}
	p.MigrationID, p.RecordTime = r.number(), schemas.Micros(r.number())
	originals := r.count()
	p.id, p.update, p.after = r.count(), r.count(), r.count()
	if end -= originals; r.failed || len(r.rest) > 0 || end < 1 || p.id > end || p.update > p.after || p.after > end || piece[end-1] != '}' {
		return bad("refer to places outside of the text")
	}
	p.Text, p.originals = piece[:end], piece[end:end+originals]
	return p, nil
}

// pieceFixed is how many bytes form, flags and catalogue take.
const pieceFixed = 10

// pieceReader reads numbers one after another. After a failure all that follow are 0.
type pieceReader struct {
	rest   []byte
	failed bool
}

func (r *pieceReader) number() int64 {
	n, size := binary.Varint(r.rest)
	if r.failed = r.failed || size <= 0; r.failed {
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *pieceReader) count() int {
	n, size := binary.Uvarint(r.rest)
	if r.failed = r.failed || size <= 0 || n > maxPieceBytes; r.failed {
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// IsOf reports whether the piece is of the item with an update id.
func (p *Piece) IsOf(updateID string) bool {
	text := p.Text[p.id:]
	n := len(updateID)
	return len(text) >= n+2 && text[0] == '"' && string(text[1:n+1]) == updateID && text[n+1] == '"'
}

// Update is the part of Text that is the update, as GET /v2/updates/{update_id} gives it, nil
// for an item without one.
func (p *Piece) Update() []byte {
	if p.flags&pieceHasUpdate == 0 {
		return nil
	}
	return p.Text[p.update:p.after:p.after]
}

// MayGrow reports whether the item is a transaction without a verdict, which may become known
// later. Nothing can be added to other items.
func (p *Piece) MayGrow() bool {
	return p.flags&(pieceHasVerdict|pieceTransaction) == pieceTransaction
}

// Item reads the item out of the text, with the catalogue of the piece; ok is false where that
// would not give back what was copied.
func (p *Piece) Item(catalog *codec.Catalog) (it schemas.Item, ok bool, err error) {
	if p.flags&pieceExact == 0 {
		return it, false, nil
	}
	if it, err = p.decode(); err == nil && p.flags&pieceProtobuf != 0 && it.Update != nil {
		err = p.restore(it.Update, codec.Writer{Catalog: catalog, Want: schemas.CompactJSON})
	}
	return it, err == nil, err
}

// restore turns the values of an update back into those that were stored.
func (p *Piece) restore(u *schemas.Update, w codec.Writer) error {
	u.Encoding = schemas.ProtobufJSON
	originals := pieceReader{rest: p.originals}
	for i := range u.Events {
		e := &u.Events[i]
		argument, argumentErr := originals.or(func() ([]byte, error) { return w.RestoreArgument(e) })
		result, resultErr := originals.or(func() ([]byte, error) { return w.RestoreResult(e) })
		if err := errors.Join(argumentErr, resultErr); err != nil {
			return fmt.Errorf("restoring the values of event %s: %w", e.EventID, err)
		}
		e.Argument, e.Result = argument, result
	}
	if originals.failed || len(originals.rest) > 0 {
		return fmt.Errorf("%w: it has values of other events", errPiece)
	}
	return nil
}

// or returns the next value, or what restore does if it is empty.
func (r *pieceReader) or(restore func() ([]byte, error)) ([]byte, error) {
	n := r.count()
	if n > len(r.rest) {
		r.failed = true
	}
	if n == 0 || r.failed {
		return restore()
	}
	value := bytes.Clone(r.rest[:n])
	r.rest = r.rest[n:]
	return value, nil
}

// decode reads the item with its values in compact JSON.
func (p *Piece) decode() (it schemas.Item, err error) {
	const open, end = `{"events":[`, `]}`
	page := make([]byte, 0, len(open)+len(p.Text)+len(end))
	page = append(append(append(page, open...), p.Text...), end...)
	items, err := schemas.DecodeEvents(page, schemas.CompactJSON)
	if err != nil {
		return it, fmt.Errorf("reading the text of a copy: %w", err)
	}
	if len(items) != 1 {
		return it, fmt.Errorf("%w: its text has %d items", errPiece, len(items))
	}
	return items[0], nil
}
