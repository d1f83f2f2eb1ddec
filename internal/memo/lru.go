package memo

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// LRU keeps values up to a total weight. The one that was used least recently is dropped first.
type LRU[K comparable, V any] struct {
	limit  int64
	weight func(K, V) int64

	mu     sync.Mutex
	held   int64
	values *simplelru.LRU[K, V]
}

// NewLRU returns an empty LRU. weight must always give the same for the same key and value.
func NewLRU[K comparable, V any](limit int64, weight func(K, V) int64) *LRU[K, V] {
	l := &LRU[K, V]{limit: limit, weight: weight}
	// The number of values is bounded by their weight. The only error is of a size below 1.
	l.values, _ = simplelru.NewLRU(math.MaxInt, func(key K, value V) { l.held -= weight(key, value) })
	return l
}

// Get returns the value of a key.
func (l *LRU[K, V]) Get(key K) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.values.Get(key)
}

// Put keeps a value in place of the one of its key. A value of more than an eighth of the
// maximum is not kept, unless its weight is 1: it would push out too many others.
func (l *LRU[K, V]) Put(key K, value V) {
	weight := l.weight(key, value)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values.Remove(key)
	if weight > max(1, l.limit/8) {
		return
	}
	l.held += weight
	l.values.Add(key, value)
	for l.held > l.limit {
		l.values.RemoveOldest()
	}
}

// Remove drops the value of a key.
func (l *LRU[K, V]) Remove(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values.Remove(key)
}

// RemoveFunc drops the values of all keys for which drop returns true.
func (l *LRU[K, V]) RemoveFunc(drop func(K) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.values.Keys() {
		if drop(key) {
			l.values.Remove(key)
		}
	}
}
