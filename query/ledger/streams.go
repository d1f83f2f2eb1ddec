package ledger

import "sync"

// streams counts websockets. Who holds them is a user or, where nothing is checked, an address:
// one holder has at most as many as are free, so that there is always room for another one.
type streams struct {
	most, mostOfUser int

	mu       sync.Mutex
	all      int
	byHolder map[holder]int
}

// holder is a user, or a client if user is "".
type holder struct{ user, client string }

// holderOf is who holds what somebody opens.
func holderOf(user, client string) holder {
	if user != "" {
		return holder{user: user}
	}
	return holder{client: client}
}

func newStreams(most, mostOfUser int) *streams {
	return &streams{most: most, mostOfUser: mostOfUser, byHolder: map[holder]int{}}
}

// begin counts one more of a holder; the caller must call end once.
func (s *streams) begin(h holder) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.byHolder[h]
	switch {
	case s.all >= s.most:
		return nil, failure(tooManyStreams, "There are already %d streams, the maximum.", s.most)
	case h.user != "" && held >= s.mostOfUser:
		return nil, failure(tooManyStreams, "The user already has %d streams, the maximum.", s.mostOfUser)
	case held >= s.most-s.all:
		return nil, failure(tooManyStreams, "The client already has %d streams, and the %d that are free are reserved for others.", held, s.most-s.all)
	}
	s.all++
	s.byHolder[h]++
	return func() { s.end(h) }, nil
}

func (s *streams) end(h holder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byHolder[h]--; s.byHolder[h] == 0 {
		delete(s.byHolder, h)
	}
}

// count is how many there are.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
