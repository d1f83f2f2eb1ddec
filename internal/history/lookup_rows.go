package history

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

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

// LookupsStream names the journal of the copy by update id of a stream.
func LookupsStream(stream string) string { return stream + "/lookups" }

// LookupDictionaries returns those that the copies of a stream's items refer to, ascending.
func LookupDictionaries(ctx context.Context, db *store.DB, stream string) (list []store.LookupDictionary, err error) {
	block := store.NewLookupDictionaries()
	err = db.Select(ctx, lookupDictionariesQuery, store.Params{"stream": store.Text(stream)}, block, func() error {
		list = block.AppendTo(list)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the lookup dictionaries of %s: %w", stream, err)
	}
	return list, nil
}

// LookupsWatermark returns the position up to which items are copied by update id,
// schemas.Start if none are.
func (r *Reader) LookupsWatermark(ctx context.Context) (schemas.Position, error) {
	return r.lastCommit(ctx, LookupsStream(r.stream))
}

// Copies reads the items of a stream out of table lookup_rows. It is safe for concurrent use.
type Copies struct {
	packed
	catalog *values.Catalog
}

// NewCopies returns the copies of a stream's items whose values were converted by a catalogue.
func NewCopies(db *store.DB, stream string, catalog *values.Catalog) *Copies {
	return &Copies{packed: packed{db: db, stream: stream}, catalog: catalog}
}

// Copy is an item as it is kept.
type Copy struct {
	of     *Copies
	id     string
	bodies [][]byte // all that have the key, usually one
}

// ByID returns the copies of items with some update ids. Ids without one are absent: their
// items are newer than the copies, or there are none. Copies are made of committed history
// only, so that each may be shown; a verdict that came late is not in them.
func (c *Copies) ByID(ctx context.Context, ids []string) (map[string]Copy, error) {
	keys := make([]uint64, len(ids))
	for i, id := range ids {
		keys[i] = store.LookupKey(c.stream, id)
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
func (c Copy) Piece(ctx context.Context, buf []byte) (p store.LookupPiece, ok bool, err error) {
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
	return bytes.Equal(unpacked, store.AppendLookupPiece(nil, it, c.of.catalog)), true, nil
}

// unpacked returns the copy without and with its form, both nil if there is none.
func (c Copy) unpacked(ctx context.Context, buf []byte) (p store.LookupPiece, unpacked []byte, err error) {
	for _, body := range c.bodies {
		if unpacked, err = c.of.piece(ctx, buf[:0], body); err != nil {
			return p, nil, err
		}
		if p, err = store.ReadLookupPiece(unpacked); err != nil {
			return p, nil, fmt.Errorf("reading the copy of update %s: %w", c.id, err)
		}
		if p.IsOf(c.id) {
			return p, unpacked, nil
		}
	}
	return store.LookupPiece{}, nil, nil
}

// CopyState is what there is of the copy of an item.
type CopyState int

const (
	// CopySame is equal to its item, CopyDiffers is not, or was made with another catalogue.
	CopySame CopyState = iota
	CopyDiffers
	// CopyMissing is not there. In place of CopyReplaced stands another one with the same key:
	// who looks it up is given the original.
	CopyMissing
	CopyReplaced
	// CopyUnreadable cannot be read, see ComparedCopy.Err.
	CopyUnreadable
)

// ComparedCopy is a copy beside its item.
type ComparedCopy struct {
	At    schemas.Position
	State CopyState
	Err   error
}

// comparedAtOnce is how many items are compared at once.
const comparedAtOnce = 512

// Compare compares the items after one position through another with their copies, ascending.
func (c *Copies) Compare(ctx context.Context, after, through schemas.Position, each func(ComparedCopy)) error {
	if through.RecordTime == schemas.MinMicros {
		return nil // imports have no copies
	}
	original := NewReader(c.db, c.stream)
	for rg := (Range{After: after, Through: through, Limit: comparedAtOnce}); ; {
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

func (c *Copies) comparePage(ctx context.Context, items []schemas.Item, each func(ComparedCopy)) error {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].Position().UpdateID
	}
	copies, err := c.ByID(ctx, ids)
	if err != nil {
		return err
	}
	for i := range items {
		got := ComparedCopy{At: items[i].Position(), State: CopyMissing}
		if copied, ok := copies[ids[i]]; ok {
			got.State, got.Err = copied.compare(ctx, &items[i])
		}
		each(got)
	}
	return nil
}

func (c Copy) compare(ctx context.Context, it *schemas.Item) (CopyState, error) {
	switch same, ok, err := c.IsOf(ctx, it); {
	case err != nil:
		return CopyUnreadable, err
	case !ok:
		return CopyReplaced, nil
	case !same:
		return CopyDiffers, nil
	}
	return CopySame, nil
}

// Rows counts the copies; ok is true.
func (c *Copies) Rows(ctx context.Context) (n uint64, ok bool, err error) {
	block := store.NewCount()
	err = c.db.Select(ctx, lookupRowCountQuery, nil, block, func() error {
		n = block.Value()
		return nil
	})
	if err != nil {
		return 0, false, fmt.Errorf("counting copies by update id: %w", err)
	}
	return n, true, nil
}
