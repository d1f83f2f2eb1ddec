package jsonscan

import "sync"

// AppendCanonical appends the canonical form of src, one JSON text, to dst. Errors wrap
// ErrSyntax, ErrUTF8, ErrDuplicateKey or ErrDepth; dst is then returned as it was given.
// A src that is canonical already is checked in one pass and copied.
func AppendCanonical(dst, src []byte) ([]byte, error) {
	if IsCanonical(src) {
		return append(dst, src...), nil
	}
	c := canonicalizers.Get().(*canonicalizer)
	defer canonicalizers.Put(c)
	return c.appendText(dst, src)
}

// IsCanonical tells whether src is one JSON text in canonical form.
func IsCanonical(src []byte) bool {
	return canonicalEnd(src, 0, 0) == len(src) && len(src) > 0
}

// canonicalEnd returns the end of the canonical value that starts at i, or -1 if the bytes
// there are anything else, be it malformed or only not canonical. depth is the number of
// arrays and objects around the value.
func canonicalEnd(src []byte, i, depth int) int {
	if i >= len(src) {
		return -1
	}
	switch src[i] {
	case '{':
		return canonicalObjectEnd(src, i+1, depth+1)
	case '[':
		return canonicalArrayEnd(src, i+1, depth+1)
	case '"':
		return canonicalStringEnd(src, i+1)
	case 't':
		return wordEnd(src, i, "true")
	case 'f':
		return wordEnd(src, i, "false")
	case 'n':
		return wordEnd(src, i, "null")
	}
	return numberEnd(src, i)
}

func wordEnd(src []byte, i int, word string) int {
	if !hasPrefixAt(src, i, word) {
		return -1
	}
	return i + len(word)
}

// canonicalObjectEnd is canonicalEnd for an object, just after its brace.
func canonicalObjectEnd(src []byte, i, depth int) int {
	if depth > MaxDepth || i >= len(src) {
		return -1
	}
	if src[i] == '}' {
		return i + 1
	}
	var last []byte
	for {
		if i >= len(src) || src[i] != '"' {
			return -1
		}
		end := canonicalStringEnd(src, i+1)
		if end < 0 || end >= len(src) || src[end] != ':' {
			return -1
		}
		key := src[i+1 : end-1]
		if last != nil && compareKeys(last, key) >= 0 {
			return -1
		}
		last = key
		if i = canonicalEnd(src, end+1, depth); i < 0 || i >= len(src) {
			return -1
		}
		switch src[i] {
		case '}':
			return i + 1
		case ',':
			i++
		default:
			return -1
		}
	}
}

// canonicalArrayEnd is canonicalEnd for an array, just after its bracket.
func canonicalArrayEnd(src []byte, i, depth int) int {
	if depth > MaxDepth || i >= len(src) {
		return -1
	}
	if src[i] == ']' {
		return i + 1
	}
	for {
		if i = canonicalEnd(src, i, depth); i < 0 || i >= len(src) {
			return -1
		}
		switch src[i] {
		case ']':
			return i + 1
		case ',':
			i++
		default:
			return -1
		}
	}
}

// canonicalStringEnd is canonicalEnd for a string, just after its opening quote.
func canonicalStringEnd(src []byte, i int) int {
	for {
		i = plainEnd(src, i)
		if i == len(src) {
			return -1
		}
		switch c := src[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			n := canonicalEscapeLen(src[i:])
			if n == 0 {
				return -1
			}
			i += n
		case c < 0x20:
			return -1
		default:
			if i = utf8End(src, i); i < 0 {
				return -1
			}
		}
	}
}

// Skip reads one value of any kind and checks it as AppendCanonical does.
func (s *Scanner) Skip() error {
	s.Peek()
	if end := canonicalEnd(s.src, s.pos, 0); end >= 0 {
		s.pos = end
		return nil
	}
	c := canonicalizers.Get().(*canonicalizer)
	defer canonicalizers.Put(c)
	c.sorter.Reset()
	c.scan.src, c.scan.pos = s.src, s.pos
	defer c.scan.Reset(nil)
	if _, err := c.appendValue(nil, 0); err != nil {
		return err
	}
	s.pos = c.scan.pos
	return nil
}

// canonicalizer rewrites texts; its buffers are kept from one text to the next.
type canonicalizer struct {
	scan   Scanner
	sorter Sorter
}

var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

func (c *canonicalizer) appendText(dst, src []byte) ([]byte, error) {
	c.scan.Reset(src)
	defer c.scan.Reset(nil) // the pool must not keep src alive
	c.sorter.Reset()
	out, err := c.appendValue(dst, 0)
	if err == nil {
		err = c.scan.End()
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

func (c *canonicalizer) appendValue(dst []byte, depth int) ([]byte, error) {
	switch c.scan.Peek() {
	case '{':
		return c.appendObject(dst, depth+1)
	case '[':
		return c.appendArray(dst, depth+1)
	case '"':
		text, err := c.scan.Text()
		if err != nil {
			return dst, err
		}
		return AppendString(dst, text), nil
	case 't':
		return append(dst, "true"...), c.scan.Literal("true")
	case 'f':
		return append(dst, "false"...), c.scan.Literal("false")
	case 'n':
		return append(dst, "null"...), c.scan.Literal("null")
	}
	number, err := c.scan.Number()
	return append(dst, number...), err
}

func (c *canonicalizer) appendObject(dst []byte, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return dst, errorAt(ErrDepth, c.scan.Offset())
	}
	if err := c.scan.Open('{'); err != nil {
		return dst, err
	}
	mark := c.sorter.Begin()
	dst = append(dst, '{')
	for more := c.scan.First('}'); more; {
		key, err := c.scan.Key()
		if err != nil {
			return dst, err
		}
		var m Member
		dst, m = c.sorter.Key(dst, key)
		if dst, err = c.appendValue(dst, depth); err != nil {
			return dst, err
		}
		c.sorter.Add(m, dst)
		if more, err = c.scan.More('}'); err != nil {
			return dst, err
		}
	}
	return c.sorter.End(append(dst, '}'), mark)
}

func (c *canonicalizer) appendArray(dst []byte, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return dst, errorAt(ErrDepth, c.scan.Offset())
	}
	if err := c.scan.Open('['); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	sep := len(dst)
	for more := c.scan.First(']'); more; {
		if len(dst) > sep {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = c.appendValue(dst, depth); err != nil {
			return dst, err
		}
		if more, err = c.scan.More(']'); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// Valid tells whether src is one JSON text that AppendCanonical accepts, and if not, why.
func Valid(src []byte) error {
	if IsCanonical(src) {
		return nil
	}
	_, err := AppendCanonical(nil, src)
	return err
}
