package node

import (
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// sequence checks that elements follow one another.
type sequence struct {
	// at is the offset through which the stream is complete; end bounds it, 0 = not. from
	// is where it was when the session began.
	from, at, end int64
	// update is the last update, if it has offset at.
	update *schemas.Update
	// recent are the latest updates of the session, hashes of their ids by offset, in a ring
	// of offsets: one that comes again is not one that comes late.
	recent map[int64]uint64
	ring   []int64
	oldest int
}

// rememberedUpdates is how many updates back a repetition is known as one.
const rememberedUpdates = 4096

// remember keeps an update among the recent ones.
func (s *sequence) remember(u *schemas.Update, offset int64) {
	if s.recent == nil {
		s.recent = make(map[int64]uint64)
	}
	s.recent[offset] = fingerprint(u.UpdateID)
	if len(s.ring) < rememberedUpdates {
		s.ring = append(s.ring, offset)
		return
	}
	delete(s.recent, s.ring[s.oldest])
	s.ring[s.oldest] = offset
	s.oldest = (s.oldest + 1) % rememberedUpdates
}

func fingerprint(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return h.Sum64()
}

// again reports whether an element is a recent one that comes again.
func (s *sequence) again(el *element) bool {
	known, found := s.recent[el.offset]
	return found && known == fingerprint(el.update.UpdateID)
}

// errOrder means that an update came after a later one. As offsets have gaps, nothing showed
// before that it was missing: what came since its offset must not be kept.
var errOrder = errors.New("out of order")

// next takes the next element, or returns why it cannot be.
func (s *sequence) next(el *element) error {
	switch {
	case s.end > 0 && el.offset > s.end:
		return fmt.Errorf("offset %d is beyond the requested end, %d", el.offset, s.end)
	case el.update == nil && el.offset < s.at:
		return fmt.Errorf("a checkpoint at offset %d follows offset %d", el.offset, s.at)
	case el.update == nil:
		if el.offset > s.at {
			s.at, s.update = el.offset, nil
		}
		return nil
	case el.offset == s.at && s.update != nil:
		return duplicate(s.update, el.update)
	case el.offset <= s.at && s.again(el):
		return fmt.Errorf("update %s at offset %d appears twice, after offset %d", el.update.UpdateID, el.offset, s.at)
	case el.offset <= s.at:
		return fmt.Errorf("%w: update %s at offset %d follows offset %d", errOrder, el.update.UpdateID, el.offset, s.at)
	}
	s.at, s.update = el.offset, el.update
	s.remember(el.update, el.offset)
	return nil
}

// covered notes that all elements through offset were there.
func (s *sequence) covered(offset int64) {
	if offset > s.at {
		s.at, s.update = offset, nil
	}
}

// duplicate explains two updates at one offset.
func duplicate(a, b *schemas.Update) error {
	hashA, hashB := stream.HashUpdate(a), stream.HashUpdate(b)
	if hashA == hashB {
		return fmt.Errorf("update %s at offset %d appears twice", a.UpdateID, a.Local.Offset)
	}
	return fmt.Errorf("offset %d appears twice with different content, update %s with hash %s and update %s with hash %s",
		a.Local.Offset, a.UpdateID, hashA, b.UpdateID, hashB)
}
