package jsonscan

import "unsafe"

// Cursor reads one JSON text in canonical form, and notices if it is in another one. What
// it returns refers to the text. After the first thing that it did not expect it has
// failed: it reads nothing more, and callers need to look at Failed only at the end.
//
// A Cursor is copied freely as long as only one of the copies is used.
type Cursor struct {
	src    []byte
	pos    int
	depth  int
	failed bool
}

// NewCursor returns a cursor at the start of src, which must not change any more.
func NewCursor(src []byte) Cursor { return Cursor{src: src} }

// Failed tells whether anything was not as expected.
func (c *Cursor) Failed() bool { return c.failed }

// Offset is where the cursor stands, or where it failed.
func (c *Cursor) Offset() int { return c.pos }

// End expects the end of the text.
func (c *Cursor) End() {
	if c.pos != len(c.src) {
		c.failed = true
	}
}

// next is the next byte, 0 at the end and after a failure.
func (c *Cursor) next() byte {
	if c.failed || c.pos >= len(c.src) {
		return 0
	}
	return c.src[c.pos]
}

// Fail notes that the caller does not accept what it was given.
func (c *Cursor) Fail() { c.failed = true }

// Null reads null, if that comes next.
func (c *Cursor) Null() bool {
	if c.next() != 'n' {
		return false
	}
	c.word("null")
	return !c.failed
}

// Bool reads true or false.
func (c *Cursor) Bool() bool {
	if c.next() == 't' {
		c.word("true")
		return !c.failed
	}
	c.word("false")
	return false
}

func (c *Cursor) word(word string) {
	if c.failed || !hasPrefixAt(c.src, c.pos, word) {
		c.failed = true
		return
	}
	c.pos += len(word)
}

// Int reads a number without fraction and exponent.
func (c *Cursor) Int() int64 {
	i, negative := c.pos, false
	if c.next() == '-' {
		negative = true
		i++
	}
	start, n := i, uint64(0)
	const digits = 19 // of the largest int64; as many do not overflow uint64
	for ; i < len(c.src) && i-start <= digits && c.src[i]-'0' <= 9; i++ {
		n = n*10 + uint64(c.src[i]-'0')
	}
	limit := uint64(1<<63 - 1)
	if negative {
		limit++
	}
	badZero := i > start && c.src[start] == '0' && (i > start+1 || negative)
	if c.failed || i == start || i-start > digits || n > limit || badZero {
		c.failed = true
		return 0
	}
	c.pos = i
	if negative {
		return int64(-n)
	}
	return int64(n)
}

// Text reads a string and returns what it stands for. It is copied only if it has escapes.
func (c *Cursor) Text() string {
	if c.next() != '"' {
		c.failed = true
		return ""
	}
	start := c.pos + 1
	end := plainEnd(c.src, start)
	if end < len(c.src) && c.src[end] == '"' {
		c.pos = end + 1
		return refer(c.src[start:end])
	}
	if end = canonicalStringEnd(c.src, start); end < 0 {
		c.failed = true
		return ""
	}
	text, ok := appendUnescaped(nil, c.src[start:end-1])
	if !ok {
		c.failed = true
		return ""
	}
	c.pos = end
	return refer(text)
}

// refer returns bytes that do not change any more as a string.
func refer(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Raw reads a value of any kind and returns it as it stands.
func (c *Cursor) Raw() []byte {
	if c.failed {
		return nil
	}
	end := canonicalEnd(c.src, c.pos, c.depth)
	if end < 0 {
		c.failed = true
		return nil
	}
	raw := c.src[c.pos:end:end]
	c.pos = end
	return raw
}

// List goes through the elements of an array:
//
//	for l := c.List(); l.Next(); {
//		... read one element from c ...
//	}
type List struct {
	c     *Cursor
	begun bool
}

// List begins to read an array.
func (c *Cursor) List() List {
	c.open('[')
	return List{c: c}
}

// Next tells whether there is another element, and at the end reads the bracket.
func (l *List) Next() bool {
	more := l.c.more(']', l.begun)
	l.begun = true
	return more
}

// Members goes through the members of an object, whose keys are ascending:
//
//	for m := c.Members(); m.Next(); {
//		switch m.Key() { ... read the value from c ... }
//	}
type Members struct {
	c    *Cursor
	key  []byte // as it stands
	text string
}

// Members begins to read an object.
func (c *Cursor) Members() Members {
	c.open('{')
	return Members{c: c}
}

// Key is the key of the current member.
func (m *Members) Key() string { return m.text }

// Next reads the next key, and at the end the brace.
func (m *Members) Next() bool {
	c := m.c
	if !c.more('}', m.key != nil) {
		return false
	}
	start := c.pos + 1
	m.text = c.Text()
	if c.next() != ':' {
		c.failed = true
		return false
	}
	key := c.src[start : c.pos-1]
	if m.key != nil && compareKeys(m.key, key) >= 0 {
		c.failed = true
		return false
	}
	m.key = key
	c.pos++
	return true
}

func (c *Cursor) open(bracket byte) {
	if c.depth++; c.next() != bracket || c.depth > MaxDepth {
		c.failed = true
		return
	}
	c.pos++
}

// more reads the comma before another element, if one was before, or the closing bracket.
func (c *Cursor) more(bracket byte, begun bool) bool {
	switch b := c.next(); {
	case b == bracket:
		c.pos++
		c.depth--
		return false
	case !begun:
		return !c.failed
	case b == ',':
		c.pos++
		return true
	}
	c.failed = true
	return false
}
