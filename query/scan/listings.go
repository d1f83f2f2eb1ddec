package scan

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// listedFor is how long what the catalog says of an object is relied on. Published
	// objects do not change; an object that has expired or was withdrawn is still found for
	// at most so long, if it is still there.
	listedFor = 3 * time.Second
	// maxListings bounds the memory, at about half a KiB each.
	maxListings = 8192
)

// listings looks published objects up by their keys, one at a time, and remembers them for a
// moment: a client that downloads an object by ranges asks the catalog once. It is safe for
// concurrent use.
type listings struct {
	catalog *lookups[Object]
	now     func() time.Time

	mu    sync.Mutex
	known map[string]listing
}

type listing struct {
	object Object
	until  time.Time
}

func newListings(bulk Bulk, now func() time.Time) *listings {
	find := func(ctx context.Context, keys []string) (map[string]Object, error) { return bulk.Objects(ctx, keys...) }
	return &listings{catalog: newLookups(find), now: now, known: make(map[string]listing)}
}

// object returns the published object of a key; ok is false if there is none.
func (l *listings) object(ctx context.Context, key string) (o Object, ok bool, err error) {
	asked := l.now()
	if o, ok := l.recall(key, asked); ok {
		return o, true, nil
	}
	// A key of a request is only valid as long as that, and the lookup may last longer.
	o, ok, err = l.catalog.get(ctx, strings.Clone(key))
	if ok && err == nil {
		l.keep(o, asked.Add(listedFor))
	}
	return o, ok, err
}

func (l *listings) recall(key string, at time.Time) (Object, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.known[key]
	return found.object, ok && at.Before(found.until)
}

func (l *listings) keep(o Object, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= maxListings {
		clear(l.known) // they are worth one query each, and most are old
	}
	l.known[o.Key] = listing{o, until}
}

// forget has the catalog asked again for a key.
func (l *listings) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, key)
}
