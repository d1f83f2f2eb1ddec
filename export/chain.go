package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

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
		return l, Mismatchf("reading %s: %w", key, err)
	}
	want, err := NewLink(ref, l.Root, l.Previous)
	if err != nil || l != want {
		return l, Mismatchf("%s is not the link of its segment: %w", key, errors.Join(schemas.ErrMalformed, err))
	}
	return l, nil
}

// extendChain links the published segments as far as all before them are published. It
// may be run by several at once: they write the same.
func (e *Exporter) extendChain(ctx context.Context) error {
	c, err := e.catalog.Chain(ctx)
	if err != nil {
		return err
	}
	previous := c.Last
	for _, ref := range c.Linkable() {
		if previous, err = e.putLink(ctx, ref, previous); err != nil {
			return fmt.Errorf("linking segment %s: %w", ref, err)
		}
	}
	return nil
}

// putLink stores the link, then the row that names it. What is under its key is a link to
// segments that are not published any more, if it is another.
func (e *Exporter) putLink(ctx context.Context, ref schemas.SegmentRef, previous string) (string, error) {
	row, err := e.catalog.LastSegment(ctx, ref)
	if err != nil {
		return "", err
	}
	if !Chained(&row) {
		return "", fmt.Errorf("segment %s was withdrawn meanwhile", ref)
	}
	link, err := NewLink(ref, row.Root, previous)
	if err != nil {
		return "", err
	}
	data, err := link.Encode()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	if err := e.publisher.put(ctx, schemas.ChainKey(ref), bytes.NewReader(data), int64(len(data)), sum, "application/json", true); err != nil {
		return "", err
	}
	row.Link = link.Link
	row.Version++
	return link.Link, e.catalog.Segments.Append(ctx, row)
}

// unlinkStale removes the links that end with the segment's having other rows: its own and
// all after it.
func (e *Exporter) unlinkStale(ctx context.Context, m *Manifest) error {
	link, err := readLink(ctx, e.cfg.Objects, m.Ref())
	var damaged Mismatch
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
	order, err := e.catalog.ClosedSegments(ctx)
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
	previous, unlinked := NoLink, ""
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
			return "", Mismatchf("segment %s has a link, and segment %s before it has none", s.ref, unlinked)
		}
		if link.Root != s.root || link.Previous != previous {
			return "", Mismatchf("segment %s with root %s after link %s is chained as root %s after link %s", s.ref, s.root, previous, link.Root, link.Previous)
		}
		previous, last = link.Link, link.Link
	}
	return last, nil
}

// verifyChain holds the links in the bucket against the catalog. A Mismatch says what is
// wrong; exporting that segment again puts it right.
func (e *Exporter) verifyChain(ctx context.Context) error {
	c, err := e.catalog.Chain(ctx)
	if err != nil {
		return err
	}
	roots := make([]rooted, c.Linked)
	for i, ref := range c.Order[:c.Linked] {
		roots[i] = rooted{ref, c.Rows[ref].Root}
	}
	last, err := checkChain(ctx, e.cfg.Objects, roots)
	if err == nil && c.Linked > 0 && last != c.Last {
		return Mismatchf("it ends with link %q, the catalog says %s", last, c.Last)
	}
	return err
}
