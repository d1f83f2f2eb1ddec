package typed

import "github.com/ledgerlake/ledgerlake/schemas/jsonscan"

// list has its elements in the lists of some columns.
type list struct {
	elem  node
	first int // one of these columns
}

func (l *list) read(in *input, to row) error {
	return in.elements(func() error { return l.elem.read(in, to) })
}
func (l *list) none(row)             {}
func (l *list) isNone(row, int) bool { return false }

func (l *list) write(dst []byte, from row, _ int) []byte {
	dst = append(dst, '[')
	for i := range from[l.first].([]any) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = l.elem.write(dst, from, i)
	}
	return append(dst, ']')
}

// set is the standard library's: a record around a map to unit.
type set struct{ key *scalar }

func (s *set) read(in *input, to row) error {
	return in.members(func(key string) error {
		if key != "map" {
			return unfit("a set with a field %.60q", key)
		}
		return in.elements(func() error { return in.pair(s.key, unit{}, to) })
	})
}
func (s *set) none(row)             {}
func (s *set) isNone(row, int) bool { return false }

func (s *set) write(dst []byte, from row, _ int) []byte {
	dst = append(dst, `{"map":[`...)
	for i := range from[s.key.column].([]any) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(s.key.write(append(dst, '['), from, i), `,{}]`...)
	}
	return append(dst, `]}`...)
}

// textMap is a map from texts to scalars.
type textMap struct{ scalar }

func (m *textMap) read(in *input, to row) error {
	pairs := []any{}
	err := in.members(func(key string) error {
		value, err := m.cell(in)
		pairs = append(pairs, key, value)
		return err
	})
	if err != nil {
		return err
	}
	return m.put(to, pairs)
}
func (m *textMap) none(row)             {}
func (m *textMap) isNone(row, int) bool { return false }

func (m *textMap) write(dst []byte, from row, _ int) []byte {
	dst = append(dst, '{')
	for i, cell := range from[m.column].([]any) {
		switch {
		case i%2 == 1:
			dst = m.appendCell(append(dst, ':'), cell)
			continue
		case i > 0:
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, []byte(cell.(string)))
	}
	return append(dst, '}')
}

// parallelMap has keys and values in lists side by side.
type parallelMap struct {
	text       bool // its keys are members of an object
	key, value node
	first      int // a column of the keys
}

func (m *parallelMap) read(in *input, to row) error {
	if !m.text {
		return in.elements(func() error { return in.pair(m.key, m.value, to) })
	}
	return in.members(func(key string) error {
		if err := m.key.(*scalar).put(to, key); err != nil {
			return err
		}
		return m.value.read(in, to)
	})
}
func (m *parallelMap) none(row)             {}
func (m *parallelMap) isNone(row, int) bool { return false }

func (m *parallelMap) write(dst []byte, from row, _ int) []byte {
	brackets, between := "[]", ","
	if m.text {
		brackets, between = "{}", ":"
	}
	dst = append(dst, brackets[0])
	for i := range from[m.first].([]any) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !m.text {
			dst = append(dst, '[')
		}
		dst = m.value.write(append(m.key.write(dst, from, i), between...), from, i)
		if !m.text {
			dst = append(dst, ']')
		}
	}
	return append(dst, brackets[1])
}
