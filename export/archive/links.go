package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ReadLink returns the link of a segment from the bucket, or bucket.ErrNotFound. It must
// follow from its own members.
func ReadLink(ctx context.Context, objects Reads, ref schemas.SegmentRef) (l published.Link, err error) {
	key := schemas.ChainKey(ref)
	data, err := readObject(ctx, objects, key)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, published.Mismatchf("reading %s: %w", key, err)
	}
	want, err := published.NewLink(ref, l.Root, l.Previous)
	if err != nil || l != want {
		return l, published.Mismatchf("%s is not the link of its segment: %w", key, errors.Join(schemas.ErrMalformed, err))
	}
	return l, nil
}

// CheckChain compares the links in the bucket with the manifests, and returns the last link: "" if
// there is none. A segment that is missing shows as well.
func (a *Archive) CheckChain(ctx context.Context) (last string, err error) {
	roots := make([]Rooted, len(a.segments))
	for i, s := range a.segments {
		roots[i] = Rooted{s.Ref(), s.Root}
	}
	return CheckLinks(ctx, a.cfg.Objects, roots)
}

// Rooted is a segment with the root in its manifest.
type Rooted struct {
	Ref  schemas.SegmentRef
	Root string
}

// CheckLinks compares the links in the bucket with segments, which are given in the order of
// the chain, and returns the last link: "" if there is none. A Mismatch says what is wrong.
func CheckLinks(ctx context.Context, objects Reads, segments []Rooted) (last string, err error) {
	previous, unlinked := published.NoLink, ""
	for _, s := range segments {
		link, err := ReadLink(ctx, objects, s.Ref)
		if errors.Is(err, bucket.ErrNotFound) {
			unlinked = cmp.Or(unlinked, s.Ref.String())
			continue
		}
		if err != nil {
			return "", err
		}
		if unlinked != "" {
			return "", published.Mismatchf("segment %s has a link, and segment %s before it has none", s.Ref, unlinked)
		}
		if link.Root != s.Root || link.Previous != previous {
			return "", published.Mismatchf("segment %s with root %s after link %s is chained as root %s after link %s", s.Ref, s.Root, previous, link.Root, link.Previous)
		}
		previous, last = link.Link, link.Link
	}
	return last, nil
}
