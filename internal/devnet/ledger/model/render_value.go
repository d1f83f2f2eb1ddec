package model

import (
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Encoding is one of the two JSON forms of contract values.
type Encoding uint8

const (
	ProtobufJSON Encoding = iota // typed, positional, lossless
	CompactJSON                  // labels, no types
)

// AppendValue appends v as canonical JSON.
func (e Encoding) AppendValue(dst []byte, names *Names, v *Value) []byte {
	if e == CompactJSON {
		return AppendCompact(dst, names, v)
	}
	return appendProtobuf(dst, names, v)
}

// appendProtobuf appends v in the typed form, as a node writes it for a stream
// that is not verbose: no labels, no type ids, empty lists left out.
func appendProtobuf(dst []byte, names *Names, v *Value) []byte {
	switch v.Kind {
	case KindUnit:
		return append(dst, `{"unit":{}}`...)
	case KindBool:
		return append(appendBool(append(dst, `{"bool":`...), v), '}')
	case KindInt64:
		dst = strconv.AppendInt(append(dst, `{"int64":"`...), v.Num, 10)
	case KindNumeric:
		dst = Decimal(v.Num).appendTo(append(dst, `{"numeric":"`...))
	case KindText:
		return append(AppendString(append(dst, `{"text":`...), v.Text), '}')
	case KindParty:
		dst = append(append(dst, `{"party":"`...), names.Name(Party(v.Num))...)
	case KindContractID:
		dst = names.IDs.AppendContractID(append(dst, `{"contractId":"`...), uint64(v.Num))
	case KindTimestamp:
		dst = strconv.AppendInt(append(dst, `{"timestamp":"`...), v.Num, 10)
	case KindDate:
		return append(strconv.AppendInt(append(dst, `{"date":`...), v.Num, 10), '}')
	case KindEnum:
		dst = append(append(dst, `{"enum":{"constructor":"`...), v.Text...)
		return append(dst, `"}}`...)
	default:
		return appendProtobufNested(dst, names, v)
	}
	return append(dst, `"}`...)
}

func appendProtobufNested(dst []byte, names *Names, v *Value) []byte {
	switch v.Kind {
	case KindRecord:
		return appendProtobufElems(dst, names, v, `{"record":{`, `"fields":[`, `{"value":`, `}`)
	case KindList:
		return appendProtobufElems(dst, names, v, `{"list":{`, `"elements":[`, ``, ``)
	case KindTextMap:
		return appendProtobufMap(dst, names, v, `{"textMap":{`)
	case KindGenMap:
		return appendProtobufMap(dst, names, v, `{"genMap":{`)
	case KindVariant:
		dst = append(append(dst, `{"variant":{"constructor":"`...), v.Text...)
		dst = append(dst, `","value":`...)
		return append(appendProtobuf(dst, names, &v.Elems[0]), `}}`...)
	}
	if len(v.Elems) == 0 {
		return append(dst, `{"optional":{}}`...)
	}
	dst = append(dst, `{"optional":{"value":`...)
	return append(appendProtobuf(dst, names, &v.Elems[0]), `}}`...)
}

func appendProtobufElems(dst []byte, names *Names, v *Value, head, list, open, end string) []byte {
	dst = append(dst, head...)
	if len(v.Elems) > 0 {
		dst = append(dst, list...)
		for i := range v.Elems {
			dst = append(appendProtobuf(append(dst, open...), names, &v.Elems[i]), end...)
			dst = append(dst, ',')
		}
		dst[len(dst)-1] = ']'
	}
	return append(dst, `}}`...)
}

func appendProtobufMap(dst []byte, names *Names, v *Value, head string) []byte {
	dst = append(dst, head...)
	if len(v.Elems) > 0 {
		dst = append(dst, `"entries":[`...)
		for i := 0; i < len(v.Elems); i += 2 {
			dst = append(dst, `{"key":`...)
			if v.Kind == KindTextMap {
				dst = AppendString(dst, v.Elems[i].Text)
			} else {
				dst = appendProtobuf(dst, names, &v.Elems[i])
			}
			dst = appendProtobuf(append(dst, `,"value":`...), names, &v.Elems[i+1])
			dst = append(dst, `},`...)
		}
		dst[len(dst)-1] = ']'
	}
	return append(dst, `}}`...)
}

// AppendCompact appends v in the readable form: labels, no types.
func AppendCompact(dst []byte, names *Names, v *Value) []byte {
	switch v.Kind {
	case KindUnit:
		return append(dst, `{}`...)
	case KindBool:
		return appendBool(dst, v)
	case KindText:
		return AppendString(dst, v.Text)
	case KindRecord:
		return appendCompactRecord(dst, names, v)
	case KindVariant:
		dst = append(append(dst, `{"tag":"`...), v.Text...)
		dst = append(dst, `","value":`...)
		return append(AppendCompact(dst, names, &v.Elems[0]), '}')
	case KindList:
		return appendCompactList(dst, names, v)
	case KindOptional:
		return appendCompactOptional(dst, names, v)
	case KindTextMap:
		return appendCompactTextMap(dst, names, v)
	case KindGenMap:
		return appendCompactGenMap(dst, names, v)
	}
	dst = append(dst, '"')
	switch v.Kind {
	case KindInt64:
		dst = strconv.AppendInt(dst, v.Num, 10)
	case KindNumeric:
		dst = Decimal(v.Num).appendTo(dst)
	case KindParty:
		dst = append(dst, names.Name(Party(v.Num))...)
	case KindContractID:
		dst = names.IDs.AppendContractID(dst, uint64(v.Num))
	case KindTimestamp:
		dst = schemas.AppendShortTime(dst, schemas.Micros(v.Num))
	case KindDate:
		dst = time.Unix(v.Num*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case KindEnum:
		dst = append(dst, v.Text...)
	}
	return append(dst, '"')
}

func appendBool(dst []byte, v *Value) []byte { return strconv.AppendBool(dst, v.Num == 1) }

func appendCompactRecord(dst []byte, names *Names, v *Value) []byte {
	dst = append(dst, '{')
	for _, at := range v.Shape.sorted {
		if at < len(v.Elems) {
			dst = append(AppendPlain(dst, v.Shape.labels[at]), ':')
			dst = append(AppendCompact(dst, names, &v.Elems[at]), ',')
		}
	}
	return Closing(dst, '}')
}

func appendCompactList(dst []byte, names *Names, v *Value) []byte {
	dst = append(dst, '[')
	for i := range v.Elems {
		dst = append(AppendCompact(dst, names, &v.Elems[i]), ',')
	}
	return Closing(dst, ']')
}

// appendCompactOptional writes none as null and some x as x. An optional within an
// optional is put in an array, so that some none ([]) and none (null) differ.
func appendCompactOptional(dst []byte, names *Names, v *Value) []byte {
	if len(v.Elems) == 0 {
		return append(dst, `null`...)
	}
	inner := &v.Elems[0]
	if inner.Kind != KindOptional {
		return AppendCompact(dst, names, inner)
	}
	dst = append(dst, '[')
	if len(inner.Elems) > 0 {
		dst = appendCompactOptional(dst, names, inner)
	}
	return append(dst, ']')
}

func appendCompactTextMap(dst []byte, names *Names, v *Value) []byte {
	dst = append(dst, '{')
	for i := 0; i < len(v.Elems); i += 2 {
		dst = append(AppendString(dst, v.Elems[i].Text), ':')
		dst = append(AppendCompact(dst, names, &v.Elems[i+1]), ',')
	}
	return Closing(dst, '}')
}

func appendCompactGenMap(dst []byte, names *Names, v *Value) []byte {
	dst = append(dst, '[')
	for i := 0; i < len(v.Elems); i += 2 {
		dst = AppendCompact(append(dst, '['), names, &v.Elems[i])
		dst = AppendCompact(append(dst, ','), names, &v.Elems[i+1])
		dst = append(dst, `],`...)
	}
	return Closing(dst, ']')
}

// Closing ends a list or object: in place of the comma after its last element, if
// there is one.
func Closing(dst []byte, end byte) []byte {
	if dst[len(dst)-1] == ',' {
		dst[len(dst)-1] = end
		return dst
	}
	return append(dst, end)
}
