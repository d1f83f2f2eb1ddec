package node

import "bytes"

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
