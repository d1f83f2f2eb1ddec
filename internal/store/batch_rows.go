package store

import "github.com/ledgerlake/ledgerlake/schemas"

// BatchRows are the rows of one batch, by table. They are used again for the next batch.
type BatchRows struct {
	updates  *Updates
	events   *Events
	imports  *Imports
	verdicts *Verdicts
	places   *Places

	hashes []uint64 // of the rows of one table
	hash   BatchHash
}

// NewBatchRows returns no rows.
func NewBatchRows() *BatchRows {
	return &BatchRows{
		updates: NewUpdates(), events: NewEvents(), imports: NewImports(), verdicts: NewVerdicts(), places: NewPlaces(),
	}
}

// HashBatch returns the hash of the rows of b. Two fetches of the same range give the same
// unless the upstream changed its history.
func HashBatch(b *schemas.Batch) string { return NewBatchRows().Fill(b) }

// Fill replaces the rows by those of b and returns their hash.
func (r *BatchRows) Fill(b *schemas.Batch) (hash string) {
	for _, block := range r.Blocks() {
		Reset(block)
	}
	for i := range b.Items {
		r.append(b.Stream, &b.Items[i])
	}
	r.places.Fill(b)
	r.hash.Reset()
	r.hash.AddUpdates(r.hashesOf(r.updates)...)
	r.hash.AddEvents(r.hashesOf(r.events)...)
	r.hash.AddImports(r.hashesOf(r.imports)...)
	r.hash.AddVerdicts(r.hashesOf(r.verdicts)...)
	return r.hash.Sum()
}

// hashesOf are valid until the next call.
func (r *BatchRows) hashesOf(b interface{ AppendHashes([]uint64) []uint64 }) []uint64 {
	r.hashes = b.AppendHashes(r.hashes[:0])
	return r.hashes
}

// Events is the number of rows of table events.
func (r *BatchRows) Events() int { return r.events.Rows() }

// Counts are the numbers of rows of the other tables.
func (r *BatchRows) Counts() *RowCounts {
	return &RowCounts{
		Updates: int64(r.updates.Rows()), Imports: int64(r.imports.Rows()), Verdicts: int64(r.verdicts.Rows()), Places: int64(r.places.Rows()),
	}
}

// Above are the numbers of rows of each table that stand above the position after which the batch
// begins, of places those above its record time. Tables without such rows are left out.
func (r *BatchRows) Above(after schemas.Position) map[string]uint64 {
	counts := make(map[string]uint64)
	for table, block := range r.Blocks() {
		n := block.Rows()
		if table == "places" {
			n = r.places.RowsAbove(after)
		}
		if n > 0 {
			counts[table] = uint64(n)
		}
	}
	return counts
}

// Blocks are the rows of each table by its name.
func (r *BatchRows) Blocks() map[string]Block {
	return map[string]Block{
		"updates": r.updates, "events": r.events, "imports": r.imports, "verdicts": r.verdicts,
		"places": r.places,
	}
}

func (r *BatchRows) append(stream string, it *schemas.Item) {
	switch u := it.Update; {
	case u == nil:
	case u.IsImport() && len(u.Events) == 0: // the writer refuses it
	case u.IsImport():
		r.imports.Append(stream, u)
	default:
		r.updates.Append(stream, u)
		r.events.Append(stream, u)
	}
	if it.Verdict != nil { // side data never comes without one
		r.verdicts.Append(stream, it)
	}
}
