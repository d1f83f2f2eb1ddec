package export

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ErrSegmentLength means that a bucket or its catalog has segments of another length than
// the configured one. The two do not mix: the same updates would be published twice, and no
// listing nor chain could tell which segment follows which.
var ErrSegmentLength = errors.New("segments of another length are published")

// checkLength returns ErrSegmentLength if a segment has another length.
func (e *Exporter) checkLength(ref schemas.SegmentRef) error {
	if ref.IsImports() || ref.Length() == e.cfg.Segments {
		return nil
	}
	return fmt.Errorf("%w: there is %s, and the configured length is %s", ErrSegmentLength, ref, e.cfg.Segments)
}

// allRows returns the latest row of every segment, or ErrSegmentLength.
func (e *Exporter) allRows(ctx context.Context) ([]segmentRow, error) {
	rows, err := e.catalog.all(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if err := e.checkLength(rows[i].ref()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Keys lists what is in a bucket; *bucket.Client does.
type Keys interface {
	// All walks over the objects whose keys begin with prefix, in the order of their keys.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
}

// CheckSegments returns ErrSegmentLength if the catalog or the bucket has segments of
// another length. The catalog need not know what is in the bucket: it may be new.
func (e *Exporter) CheckSegments(ctx context.Context, in Keys) error {
	if _, err := e.allRows(ctx); err != nil {
		return err
	}
	for o, err := range in.All(ctx, schemas.ManifestPrefix(e.stream)) {
		if err != nil {
			return fmt.Errorf("looking for segments in the bucket: %w", err)
		}
		ref, ok := schemas.ParseManifestKey(o.Key)
		if !ok || ref.IsImports() {
			continue
		}
		return e.checkLength(ref) // the others are as this one
	}
	return nil
}
