package store

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// packed is a text that the store keeps in three columns: NAME_text, in which a mark
// stands for each hexadecimal id and for each party, NAME_ids with the ids as raw bytes
// and NAME_parties. Contract ids are mostly random: as digits among JSON they make up
// two thirds of a compressed history, raw and by themselves they take half of that. Any
// text without the two marks, which canonical JSON never has, comes back as it was.
type packed struct {
	name    string
	text    proto.ColStr
	ids     *proto.ColArr[string]
	raw     *proto.ColStr // the elements of ids
	parties *proto.ColArr[string]
	names   *lowCardinality // the elements of parties
}

const (
	idMark    = '\x01'
	partyMark = '\x02'
	// minID and maxID bound the digits that are taken for an id; the length of an id is even.
	minID, maxID = 64, 512
	// fingerprint is how many digits follow the two colons of a party.
	fingerprint = 68
	maxParty    = 512
)

// idStart and partyColons are what a search for ids and parties looks for.
var idStart, partyColons = []byte(`"00`), []byte("::1220")

func newPacked(name string) packed {
	raw, names := new(proto.ColStr), newLowCardinality()
	return packed{name: name, raw: raw, ids: proto.NewArray[string](raw), names: names, parties: proto.NewArray[string](names)}
}

func (p *packed) columns() []column {
	return []column{{p.name + "_text", &p.text}, {p.name + "_ids", p.ids}, {p.name + "_parties", p.parties}}
}

// appendText adds a row.
func (p *packed) appendText(text []byte) {
	start := len(p.text.Buf)
	p.take(text)
	p.endRow(start)
}

// endRow ends the row whose text began at start.
func (p *packed) endRow(start int) {
	p.text.Pos = append(p.text.Pos, proto.Position{Start: start, End: len(p.text.Buf)})
	p.ids.Offsets = append(p.ids.Offsets, uint64(p.raw.Rows()))
	p.parties.Offsets = append(p.parties.Offsets, uint64(p.names.Rows()))
}

// takeID adds an id that stands by itself, without quotes.
func (p *packed) takeID(id string) {
	if n := len(id); n < minID || n > maxID || n%2 != 0 || digits(id) != n {
		p.text.Buf = append(p.text.Buf, id...)
		return
	}
	p.text.Buf = append(p.text.Buf, idMark)
	p.addID([]byte(id))
}

func (p *packed) addID(id []byte) {
	start := len(p.raw.Buf)
	// Only pairs of digits come here, so there is no error.
	p.raw.Buf, _ = hex.AppendDecode(p.raw.Buf, id)
	p.raw.Pos = append(p.raw.Pos, proto.Position{Start: start, End: len(p.raw.Buf)})
}

// take adds text with marks in place of the ids and parties in it.
func (p *packed) take(text []byte) {
	id, party := bytes.Index(text, idStart), bytes.Index(text, partyColons)
	done := 0 // text before it is added
	for id >= 0 || party >= 0 {
		if id >= 0 && (party < 0 || id < party) {
			if n := idAt(text, id+1); n > 0 {
				p.text.Buf = append(append(p.text.Buf, text[done:id+1]...), idMark)
				p.addID(text[id+1 : id+1+n])
				done = id + 1 + n
			}
			id = indexFrom(text, idStart, max(done, id+1))
			continue
		}
		if start, end := partyAt(text, done, party); start >= 0 {
			p.text.Buf = append(append(p.text.Buf, text[done:start]...), partyMark)
			p.names.AppendBytes(text[start:end])
			done = end
		}
		party = indexFrom(text, partyColons, max(done, party+1))
		if id >= 0 && id < done {
			id = indexFrom(text, idStart, done)
		}
	}
	p.text.Buf = append(p.text.Buf, text[done:]...)
}

// indexFrom is bytes.Index in text from an index on.
func indexFrom(text, what []byte, from int) int {
	if i := bytes.Index(text[from:], what); i >= 0 {
		return from + i
	}
	return -1
}

