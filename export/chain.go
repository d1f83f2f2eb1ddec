package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

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
	if !published.Chained(&row) {
		return "", fmt.Errorf("segment %s was withdrawn meanwhile", ref)
	}
	link, err := published.NewLink(ref, row.Root, previous)
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
func (e *Exporter) unlinkStale(ctx context.Context, m *published.Manifest) error {
	link, err := archive.ReadLink(ctx, e.cfg.Objects, m.Ref())
	var damaged published.Mismatch
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

// verifyChain holds the links in the bucket against the catalog. A Mismatch says what is
// wrong; exporting that segment again puts it right.
func (e *Exporter) verifyChain(ctx context.Context) error {
	c, err := e.catalog.Chain(ctx)
	if err != nil {
		return err
	}
	roots := make([]archive.Rooted, c.Linked)
	for i, ref := range c.Order[:c.Linked] {
		roots[i] = archive.Rooted{Ref: ref, Root: c.Rows[ref].Root}
	}
	last, err := archive.CheckLinks(ctx, e.cfg.Objects, roots)
	if err == nil && c.Linked > 0 && last != c.Last {
		return published.Mismatchf("it ends with link %q, the catalog says %s", last, c.Last)
	}
	return err
}
