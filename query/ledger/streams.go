package ledger

import "sync"

// streams counts websockets.
type streams struct {
	most, mostOfUser int

	mu     sync.Mutex
	all    int
	byUser map[string]int
}

func newStreams(most, mostOfUser int) *streams {
	return &streams{most: most, mostOfUser: mostOfUser, byUser: map[string]int{}}
}

// begin counts one more of a user; the caller must call end once. Of users without a name,
// where nothing is checked, only the total is limited.
func (s *streams) begin(user string) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= s.most:
		return nil, failure(tooManyStreams, "There are %d streams already, which is the most.", s.most)
	case user != "" && s.byUser[user] >= s.mostOfUser:
		return nil, failure(tooManyStreams, "The user has %d streams already, which is the most.", s.mostOfUser)
	}
	s.all++
	s.byUser[user]++
	return func() { s.end(user) }, nil
}

func (s *streams) end(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// count is how many there are.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
