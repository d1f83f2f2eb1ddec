package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
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

// newLink links a segment to the one before, the first to the zero hash.
func newLink(ref schemas.SegmentRef, root, previous string) (Link, error) {
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

var noLink = hex.EncodeToString(make([]byte, sha256.Size))

func (l Link) encode() ([]byte, error) {
	data, err := json.MarshalIndent(l, "", "  ")
	return append(data, '\n'), err
}

// readLink returns the link of a segment from the bucket, or bucket.ErrNotFound. It must
// follow from its own members.
func readLink(ctx context.Context, objects Reads, ref schemas.SegmentRef) (l Link, err error) {
	key := schemas.ChainKey(ref)
	body, err := objects.Get(ctx, key, 0, -1)
	if err != nil {
		return l, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return l, fmt.Errorf("reading %s: %w", key, err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, mismatchf("reading %s: %w", key, err)
	}
	want, err := newLink(ref, l.Root, l.Previous)
	if err != nil || l != want {
		return l, mismatchf("%s is not the link of its segment: %w", key, errors.Join(schemas.ErrMalformed, err))
	}
	return l, nil
}

// chainState is the chain as the catalog knows it.
type chainState struct {
	// order has the closed segments in the order of the chain, as far as none can come in
	// between any more.
	order []schemas.SegmentRef
	rows  map[schemas.SegmentRef]segmentRow
	// linked counts the first segments of the order that have their links, and last is the
	// link of the last of them.
	linked int
	last   string
}

// newChainState walks the chain. A link counts only if it follows from the one before: links
// behind a segment that was exported again with other rows do not, until they are made anew.
func newChainState(order []schemas.SegmentRef, rows []segmentRow) chainState {
	c := chainState{order: order, rows: make(map[schemas.SegmentRef]segmentRow, len(rows)), last: noLink}
	for i := range rows {
		c.rows[rows[i].ref()] = rows[i]
	}
	for _, ref := range order {
		row := c.rows[ref]
		link, err := newLink(ref, row.Root, c.last)
		if !row.chained() || err != nil || link.Link != row.Link {
			break
		}
		c.linked++
		c.last = link.Link
	}
	return c
}

// chainState is how far the catalog says that the final segments are linked.
func (e *Exporter) chainState(ctx context.Context) (chainState, error) {
	closed, final, err := e.closedSegments(ctx)
	if err != nil {
		return chainState{}, err
	}
	rows, err := e.allRows(ctx)
	if err != nil {
		return chainState{}, err
	}
	return newChainState(closed[:final], rows), nil
}

// linkable lists the segments that can be linked now: those that have a place in the chain,
// up to the first one that has none yet. A segment that has expired keeps its place; one
// that expired before it was published has none, and ends the chain.
func (c chainState) linkable() []schemas.SegmentRef {
	for i, ref := range c.order[c.linked:] {
		if row := c.rows[ref]; !row.chained() {
			return c.order[c.linked : c.linked+i]
		}
	}
	return c.order[c.linked:]
}

// extendChain links the published segments as far as all before them are published. It
// may be run by several at once: they write the same.
func (e *Exporter) extendChain(ctx context.Context) error {
	c, err := e.chainState(ctx)
	if err != nil {
		return err
	}
	previous := c.last
	for _, ref := range c.linkable() {
		if previous, err = e.putLink(ctx, ref, previous); err != nil {
			return fmt.Errorf("linking segment %s: %w", ref, err)
		}
	}
	return nil
}

// putLink stores the link, then the row that names it. What is under its key is a link to
// segments that are not published any more, if it is another.
func (e *Exporter) putLink(ctx context.Context, ref schemas.SegmentRef, previous string) (string, error) {
	row, err := e.catalog.last(ctx, ref)
	if err != nil {
		return "", err
	}
	if !row.chained() {
		return "", fmt.Errorf("segment %s was withdrawn meanwhile", ref)
	}
	link, err := newLink(ref, row.Root, previous)
	if err != nil {
		return "", err
	}
	data, err := link.encode()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	if err := e.put(ctx, schemas.ChainKey(ref), bytes.NewReader(data), int64(len(data)), sum, "application/json", true); err != nil {
		return "", err
	}
	row.Link = link.Link
	row.Version++
	return link.Link, e.catalog.append(ctx, row)
}

// unlinkStale removes the links that end with the segment's having other rows: its own and
// all after it.
func (e *Exporter) unlinkStale(ctx context.Context, m *Manifest) error {
	link, err := readLink(ctx, e.cfg.Objects, m.Ref())
	var damaged mismatch
	switch {
	case errors.Is(err, bucket.ErrNotFound), err == nil && link.Root == m.Root:
		return nil
	case err != nil && !errors.As(err, &damaged):
		return err
	}
	return e.unlink(ctx, m.Ref())
}

// unlink removes the links of a segment and of all after it from the bucket, the last one
// first, so that at no time a link is there without the one before.
func (e *Exporter) unlink(ctx context.Context, from schemas.SegmentRef) error {
	order, _, err := e.closedSegments(ctx)
	if err != nil {
		return err
	}
	for _, ref := range slices.Backward(order) {
		if ref.Compare(from) < 0 {
			break
		}
		if err := e.cfg.Objects.Delete(ctx, schemas.ChainKey(ref)); err != nil {
			return fmt.Errorf("unlinking segment %s: %w", ref, err)
		}
	}
	return nil
}

// CheckChain holds the links in the bucket against the manifests, as far as there are
// links, and returns the last link: "" if there is none. A segment that is missing shows
// as well.
func (a *Archive) CheckChain(ctx context.Context) (last string, err error) {
	roots := make([]rooted, len(a.segments))
	for i, s := range a.segments {
		roots[i] = rooted{s.Ref(), s.Root}
	}
	return checkChain(ctx, a.cfg.Objects, roots)
}

// rooted is a segment with the root in its manifest.
type rooted struct {
	ref  schemas.SegmentRef
	root string
}

// checkChain is given the segments in the order of the chain.
func checkChain(ctx context.Context, objects Reads, segments []rooted) (last string, err error) {
	previous, unlinked := noLink, ""
	for _, s := range segments {
		link, err := readLink(ctx, objects, s.ref)
		if errors.Is(err, bucket.ErrNotFound) {
			unlinked = cmp.Or(unlinked, s.ref.String())
			continue
		}
		if err != nil {
			return "", err
		}
		if unlinked != "" {
			return "", mismatchf("segment %s has a link, and segment %s before it has none", s.ref, unlinked)
		}
		if link.Root != s.root || link.Previous != previous {
			return "", mismatchf("segment %s with root %s after link %s is chained as root %s after link %s", s.ref, s.root, previous, link.Root, link.Previous)
		}
		previous, last = link.Link, link.Link
	}
	return last, nil
}

// verifyChain holds the links in the bucket against the catalog. A mismatch says what is
// wrong; exporting that segment again puts it right.
func (e *Exporter) verifyChain(ctx context.Context) error {
	c, err := e.chainState(ctx)
	if err != nil {
		return err
	}
	roots := make([]rooted, c.linked)
	for i, ref := range c.order[:c.linked] {
		roots[i] = rooted{ref, c.rows[ref].Root}
	}
	last, err := checkChain(ctx, e.cfg.Objects, roots)
	if err == nil && c.linked > 0 && last != c.last {
		return mismatchf("it ends with link %q, the catalog says %s", last, c.last)
	}
	return err
}
