package copies

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// packed reads the bodies of a stream's copies and unpacks them.
type packed struct {
	db       *store.DB
	stream   string
	unpacker atomic.Pointer[Unpacker]
}

// Journal returns all lines of the journal of the copies, see journal.Read.
func (c *packed) Journal(ctx context.Context) ([]journal.Row, error) {
	return journal.Read(ctx, c.db, journal.LookupsStream(c.stream))
}

// bodies returns all bodies that a query finds by their keys. Two copies may have one key.
func (c *packed) bodies(ctx context.Context, query string, keys []uint64) (map[uint64][][]byte, error) {
	found := make(map[uint64][][]byte, len(keys))
	block := store.NewLookupRows()
	return found, c.db.Select(ctx, query, store.Params{"keys": store.Numbers(keys)}, block, func() error {
		block.Each(func(key uint64, body []byte) { found[key] = append(found[key], body) })
		return nil
	})
}

// piece unpacks a body. One that refers to a dictionary that is not known has been packed
// since they were read.
func (c *packed) piece(ctx context.Context, buf, body []byte) ([]byte, error) {
	if u := c.unpacker.Load(); u != nil {
		piece, err := u.Piece(buf, body)
		if !errors.Is(err, ErrNoDictionary) {
			return piece, err
		}
	}
	dictionaries, err := Dictionaries(ctx, c.db, c.stream)
	if err != nil {
		return nil, err
	}
	u, err := NewUnpacker(dictionaries)
	if err != nil {
		return nil, err
	}
	c.unpacker.Store(u)
	return u.Piece(buf, body)
}
