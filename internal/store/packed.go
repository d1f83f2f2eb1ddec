package store

import (
	"bytes"
	"encoding/hex"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/zeebo/xxh3"
)

// packed is a text, most often JSON, that the store keeps in four columns: NAME_shape is
// the text with a mark in place of each value in it, low in cardinality because there are
// as many shapes as kinds of contracts and choices; NAME_ids has the hexadecimal ids among
// the values as raw bytes, NAME_parties the parties, and NAME_scalars all others, each with
// a zero byte behind it. So what repeats is stored once, and what is random takes no more
// than its randomness, in blocks small enough for lookups. Any text without the marks and
// zero bytes, which canonical JSON never has, comes back as it was.
type packed struct {
	name    string
	shape   *lowCardinality
	scalars texts
	ids     *proto.ColArr[string]
	raw     *texts // the elements of ids
	parties *proto.ColArr[string]
	names   *lowCardinality // the elements of parties

	making []byte // shape of the row that is being added
}

const (
	idMark     = '\x01'
	partyMark  = '\x02'
	scalarMark = '\x03'
	scalarEnd  = '\x00'
	// minID and maxID bound the digits that are taken for an id; the length of an id is even.
	minID, maxID = 64, 512
	// fingerprint is how many digits follow the two colons of a party.
	fingerprint = 68
	// maxShape is where a text is no longer taken for one of few shapes: a longer one, of
	// long lists or many members, becomes a single scalar, still without ids and parties.
	maxShape = 8 << 10
)

func newPacked(name string) packed {
	raw, names := new(texts), newLowCardinality()
	shape := newLowCardinality()
	shape.shapes = NewShapes()
	return packed{
		name: name, shape: shape,
		raw: raw, ids: proto.NewArray[string](raw), names: names, parties: proto.NewArray[string](names),
	}
}

func (p *packed) columns() []column {
	return []column{
		{p.name + "_shape", p.shape}, {p.name + "_scalars", &p.scalars}, {p.name + "_ids", p.ids}, {p.name + "_parties", p.parties},
	}
}

// appendText adds a row.
func (p *packed) appendText(text []byte) {
	start := p.beginRow()
	p.take(text)
	p.endRow(start)
}

// beginRow returns what endRow wants to know.
func (p *packed) beginRow() (start int) {
	p.making = p.making[:0]
	return len(p.scalars.Buf)
}

// endRow ends the row whose scalars began at start.
func (p *packed) endRow(start int) {
	p.shape.AppendBytes(p.making)
	p.endValues(start)
}

func (p *packed) endValues(start int) {
	p.scalars.Pos = append(p.scalars.Pos, proto.Position{Start: start, End: len(p.scalars.Buf)})
	p.ids.Offsets = append(p.ids.Offsets, uint64(p.raw.Rows()))
	p.parties.Offsets = append(p.parties.Offsets, uint64(p.names.Rows()))
}

// take adds text to the row.
func (p *packed) take(text []byte) {
	shape, scalars := len(p.making), len(p.scalars.Buf)
	p.takeApart(text)
	if len(p.making)-shape > maxShape {
		p.joinAgain(shape, scalars)
	}
}

// takeApart adds text with marks in place of its values: strings that are no member names,
// and numbers.
func (p *packed) takeApart(text []byte) {
	for {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			p.takeNumbers(text)
			return
		}
		p.takeNumbers(text[:quote])
		end := stringEnd(text, quote+1)
		switch {
		case end < 0:
			p.making = append(p.making, text[quote:]...)
			return
		case end+1 < len(text) && text[end+1] == ':':
			p.making = append(p.making, text[quote:end+2]...)
			text = text[end+2:]
		default:
			p.making = append(p.making, '"', p.takeValue(text[quote+1:end]), '"')
			text = text[end+1:]
		}
	}
}

