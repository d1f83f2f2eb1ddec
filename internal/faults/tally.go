package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Tally counts, by name, what did happen. It is safe for concurrent use; the zero
// value is ready.
type Tally struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add counts one more of name, such as "engine: lose reply".
func (t *Tally) Add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	t.counts[name]++
}

// Merge adds what another tally counted.
func (t *Tally) Merge(other *Tally) {
	counts := other.Counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	for name, n := range counts {
		t.counts[name] += n
	}
}

// Counts returns a copy of the counts.
func (t *Tally) Counts() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// Total is the sum of all counts.
func (t *Tally) Total() int {
	total := 0
	for _, n := range t.Counts() {
		total += n
	}
	return total
}

// String lists the counts, one name a line, in the order of the names.
func (t *Tally) String() string {
	var b strings.Builder
	counts := t.Counts()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%8d  %s\n", counts[name], name)
	}
	return b.String()
}
