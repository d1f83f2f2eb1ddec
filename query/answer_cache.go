package query

import (
	"container/list"
	"sync"

	"github.com/zeebo/xxh3"
)

// AnswerCache keeps rendered answers that never change, up to a number of bytes. The one
// that was not asked for the longest goes first. It is safe for concurrent use.
type AnswerCache struct {
	most int64

	mu    sync.Mutex
	held  int64
	byKey map[string]*list.Element
	order list.List // of *cachedAnswer, the latest in front
	asked [askedKeys]uint32
}

// askedKeys is of about how many keys AskedAgain remembers that they were asked for.
const askedKeys = 1 << 15

type cachedAnswer struct {
	key  string
	text []byte
}

// entryBytes is about what an entry takes beside its key and its text.
const entryBytes = 200

func (c *cachedAnswer) bytes() int64 { return int64(2*len(c.key)+len(c.text)) + entryBytes }

// NewAnswerCache returns a cache of so many bytes.
func NewAnswerCache(most int64) *AnswerCache {
	return &AnswerCache{most: most, byKey: make(map[string]*list.Element)}
}

// Get returns a text that must not be changed.
func (c *AnswerCache) Get(key string) (text []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedAnswer).text, true
}

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
func (c *AnswerCache) Put(key string, text []byte) {
	a := &cachedAnswer{key, text}
	if a.bytes() > c.most/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.order.PushFront(a)
	c.held += a.bytes()
	for c.held > c.most {
		last := c.order.Remove(c.order.Back()).(*cachedAnswer)
		delete(c.byKey, last.key)
		c.held -= last.bytes()
	}
}
