package jsonscan

// Scanner reads one JSON text token by token. The zero value reads nothing: call Reset.
// It skips white space before every token. It is not safe for concurrent use.
//
// An object is read like this; an array likewise without Key:
//
//	err := s.Open('{')
//	for more := s.First('}'); more; more, err = s.More('}') { key, err := s.Key(); ... }
type Scanner struct {
	src  []byte
	pos  int
	text []byte // decoded form of the last string that had escapes
}

// Reset makes s read src from its start. s keeps src, and strings alias it.
func (s *Scanner) Reset(src []byte) {
	s.src, s.pos = src, 0
}

// Offset is the index of the next byte to read.
func (s *Scanner) Offset() int { return s.pos }

// Slice is the text from an offset up to the next byte to read. It aliases what is read.
func (s *Scanner) Slice(from int) []byte { return s.src[from:s.pos] }

// HasAt tells whether text stands at the given offset.
func (s *Scanner) HasAt(offset int, text string) bool { return hasPrefixAt(s.src, offset, text) }

// Peek skips white space and returns the first byte of the next token, 0 at the end. That
// byte tells what follows: { [ " - digit t f n.
func (s *Scanner) Peek() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// Open reads one { or [, whichever is asked for.
func (s *Scanner) Open(bracket byte) error {
	if s.Peek() != bracket {
		return s.syntax()
	}
	s.pos++
	return nil
}

// First tells, just after Open, whether the array or object has a member. If not, it
// reads the closing bracket.
func (s *Scanner) First(bracket byte) bool {
	if s.Peek() != bracket {
		return true
	}
	s.pos++
	return false
}

// More reads what follows a member: a comma (true) or the closing bracket (false).
func (s *Scanner) More(bracket byte) (bool, error) {
	switch s.Peek() {
	case ',':
		s.pos++
		return true, nil
	case bracket:
		s.pos++
		return false, nil
	}
	return false, s.syntax()
}

// Key reads an object key and its colon. The result follows the rules of Text.
func (s *Scanner) Key() ([]byte, error) {
	key, err := s.Text()
	if err != nil {
		return nil, err
	}
	if s.Peek() != ':' {
		return nil, s.syntax()
	}
	s.pos++
	return key, nil
}

// Text reads a string and returns what it stands for, in valid UTF-8. The bytes must not
// be changed; they are good until the next call of Text or Key.
func (s *Scanner) Text() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.syntax()
	}
	start := s.pos + 1
	end, escaped, err := scanString(s.src, start)
	if err != nil {
		return nil, err
	}
	s.pos = end + 1
	raw := s.src[start:end]
	if !escaped {
		return raw, nil
	}
	text, ok := appendUnescaped(s.text[:0], raw)
	s.text = text
	if !ok {
		return nil, errorAt(ErrUTF8, start)
	}
	return text, nil
}

// Number reads a number and returns it as written.
func (s *Scanner) Number() ([]byte, error) {
	s.Peek()
	end := numberEnd(s.src, s.pos)
	if end < 0 {
		return nil, s.syntax()
	}
	number := s.src[s.pos:end]
	s.pos = end
	return number, nil
}

// Accept reads text if that is what comes next byte for byte, without white space, and
// tells whether it was.
func (s *Scanner) Accept(text string) bool {
	if !hasPrefixAt(s.src, s.pos, text) {
		return false
	}
	s.pos += len(text)
	return true
}

// Literal reads the given word, one of true, false and null.
func (s *Scanner) Literal(word string) error {
	s.Peek()
	if !hasPrefixAt(s.src, s.pos, word) {
		return s.syntax()
	}
	s.pos += len(word)
	return nil
}

// End checks that nothing but white space is left.
func (s *Scanner) End() error {
	if s.Peek(); s.pos != len(s.src) {
		return s.syntax()
	}
	return nil
}

func (s *Scanner) syntax() error { return errorAt(ErrSyntax, s.pos) }

func hasPrefixAt(src []byte, i int, word string) bool {
	return len(src)-i >= len(word) && string(src[i:i+len(word)]) == word
}

// numberEnd returns the end of the number that starts at i, or -1 if there is none:
// an optional minus, digits without a leading zero, then optional fraction and exponent.
func numberEnd(src []byte, i int) int {
	if i < len(src) && src[i] == '-' {
		i++
	}
	start := i
	i = digitsEnd(src, i)
	if i == start || src[start] == '0' && i > start+1 {
		return -1
	}
	if i < len(src) && src[i] == '.' {
		start = i + 1
		if i = digitsEnd(src, start); i == start {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		start = i
		if i = digitsEnd(src, start); i == start {
			return -1
		}
	}
	return i
}

func digitsEnd(src []byte, i int) int {
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i
}
