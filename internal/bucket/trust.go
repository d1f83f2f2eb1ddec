package bucket

import (
	"sync"
	"time"
)

const (
	// trustedFor is how long an object that had its digest is taken to have it: so that what
	// a disk loses without changing the file's time is found within the hour.
	trustedFor = time.Hour
	// maxTrusted bounds the memory, at about 200 bytes each.
	maxTrusted = 64 << 10
)

// version tells contents of one key apart, as the store or the file system describes them.
type version struct {
	size     int64
	modified int64  // of a file, ns since 1970
	etag     string // of an object
}

// trust remembers the versions of objects that were read as a whole and had the digest that
// they were published with. It is safe for concurrent use.
type trust struct {
	now   func() time.Time
	mu    sync.Mutex
	known map[string]trusted
}

type trusted struct {
	sum     [32]byte
	version version
	until   time.Time
}

func newTrust(now func() time.Time) *trust {
	return &trust{now: now, known: make(map[string]trusted)}
}

func (t *trust) has(o Wanted, v version) bool {
	at := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.known[o.Key]
	return ok && known.sum == o.SHA256 && known.version == v && at.Before(known.until)
}

func (t *trust) add(o Wanted, v version) {
	until := t.now().Add(trustedFor)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxTrusted {
		clear(t.known) // all are checked once more
	}
	t.known[o.Key] = trusted{o.SHA256, v, until}
}
