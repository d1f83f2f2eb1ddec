package query

import "sync/atomic"

// Sizes remembers about how many bytes an element of some kind takes, so that it is known what
// reading many takes. It is safe for concurrent use.
type Sizes struct{ average atomic.Int64 }

// Average is about how many bytes an element takes, 0 while that is not known.
func (s *Sizes) Average() int64 { return s.average.Load() }

// Chunk is how many of the wanted elements to read at once to stay near target bytes.
func (s *Sizes) Chunk(wanted int, target int64) int {
	average := s.average.Load()
	if average == 0 {
		return wanted
	}
	return int(min(int64(wanted), max(1, target/average)))
}

// unknownSize is what an element is taken for while nothing is known.
const unknownSize = 8 << 10

// Of is about how many bytes so many elements take.
func (s *Sizes) Of(elements int) int64 {
	average := s.average.Load()
	if average == 0 {
		average = unknownSize
	}
	return int64(elements) * average
}

// Saw takes in that elements took bytes. Larger ones count at once, smaller ones gradually: a
// stretch of large elements is to be met with small pieces.
func (s *Sizes) Saw(elements, bytes int) {
	if elements == 0 {
		return
	}
	seen, average := int64(bytes/elements), s.average.Load()
	if seen < average {
		seen = (average*7 + seen) / 8
	}
	s.average.Store(max(seen, 1))
}