// idAt returns the length of the id that begins at start and ends before a quote, else 0.
func idAt(text []byte, start int) int {
	rest := text[start:min(len(text), start+maxID+1)]
	n := digits(rest)
	if n < minID || n == len(rest) || n%2 != 0 || rest[n] != '"' {
		return 0
	}
	return n
}

// partyAt returns where the quoted party around the colons begins and ends, in text from
// done on, or -1.
func partyAt(text []byte, done, colons int) (start, end int) {
	end = colons + 2 + fingerprint
	if end >= len(text) || text[end] != '"' || digits(text[colons+2:end]) != fingerprint {
		return -1, -1
	}
	from := max(done, colons-maxParty)
	quote := bytes.LastIndexByte(text[from:colons], '"')
	if quote < 0 {
		return -1, -1
	}
	return from + quote + 1, end
}

// digits counts the lower-case hexadecimal digits that s begins with.
func digits[T string | []byte](s T) int {
	for i := range len(s) {
		if !isDigit[s[i]] {
			return i
		}
	}
	return len(s)
}

var isDigit = func() (is [256]bool) {
	for c := range is {
		is[c] = strings.IndexByte("0123456789abcdef", byte(c)) >= 0
	}
	return is
}()

// appendRow appends row i as it was added.
func (p *packed) appendRow(dst []byte, i int) []byte {
	id, party := rowStart(p.ids.Offsets, i), rowStart(p.parties.Offsets, i)
	idEnd, partyEnd := int(p.ids.Offsets[i]), int(p.parties.Offsets[i])
	text := p.text.RowBytes(i)
	done := 0
	for at, c := range text {
		switch {
		case c > partyMark:
			continue
		case c == idMark && id < idEnd:
			dst = hex.AppendEncode(append(dst, text[done:at]...), p.raw.RowBytes(id))
			id++
		case c == partyMark && party < partyEnd:
			dst = append(append(dst, text[done:at]...), p.names.Row(party)...)
			party++
		default:
			continue // not written by us: it stays as it is
		}
		done = at + 1
	}
	return append(dst, text[done:]...)
}

func rowStart(ends proto.ColUInt64, i int) int {
	if i == 0 {
		return 0
	}
	return int(ends[i-1])
}

// size is that of all rows of the current block put together.
func (p *packed) size() int {
	n := len(p.text.Buf) + 2*len(p.raw.Buf)
	for i := range p.names.Rows() {
		n += len(p.names.Row(i))
	}
	return n
}

// rows returns all rows of the current block in one piece of memory.
func (p *packed) rows() func(i int) []byte {
	ends := make([]int, p.text.Rows())
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
	text    []byte
	ids     [][]byte
	parties []string
}

// argumentOf copies the argument out of row i, the body of a created event, so that it
// can be stored again without being put together first.
func (p *packed) argumentOf(i int) packedRow {
	id, party := rowStart(p.ids.Offsets, i), rowStart(p.parties.Offsets, i)
	contractID, rest, _ := bytes.Cut(p.text.RowBytes(i), newline)
	argument, _, _ := bytes.Cut(rest, newline)
	if len(contractID) == 1 && contractID[0] == idMark {
		id++
	}
	row := packedRow{text: bytes.Clone(argument)}
	for ; id < int(p.ids.Offsets[i]); id++ {
		row.ids = append(row.ids, bytes.Clone(p.raw.RowBytes(id)))
	}
	for ; party < int(p.parties.Offsets[i]); party++ {
		row.parties = append(row.parties, p.names.Row(party))
	}
	return row
}

// appendPacked adds a row as it was taken out of another block.
func (p *packed) appendPacked(row packedRow) {
	start := len(p.text.Buf)
	p.text.Buf = append(p.text.Buf, row.text...)
	for _, id := range row.ids {
		p.raw.AppendBytes(id)
	}
	p.names.AppendArr(row.parties)
	p.endRow(start)
}

// contractIDOf returns the first line of row i, the body of an event.
func (p *packed) contractIDOf(i int) string {
	line, _, _ := bytes.Cut(p.text.RowBytes(i), newline)
	if len(line) == 1 && line[0] == idMark {
		return hex.EncodeToString(p.raw.RowBytes(rowStart(p.ids.Offsets, i)))
	}
	return string(line)
}
