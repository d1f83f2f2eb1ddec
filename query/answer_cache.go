package query

import (
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/memo"
)

// AnswerCache keeps rendered answers that never change, up to a number of bytes. It is safe for
// concurrent use.
type AnswerCache struct {
	answers *memo.LRU[string, []byte]

	mu    sync.Mutex
	asked [askedKeys]uint32
}

// askedKeys is about how many keys AskedAgain remembers.
const askedKeys = 1 << 15

// entryBytes is about what an entry takes beside its key and its text.
const entryBytes = 200

// NewAnswerCache returns a cache of so many bytes.
func NewAnswerCache(most int64) *AnswerCache {
	return &AnswerCache{answers: memo.NewLRU(most, func(key string, text []byte) int64 {
		return int64(2*len(key)+len(text)) + entryBytes
	})}
}

// Get returns a text that must not be changed.
func (c *AnswerCache) Get(key string) (text []byte, ok bool) { return c.answers.Get(key) }

// AskedAgain reports whether a key was asked for before, not long ago, and remembers that it
// was now. One key may be taken for another once in some billion times.
func (c *AnswerCache) AskedAgain(key string) bool {
	sum := xxh3.HashString(key)
	mark := uint32(sum>>32) | 1 // 0 is of no key
	c.mu.Lock()
	defer c.mu.Unlock()
	place := &c.asked[sum%askedKeys]
	again := *place == mark
	*place = mark
	return again
}

// Put keeps a text, which must not be changed afterwards, unless it would take more than an
// eighth of all there is.
func (c *AnswerCache) Put(key string, text []byte) { c.answers.Put(key, text) }
