package published

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Object is a published object, in either layout.
type Object struct {
	Key    string
	Size   int64
	SHA256 [32]byte
}

func newObject(key string, size int64, sum string) (o Object, err error) {
	raw, err := hex.DecodeString(sum)
	if err != nil || len(raw) != len(o.SHA256) {
		return o, fmt.Errorf("the catalogue's SHA-256 of %s is malformed: %q", key, sum)
	}
	return Object{key, size, [32]byte(raw)}, nil
}

// PublishedSegments returns the published segments that overlap the record times after from
// and up to to, by migration and date, with their manifests. from MinMicros includes the
// imports.
func (c *Catalog) PublishedSegments(ctx context.Context, from, to schemas.Micros) ([]store.SegmentRow, error) {
	if from == schemas.MinMicros {
		from-- // exclusive, and imports are at MinMicros
	}
	return whole(ctx, c.Segments, (*store.SegmentRow).Ref, func(r *store.SegmentRow) bool {
		return r.State == Published && r.Start < int64(to) && r.End > int64(from)
	})
}

// PublishedFolders returns what is published in the network's layout, by start and kind.
func (c *Catalog) PublishedFolders(ctx context.Context) ([]store.NetworkFolderRow, error) {
	return whole(ctx, c.Folders, (*store.NetworkFolderRow).Ref, func(r *store.NetworkFolderRow) bool { return r.State == Published })
}

// whole returns the latest versions that are wanted, with what All leaves out.
func whole[R, T any](ctx context.Context, rows Rows[R, T], ref func(*T) R, wanted func(*T) bool) ([]T, error) {
	all, err := rows.All(ctx)
	if err != nil {
		return nil, err
	}
	var refs []R
	for i := range all {
		if wanted(&all[i]) {
			refs = append(refs, ref(&all[i]))
		}
	}
	found, err := rows.Some(ctx, refs)
	return slices.DeleteFunc(found, func(r T) bool { return !wanted(&r) }), err // some may have been withdrawn meanwhile
}

// ObjectsOf lists the objects of given segments and tables, of all tables if none are given,
// by table and part. A segment that is not published is left out; one whose tables are empty
// has an empty list.
func (c *Catalog) ObjectsOf(ctx context.Context, refs []schemas.SegmentRef, tables ...schemas.ParquetTable) (map[schemas.SegmentRef][]Object, error) {
	return c.objectsIn(ctx, []string{Published}, refs, tables...)
}

