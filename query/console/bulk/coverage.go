package bulk

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// How what is covered is kept: to read it takes the catalogue of all segments.
const (
	coverageFresh   = 2 * time.Second
	coverageStale   = time.Minute
	coverageMaxWait = 100 * time.Millisecond
	coverageTimeout = 30 * time.Second
	// mostDisagreements is how many objects that peers have otherwise are known.
	mostDisagreements = 1000
)

// coverage is what is published, and what could be.
type coverage struct {
	// rows are the latest versions of all segments, without their manifests, by migration and time.
	rows []store.SegmentRow
	// due are closed segments that are not published.
	due     []schemas.SegmentRef
	chain   published.Chain
	folders []store.NetworkFolderRow
	// disagreed counts the objects of each segment or folder that peers have otherwise.
	disagreed map[string]int
}

// newCoverage remembers what is covered.
func newCoverage(catalog *published.Catalog) *memo.Value[coverage] {
	return &memo.Value[coverage]{Now: time.Now, TTL: coverageFresh, Stale: coverageStale, MaxWait: coverageMaxWait, Timeout: coverageTimeout, Load: func(ctx context.Context) (coverage, error) {
		return readCoverage(ctx, catalog)
	}}
}

func readCoverage(ctx context.Context, catalog *published.Catalog) (c coverage, err error) {
	if c.rows, err = catalog.AllSegments(ctx); err != nil {
		return c, err
	}
	closed, err := catalog.ClosedSegments(ctx)
	if err != nil {
		return c, err
	}
	known := make(map[schemas.SegmentRef]bool, len(c.rows))
	for i := range c.rows {
		known[c.rows[i].Ref()] = c.rows[i].State != published.Withdrawn
	}
	for _, ref := range closed {
		if !known[ref] {
			c.due = append(c.due, ref)
		}
	}
	if c.chain, err = catalog.Chain(ctx); err != nil {
		return c, err
	}
	if c.folders, err = catalog.Folders.All(ctx); err != nil {
		return c, err
	}
	disagreements, err := catalog.Journal.Disagreed(ctx, mostDisagreements)
	if err != nil {
		return c, err
	}
	c.disagreed = make(map[string]int)
	for _, d := range disagreements {
		c.disagreed[d.Unit]++
	}
	return c, nil
}

// previous is the link before a segment's in the chain; ok is false while it has no place there.
func (c *coverage) previous(ref schemas.SegmentRef) (before schemas.SegmentRef, link string, ok bool) {
	for i, linked := range c.chain.Order[:c.chain.Linked] {
		if linked != ref {
			continue
		}
		if i == 0 {
			return schemas.SegmentRef{}, published.NoLink, true
		}
		before = c.chain.Order[i-1]
		return before, c.chain.Rows[before].Link, true
	}
	return schemas.SegmentRef{}, "", false
}
