package scan

import (
	"context"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// track reads one stretch of history, the import updates or the history of one
// migration, in pages. Its positions lie on a number line, the coordinate, so that
// slices of it can be planned without knowing what is in them.
type track interface {
	// fetch reads a page of what lies after the position after and up to and
	// including upTo. It validates the page. It is safe for concurrent use.
	fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error)
	// coordinate places a position on the number line. Order is kept, but close
	// positions may share a coordinate.
	coordinate(p schemas.Position) int64
	// position is a bound that grows with c; it need not be a position that exists.
	// position(coordinate(p)-1) lies before p, position(coordinate(p)+1) behind it,
	// and position(math.MaxInt64) behind all of the track.
	position(c int64) schemas.Position
}

// fetchOptions come with each fetch.
type fetchOptions struct {
	// size is the number of items to ask for.
	size int
	// whole asks for all items of the span where pages could otherwise end earlier.
	whole bool
	// reserve, when set, is asked before the page takes size bytes of memory.
	reserve func(size int64) error
	// expect is about how many bytes a page of size items takes, 0 if unknown.
	expect int64
	// once leaves the decision about a failure to the caller: no retries.
	once bool
	// stripe numbers runs of neighbouring pages, which should come from one upstream;
	// below 0 means that it does not matter.
	stripe int64
}

// chunk is a validated part of a slice.
type chunk struct {
	// from is who gave it, nil when there is but one upstream.
	from *peer
	// items lie in the slice, strictly ascending. May be empty.
	items []schemas.Item
	// bytes is the size of the answers; seen counts all items in them, which lie between
	// first and last, inclusive.
	bytes       int64
	seen        int
	first, last schemas.Position
	// covered is how far the slice is complete: the next fetch continues after it.
	covered schemas.Position
	// done means that covered has reached the slice's end or history's.
	done bool
	// next is the first item beyond the slice, schemas.Start if none was seen.
	next schemas.Position
	// end means that the upstream has nothing beyond covered as of this answer.
	end bool
}

// detached copies the update id of p, which otherwise keeps the whole page that it was
// decoded from in memory for as long as p is held.
func detached(p schemas.Position) schemas.Position {
	p.UpdateID = strings.Clone(p.UpdateID)
	return p
}

// afterAllIDs sorts behind every update id: ids are UTF-8, which never has this byte.
const afterAllIDs = "\xff"
