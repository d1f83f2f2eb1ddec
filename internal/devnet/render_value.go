package devnet

import (
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// encoding is one of the two JSON forms of contract values.
type encoding uint8

const (
	protobufJSON encoding = iota // typed, positional, lossless
	compactJSON                  // labels, no types
)

// appendValue appends v as canonical JSON.
func (e encoding) appendValue(dst []byte, names *names, v *value) []byte {
	if e == compactJSON {
		return appendCompact(dst, names, v)
	}
	return appendProtobuf(dst, names, v)
}

// appendProtobuf appends v in the typed form, as a node writes it for a stream
// that is not verbose: no labels, no type ids, empty lists left out.
func appendProtobuf(dst []byte, names *names, v *value) []byte {
	switch v.kind {
	case kindUnit:
		return append(dst, `{"unit":{}}`...)
	case kindBool:
		return append(appendBool(append(dst, `{"bool":`...), v), '}')
	case kindInt64:
		dst = strconv.AppendInt(append(dst, `{"int64":"`...), v.num, 10)
	case kindNumeric:
		dst = decimal(v.num).appendTo(append(dst, `{"numeric":"`...))
	case kindText:
		return append(appendString(append(dst, `{"text":`...), v.text), '}')
	case kindParty:
		dst = append(append(dst, `{"party":"`...), names.name(party(v.num))...)
	case kindContractID:
		dst = names.ids.appendContractID(append(dst, `{"contractId":"`...), uint64(v.num))
	case kindTimestamp:
		dst = strconv.AppendInt(append(dst, `{"timestamp":"`...), v.num, 10)
	case kindDate:
		return append(strconv.AppendInt(append(dst, `{"date":`...), v.num, 10), '}')
	case kindEnum:
		dst = append(append(dst, `{"enum":{"constructor":"`...), v.text...)
		return append(dst, `"}}`...)
	default:
		return appendProtobufNested(dst, names, v)
	}
	return append(dst, `"}`...)
}

func appendProtobufNested(dst []byte, names *names, v *value) []byte {
	switch v.kind {
	case kindRecord:
		return appendProtobufElems(dst, names, v, `{"record":{`, `"fields":[`, `{"value":`, `}`)
	case kindList:
		return appendProtobufElems(dst, names, v, `{"list":{`, `"elements":[`, ``, ``)
	case kindTextMap:
		return appendProtobufMap(dst, names, v, `{"textMap":{`)
	case kindGenMap:
		return appendProtobufMap(dst, names, v, `{"genMap":{`)
	case kindVariant:
		dst = append(append(dst, `{"variant":{"constructor":"`...), v.text...)
		dst = append(dst, `","value":`...)
		return append(appendProtobuf(dst, names, &v.elems[0]), `}}`...)
	}
	if len(v.elems) == 0 {
		return append(dst, `{"optional":{}}`...)
	}
	dst = append(dst, `{"optional":{"value":`...)
	return append(appendProtobuf(dst, names, &v.elems[0]), `}}`...)
}

func appendProtobufElems(dst []byte, names *names, v *value, head, list, open, end string) []byte {
	dst = append(dst, head...)
	if len(v.elems) > 0 {
		dst = append(dst, list...)
		for i := range v.elems {
			dst = append(appendProtobuf(append(dst, open...), names, &v.elems[i]), end...)
			dst = append(dst, ',')
		}
		dst[len(dst)-1] = ']'
	}
	return append(dst, `}}`...)
}

func appendProtobufMap(dst []byte, names *names, v *value, head string) []byte {
	dst = append(dst, head...)
	if len(v.elems) > 0 {
		dst = append(dst, `"entries":[`...)
		for i := 0; i < len(v.elems); i += 2 {
			dst = append(dst, `{"key":`...)
			if v.kind == kindTextMap {
				dst = appendString(dst, v.elems[i].text)
			} else {
				dst = appendProtobuf(dst, names, &v.elems[i])
			}
			dst = appendProtobuf(append(dst, `,"value":`...), names, &v.elems[i+1])
			dst = append(dst, `},`...)
		}
		dst[len(dst)-1] = ']'
	}
	return append(dst, `}}`...)
}

// appendCompact appends v in the readable form: labels, no types.
func appendCompact(dst []byte, names *names, v *value) []byte {
	switch v.kind {
	case kindUnit:
		return append(dst, `{}`...)
	case kindBool:
		return appendBool(dst, v)
	case kindText:
		return appendString(dst, v.text)
	case kindRecord:
		return appendCompactRecord(dst, names, v)
	case kindVariant:
		dst = append(append(dst, `{"tag":"`...), v.text...)
		dst = append(dst, `","value":`...)
		return append(appendCompact(dst, names, &v.elems[0]), '}')
	case kindList:
		return appendCompactList(dst, names, v)
	case kindOptional:
		return appendCompactOptional(dst, names, v)
	case kindTextMap:
		return appendCompactTextMap(dst, names, v)
	case kindGenMap:
		return appendCompactGenMap(dst, names, v)
	}
	dst = append(dst, '"')
	switch v.kind {
	case kindInt64:
		dst = strconv.AppendInt(dst, v.num, 10)
	case kindNumeric:
		dst = decimal(v.num).appendTo(dst)
	case kindParty:
		dst = append(dst, names.name(party(v.num))...)
	case kindContractID:
		dst = names.ids.appendContractID(dst, uint64(v.num))
	case kindTimestamp:
		dst = schemas.AppendShortTime(dst, schemas.Micros(v.num))
	case kindDate:
		dst = time.Unix(v.num*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
	case kindEnum:
		dst = append(dst, v.text...)
	}
	return append(dst, '"')
}

func appendBool(dst []byte, v *value) []byte { return strconv.AppendBool(dst, v.num == 1) }

func appendCompactRecord(dst []byte, names *names, v *value) []byte {
	dst = append(dst, '{')
	for _, at := range v.shape.sorted {
		if at < len(v.elems) {
			dst = append(appendPlain(dst, v.shape.labels[at]), ':')
			dst = append(appendCompact(dst, names, &v.elems[at]), ',')
		}
	}
	return closing(dst, '}')
}

func appendCompactList(dst []byte, names *names, v *value) []byte {
	dst = append(dst, '[')
	for i := range v.elems {
		dst = append(appendCompact(dst, names, &v.elems[i]), ',')
	}
	return closing(dst, ']')
}

// appendCompactOptional writes none as null and some x as x. An optional within an
// optional is put in an array, so that some none ([]) and none (null) differ.
func appendCompactOptional(dst []byte, names *names, v *value) []byte {
	if len(v.elems) == 0 {
		return append(dst, `null`...)
	}
	inner := &v.elems[0]
	if inner.kind != kindOptional {
		return appendCompact(dst, names, inner)
	}
	dst = append(dst, '[')
	if len(inner.elems) > 0 {
		dst = appendCompactOptional(dst, names, inner)
	}
	return append(dst, ']')
}

func appendCompactTextMap(dst []byte, names *names, v *value) []byte {
	dst = append(dst, '{')
	for i := 0; i < len(v.elems); i += 2 {
		dst = append(appendString(dst, v.elems[i].text), ':')
		dst = append(appendCompact(dst, names, &v.elems[i+1]), ',')
	}
	return closing(dst, '}')
}

func appendCompactGenMap(dst []byte, names *names, v *value) []byte {
	dst = append(dst, '[')
	for i := 0; i < len(v.elems); i += 2 {
		dst = appendCompact(append(dst, '['), names, &v.elems[i])
		dst = appendCompact(append(dst, ','), names, &v.elems[i+1])
		dst = append(dst, `],`...)
	}
	return closing(dst, ']')
}

// closing ends a list or object: in place of the comma after its last element, if
// there is one.
func closing(dst []byte, end byte) []byte {
	if dst[len(dst)-1] == ',' {
		dst[len(dst)-1] = end
		return dst
	}
	return append(dst, end)
}
