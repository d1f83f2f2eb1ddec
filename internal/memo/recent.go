package memo

import "time"

// Recent keeps values for a fixed time.
type Recent[K comparable, V any] struct {
	ttl    time.Duration
	now    func() time.Time
	values *LRU[K, dated[V]]
}

type dated[V any] struct {
	value V
	until time.Time
}

// NewRecent returns a Recent of at most max values, each kept for ttl.
func NewRecent[K comparable, V any](max int, ttl time.Duration, now func() time.Time) *Recent[K, V] {
	return &Recent[K, V]{ttl, now, NewLRU(int64(max), func(K, dated[V]) int64 { return 1 })}
}

// Get returns the value of a key unless it is too old.
func (r *Recent[K, V]) Get(key K) (V, bool) {
	d, ok := r.values.Get(key)
	return d.value, ok && r.now().Before(d.until)
}

// Put keeps a value that was true at an instant.
func (r *Recent[K, V]) Put(key K, value V, at time.Time) {
	r.values.Put(key, dated[V]{value, at.Add(r.ttl)})
}

// Remove drops the value of a key.
func (r *Recent[K, V]) Remove(key K) { r.values.Remove(key) }

// RemoveFunc drops the values of all keys for which drop returns true.
func (r *Recent[K, V]) RemoveFunc(drop func(K) bool) { r.values.RemoveFunc(drop) }
