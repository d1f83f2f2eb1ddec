package node

import (
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// sequence checks that elements follow one another.
type sequence struct {
	// at is the offset through which the stream is complete; end bounds it, 0 = not. from
	// is where it was when the session began.
	from, at, end int64
	// update is the last update, if it stands at offset at.
	update *schemas.Update
}

// errOrder means that an update came behind a later one. As offsets have holes, nothing
// told before that it was missing: what came since its offset must not be kept.
var errOrder = errors.New("out of order")

// next takes the next element, or returns why it cannot be.
func (s *sequence) next(el *element) error {
	switch {
	case s.end > 0 && el.offset > s.end:
		return fmt.Errorf("offset %d came, beyond the end asked for, %d", el.offset, s.end)
	case el.update == nil && el.offset < s.at:
		return fmt.Errorf("a checkpoint at offset %d follows offset %d", el.offset, s.at)
	case el.update == nil:
		if el.offset > s.at {
			s.at, s.update = el.offset, nil
		}
		return nil
	case el.offset == s.at && s.update != nil:
		return duplicate(s.update, el.update)
	case el.offset <= s.at:
		return fmt.Errorf("%w: update %s at offset %d follows offset %d", errOrder, el.update.UpdateID, el.offset, s.at)
	}
	s.at, s.update = el.offset, el.update
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
	hashA, hashB := hash(a), hash(b)
	if hashA == hashB {
		return fmt.Errorf("update %s at offset %d comes twice", a.UpdateID, a.Local.Offset)
	}
	return fmt.Errorf("offset %d comes twice with different content, update %s with hash %s and update %s with hash %s",
		a.Local.Offset, a.UpdateID, hashA, b.UpdateID, hashB)
}

func hash(u *schemas.Update) string {
	b := schemas.Batch{Items: []schemas.Item{{Update: u}}}
	return b.Hash()
}
