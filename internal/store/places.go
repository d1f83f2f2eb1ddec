package store

import (
	"cmp"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/cespare/xxhash/v2"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Key is the number by which a text is looked for: its XXH64, xxHash64 in SQL. Two texts may have
// the same.
func Key(text string) uint64 { return xxhash.Sum64String(text) }

// PlaceKind is what leads to a place: see table places.
type PlaceKind string

// The kinds of places.
const (
	ByUpdate   PlaceKind = "update"
	ByVerdict  PlaceKind = "verdict"  // the id of the update that it is about
	ByContract PlaceKind = "contract" // its creation, its end and its unassignments
	ByExercise PlaceKind = "exercise" // a contract's exercises that did not end it
	ByHash     PlaceKind = "hash"
	ByParty    PlaceKind = "party"
)

// PlaceKey is the key in table places of a text that leads to a place of a stream.
func PlaceKey(stream string, kind PlaceKind, text string) uint64 {
	var d xxhash.Digest
	d.Reset()
	for _, part := range [...]string{stream, " ", string(kind), " ", text} {
		_, _ = d.WriteString(part) // it takes everything
	}
	return d.Sum64()
}

// PlaceKeys is the parameter value of the keys of some texts, an Array(UInt64).
func PlaceKeys(stream string, kind PlaceKind, texts ...string) string {
	keys := make([]uint64, len(texts))
	for i, text := range texts {
		keys[i] = PlaceKey(stream, kind, text)
	}
	return Numbers(keys)
}

// Places are rows of table places.
type Places struct {
	stream, kind      *lowCardinality
	key               proto.ColUInt64
	offset, migration proto.ColInt64
	recordTime        *proto.ColDateTime64

	adding  []place  // in any order
	of      string   // the stream of adding
	parties []uint64 // keys of the update that is being added
}

// place is a row without its stream.
type place struct {
	key  uint64
	kind PlaceKind
	standing
}

// standing is where an update stands, but for its id. offset is 0 in public history.
type standing struct {
	offset, migration int64
	time              schemas.Micros
}

// NewPlaces returns a block without rows.
func NewPlaces() *Places {
	return &Places{stream: newLowCardinality(), kind: newLowCardinality(), recordTime: newTime()}
}

func (b *Places) columns() []column {
	return []column{
		{"stream", b.stream}, {"kind", b.kind}, {"place_key", &b.key}, {"node_offset", &b.offset},
		{"migration_id", &b.migration}, {"record_time", b.recordTime},
	}
}

// Rows returns the number of rows.
func (b *Places) Rows() int { return b.key.Rows() }

// RowsAbove counts the rows above the record time of a position, or above its offset.
func (b *Places) RowsAbove(p schemas.Position) (n int) {
	for i := range b.Rows() {
		at := schemas.Position{MigrationID: b.migration[i], RecordTime: timeAt(b.recordTime, i)}
		if b.offset[i] > 0 || p.RecordTime < at.RecordTime && p.MigrationID == at.MigrationID || p.MigrationID < at.MigrationID {
			n++
		}
	}
	return n
}

// Fill adds the rows of the items of a batch, in the order of the table, which saves the engine
// from sorting them. Import updates have none: they are looked up otherwise.
func (b *Places) Fill(batch *schemas.Batch) {
	b.adding, b.of = b.adding[:0], batch.Stream
	for i := range batch.Items {
		b.add(&batch.Items[i])
	}
	slices.SortFunc(b.adding, func(p, q place) int {
		if p.key != q.key {
			return cmp.Compare(p.key, q.key)
		}
		return cmp.Or(cmp.Compare(p.offset, q.offset), cmp.Compare(p.migration, q.migration), cmp.Compare(p.time, q.time))
	})
	for _, p := range b.adding {
		b.stream.Append(batch.Stream)
		b.kind.Append(string(p.kind))
		b.key.Append(p.key)
		b.offset.Append(p.offset)
		b.migration.Append(p.migration)
		appendTime(b.recordTime, p.time)
	}
}

func (b *Places) add(it *schemas.Item) {
	if v := it.Verdict; v != nil {
		b.addPlace(ByVerdict, v.UpdateID, standing{migration: v.MigrationID, time: v.RecordTime})
	}
	if u := it.Update; u != nil && !u.IsImport() {
		b.addUpdate(u, standing{offsetOf(u), u.MigrationID, u.RecordTime})
	}
}

func (b *Places) addPlace(kind PlaceKind, text string, at standing) {
	b.adding = append(b.adding, place{PlaceKey(b.of, kind, text), kind, at})
}

func (b *Places) addUpdate(u *schemas.Update, at standing) {
	b.addPlace(ByUpdate, u.UpdateID, at)
	if u.ExternalTransactionHash != "" {
		b.addPlace(ByHash, u.ExternalTransactionHash, at)
	}
	if u.Kind == schemas.Unassignment && u.Local == nil && u.Reassignment != nil { // on a node it has an event
		b.addPlace(ByContract, u.Reassignment.ContractID, at)
	}
	b.parties = b.parties[:0]
	for i := range u.Events {
		e, kind := &u.Events[i], ByExercise
		if e.Kind != schemas.Exercised || e.Consuming {
			kind = ByContract
		}
		b.addPlace(kind, e.ContractID, at)
		b.takeParties(e)
	}
	slices.Sort(b.parties)
	for _, key := range slices.Compact(b.parties) {
		b.adding = append(b.adding, place{key, ByParty, at})
	}
}

// takeParties takes the parties of an event: of a node's own stream its witnesses.
func (b *Places) takeParties(e *schemas.Event) {
	lists := [...][]string{e.Signatories, e.Observers, e.ActingParties}
	if e.Local != nil {
		lists = [...][]string{e.Local.Witnesses, nil, nil}
	}
	for _, list := range lists {
		for _, party := range list {
			b.parties = append(b.parties, PlaceKey(b.of, ByParty, party))
		}
	}
}

// FoundPlaces are result rows over places: place_key, migration_id, record_time.
type FoundPlaces struct {
	key        proto.ColUInt64
	migration  proto.ColInt64
	recordTime *proto.ColDateTime64
}

// NewFoundPlaces returns a block without rows.
func NewFoundPlaces() *FoundPlaces { return &FoundPlaces{recordTime: newTime()} }

func (b *FoundPlaces) columns() []column {
	return []column{{"place_key", &b.key}, {"migration_id", &b.migration}, {"record_time", b.recordTime}}
}

// Rows returns the number of rows.
func (b *FoundPlaces) Rows() int { return b.key.Rows() }

// FoundPlace is where an update stands that was looked for by a key.
type FoundPlace struct {
	Key         uint64
	MigrationID int64
	RecordTime  schemas.Micros
}

// AppendTo appends the block's rows to list.
func (b *FoundPlaces) AppendTo(list []FoundPlace) []FoundPlace {
	for i := range b.Rows() {
		list = append(list, FoundPlace{b.key.Row(i), b.migration.Row(i), timeAt(b.recordTime, i)})
	}
	return list
}
