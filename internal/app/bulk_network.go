package app

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// listedEncoding is the one of which the network's listings give the objects. Those of the
// other one can be had by their keys.
const listedEncoding = schemas.CompactJSON

// networkSet is ActiveSet in the network's layout.
func (b bulk) networkSet(ctx context.Context, at schemas.Micros) (schemas.Micros, []scan.Object, error) {
	sets, err := b.catalog.NetworkSets(ctx)
	if err != nil {
		return 0, nil, err
	}
	var latest *schemas.NetworkRef
	for i := range sets { // ascending
		if sets[i].Start <= at {
			latest = &sets[i]
		}
	}
	if latest == nil {
		return 0, nil, schemas.ErrNotFound
	}
	found, err := b.catalog.FolderObjects(ctx, listedEncoding, *latest)
	if err != nil {
		return 0, nil, err
	}
	objects, ok := found[*latest]
	if !ok { // withdrawn since
		return 0, nil, schemas.ErrNotFound
	}
	return latest.Start, objectsOf(objects), nil
}

// networkSegments is Segments in the network's layout, whose folders may hold more than one
// migration.
func (b bulk) networkSegments(ctx context.Context, start, end schemas.Micros, limit int) ([]scan.Segment, schemas.Micros, error) {
	folders, published, err := b.catalog.NetworkFolders(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	var refs []schemas.NetworkRef
	for _, ref := range folders {
		if ref.Start < end && ref.End > start && len(refs) < limit {
			refs = append(refs, ref)
		}
	}
	found, err := b.catalog.FolderObjects(ctx, listedEncoding, refs...)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	list := make([]scan.Segment, 0, len(refs))
	for _, ref := range refs {
		objects, ok := found[ref]
		if !ok { // withdrawn since the list was read
			return list, ref.Start, nil
		}
		list = append(list, scan.Segment{Start: ref.Start, End: ref.End, Objects: objectsOf(objects)})
	}
	return list, published, nil
}
