package prepared

import (
	"encoding/binary"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// appendValue appends the message of a value: records with labels, no ids of types.
func appendValue(dst []byte, names *model.Names, v *model.Value) []byte {
	switch v.Kind {
	case model.KindUnit:
		return appendMessage(dst, valueUnit, nil)
	case model.KindBool:
		return appendNumber(dst, valueBool, uint64(v.Num))
	case model.KindInt64:
		return appendNumber(dst, valueInt64, protowire.EncodeZigZag(v.Num))
	case model.KindDate:
		return appendNumber(dst, valueDate, uint64(v.Num))
	case model.KindTimestamp:
		return protowire.AppendFixed64(protowire.AppendTag(dst, valueTimestamp, protowire.Fixed64Type), uint64(v.Num))
	case model.KindNumeric:
		return appendText(dst, valueNumeric, model.Decimal(v.Num).String())
	case model.KindParty:
		return appendText(dst, valueParty, names.Name(model.Party(v.Num)))
	case model.KindText:
		return appendText(dst, valueText, v.Text)
	case model.KindContractID:
		return appendText(dst, valueContractID, string(names.IDs.AppendContractID(nil, uint64(v.Num))))
	case model.KindEnum:
		return appendMessage(dst, valueEnum, appendText(nil, constructorField, v.Text))
	}
	return appendNested(dst, names, v)
}

func appendNested(dst []byte, names *model.Names, v *model.Value) []byte {
	value := func(at int) []byte { return appendValue(nil, names, &v.Elems[at]) }
	var content []byte
	switch v.Kind {
	case model.KindRecord:
		for i := range v.Elems {
			f := appendMessage(appendText(nil, labelField, v.Shape.Label(i)), contentField, value(i))
			content = appendMessage(content, recordFields, f)
		}
		return appendMessage(dst, valueRecord, content)
	case model.KindVariant:
		content = appendMessage(appendText(nil, constructorField, v.Text), variantContent, value(0))
		return appendMessage(dst, valueVariant, content)
	case model.KindTextMap, model.KindGenMap:
		kind, key := protowire.Number(valueTextMap), func(at int) []byte { return []byte(v.Elems[at].Text) }
		if v.Kind == model.KindGenMap {
			kind, key = valueGenMap, value
		}
		for i := 0; i < len(v.Elems); i += 2 {
			content = appendMessage(content, elementsField, appendMessage(appendMessage(nil, keyField, key(i)), contentField, value(i+1)))
		}
		return appendMessage(dst, kind, content)
	}
	for i := range v.Elems {
		content = appendMessage(content, elementsField, value(i))
	}
	if v.Kind == model.KindOptional {
		return appendMessage(dst, valueOptional, content)
	}
	return appendMessage(dst, valueList, content)
}

// maxDepth is how deep values may be nested.
const maxDepth = 100

// valueTags are the bytes that the hashed form of values begins with, by kind.
var valueTags = [...]byte{
	valueUnit: 0x00, valueBool: 0x01, valueInt64: 0x02, valueNumeric: 0x03, valueTimestamp: 0x04, valueDate: 0x05,
	valueParty: 0x06, valueText: 0x07, valueContractID: 0x08, valueOptional: 0x09, valueList: 0x0a, valueTextMap: 0x0b,
	valueRecord: 0x0c, valueVariant: 0x0d, valueEnum: 0x0e, valueGenMap: 0x0f,
}

// value appends the hashed form of a value.
func (h *hasher) value(dst, b []byte, depth int) []byte {
	kind, f := h.only(b)
	if kind < valueUnit || kind > valueEnum || depth == 0 {
		h.fail("a value is of unknown kind %d or nested too deep", kind)
		return dst
	}
	dst = append(dst, valueTags[kind])
	switch kind {
	case valueUnit:
		return dst
	case valueBool:
		return appendBool(dst, f.number != 0)
	case valueInt64:
		return binary.BigEndian.AppendUint64(dst, uint64(protowire.DecodeZigZag(f.number)))
	case valueDate:
		return binary.BigEndian.AppendUint32(dst, uint32(f.number))
	case valueTimestamp:
		return binary.BigEndian.AppendUint64(dst, h.instant(f.number))
	case valueNumeric, valueParty, valueText:
		return appendSized(dst, f.content)
	case valueContractID:
		return h.hex(dst, f.content)
	}
	return h.nested(dst, kind, h.open(f.content), depth-1)
}

func (h *hasher) nested(dst []byte, kind protowire.Number, m message, depth int) []byte {
	switch kind {
	case valueOptional:
		if dst = appendBool(dst, len(m[elementsField]) > 0); len(m[elementsField]) > 0 {
			dst = h.value(dst, m.content(elementsField), depth)
		}
		return dst
	case valueRecord:
		return appendEach(h.optionalID(dst, m, typeField), m[recordFields], func(dst []byte, f field) []byte {
			m := h.open(f.content)
			return h.value(appendSized(append(dst, 1), m.content(labelField)), m.content(contentField), depth)
		})
	case valueVariant:
		dst = appendSized(h.optionalID(dst, m, typeField), m.content(constructorField))
		return h.value(dst, m.content(variantContent), depth)
	case valueEnum:
		return appendSized(h.optionalID(dst, m, typeField), m.content(constructorField))
	}
	return appendEach(dst, m[elementsField], func(dst []byte, f field) []byte {
		if kind == valueList {
			return h.value(dst, f.content, depth)
		}
		m := h.open(f.content)
		if kind == valueTextMap {
			dst = appendSized(dst, m.content(keyField))
		} else {
			dst = h.value(dst, m.content(keyField), depth)
		}
		return h.value(dst, m.content(contentField), depth)
	})
}

// json returns a value as package json is to write it in the form of commands.
func (d *decoder) json(b []byte) any {
	kind, f := d.only(b)
	switch kind {
	case valueUnit:
		return map[string]any{}
	case valueBool:
		return f.number != 0
	case valueInt64:
		return strconv.FormatInt(protowire.DecodeZigZag(f.number), 10)
	case valueDate:
		return time.Unix(int64(int32(f.number))*86400, 0).UTC().Format(time.DateOnly)
	case valueTimestamp:
		return string(schemas.AppendShortTime(nil, schemas.Micros(f.number)))
	case valueNumeric, valueParty, valueText, valueContractID:
		return string(f.content)
	}
	m := d.open(f.content)
	switch kind {
	case valueOptional:
		return d.optional(m)
	case valueEnum:
		return m.text(constructorField)
	case valueVariant:
		return map[string]any{"tag": m.text(constructorField), "value": d.json(m.content(variantContent))}
	case valueRecord:
		return d.object(m[recordFields])
	case valueTextMap:
		return d.object(m[elementsField])
	}
	list := []any{}
	for _, f := range m[elementsField] {
		if kind == valueList {
			list = append(list, d.json(f.content))
			continue
		}
		entry := d.open(f.content)
		list = append(list, []any{d.json(entry.content(keyField)), d.json(entry.content(contentField))})
	}
	return list
}

// object returns the fields of a record or the entries of a text map.
func (d *decoder) object(fields []field) map[string]any {
	object := map[string]any{}
	for _, f := range fields {
		m := d.open(f.content)
		object[m.text(labelField)] = d.json(m.content(contentField))
	}
	return object
}

// optional returns the content of an optional; one within another is in an array.
func (d *decoder) optional(m message) any {
	if len(m[elementsField]) == 0 {
		return nil
	}
	content := d.json(m.content(elementsField))
	if kind, _ := d.only(m.content(elementsField)); kind != valueOptional {
		return content
	}
	if content == nil {
		return []any{}
	}
	return []any{content}
}
