package prepared

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// appendMessage appends a message as a field.
func appendMessage(dst []byte, n protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, n, protowire.BytesType), content)
}

// appendText appends a text as a field, also an empty one.
func appendText(dst []byte, n protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, n, protowire.BytesType), text)
}

// appendNumber appends a number as a field, also 0.
func appendNumber(dst []byte, n protowire.Number, number uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.VarintType), number)
}

// message is a protobuf message by the numbers of its fields.
type message map[protowire.Number][]field

// field is the content of a field: a number, or a text or message.
type field struct {
	number  uint64
	content []byte
}

// last is the field that counts where there is to be one.
func (m message) last(n protowire.Number) (f field) {
	if all := m[n]; len(all) > 0 {
		f = all[len(all)-1]
	}
	return f
}

func (m message) content(n protowire.Number) []byte { return m.last(n).content }
func (m message) text(n protowire.Number) string    { return string(m.content(n)) }
func (m message) number(n protowire.Number) uint64  { return m.last(n).number }

// texts returns the texts of a repeated field.
func (m message) texts(n protowire.Number) []string {
	texts := make([]string, len(m[n]))
	for i, f := range m[n] {
		texts[i] = string(f.content)
	}
	return texts
}

// decoder takes messages apart. After the first failure it goes on with nothing.
type decoder struct{ err error }

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// open takes one message apart, not those within it.
func (d *decoder) open(b []byte) message {
	m := message{}
	for len(b) > 0 && d.err == nil {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			d.fail("it is no protobuf message: %v", protowire.ParseError(size))
			break
		}
		b = b[size:]
		var f field
		if f, size = takeField(n, kind, b); size < 0 {
			d.fail("it is no protobuf message: field %d: %v", n, protowire.ParseError(size))
			break
		}
		m[n] = append(m[n], f)
		b = b[size:]
	}
	return m
}

func takeField(n protowire.Number, kind protowire.Type, b []byte) (f field, size int) {
	switch kind {
	case protowire.VarintType:
		f.number, size = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.number, size = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		f.content, size = protowire.ConsumeBytes(b)
	default:
		size = protowire.ConsumeFieldValue(n, kind, b)
	}
	return f, size
}

// only returns the field of a message that has one of several.
func (d *decoder) only(b []byte) (n protowire.Number, f field) {
	m := d.open(b)
	if len(m) != 1 {
		d.fail("a value or node has %d kinds, want one", len(m))
	}
	for n := range m {
		return n, m.last(n)
	}
	return 0, f
}
