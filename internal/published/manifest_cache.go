package published

import (
	"container/list"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// cachedManifests is how many decoded manifests a catalogue keeps: decoding is most
// of the work of a lookup, and downloads come back to the same segments.
const cachedManifests = 256

// manifestCache keeps the manifests that were used last. A row of the catalog never
// changes, so nothing in it becomes stale.
type manifestCache struct {
	mu   sync.Mutex
	max  int
	byID map[manifestID]*list.Element
	// used holds *cachedManifest, the one used last in front.
	used list.List
}

type manifestID struct {
	ref     schemas.SegmentRef
	version int64
}

type cachedManifest struct {
	id       manifestID
	manifest *Manifest
}

func newManifestCache(size int) *manifestCache {
	return &manifestCache{max: size, byID: make(map[manifestID]*list.Element)}
}

// of returns the row's manifest. It is shared and must not be changed.
func (c *manifestCache) of(row *store.SegmentRow) (*Manifest, error) {
	id := manifestID{row.Ref(), row.Version}
	if m := c.get(id); m != nil {
		return m, nil
	}
	m, err := DecodeManifest([]byte(row.Manifest))
	if err != nil {
		return nil, err
	}
	c.put(id, m)
	return m, nil
}

func (c *manifestCache) get(id manifestID) *Manifest {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cachedManifest).manifest
}

func (c *manifestCache) put(id manifestID, m *Manifest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byID[id]; ok {
		return // another caller was faster
	}
	c.byID[id] = c.used.PushFront(&cachedManifest{id, m})
	if c.used.Len() > c.max {
		delete(c.byID, c.used.Remove(c.used.Back()).(*cachedManifest).id)
	}
}
