package scan

import (
	"context"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
)

const (
	// listedFor is how long what the catalog says of an object is relied on. Published
	// objects do not change; an object that has expired or was withdrawn is still found for
	// at most so long, if it still exists.
	listedFor = 3 * time.Second
	// maxListings bounds the memory, at about half a KiB each.
	maxListings = 8192
)

// listings looks published objects up by their keys, one at a time, and remembers them for a
// moment: a client that downloads an object by ranges asks the catalog once. It is safe for
// concurrent use.
type listings struct {
	catalog *memo.Batcher[string, Object]
	known   *memo.Recent[string, Object]
	now     func() time.Time
}

func newListings(bulk Bulk, now func() time.Time) *listings {
	find := func(ctx context.Context, keys []string) (map[string]Object, error) { return bulk.Objects(ctx, keys...) }
	return &listings{memo.NewBatcher(find), memo.NewRecent[string, Object](maxListings, listedFor, now), now}
}

// object returns the published object of a key; ok is false if there is none.
func (l *listings) object(ctx context.Context, key string) (o Object, ok bool, err error) {
	asked := l.now()
	if o, ok := l.known.Get(key); ok {
		return o, true, nil
	}
	// A key of a request is only valid as long as that, and the lookup may last longer.
	o, ok, err = l.catalog.Get(ctx, strings.Clone(key))
	if ok && err == nil {
		l.known.Put(o.Key, o, asked)
	}
	return o, ok, err
}

// forget has the catalog asked again for a key.
func (l *listings) forget(key string) { l.known.Remove(key) }
