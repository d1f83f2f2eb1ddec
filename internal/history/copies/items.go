// Package copies reads the copies of updates that answer lookups: items of public history by update
// id, and updates of nodes' streams by offset. It knows how they are encoded, packed and compared
// with their originals.
package copies

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed sql/lookup_rows.sql
var lookupRowsQuery string

//go:embed sql/lookup_dictionaries.sql
var lookupDictionariesQuery string

//go:embed sql/lookup_row_count.sql
var lookupRowCountQuery string

// Dictionaries returns those that the copies of a stream's items refer to, ascending.
func Dictionaries(ctx context.Context, db *store.DB, stream string) (list []store.LookupDictionary, err error) {
	list, err = store.SelectAll(ctx, db, lookupDictionariesQuery, store.Params{"stream": store.Text(stream)}, store.NewStreamRecords[store.LookupDictionary]())
	if err != nil {
		return nil, fmt.Errorf("reading the lookup dictionaries of %s: %w", stream, err)
	}
	return list, nil
}

// Key is where the item with an update id of a stream is in table lookup_rows. Two ids may have
// one key: bodies tell.
func Key(stream, updateID string) uint64 { return xxh3.HashString(stream + "\x00" + updateID) }

// Items reads the items of a stream out of table lookup_rows. It is safe for concurrent use.
type Items struct {
	packed
	catalog *values.Catalog
}

// NewItems returns the copies of a stream's items whose values were converted by a catalogue.
func NewItems(db *store.DB, stream string, catalog *values.Catalog) *Items {
	return &Items{packed: packed{db: db, stream: stream}, catalog: catalog}
}

// Copy is an item as it is kept.
type Copy struct {
	of     *Items
	id     string
	bodies [][]byte // all that have the key, usually one
}

// ByID returns the copies of items with some update ids. Ids without one are absent: their
// items are newer than the copies, or there are none. Copies are made of committed history
// only, so that each may be shown; a verdict that came late is not in them.
func (c *Items) ByID(ctx context.Context, ids []string) (map[string]Copy, error) {
	keys := make([]uint64, len(ids))
	for i, id := range ids {
		keys[i] = Key(c.stream, id)
	}
	bodies, err := c.bodies(ctx, lookupRowsQuery, keys)
	if err != nil {
		return nil, fmt.Errorf("looking up the copies of %d update ids: %w", len(ids), err)
	}
	copies := make(map[string]Copy, len(ids))
	for i, id := range ids {
		if found := bodies[keys[i]]; len(found) > 0 {
			copies[id] = Copy{of: c, id: id, bodies: found}
		}
	}
	return copies, nil
}

// Piece returns the copy in one piece; ok is false if what has its key is another item, or
// was converted by another catalogue. It is unpacked into buf, which may be nil.
func (c Copy) Piece(ctx context.Context, buf []byte) (p Piece, ok bool, err error) {
	p, _, err = c.unpacked(ctx, buf)
	return p, p.Text != nil && p.Catalog == c.of.catalog.Fingerprint(), err
}

// IsOf reports whether the copy is that of an item, made with the catalogue at hand; ok is
// false if what has its key is another item.
func (c Copy) IsOf(ctx context.Context, it *schemas.Item) (same, ok bool, err error) {
	p, unpacked, err := c.unpacked(ctx, nil)
	if err != nil || p.Text == nil {
		return false, false, err
	}
	return bytes.Equal(unpacked, AppendPiece(nil, it, c.of.catalog)), true, nil
}

// unpacked returns the copy without and with its form, both nil if there is none.
func (c Copy) unpacked(ctx context.Context, buf []byte) (p Piece, unpacked []byte, err error) {
	for _, body := range c.bodies {
		if unpacked, err = c.of.piece(ctx, buf[:0], body); err != nil {
			return p, nil, err
		}
		if p, err = ReadPiece(unpacked); err != nil {
			return p, nil, fmt.Errorf("reading the copy of update %s: %w", c.id, err)
		}
		if p.IsOf(c.id) {
			return p, unpacked, nil
		}
	}
	return Piece{}, nil, nil
}

// State is what there is of the copy of an item.
type State int

const (
	// Same is equal to its item, Differs is not, or was made with another catalogue.
	Same State = iota
	Differs
	// Missing is not there. In place of Replaced stands another one with the same key:
	// who looks it up is given the original.
	Missing
	Replaced
	// Unreadable cannot be read, see Compared.Err.
	Unreadable
)

// Compared is a copy beside its item.
type Compared struct {
	At    schemas.Position
	State State
	Err   error
}

// comparedAtOnce is how many items are compared at once.
const comparedAtOnce = 512

// Compare compares the items after one position through another with their copies, ascending.
func (c *Items) Compare(ctx context.Context, after, through schemas.Position, each func(Compared)) error {
	if through.RecordTime == schemas.MinMicros {
		return nil // imports have no copies
	}
	original := history.NewReader(c.db, c.stream)
	for rg := (history.Range{After: after, Through: through, Limit: comparedAtOnce}); ; {
		items, err := original.Items(ctx, rg)
		if err != nil || len(items) == 0 {
			return err
		}
		if err := c.comparePage(ctx, items, each); err != nil || len(items) < rg.Limit {
			return err
		}
		rg.After = items[len(items)-1].Position()
	}
}

func (c *Items) comparePage(ctx context.Context, items []schemas.Item, each func(Compared)) error {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].Position().UpdateID
	}
	copies, err := c.ByID(ctx, ids)
	if err != nil {
		return err
	}
	for i := range items {
		got := Compared{At: items[i].Position(), State: Missing}
		if copied, ok := copies[ids[i]]; ok {
			got.State, got.Err = copied.compare(ctx, &items[i])
		}
		each(got)
	}
	return nil
}

func (c Copy) compare(ctx context.Context, it *schemas.Item) (State, error) {
	switch same, ok, err := c.IsOf(ctx, it); {
	case err != nil:
		return Unreadable, err
	case !ok:
		return Replaced, nil
	case !same:
		return Differs, nil
	}
	return Same, nil
}

// Rows counts the copies; ok is true.
func (c *Items) Rows(ctx context.Context) (n uint64, ok bool, err error) {
	count, _, err := store.SelectOne(ctx, c.db, lookupRowCountQuery, nil, store.NewRecords[store.Count]())
	if err != nil {
		return 0, false, fmt.Errorf("counting copies by update id: %w", err)
	}
	return count.N, true, nil
}
