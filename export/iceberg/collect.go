package iceberg

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Collect removes the manifests and manifest lists that no snapshot names any more and
// that were stored before an instant, so that readers of older versions have until then.
// It is safe beside running commits: those use names that are not in the bucket yet, or
// are for a sequence number that is still to come.
func (t *Tables) Collect(ctx context.Context, before time.Time) (objects, bytes int64, err error) {
	if t == nil {
		return 0, 0, nil
	}
	for _, name := range names() {
		n, size, err := t.collect(ctx, name, before)
		objects += n
		bytes += size
		if err != nil {
			return objects, bytes, fmt.Errorf("collecting garbage of Iceberg table %s: %w", name, err)
		}
	}
	return objects, bytes, nil
}

func (t *Tables) collect(ctx context.Context, name schemas.ParquetTable, before time.Time) (objects, bytes int64, err error) {
	v, err := t.load(ctx, name)
	if err != nil || v.version == 0 {
		return 0, 0, err
	}
	named, err := t.named(ctx, v)
	if err != nil {
		return 0, 0, err
	}
	for o, err := range t.cfg.Objects.All(ctx, schemas.IcebergFileKey(t.cfg.Stream, name, "")) {
		if err != nil {
			return objects, bytes, err
		}
		if named[path.Base(o.Key)] || !isLeftOver(o, v.LastSequenceNumber, before) {
			continue
		}
		if err := t.cfg.Objects.Delete(ctx, o.Key); err != nil {
			return objects, bytes, err
		}
		objects++
		bytes += o.Size
	}
	return objects, bytes, nil
}

// isLeftOver reports whether an object that no snapshot names was made for one of the past.
func isLeftOver(o bucket.Object, last int64, before time.Time) bool {
	sequence, ok := sequenceOf(o.Key)
	return ok && sequence <= last && o.Modified.Before(before)
}

// named has the names of all files that the snapshots of a version consist of.
func (t *Tables) named(ctx context.Context, v *version) (map[string]bool, error) {
	named := make(map[string]bool)
	for i := range v.Snapshots {
		snap := &v.Snapshots[i]
		named[path.Base(snap.ManifestList)] = true
		manifests, err := t.manifestsOf(ctx, v.name, snap)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			named[path.Base(m.Path)] = true
		}
	}
	return named, nil
}
