package query

import (
	"bytes"
	"errors"
	"strconv"
)

// headCheck looks at the bytes of a connection as they come in, and refuses heads of requests
// that two programs can read differently: what one of them takes for the body of a request is to
// the other one a request of its own (RFC 9112, 11.2). The HTTP server below is lenient there.
// It follows the requests of a connection by their lengths. A chunked body has none: the
// server closes the connection behind such a request, and nothing after its head is looked at.
type headCheck struct {
	state headState
	// body is how many bytes of a body are still to come.
	body int64
	// split is the beginning of a line of which the rest is still to come.
	split []byte
	head
}

type headState uint8

const (
	atRequestLine headState = iota
	inFields
	inBody
	unchecked
)

// head is what is known of a head so far.
type head struct {
	old               bool // HTTP/1.0
	chunked           bool
	hasHost, hasToken bool
	hasLength         bool
	length            int64
}

// longestHeadLine bounds what is kept of a line; the server takes no head as long as that.
const longestHeadLine = 16 << 10

// malformedHead is the reason why a head is refused, for the client.
type malformedHead string

// Error gives the reason.
func (m malformedHead) Error() string { return string(m) }

// look checks the next bytes of the connection. It returns how many of them the server may
// see, and a malformedHead if those are not all. A line that is refused is without its end, so
// that the server takes it for one that is cut off, and answers.
func (h *headCheck) look(p []byte) (n int, err error) {
	for n < len(p) && h.state != unchecked {
		if h.state == inBody {
			n += h.skip(len(p) - n)
			continue
		}
		end := bytes.IndexByte(p[n:], '\n')
		if end < 0 {
			if len(h.split)+len(p)-n > longestHeadLine {
				h.state = unchecked // the server refuses it as too large
				break
			}
			h.split = append(h.split, p[n:]...)
			break
		}
		line := p[n : n+end]
		if len(h.split) > 0 {
			h.split = append(h.split, line...)
			line = h.split
		}
		err := h.line(line)
		h.split = h.split[:0]
		if err != nil {
			h.state = unchecked
			return n + end, err
		}
		n += end + 1
	}
	return len(p), nil
}

// skip passes over a body.
func (h *headCheck) skip(n int) int {
	n = int(min(int64(n), h.body))
	if h.body -= int64(n); h.body == 0 {
		h.state = atRequestLine
	}
	return n
}

// line checks a line, which is without its line feed.
func (h *headCheck) line(line []byte) error {
	if len(line) == 0 || line[len(line)-1] != '\r' {
		return malformedHead("a line of the head ends without a carriage return")
	}
	line = line[:len(line)-1]
	if h.state == inFields {
		if len(line) == 0 {
			return h.end()
		}
		return h.field(line)
	}
	if len(line) == 0 {
		return nil // some clients end a body with an empty line
	}
	h.state, h.head = inFields, head{}
	switch {
	case bytes.HasSuffix(line, []byte(" HTTP/1.1")):
	case bytes.HasSuffix(line, []byte(" HTTP/1.0")):
		h.old = true
	default:
		return malformedHead("the request line does not end in HTTP/1.1 or HTTP/1.0")
	}
	return nil
}

// field checks a header field and takes note of those that say where the request ends, and of
// those of which there must not be two.
func (h *headCheck) field(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !isToken(line[:colon]) {
		return malformedHead("a header has a malformed name, or is folded")
	}
	name, value := line[:colon], line[colon+1:]
	switch len(name) {
	case len("host"):
		if isField(name, "host") {
			return once(&h.hasHost, "Host")
		}
	case len("authorization"):
		if isField(name, "authorization") {
			return once(&h.hasToken, "Authorization")
		}
	case len("content-length"):
		if isField(name, "content-length") {
			return h.takeLength(bytes.Trim(value, " \t"))
		}
	case len("transfer-encoding"):
		if isField(name, "transfer-encoding") {
			return h.takeCoding(bytes.Trim(value, " \t"))
		}
	}
	return nil
}

// once refuses a second header of a name.
func once(seen *bool, name string) error {
	if *seen {
		return malformedHead("there are two headers " + name)
	}
	*seen = true
	return nil
}

func (h *headCheck) takeLength(value []byte) error {
	if err := once(&h.hasLength, "Content-Length"); err != nil {
		return err
	}
	if h.chunked {
		return errTwoLengths
	}
	length, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil {
		return malformedHead("the header Content-Length is not a number")
	}
	h.length = int64(length)
	return nil
}

const errTwoLengths = malformedHead("there are headers Transfer-Encoding and Content-Length")

func (h *headCheck) takeCoding(value []byte) error {
	switch {
	case h.hasLength:
		return errTwoLengths
	case h.old || !bytes.EqualFold(value, []byte("chunked")):
		return malformedHead("the only Transfer-Encoding is chunked, in HTTP/1.1")
	}
	return once(&h.chunked, "Transfer-Encoding")
}

// end is at the empty line behind a head.
func (h *headCheck) end() error {
	if !h.hasHost && !h.old {
		return malformedHead("there is no header Host")
	}
	switch {
	case h.chunked:
		h.state = unchecked
	case h.length > 0:
		h.state, h.body = inBody, h.length
	default:
		h.state = atRequestLine
	}
	return nil
}

// isField compares a header's name with one in lower case of the same length.
func isField(name []byte, lower string) bool {
	for i, c := range name {
		if c|0x20 != lower[i] && c != lower[i] {
			return false
		}
	}
	return true
}

// tokenBytes are those that a header's name may have (RFC 9110, 5.6.2).
var tokenBytes = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

func isToken(name []byte) bool {
	for _, c := range name {
		if !tokenBytes[c] {
			return false
		}
	}
	return true
}

// reasonOf is what a client is told of a request that could not be read.
func reasonOf(err error) string {
	var m malformedHead
	if errors.As(err, &m) {
		return "The request is not well-formed HTTP: " + string(m) + "."
	}
	return "The request is not well-formed HTTP."
}
