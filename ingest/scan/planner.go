package scan

import (
	"sync"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// planner divides a track into slices that hold about one page each, going by the
// density of what was seen last. Wrong guesses cost requests, never items: a slice
// with more than a page takes several, one with less wastes a part of its page.
type planner struct {
	track track
	// last is the coordinate up to which items are expected; bound ends the track.
	last  int64
	bound schemas.Position

	mu sync.Mutex
	// at is where the next slice begins, exclusive.
	at schemas.Position
	// density is in items per unit of the coordinate, 0 while unknown.
	density float64
	// Nothing lies between gapAfter and gapBefore, both exclusive.
	gapAfter, gapBefore schemas.Position
}

// sliceFill is the part of a page that a slice should fill, so that most need only
// one page although density varies.
const sliceFill = 0.9

// next hands out the next slice, (after, upTo], meant for pages of size items. The
// last one reaches to the bound. ok is false when nothing is left.
func (p *planner) next(size int) (after, upTo schemas.Position, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skipGap()
	if !p.at.Before(p.bound) {
		return after, upTo, false
	}
	after, upTo = p.at, p.bound
	c := p.track.coordinate(after)
	if c < p.last && p.density > 0 {
		span := float64(p.last - c)
		if want := sliceFill * float64(size) / p.density; want < span {
			span = max(want, 1)
		}
		upTo = p.track.position(c + int64(span))
	}
	p.at = upTo
	return after, upTo, true
}

func (p *planner) skipGap() {
	if p.at.Before(p.gapAfter) || !p.at.Before(p.gapBefore) {
		return
	}
	if to := p.track.position(p.track.coordinate(p.gapBefore) - 1); p.at.Before(to) && to.Before(p.bound) {
		p.at = to
	}
}

// pageSize is how many items to ask for when (after, upTo] is left of a slice.
func (p *planner) pageSize(after, upTo schemas.Position, most int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if upTo == p.bound || p.density == 0 {
		return most
	}
	left := p.density * float64(p.track.coordinate(upTo)-p.track.coordinate(after))
	const spare = 16 // one item beyond the slice proves that it is complete
	return int(max(1, min(left*1.1+spare, float64(most))))
}

// observe learns from a part of a slice that was asked for after the position after.
func (p *planner) observe(after schemas.Position, c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.next != schemas.Start {
		p.gapAfter, p.gapBefore = detached(c.covered), detached(c.next)
	}
	span := p.track.coordinate(c.covered) - p.track.coordinate(after)
	seen := 0.0
	switch {
	case c.seen > 1 && c.first.MigrationID == c.last.MigrationID:
		seen = float64(c.seen-1) / float64(max(1, p.track.coordinate(c.last)-p.track.coordinate(c.first)))
	case p.density > 0 && c.seen == 0:
		p.density /= 4 // cross a gap of unknown width in growing steps
		return
	case p.density > 0 || span <= 0:
		return
	default:
		seen = 1 / float64(span)
	}
	if p.density == 0 {
		p.density = seen
	}
	p.density = (p.density + seen) / 2
}
