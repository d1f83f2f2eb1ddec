package packages

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// part is a field of a message: a number, or the content of a string, bytes or message.
type part struct {
	num protowire.Number
	n   uint64
	b   []byte
}

var errTruncated = errors.New("it is cut off or damaged")

// walk visits the fields of a message in their order.
func walk(message []byte, visit func(part) error) error {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errTruncated
		}
		message = message[n:]
		p := part{num: num}
		switch kind {
		case protowire.VarintType:
			p.n, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			p.b, n = protowire.ConsumeBytes(message)
		default: // no field that is read has another
			n = protowire.ConsumeFieldValue(num, kind, message)
		}
		if n < 0 {
			return errTruncated
		}
		message = message[n:]
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns the numbers of a repeated field, which is packed or a number alone.
func (p part) numbers(dst []uint64) ([]uint64, error) {
	if p.b == nil {
		return append(dst, p.n), nil
	}
	for rest := p.b; len(rest) > 0; {
		v, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return nil, errTruncated
		}
		dst, rest = append(dst, v), rest[n:]
	}
	return dst, nil
}

// within says where an error is.
func within(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
