package verify

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
)

// Finding is one thing that is not as it should be.
type Finding struct {
	// What is wrong, and Where: a batch, a segment, a contract or an update.
	What  string `json:"what"`
	Where string `json:"where"`
	// Expected and Found are empty where the finding says it all.
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

// String writes the finding as one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Where, f.What)
	switch {
	case f.Expected != "":
		fmt.Fprintf(&b, ": expected %s, found %s", f.Expected, f.Found)
	case f.Found != "":
		fmt.Fprintf(&b, ": %s", f.Found)
	}
	return b.String()
}

// Check is the outcome of one check. It is safe for concurrent use until it is read.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Checked counts what was looked at, by kind.
	Checked map[string]int64 `json:"checked,omitempty"`
	// Total counts all findings; Findings are the first of them.
	Total    int64     `json:"findings_total"`
	Findings []Finding `json:"findings,omitempty"`

	mu    sync.Mutex
	limit int
}

// NewCheck returns a check without findings, of which it keeps the first limit, 100 if 0.
func NewCheck(name string, limit int) *Check {
	return &Check{Name: name, OK: true, Checked: make(map[string]int64), limit: cmp.Or(limit, 100)}
}

// Add records a finding. Only the first ones are kept, all are counted.
func (c *Check) Add(f Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.OK = false
	c.Total++
	if len(c.Findings) < c.limit {
		c.Findings = append(c.Findings, f)
	}
}

// Count adds to what was looked at.
func (c *Check) Count(kind string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Checked[kind] += n
}

// merge adds what another check of the same name has.
func (c *Check) merge(o *Check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.OK = c.OK && o.OK
	c.Total += o.Total
	c.Findings = append(c.Findings, o.Findings[:min(len(o.Findings), c.limit-len(c.Findings))]...)
	for kind, n := range o.Checked {
		c.Checked[kind] += n
	}
}
