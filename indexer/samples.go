package indexer

import "bytes"

const (
	// dictionaryBytes is how much history a dictionary holds: twice as much saves two
	// percent more.
	dictionaryBytes = 112 << 10
	// maxDictionaries bounds what readers must hold.
	maxDictionaries = 64
	// firstSamples and laterSamples are of how many items one is a sample: of few for the
	// first dictionary, which should not wait, of many for later ones, as neighbours are
	// alike. None is larger than maxSample.
	firstSamples = 32
	laterSamples = 1024
	maxSample    = 32 << 10
	// betterAfter items the first dictionary is replaced by one that has seen more.
	betterAfter = 16 * laterSamples
	// ratioItems are packed until their ratio is compared with the first one under the same
	// dictionary; a new one is due when it takes maxDecline percent of that.
	ratioItems = 4096
	maxDecline = 125
)

// samples are the items that the next dictionary would be made of, and how well the
// current one does. The zero value has none.
type samples struct {
	pieces [][]byte // the oldest first
	bytes  int
	seen   int

	items, in, out    int // since the last comparison
	firstIn, firstOut int // of the first comparison
	worse             bool
}

// look takes an item in one piece, which it copies, that will be packed after the dictionary
// with an id, 0 for none.
func (s *samples) look(last uint32, piece []byte) {
	every := laterSamples
	if last == 0 {
		every = firstSamples
	}
	if s.seen++; s.seen%every != 0 {
		return
	}
	if len(piece) > maxSample {
		return
	}
	s.pieces, s.bytes = append(s.pieces, bytes.Clone(piece)), s.bytes+len(piece)
	for s.bytes-len(s.pieces[0]) >= dictionaryBytes {
		s.bytes -= len(s.pieces[0])
		s.pieces = s.pieces[1:]
	}
}

// due reports whether a dictionary should follow the one with an id, 0 for none.
func (s *samples) due(last uint32) bool {
	return s.bytes >= dictionaryBytes &&
		(last == 0 || last == 1 && s.seen >= betterAfter || s.worse && last < maxDictionaries)
}

// content is that of a dictionary. What is newest is nearest to what refers to it.
func (s *samples) content() (content []byte) {
	for _, piece := range s.pieces {
		content = append(content, piece...)
	}
	return content[max(0, len(content)-dictionaryBytes):]
}

// begin forgets how well an earlier dictionary did.
func (s *samples) begin() {
	s.items, s.in, s.out, s.firstIn, s.firstOut, s.worse = 0, 0, 0, 0, 0, false
}

// packed notes how large an item was in one piece and became.
func (s *samples) packed(in, out int) {
	s.items, s.in, s.out = s.items+1, s.in+in, s.out+out
	if s.items < ratioItems {
		return
	}
	if s.firstIn == 0 {
		s.firstIn, s.firstOut = s.in, s.out
	}
	s.worse = int64(s.out)*100*int64(s.firstIn) > int64(s.in)*maxDecline*int64(s.firstOut)
	s.items, s.in, s.out = 0, 0, 0
}
