package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"
)

// Shapes keeps what was found out about the shapes of texts from one block to the next:
// there are few shapes and many blocks. It is safe for concurrent use.
type Shapes struct {
	mu    sync.Mutex
	known map[string]*Shape
	bytes int // of the texts of known
}

// maxShapes bounds the bytes of shapes that are kept.
const maxShapes = 48 << 20

// NewShapes returns an empty set.
func NewShapes() *Shapes { return &Shapes{known: make(map[string]*Shape)} }

// Shape is a text with marks in place of its values. Those of one dictionary that are equal
// are the same, and mostly those of others, too.
type Shape struct {
	text  string
	whole shapePart
	// lines are those of the body of an event: contract id, argument and result.
	lines [3]shapePart
	// hash and argument are the XXH3 of the text and of its second line.
	hash, argument uint64
}

// shapePart is a part of a Shape.
type shapePart struct {
	from, to int
	steps    []step
}

// step is a mark in a shape.
type step struct {
	at   int32
	mark byte
	bare bool // a scalar without quotes, which may have marks of its own
}

// take finds the shapes of a dictionary, and returns their texts.
func (s *Shapes) take(dictionary *texts, kinds []*Shape, terms []string) ([]*Shape, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range dictionary.Rows() {
		kind := s.of(dictionary.RowBytes(i))
		kinds, terms = append(kinds, kind), append(terms, kind.text)
	}
	return kinds, terms
}

// of finds one shape.
func (s *Shapes) of(text []byte) *Shape {
	if kind := s.known[string(text)]; kind != nil {
		return kind
	}
	kind := newShape(string(text))
	if s.bytes += len(text); s.bytes > maxShapes {
		clear(s.known)
		s.bytes = len(text)
	}
	s.known[kind.text] = kind
	return kind
}

// shapeOf returns the shape of row i.
func (p *packed) shapeOf(i int) *Shape {
	n := int(p.shape.keys[i])
	for len(p.shape.kinds) <= n { // rows that were added and not read
		p.shape.kinds = append(p.shape.kinds, newShape(p.shape.terms[len(p.shape.kinds)]))
	}
	return p.shape.kinds[n]
}

func newShape(text string) *Shape {
	s := &Shape{text: text, whole: shapePart{0, len(text), planOf(text)}, hash: xxh3.HashString(text)}
	rest := s.whole
	for i := range s.lines {
		s.lines[i] = rest
		if n := strings.IndexByte(text[rest.from:], '\n'); n >= 0 && i < len(s.lines)-1 {
			s.lines[i], rest = rest.cut(rest.from + n)
		} else {
			rest = shapePart{from: rest.to, to: rest.to}
		}
	}
	s.argument = xxh3.HashString(text[s.lines[1].from:s.lines[1].to])
	return s
}

// cut splits p at a character, which is in neither part.
func (p shapePart) cut(at int) (before, after shapePart) {
	n := slices.IndexFunc(p.steps, func(s step) bool { return int(s.at) > at })
	if n < 0 {
		n = len(p.steps)
	}
	return shapePart{p.from, at, p.steps[:n]}, shapePart{at + 1, p.to, p.steps[n:]}
}

// Argument and Result are the shapes of the argument and the result of an event.
func (s *Shape) Argument() string { return s.text[s.lines[1].from:s.lines[1].to] }

// Result is described at Argument.
func (s *Shape) Result() string { return s.text[s.lines[2].from:s.lines[2].to] }

// AppendValues appends the argument and the result of an event out of the scalars of its body,
// with marks in place of ids and parties. Both begin and end where the returned offsets say.
func (s *Shape) AppendValues(dst, scalars []byte) (_ []byte, argument, end int) {
	return s.appendValues(dst, &values{scalars: scalars})
}

// appendValues is AppendValues for the values of all kinds that v has.
func (s *Shape) appendValues(dst []byte, v *values) (_ []byte, argument, end int) {
	for _, mark := range s.lines[0].steps {
		v.skip(mark)
	}
	dst = v.appendPart(dst, s.text, &s.lines[1])
	argument = len(dst)
	dst = v.appendPart(dst, s.text, &s.lines[2])
	return dst, argument, len(dst)
}

// ArgumentScalar returns which of the scalars of the event's body stands in a place of
// Argument, -1 if none does.
func (s *Shape) ArgumentScalar(at int) int { return s.valueAt(s.lines[1].from+at, scalarMark) }

// ArgumentParty returns which of the parties of the event's body is in a place of Argument, -1 if none
// is.
func (s *Shape) ArgumentParty(at int) int { return s.valueAt(s.lines[1].from+at, partyMark) }

// ResultScalar is the same for Result.
func (s *Shape) ResultScalar(at int) int { return s.valueAt(s.lines[2].from+at, scalarMark) }

// valueAt counts the values of a kind before the one in a place.
func (s *Shape) valueAt(at int, kind byte) int {
	n := 0
	for _, mark := range s.whole.steps {
		switch {
		case mark.mark != kind:
		case int(mark.at) == at:
			return n
		default:
			n++
		}
	}
	return -1
}

// Joined reports whether the argument or the result is a single scalar, in which nothing
// can be found by its place.
func (s *Shape) Joined() bool {
	return s.Argument() == string(rune(scalarMark)) || s.Result() == string(rune(scalarMark))
}

// AppendScalars appends the scalars of a row, in order.
func AppendScalars(list [][]byte, scalars []byte) [][]byte {
	for {
		n := bytes.IndexByte(scalars, scalarEnd)
		if n < 0 {
			return list
		}
		list, scalars = append(list, scalars[:n]), scalars[n+1:]
	}
}

func planOf(shape string) []step {
	n := 0
	for at := range len(shape) {
		if c := shape[at]; c >= idMark && c <= scalarMark {
			n++
		}
	}
	steps := make([]step, 0, n)
	for at := range len(shape) {
		if c := shape[at]; c >= idMark && c <= scalarMark {
			steps = append(steps, step{at: int32(at), mark: c, bare: c == scalarMark && (at == 0 || shape[at-1] != '"')})
		}
	}
	return steps
}

// hexDigits are the two digits of each byte.
var hexDigits = func() (digits [256]uint16) {
	for b := range digits {
		digits[b] = binary.LittleEndian.Uint16(hex.AppendEncode(nil, []byte{byte(b)}))
	}
	return digits
}()

// appendHex is hex.AppendEncode, two digits at a time: most of what is read are ids.
func appendHex(dst, src []byte) []byte {
	from := len(dst)
	dst = slices.Grow(dst, 2*len(src))[:from+2*len(src)]
	to := dst[from:]
	for i, b := range src {
		binary.LittleEndian.PutUint16(to[2*i:], hexDigits[b])
	}
	return dst
}
