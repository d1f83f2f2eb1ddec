package jsonscan

import (
	"bytes"
	"slices"
)

// Sorter puts the members of objects that are being appended to a buffer into canonical
// order. Members are appended in any order, and moved when the object is complete, so
// values are never held anywhere else. One Sorter serves all nested objects of a text;
// after an error call Reset. The zero value is ready.
//
//	mark := so.Begin()
//	dst = append(dst, '{')
//	for ... {
//		var m Member
//		dst, m = so.Key(dst, key) // comma, key, colon
//		dst = append(dst, value...)
//		so.Add(m, dst)
//	}
//	dst, err = so.End(append(dst, '}'), mark)
type Sorter struct {
	members []Member // of all open objects, innermost last
	moved   []byte
}

// Member is where one "key":value lies in the buffer.
type Member struct{ start, keyEnd, end int }

// key is the escaped key without its quotes.
func (m Member) key(buf []byte) []byte { return buf[m.start+1 : m.keyEnd-1] }

// Reset forgets all open objects.
func (so *Sorter) Reset() { so.members = so.members[:0] }

// Begin opens an object and returns the mark to end it with.
func (so *Sorter) Begin() int { return len(so.members) }

// Key appends the next key, which must be UTF-8, with the comma before and the colon
// after it. dst must end with the object's opening brace or with a complete member.
func (so *Sorter) Key(dst, key []byte) ([]byte, Member) {
	dst = appendComma(dst)
	m := Member{start: len(dst)}
	dst = AppendString(dst, key)
	m.keyEnd = len(dst)
	return append(dst, ':'), m
}

// QuotedKey is Key for a key that is a canonical JSON string already, with its quotes.
func (so *Sorter) QuotedKey(dst, quoted []byte) ([]byte, Member) {
	dst = appendComma(dst)
	m := Member{start: len(dst)}
	dst = append(dst, quoted...)
	m.keyEnd = len(dst)
	return append(dst, ':'), m
}

func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// Add tells that m's value, which ends with dst, is complete.
func (so *Sorter) Add(m Member, dst []byte) {
	m.end = len(dst)
	so.members = append(so.members, m)
}

// End sorts the members added since mark. dst must end with the object's closing brace.
// It returns ErrDuplicateKey if two keys are equal.
func (so *Sorter) End(dst []byte, mark int) ([]byte, error) {
	members := so.members[mark:]
	so.members = so.members[:mark]
	if isSorted(dst, members) {
		return dst, nil
	}
	first, last := members[0].start, members[len(members)-1].end
	slices.SortFunc(members, func(a, b Member) int { return compareKeys(a.key(dst), b.key(dst)) })
	for i := 1; i < len(members); i++ {
		if bytes.Equal(members[i-1].key(dst), members[i].key(dst)) {
			return dst, errorAt(ErrDuplicateKey, members[i].start)
		}
	}
	so.moved = append(so.moved[:0], dst[first:last]...)
	out := dst[:first]
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, so.moved[m.start-first:m.end-first]...)
	}
	return dst, nil // out has overwritten the same bytes in place
}

// isSorted tells whether the keys ascend strictly.
func isSorted(buf []byte, members []Member) bool {
	for i := 1; i < len(members); i++ {
		if compareKeys(members[i-1].key(buf), members[i].key(buf)) >= 0 {
			return false
		}
	}
	return true
}

// compareKeys orders two escaped keys by what they stand for.
func compareKeys(a, b []byte) int {
	if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
		return bytes.Compare(a, b)
	}
	a, _ = appendUnescaped(nil, a)
	b, _ = appendUnescaped(nil, b)
	return bytes.Compare(a, b)
}
