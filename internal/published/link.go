package published

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Link is a segment's place in the chain of its stream, a small object beside the
// manifest. Manifests are made in any order, links in that of history: a link is there
// only if all before it are. It depends on nothing but the history up to its segment.
type Link struct {
	FormatVersion string             `json:"format_version"`
	Segment       schemas.SegmentRef `json:"segment"`
	// Root is that of the segment's manifest, Previous the link before, 64 zeros for the
	// first, and Link schemas.ChainLink of the two; all in hex.
	Root     string `json:"root"`
	Previous string `json:"previous_link"`
	Link     string `json:"link"`
}

// NewLink links a segment to the one before, the first to the zero hash.
func NewLink(ref schemas.SegmentRef, root, previous string) (Link, error) {
	r, err := schemas.ParseHash(root)
	if err != nil {
		return Link{}, err
	}
	p, err := schemas.ParseHash(previous)
	if err != nil {
		return Link{}, err
	}
	link := schemas.ChainLink(p, r)
	return Link{schemas.ParquetVersion, ref, root, previous, hex.EncodeToString(link[:])}, nil
}

// NoLink is in the place of the link before the first one.
var NoLink = hex.EncodeToString(make([]byte, sha256.Size))

// Encode returns the bytes that are published.
func (l Link) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(l, "", "  ")
	return append(data, '\n'), err
}

// Chain is the chain as the catalog knows it.
type Chain struct {
	// Order has the closed segments in the order of the chain, up to the first one before which another may still come.
	Order []schemas.SegmentRef
	Rows  map[schemas.SegmentRef]store.SegmentRow
	// Linked counts the first segments of the order that have their links, and Last is the
	// link of the last of them.
	Linked int
	Last   string
}

// newChain walks the chain. A link counts only if it follows from the one before: links
// behind a segment that was exported again with other rows do not, until they are made anew.
func newChain(order []schemas.SegmentRef, rows []store.SegmentRow) Chain {
	c := Chain{Order: order, Rows: make(map[schemas.SegmentRef]store.SegmentRow, len(rows)), Last: NoLink}
	for i := range rows {
		c.Rows[rows[i].Ref()] = rows[i]
	}
	for _, ref := range order {
		row := c.Rows[ref]
		link, err := NewLink(ref, row.Root, c.Last)
		if !Chained(&row) || err != nil || link.Link != row.Link {
			break
		}
		c.Linked++
		c.Last = link.Link
	}
	return c
}

// Linkable lists the segments that can be linked now: those that have a place in the chain,
// up to the first one that has none yet. A segment that has expired keeps its place; one
// that expired before it was published has none, and ends the chain.
func (c Chain) Linkable() []schemas.SegmentRef {
	for i, ref := range c.Order[c.Linked:] {
		if row := c.Rows[ref]; !Chained(&row) {
			return c.Order[c.Linked : c.Linked+i]
		}
	}
	return c.Order[c.Linked:]
}
