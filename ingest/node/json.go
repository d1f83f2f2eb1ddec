package node

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// jsonReader reads JSON texts value by value. Strings that it returns refer to the text, or
// to byteSlab if they have escapes. It is not safe for concurrent use.
type jsonReader struct {
	// notice is called with members that have no field in schemas.Update.
	notice func(where, member string)

	scan     jsonscan.Scanner
	src      []byte // what scan reads
	sorter   jsonscan.Sorter
	keys     [][]byte // of all open objects, innermost last
	byteSlab slab[byte]
}

func newJSONReader(notice func(where, member string)) *jsonReader {
	return &jsonReader{notice: notice, byteSlab: slab[byte]{size: 32 << 10}}
}

// text reads one JSON text, an object, from its first to its last byte.
func (r *jsonReader) text(body []byte, member func(key []byte) error) error {
	r.src, r.keys = body, r.keys[:0]
	r.scan.Reset(body)
	r.sorter.Reset()
	if err := r.object("a frame", member); err != nil {
		return err
	}
	return r.scan.End()
}

var errDuplicate = errors.New("a member appears twice")

// object reads an object; member must read the value of each. The key it gets is good
// until it reads on.
func (r *jsonReader) object(what string, member func(key []byte) error) error {
	if err := r.scan.Open('{'); err != nil {
		return fmt.Errorf("%s is not an object: %w", what, err)
	}
	mark := len(r.keys)
	defer func() { r.keys = r.keys[:mark] }()
	for more := r.scan.First('}'); more; {
		r.scan.Peek()
		start := r.scan.Offset()
		key, err := r.scan.Key()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if !r.aliases(key, start) {
			key = bytes.Clone(key)
		}
		for _, other := range r.keys[mark:] {
			if len(other) == len(key) && string(other) == string(key) {
				return fmt.Errorf("%s: %w: %q", what, errDuplicate, key)
			}
		}
		r.keys = append(r.keys, key)
		if err := member(key); err != nil {
			return err
		}
		if more, err = r.scan.More('}'); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// aliases reports whether text, a string whose quote is at offset start, lies in the
// source and not in the scanner's buffer, as those with escapes do.
func (r *jsonReader) aliases(text []byte, start int) bool {
	return len(text) == 0 || unsafe.SliceData(text) == &r.src[start+1]
}

// oneOf reads an object with exactly one member, whose key says what it is.
func (r *jsonReader) oneOf(what string, read func(key []byte) error) error {
	count := 0
	err := r.object(what, func(key []byte) error {
		if count++; count > 1 {
			return fmt.Errorf("%s has two kinds, the second is %q", what, key)
		}
		return read(key)
	})
	if err == nil && count == 0 {
		return fmt.Errorf("%s has no kind", what)
	}
	return err
}

// wrapped reads {"value": {...}}.
func (r *jsonReader) wrapped(member func(key []byte) error) error {
	found := false
	err := r.object("an update", func(key []byte) error {
		if string(key) != "value" {
			return r.unknown("an update", key)
		}
		found = true
		return r.object("value", member)
	})
	if err == nil && !found {
		return errors.New("an update has no value")
	}
	return err
}

// list reads an array, or null, which means an empty one.
func (r *jsonReader) list(what string, element func() error) error {
	if r.null() {
		return nil
	}
	if err := r.scan.Open('['); err != nil {
		return fmt.Errorf("%s is not a list: %w", what, err)
	}
	for more := r.scan.First(']'); more; {
		if err := element(); err != nil {
			return err
		}
		var err error
		if more, err = r.scan.More(']'); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// null reads null, if that is what comes.
func (r *jsonReader) null() bool {
	return r.scan.Peek() == 'n' && r.scan.Literal("null") == nil
}

// skip reads a value of any kind and checks it.
func (r *jsonReader) skip() error {
	_, err := r.canonical("a member")
	return err
}

// unknown reads the value of a member that has no field, and reports it to notice.
func (r *jsonReader) unknown(where string, key []byte) error {
	name := string(key)
	if r.null() {
		return nil
	}
	r.notice(where, name)
	return r.skip()
}

// string reads a string; null means an empty one.
func (r *jsonReader) string(what string) (string, error) {
	if r.null() {
		return "", nil
	}
	start := r.scan.Offset()
	text, err := r.scan.Text()
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if !r.aliases(text, start) {
		text = r.byteSlab.copyOf(text)
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

// int64 reads a whole number that fits.
func (r *jsonReader) int64(what string) (int64, error) {
	text, err := r.scan.Number()
	if err != nil {
		return 0, fmt.Errorf("%s is not a number: %w", what, err)
	}
	n, err := strconv.ParseInt(unsafe.String(unsafe.SliceData(text), len(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40s is not a 64-bit integer", what, text)
	}
	return n, nil
}

// positive reads an offset.
func (r *jsonReader) positive(what string) (int64, error) {
	n, err := r.int64(what)
	if err == nil && n <= 0 {
		return 0, fmt.Errorf("%s is %d, which is not positive", what, n)
	}
	return n, err
}

// node reads a node number.
func (r *jsonReader) node(what string) (int32, error) {
	n, err := r.int64(what)
	if err == nil && (n < 0 || n > math.MaxInt32) {
		return 0, fmt.Errorf("%s is %d, which is not between 0 and 2^31", what, n)
	}
	return int32(n), err
}

func (r *jsonReader) bool(what string) (bool, error) {
	switch r.scan.Peek() {
	case 't':
		return true, r.scan.Literal("true")
	case 'f':
		return false, r.scan.Literal("false")
	}
	return false, fmt.Errorf("%s is neither true nor false", what)
}

// time reads an instant that the store can hold.
func (r *jsonReader) time(what string) (schemas.Micros, error) {
	text, err := r.string(what)
	if err != nil {
		return 0, err
	}
	m, err := schemas.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	const from, to = -2208988800 * 1e6, 9214646400 * 1e6 // 1900-01-01 and 2262-01-01
	if m < from || m >= to {
		return 0, fmt.Errorf("%s: %q is outside 1900 to 2262", what, text)
	}
	return m, nil
}

// canonical reads a value of any kind and returns it in canonical form. It checks
// UTF-8, duplicate keys and depth.
func (r *jsonReader) canonical(what string) ([]byte, error) {
	raw, err := r.raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if jsonscan.IsCanonical(raw) {
		return raw, nil
	}
	// Canonical form is never longer than another.
	room := r.byteSlab.room(len(raw))
	out, err := jsonscan.AppendCanonical(room, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	r.byteSlab.use(out)
	return out, nil
}

// raw reads a value of any kind and returns it unchanged. That it ends where its
// brackets do is all that is checked.
func (r *jsonReader) raw() ([]byte, error) {
	r.scan.Peek()
	start := r.scan.Offset()
	end := valueEnd(r.src, start)
	if end < 0 {
		return nil, fmt.Errorf("%w at byte %d", jsonscan.ErrSyntax, start)
	}
	raw := r.src[start:end]
	r.src = r.src[end:]
	r.scan.Reset(r.src)
	return raw, nil
}

func (r *jsonReader) cost(key string) (int64, error) {
	n, err := r.int64(key)
	if err == nil && n < 0 {
		return 0, fmt.Errorf("%s is %d, which is negative", key, n)
	}
	return n, err
}

// hash reads base64 and returns hex, which is how public history writes hashes.
func (r *jsonReader) hash(key string) (string, error) {
	text, err := r.string(key)
	if err != nil || text == "" {
		return "", err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		if raw, err = base64.RawStdEncoding.DecodeString(text); err != nil {
			return "", fmt.Errorf("%s is not base64: %w", key, err)
		}
	}
	return hex.EncodeToString(raw), nil
}

// elements reads a JSON array and passes its elements on unchanged: null means none. An
// answer that is one of the node's own errors becomes an *Error.
func (r *jsonReader) elements(body []byte, take func(element []byte) error) error {
	r.src, r.keys = body, r.keys[:0]
	r.scan.Reset(body)
	if r.scan.Peek() != '[' {
		if own := ownErrorOf(body); own != nil {
			return own
		}
		return fmt.Errorf("%w: the answer is not a list", schemas.ErrMalformed)
	}
	var failed error
	err := r.list("the answer", func() error {
		element, err := r.raw()
		if err != nil {
			return err
		}
		failed = take(element)
		return failed
	})
	if failed != nil {
		return failed
	}
	if err == nil {
		err = r.scan.End()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", schemas.ErrMalformed, err)
	}
	return nil
}

// eachPage calls take for the elements of the list in a member of each page. post asks for the page
// with a token, "" for the first one.
func (r *jsonReader) eachPage(member string, post func(token string) ([]byte, error), take func(element []byte) error) error {
	for token := ""; ; {
		body, err := post(token)
		if err != nil {
			return err
		}
		next := ""
		switch err := r.page(body, member, &next, take); {
		case err != nil || next == "":
			return err
		case next == token:
			return fmt.Errorf("%w: a page names itself as the next page", schemas.ErrMalformed)
		}
		token = strings.Clone(next)
	}
}

// page reads a page and passes the elements of its list, the member, on unchanged.
// nextToken is left as it is on the last page.
func (r *jsonReader) page(body []byte, member string, nextToken *string, take func(element []byte) error) error {
	var failed error
	found := false
	err := r.text(body, func(key []byte) (err error) {
		switch string(key) {
		case member:
			if found = true; r.scan.Peek() != '[' {
				return fmt.Errorf("%s is not a list", member)
			}
			return r.list(member, func() error {
				element, err := r.raw()
				if err == nil {
					failed = take(element)
					err = failed
				}
				return err
			})
		case "nextPageToken":
			*nextToken, err = r.string("nextPageToken")
			return err
		}
		return r.skip() // activeAtOffset repeats what was asked for
	})
	if !found {
		if own := ownErrorOf(body); own != nil {
			return own
		}
		err = cmp.Or(err, fmt.Errorf("a page has no %s", member))
	}
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return fmt.Errorf("%w: %w", schemas.ErrMalformed, err)
	}
	return nil
}

// valueEnd returns the end of the JSON value that starts at i, or -1 if there is no end.
// It looks at brackets and quotes only: whether what lies between is JSON is checked by
// its reader.
func valueEnd(src []byte, i int) int {
	if i >= len(src) {
		return -1
	}
	switch src[i] {
	case '{', '[':
		return nestedEnd(src, i)
	case '"':
		return stringEnd(src, i+1)
	}
	start := i
	for i < len(src) {
		switch src[i] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			if i == start {
				return -1
			}
			return i
		}
		i++
	}
	return i
}

// nestedEnd is valueEnd for an array or object.
func nestedEnd(src []byte, i int) int {
	depth := 0
	for i < len(src) {
		switch src[i] {
		case '"':
			if i = stringEnd(src, i+1); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// stringEnd returns what follows the closing quote of the string whose content starts at i.
func stringEnd(src []byte, i int) int {
	for {
		n := bytes.IndexByte(src[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		back := i
		for src[back-1] == '\\' { // stops at the opening quote at the latest
			back--
		}
		if i++; (i-1-back)%2 == 0 {
			return i
		}
	}
}
