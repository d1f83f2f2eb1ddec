package scan

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"sync"
)

// wantedPageBytes is where pages stop growing: far above the cost of a request, far
// below what several of them may take in memory.
const wantedPageBytes = 8 << 20

// pageSizer finds the number of items to ask for: as many as the interface allows,
// fewer while they are large.
type pageSizer struct {
	mu       sync.Mutex
	items    int
	most     int
	itemSize float64 // bytes, a moving average
}

func newPageSizer() *pageSizer { return &pageSizer{items: MaxPageItems, most: MaxPageItems} }

// size is the number of items to ask for, at least 1.
func (s *pageSizer) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items
}

// bytes estimates the size of a page of n items.
func (s *pageSizer) bytes(n int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.itemSize * float64(n))
}

// observe learns from a page of n items.
func (s *pageSizer) observe(n int, bytes int64) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mean := float64(bytes) / float64(n)
	if s.itemSize == 0 {
		s.itemSize = mean
	}
	s.itemSize += (mean - s.itemSize) / 4
	fits := int(wantedPageBytes / max(mean, 1))
	// One large update must not keep the pages after it small for long, nor may one
	// small page bring back the full size at once.
	s.items = max(1, min(fits, 2*s.items, s.most))
}

// shrink gives up on pages of n items: they are larger than is allowed.
func (s *pageSizer) shrink(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A quarter rather than half: each try may have cost a whole MaxPageBytes.
	s.items = max(1, min(s.items, n/4))
}

// limit notes that the upstream hands out at most n items a page.
func (s *pageSizer) limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(1, min(s.most, n))
	s.items = min(s.items, s.most)
}

// exceeded matches the network's words about a page size beyond the operator's limit.
var exceeded = regexp.MustCompile(`\((\d+) > (\d+)\)`)

// tooManyItems returns the upstream's limit on page sizes if err is a complaint about
// ours, else 0. The limit is configurable, so 1000 need not be allowed everywhere.
func tooManyItems(err error) int {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return 0
	}
	m := exceeded.FindStringSubmatch(e.Err.Error())
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	return n
}
