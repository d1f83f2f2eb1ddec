package node

// slab hands out slices of large blocks. What it handed out is never used again, so a
// block lives as long as the longest living slice of it: good for values that come and
// go together, as those of a batch do.
type slab[T any] struct {
	size  int // of a block
	block []T // its length is what is used
}

// room returns an empty slice with a capacity of at least n, which use then takes from
// the block.
func (s *slab[T]) room(n int) []T {
	if cap(s.block)-len(s.block) < n {
		if n > s.size/4 {
			return make([]T, 0, n)
		}
		s.block = make([]T, 0, s.size)
	}
	used := len(s.block)
	return s.block[used:used:cap(s.block)]
}

// use marks what was written to the last room as taken.
func (s *slab[T]) use(written []T) {
	used := len(s.block)
	if len(written) == 0 || used+len(written) > cap(s.block) {
		return
	}
	if rest := s.block[used : used+1]; &rest[0] == &written[0] {
		s.block = s.block[:used+len(written)]
	}
}

// copyOf returns a copy of list with no capacity to spare, nil for an empty one.
func (s *slab[T]) copyOf(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	c := append(s.room(len(list)), list...)
	s.use(c)
	return c[:len(c):len(c)]
}
