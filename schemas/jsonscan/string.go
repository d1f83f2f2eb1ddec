package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns a word whose lowest set bit lies in the first byte of x that a string
// scan must look at: a quote, a backslash, a control character or a byte of 0x80 and up.
// It is 0 when all 8 bytes are plain. Bits above the lowest one mean nothing, because the
// subtractions borrow upwards.
func special(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	hit := (quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x | x
	return hit & highs
}

// plainEnd returns the index of the first byte at or after i that is not a plain string
// byte, or len(src).
func plainEnd(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		if hit := special(binary.LittleEndian.Uint64(src[i:])); hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(src); i++ {
		if c := src[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// utf8End returns the end of the run of multi-byte characters that starts at i, or -1 if
// the run is not UTF-8.
func utf8End(src []byte, i int) int {
	for i < len(src) && src[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return -1
		}
		i += n
	}
	return i
}

// scanString reads the string whose first content byte is at i, just after the quote. It
// returns the index of the closing quote and whether the content has escapes.
func scanString(src []byte, i int) (end int, escaped bool, err error) {
	for {
		i = plainEnd(src, i)
		if i == len(src) {
			return i, escaped, errorAt(ErrSyntax, i)
		}
		switch c := src[i]; {
		case c == '"':
			return i, escaped, nil
		case c == '\\':
			n := escapeLen(src[i:])
			if n == 0 {
				return i, escaped, errorAt(ErrSyntax, i)
			}
			i, escaped = i+n, true
		case c < 0x20:
			return i, escaped, errorAt(ErrSyntax, i)
		default:
			next := utf8End(src, i)
			if next < 0 {
				return i, escaped, errorAt(ErrUTF8, i)
			}
			i = next
		}
	}
}

// escapeLen returns the length of the escape at the start of s, 0 if it is malformed. It
// does not look at surrogates: unescape does.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads four hex digits of either case.
func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range s[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends the text that raw, the well-formed content of a JSON string,
// stands for. It returns false if raw has a lone surrogate.
func appendUnescaped(dst, raw []byte) ([]byte, bool) {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...), true
		}
		dst = append(dst, raw[:i]...)
		raw = raw[i:]
		if raw[1] != 'u' {
			dst = append(dst, shortEscape(raw[1]))
			raw = raw[2:]
			continue
		}
		r, n := unicodeEscape(raw)
		if n == 0 {
			return dst, false
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[n:]
	}
}

// shortEscape returns the byte that a backslash and c stand for.
func shortEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unicodeEscape reads the well-formed \uXXXX at the start of s, with the second half of a
// surrogate pair. It returns the character and the bytes read, 0 for a lone surrogate.
func unicodeEscape(s []byte) (rune, int) {
	r, _ := hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) < 12 || s[6] != '\\' || s[7] != 'u' {
		return 0, 0
	}
	low, _ := hex4(s[8:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// AppendString appends text as a canonical JSON string, with quotes. text must be UTF-8.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, text)
	return append(dst, '"')
}

// appendEscaped appends text as the content of a canonical JSON string.
func appendEscaped(dst, text []byte) []byte {
	start := 0
	for i := plainEnd(text, 0); i < len(text); i = plainEnd(text, i) {
		c := text[i]
		i++
		if c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, text[start:i-1]...)
		dst = appendEscape(dst, c)
		start = i
	}
	return append(dst, text[start:]...)
}

// appendEscape appends the canonical escape of a quote, backslash or control character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// canonicalEscapeLen returns the length of the escape at the start of s if it is one that
// canonical form uses, else 0.
func canonicalEscapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		return canonicalControlLen(s)
	}
	return 0
}

// canonicalControlLen is canonicalEscapeLen for \u00xx: a control character without a
// short form, in lower-case hex.
func canonicalControlLen(s []byte) int {
	r, ok := hex4(s[2:])
	if !ok || r >= 0x20 {
		return 0
	}
	var want [6]byte
	if !bytes.Equal(appendEscape(want[:0], byte(r)), s[:6]) {
		return 0
	}
	return 6
}
