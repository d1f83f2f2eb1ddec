package nodeapi

import (
	"encoding/binary"
	"errors"
)

// lengthDelimited is the wire type of texts and messages in protobuf, the only one used here.
const lengthDelimited = 2

// appendField appends a text or a message as a field of a protobuf message.
func appendField[T string | []byte](dst []byte, field uint64, content T) []byte {
	dst = binary.AppendUvarint(dst, field<<3|lengthDelimited)
	return append(binary.AppendUvarint(dst, uint64(len(content))), content...)
}

var errNoMessage = errors.New("it is not a message of this node")

// takeField reads the first field of a message, which must have a certain number.
func takeField(b []byte, field uint64) (content, rest []byte, err error) {
	tag, size := binary.Uvarint(b)
	if size <= 0 || tag != field<<3|lengthDelimited {
		return nil, nil, errNoMessage
	}
	b = b[size:]
	length, size := binary.Uvarint(b)
	if size <= 0 || length > uint64(len(b)-size) {
		return nil, nil, errNoMessage
	}
	b = b[size:]
	return b[:length], b[length:], nil
}