// stringEnd returns where the string that begins at start has its closing quote, or -1.
func stringEnd(text []byte, start int) int {
	for from := start; ; {
		n := bytes.IndexByte(text[from:], '"')
		if n < 0 {
			return -1
		}
		end := from + n
		escapes := 0
		for end-escapes > start && text[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// takeNumbers adds text that has no strings.
func (p *packed) takeNumbers(text []byte) {
	for i := 0; i < len(text); {
		if c := text[i]; c != '-' && (c < '0' || c > '9') {
			p.making = append(p.making, c)
			i++
			continue
		}
		n := 1
		for i+n < len(text) && inNumber(text[i+n]) {
			n++
		}
		p.making = append(p.making, p.takeScalar(text[i:i+n]))
		i += n
	}
}

func inNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

// takeValue adds the content of a string value where it belongs and returns its mark.
func (p *packed) takeValue(value []byte) byte {
	n := len(value)
	switch {
	case n < minID || n > maxID:
		return p.takeScalar(value)
	case isID(value):
		p.addID(value)
		return idMark
	case isParty(value):
		p.names.AppendBytes(value)
		return partyMark
	}
	return p.takeScalar(value)
}

func (p *packed) takeScalar(value []byte) byte {
	p.scalars.Buf = append(append(p.scalars.Buf, value...), scalarEnd)
	return scalarMark
}

// takeID adds an id that stands by itself, without quotes, usually hexadecimal.
func (p *packed) takeID(id string) {
	mark := byte(idMark)
	if text := []byte(id); len(text) >= minID && len(text) <= maxID && isID(text) {
		p.addID(text)
	} else {
		mark = p.takeScalar(text)
	}
	p.making = append(p.making, mark)
}

func (p *packed) addID(id []byte) {
	start := len(p.raw.Buf)
	// Only pairs of digits come here, so there is no error.
	p.raw.Buf, _ = hex.AppendDecode(p.raw.Buf, id)
	p.raw.Pos = append(p.raw.Pos, proto.Position{Start: start, End: len(p.raw.Buf)})
}

func isID(value []byte) bool { return len(value)%2 == 0 && digits(value) == len(value) }

func isParty(value []byte) bool {
	name, print, _ := bytes.Cut(value, partyColons)
	return len(name) > 0 && len(print) == fingerprint && digits(print) == fingerprint
}

var partyColons = []byte("::")

// digits counts the lower-case hexadecimal digits that s begins with.
func digits(s []byte) int {
	for i, c := range s {
		if !isDigit[c] {
			return i
		}
	}
	return len(s)
}

var isDigit = func() (is [256]bool) {
	for _, c := range "0123456789abcdef" {
		is[c] = true
	}
	return is
}()

// joinAgain makes one scalar of the part of a row that begins at the given lengths of its
// shape and of the scalars.
func (p *packed) joinAgain(shape, scalars int) {
	values := p.scalars.Buf[scalars:]
	var text []byte
	for _, c := range p.making[shape:] {
		if c != scalarMark {
			text = append(text, c)
			continue
		}
		n := bytes.IndexByte(values, scalarEnd)
		text, values = append(text, values[:n]...), values[n+1:]
	}
	p.making, p.scalars.Buf = p.making[:shape], p.scalars.Buf[:scalars]
	p.making = append(p.making, p.takeScalar(text))
}

// values are what the marks of one row stand for, in order.
type values struct {
	*packed
	scalars         []byte
	id, idEnd       int
	party, partyEnd int
}

func (p *packed) valuesOf(i int) values {
	return values{
		packed: p, scalars: p.scalars.RowBytes(i),
		id: rowStart(p.ids.Offsets, i), idEnd: int(p.ids.Offsets[i]),
		party: rowStart(p.parties.Offsets, i), partyEnd: int(p.parties.Offsets[i]),
	}
}

func rowStart(ends proto.ColUInt64, i int) int {
	if i == 0 {
		return 0
	}
	return int(ends[i-1])
}

// appendNext appends what a mark stands for. A mark for which nothing is left was not
// written by us and stays as it is.
func (v *values) appendNext(dst []byte, s step) []byte {
	switch {
	case s.mark == idMark && v.id < v.idEnd:
		v.id++
		return appendHex(dst, v.raw.RowBytes(v.id-1))
	case s.mark == partyMark && v.party < v.partyEnd:
		v.party++
		return append(dst, v.names.Row(v.party-1)...)
	case s.mark == scalarMark:
		if n := bytes.IndexByte(v.scalars, scalarEnd); n >= 0 {
			scalar := v.scalars[:n]
			v.scalars = v.scalars[n+1:]
			if s.bare {
				return v.appendJoined(dst, scalar)
			}
			return append(dst, scalar...)
		}
	}
	return append(dst, s.mark)
}

// appendJoined appends a scalar in which ids and parties have marks.
func (v *values) appendJoined(dst, scalar []byte) []byte {
	done := 0
	for at, c := range scalar {
		if c == idMark || c == partyMark {
			dst = v.appendNext(append(dst, scalar[done:at]...), step{mark: c})
			done = at + 1
		}
	}
	return append(dst, scalar[done:]...)
}

// skip passes over what a mark stands for.
func (v *values) skip(s step) {
	switch {
	case s.mark == idMark && v.id < v.idEnd:
		v.id++
	case s.mark == partyMark && v.party < v.partyEnd:
		v.party++
	case s.mark == scalarMark:
		n := bytes.IndexByte(v.scalars, scalarEnd)
		if n < 0 {
			return
		}
		for _, c := range v.scalars[:n] {
			if s.bare && (c == idMark || c == partyMark) {
				v.skip(step{mark: c})
			}
		}
		v.scalars = v.scalars[n+1:]
	}
}

// appendPart appends a part of a shape with what its marks stand for.
func (v *values) appendPart(dst []byte, text string, p *shapePart) []byte {
	done := p.from
	for _, s := range p.steps {
		dst = v.appendNext(append(dst, text[done:s.at]...), s)
		done = int(s.at) + 1
	}
	return append(dst, text[done:p.to]...)
}

// appendRow appends row i as it was added.
func (p *packed) appendRow(dst []byte, i int) []byte {
	v, s := p.valuesOf(i), p.shapeOf(i)
	return v.appendPart(dst, s.text, &s.whole)
}

// key tells the text of row i from all others.
func (p *packed) key(i int) PackedKey {
	v := p.valuesOf(i)
	return v.key(p.shapeOf(i).hash)
}

// argumentKey is key of the argument alone in the body of a created event, which has no
// result.
func (p *packed) argumentKey(i int) PackedKey {
	v, s := p.valuesOf(i), p.shapeOf(i)
	for _, mark := range s.lines[0].steps {
		v.skip(mark)
	}
	return v.key(s.argument)
}

func (v *values) key(shape uint64) PackedKey {
	k := PackedKey{Shape: shape, Scalars: xxh3.Hash(v.scalars)}
	for id := v.id; id < v.idEnd; id++ {
		k.IDs += xxh3.Hash(v.raw.RowBytes(id)) * uint64(id-v.id+1)
	}
	for party := v.party; party < v.partyEnd; party++ {
		k.Parties += xxh3.HashString(v.names.Row(party)) * uint64(party-v.party+1)
	}
	return k
}

// size is that of all rows of the current block put together.
func (p *packed) size() int {
	n := len(p.scalars.Buf) + 2*len(p.raw.Buf)
	for i := range p.shape.Rows() {
		n += len(p.shape.Row(i))
	}
	for i := range p.names.Rows() {
		n += len(p.names.Row(i))
	}
	return n
}

// rows returns all rows of the current block in one piece of memory.
func (p *packed) rows() func(i int) []byte {
	ends := make([]int, p.shape.Rows())
	buf := make([]byte, 0, p.size())
	for i := range ends {
		buf = p.appendRow(buf, i)
		ends[i] = len(buf)
	}
	return func(i int) []byte {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		return buf[start:ends[i]:ends[i]]
	}
}

// packedRow is a row taken out of its block as it is stored.
type packedRow struct {
	shape   string
	scalars []byte
	ids     [][]byte
	parties []string
}

// text puts the row together again, by way of a block of its own: for few rows only.
func (r *packedRow) text() []byte {
	block := newPacked("")
	block.appendPacked(*r)
	return block.appendRow(nil, 0)
}

// argumentOf copies the argument out of row i, the body of a created event, so that it
// can be stored again without being put together first. The body has no result.
func (p *packed) argumentOf(i int) packedRow {
	first, argument := cutLine(p.shape.Row(i))
	argument, _ = cutLine(argument)
	v := p.valuesOf(i)
	var scratch [maxID]byte
	for _, s := range planOf(first) {
		v.appendNext(scratch[:0], s)
	}
	row := packedRow{shape: argument, scalars: bytes.Clone(v.scalars)}
	if v.id < v.idEnd {
		row.ids = p.cloneIDs(v.id, v.idEnd)
	}
	for ; v.party < v.partyEnd; v.party++ {
		row.parties = append(row.parties, p.names.Row(v.party))
	}
	return row
}

func (p *packed) cloneIDs(from, to int) [][]byte {
	base := p.raw.Pos[from].Start
	buf := bytes.Clone(p.raw.Buf[base:p.raw.Pos[to-1].End])
	ids := make([][]byte, 0, to-from)
	for _, at := range p.raw.Pos[from:to] {
		ids = append(ids, buf[at.Start-base:at.End-base])
	}
	return ids
}

// appendPacked adds a row as it was taken out of another block.
func (p *packed) appendPacked(row packedRow) {
	start := len(p.scalars.Buf)
	p.shape.Append(row.shape)
	p.scalars.Buf = append(p.scalars.Buf, row.scalars...)
	for _, id := range row.ids {
		p.raw.AppendBytes(id)
	}
	p.names.AppendArr(row.parties)
	p.endValues(start)
}

// contractIDOf returns the first line of row i, the body of an event.
func (p *packed) contractIDOf(i int) string { return string(p.appendContractID(nil, i)) }

func (p *packed) appendContractID(dst []byte, i int) []byte {
	v, s := p.valuesOf(i), p.shapeOf(i)
	return v.appendPart(dst, s.text, &s.lines[0])
}

// appendValues appends the second and the third line of row i, the body of an event: its
// argument and its result. Both begin and end where the returned offsets say.
func (p *packed) appendValues(dst []byte, i int) (_ []byte, argument, end int) {
	v := p.valuesOf(i)
	return p.shapeOf(i).appendValues(dst, &v)
}