// objectsIn is ObjectsOf for segments in one of some states.
func (c *Catalog) objectsIn(ctx context.Context, states []string, refs []schemas.SegmentRef, tables ...schemas.ParquetTable) (map[schemas.SegmentRef][]Object, error) {
	rows, err := c.Segments.Some(ctx, refs)
	if err != nil {
		return nil, err
	}
	found := make(map[schemas.SegmentRef][]Object, len(refs))
	for i := range rows {
		if !slices.Contains(states, rows[i].State) {
			continue
		}
		m, err := c.ManifestOf(&rows[i])
		if err != nil {
			return nil, err
		}
		if found[m.Ref()], err = m.objects(tables); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// objects lists the objects of given tables, of all if none are given.
func (m *Manifest) objects(tables []schemas.ParquetTable) ([]Object, error) {
	objects := []Object{}
	for _, t := range m.Tables {
		if len(tables) > 0 && !slices.Contains(tables, t.Name) {
			continue
		}
		for _, p := range t.Parts {
			o, err := newObject(p.Key, p.Bytes, p.SHA256)
			if err != nil {
				return nil, err
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// FolderObjects lists the objects of given folders in one encoding, in the order of their
// lines. A folder that is not published is left out.
func (c *Catalog) FolderObjects(ctx context.Context, encoding schemas.Encoding, refs ...schemas.NetworkRef) (map[schemas.NetworkRef][]Object, error) {
	return c.folderObjectsIn(ctx, []string{Published}, refs, encoding)
}

// folderObjectsIn is FolderObjects for folders in one of some states and for some encodings.
func (c *Catalog) folderObjectsIn(ctx context.Context, states []string, refs []schemas.NetworkRef, encodings ...schemas.Encoding) (map[schemas.NetworkRef][]Object, error) {
	rows, err := c.Folders.Some(ctx, refs)
	if err != nil {
		return nil, err
	}
	found := make(map[schemas.NetworkRef][]Object, len(refs))
	for i := range rows {
		if !slices.Contains(states, rows[i].State) {
			continue
		}
		if found[rows[i].Ref()], err = objectsOf(&rows[i], encodings...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func objectsOf(row *store.NetworkFolderRow, encodings ...schemas.Encoding) ([]Object, error) {
	lines, err := LinesOf(row)
	if err != nil {
		return nil, err
	}
	objects := []Object{}
	for i := range lines {
		if !slices.Contains(encodings, lines[i].Encoding) {
			continue
		}
		for _, l := range lines[i].Objects {
			o, err := newObject(l.Key, l.Bytes, l.SHA256)
			if err != nil {
				return nil, err
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// Find looks published objects of both layouts up by their keys. Keys that no published
// object has are left out.
func (c *Catalog) Find(ctx context.Context, keys ...string) (map[string]Object, error) {
	return c.find(ctx, []string{Published}, keys)
}

// Checksums looks up the SHA-256 of objects that are published, or that wait in staging for
// peers to agree, in both layouts: this is what peers ask for. Keys of others are left out.
func (c *Catalog) Checksums(ctx context.Context, keys ...string) (map[string][32]byte, error) {
	found, err := c.find(ctx, []string{Published, Staged}, keys)
	sums := make(map[string][32]byte, len(found))
	for key, o := range found {
		sums[key] = o.SHA256
	}
	return sums, err
}

func (c *Catalog) find(ctx context.Context, states, keys []string) (map[string]Object, error) {
	wanted := make(map[string]bool, len(keys))
	segments := make(map[schemas.SegmentRef]bool)
	folders := make(map[schemas.NetworkRef]bool)
	for _, key := range keys {
		wanted[key] = true
		if _, ref, _, ok := schemas.ParseObjectKey(key); ok && ref.Stream == c.stream {
			segments[ref] = true
		} else if ref, _, _, ok := schemas.ParseNetworkKey(key); ok && ref.Stream == c.stream {
			folders[ref] = true
		}
	}
	found := make(map[string]Object, len(wanted))
	take := func(objects []Object) {
		for _, o := range objects {
			if wanted[o.Key] {
				found[o.Key] = o
			}
		}
	}
	bySegment, err := c.objectsIn(ctx, states, keysOf(segments))
	if err != nil {
		return nil, err
	}
	for _, objects := range bySegment {
		take(objects)
	}
	byFolder, err := c.folderObjectsIn(ctx, states, keysOf(folders), schemas.NetworkEncodings[:]...)
	if err != nil {
		return nil, err
	}
	for _, objects := range byFolder {
		take(objects)
	}
	return found, nil
}

func keysOf[K comparable](set map[K]bool) []K { return slices.Collect(maps.Keys(set)) }

// FolderSize sums up what is published in the network's layout in one encoding.
func (c *Catalog) FolderSize(ctx context.Context, encoding schemas.Encoding) (objects int, bytes int64, err error) {
	rows, err := c.PublishedFolders(ctx)
	if err != nil {
		return 0, 0, err
	}
	for i := range rows {
		list, err := objectsOf(&rows[i], encoding)
		if err != nil {
			return 0, 0, err
		}
		objects += len(list)
		for _, o := range list {
			bytes += o.Size
		}
	}
	return objects, bytes, nil
}

// NetworkFolders lists the published folders of updates that follow each other without a
// gap from the first one on, and returns the record time up to which they reach,
// schemas.MinMicros if there are none. Folders that have expired are left out.
func (c *Catalog) NetworkFolders(ctx context.Context) (folders []schemas.NetworkRef, through schemas.Micros, err error) {
	rows, err := c.Folders.All(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	through = schemas.MinMicros
	for i := range rows {
		ref := rows[i].Ref()
		if ref.Kind != schemas.NetworkUpdates || ref.Start != through {
			continue
		}
		switch rows[i].State {
		case Published:
			folders = append(folders, ref)
			through = ref.End
		case Expired: // no gap: it was there
			through = ref.End
		}
	}
	return folders, through, nil
}

// NetworkSets lists the published active sets by their instant, which is the start of their
// folder.
func (c *Catalog) NetworkSets(ctx context.Context) ([]schemas.NetworkRef, error) {
	rows, err := c.Folders.All(ctx)
	if err != nil {
		return nil, err
	}
	var sets []schemas.NetworkRef
	for i := range rows {
		if ref := rows[i].Ref(); ref.Kind == schemas.NetworkACS && rows[i].State == Published {
			sets = append(sets, ref)
		}
	}
	return sets, nil
}
