package export

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// refsPerQuery keeps the parameters of a query far below what a server accepts.
const refsPerQuery = 500

// NetworkFolders lists the published folders of updates that follow each other without a
// gap from the first one on, and returns the record time up to which they reach,
// schemas.MinMicros if there are none. Folders that have expired are left out.
func (e *Exporter) NetworkFolders(ctx context.Context) (folders []schemas.NetworkRef, through schemas.Micros, err error) {
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	through = schemas.MinMicros
	for i := range rows {
		ref := rows[i].ref()
		if ref.Kind != schemas.NetworkUpdates || ref.Start != through {
			continue
		}
		switch rows[i].State {
		case published:
			folders = append(folders, ref)
			through = ref.End
		case expired: // no gap: it was there
			through = ref.End
		}
	}
	return folders, through, nil
}

// NetworkSets lists the published active sets by their instant, which is the start of their
// folder.
func (e *Exporter) NetworkSets(ctx context.Context) ([]schemas.NetworkRef, error) {
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, err
	}
	var sets []schemas.NetworkRef
	for i := range rows {
		if ref := rows[i].ref(); ref.Kind == schemas.NetworkACS && rows[i].State == published {
			sets = append(sets, ref)
		}
	}
	return sets, nil
}

// NetworkObjects returns what is published of the given references; the others are left out.
func (e *Exporter) NetworkObjects(ctx context.Context, refs ...schemas.NetworkRef) (map[schemas.NetworkRef][]NetworkLines, error) {
	return e.networkIn(ctx, []string{published}, refs)
}

// networkIn is NetworkObjects for what is in one of some states.
func (e *Exporter) networkIn(ctx context.Context, states []string, refs []schemas.NetworkRef) (map[schemas.NetworkRef][]NetworkLines, error) {
	rows, err := e.network.some(ctx, refs)
	if err != nil {
		return nil, err
	}
	found := make(map[schemas.NetworkRef][]NetworkLines, len(rows))
	for i := range rows {
		if !slices.Contains(states, rows[i].State) {
			continue
		}
		if found[rows[i].ref()], err = rows[i].lines(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// FindNetwork looks published objects up by their keys. Keys that no published object has
// are left out.
func (e *Exporter) FindNetwork(ctx context.Context, keys ...string) (map[string]NetworkObject, error) {
	return e.findNetwork(ctx, []string{published}, keys)
}

func (e *Exporter) findNetwork(ctx context.Context, states, keys []string) (map[string]NetworkObject, error) {
	wanted := make(map[string]bool, len(keys))
	asked := make(map[schemas.NetworkRef]bool)
	var refs []schemas.NetworkRef
	for _, key := range keys {
		ref, _, _, ok := schemas.ParseNetworkKey(key)
		if !ok || ref.Stream != e.stream {
			continue
		}
		wanted[key] = true
		if !asked[ref] {
			asked[ref] = true
			refs = append(refs, ref)
		}
	}
	listed, err := e.networkIn(ctx, states, refs)
	if err != nil {
		return nil, err
	}
	found := make(map[string]NetworkObject, len(wanted))
	for _, lines := range listed {
		for i := range lines {
			for _, o := range lines[i].Objects {
				if wanted[o.Key] {
					found[o.Key] = o
				}
			}
		}
	}
	return found, nil
}

// publishedFolders returns the rows of all that is published in the network's layout.
func (e *Exporter) publishedFolders(ctx context.Context) ([]networkRow, error) {
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, err
	}
	var refs []schemas.NetworkRef
	for i := range rows {
		if rows[i].State == published {
			refs = append(refs, rows[i].ref())
		}
	}
	var all []networkRow
	for part := range slices.Chunk(refs, refsPerQuery) {
		some, err := e.network.some(ctx, part)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// NetworkStored sums up what all that is published takes in one encoding.
func (e *Exporter) NetworkStored(ctx context.Context, encoding schemas.Encoding) (objects int, bytes int64, err error) {
	rows, err := e.publishedFolders(ctx)
	if err != nil {
		return 0, 0, err
	}
	for i := range rows {
		lines, err := rows[i].lines()
		if err != nil {
			return 0, 0, err
		}
		for _, l := range lines {
			if l.Encoding != encoding {
				continue
			}
			for _, o := range l.Objects {
				objects++
				bytes += o.Bytes
			}
		}
	}
	return objects, bytes, nil
}
