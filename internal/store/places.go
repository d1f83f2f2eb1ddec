package store

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/cespare/xxhash/v2"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Key is the number by which a text is looked for, in table places and others: its XXH64, xxHash64
// in SQL. Two texts may have the same.
func Key(text string) uint64 { return xxhash.Sum64String(text) }

// Keys is the parameter value of the keys of some texts, an Array(UInt64).
func Keys(texts []string) string {
	keys := make([]uint64, len(texts))
	for i, text := range texts {
		keys[i] = Key(text)
	}
	return Numbers(keys)
}

// What leads to a place: see table places.
const (
	byUpdate   = "update"
	byVerdict  = "verdict"  // the id of the update that it is about
	byContract = "contract" // its creation, its end and its unassignments
	byExercise = "exercise" // a contract's exercises that did not end it
	byHash     = "hash"
	byParty    = "party"
)

// Places are rows of table places.
type Places struct {
	stream, kind      *lowCardinality
	key               proto.ColUInt64
	offset, migration proto.ColInt64
	recordTime        *proto.ColDateTime64

	parties []uint64 // keys of the update that is being added
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

// Append adds the rows of an item, none if it is an import update, which is looked up otherwise.
func (b *Places) Append(stream string, it *schemas.Item) {
	if v := it.Verdict; v != nil {
		b.add(stream, byVerdict, Key(v.UpdateID), place{migration: v.MigrationID, time: v.RecordTime})
	}
	if u := it.Update; u != nil && !u.IsImport() {
		b.addUpdate(stream, u)
	}
}

func (b *Places) addUpdate(stream string, u *schemas.Update) {
	at := place{offsetOf(u), u.MigrationID, u.RecordTime}
	b.add(stream, byUpdate, Key(u.UpdateID), at)
	if u.ExternalTransactionHash != "" {
		b.add(stream, byHash, Key(u.ExternalTransactionHash), at)
	}
	if u.Kind == schemas.Unassignment && u.Local == nil && u.Reassignment != nil { // on a node it has an event
		b.add(stream, byContract, Key(u.Reassignment.ContractID), at)
	}
	for i := range u.Events {
		e, kind := &u.Events[i], byExercise
		if e.Kind != schemas.Exercised || e.Consuming {
			kind = byContract
		}
		b.add(stream, kind, Key(e.ContractID), at)
	}
	b.addParties(stream, u, at)
}

// place is where an update stands, but for its id.
type place struct {
	offset, migration int64 // offset is 0 in public history
	time              schemas.Micros
}

func (b *Places) add(stream, kind string, key uint64, at place) {
	b.stream.Append(stream)
	b.kind.Append(kind)
	b.key.Append(key)
	b.offset.Append(at.offset)
	b.migration.Append(at.migration)
	appendTime(b.recordTime, at.time)
}

// addParties adds a row for each party of u.
func (b *Places) addParties(stream string, u *schemas.Update, at place) {
	b.parties = b.parties[:0]
	for i := range u.Events {
		e := &u.Events[i]
		if e.Local != nil {
			b.takeParties(e.Local.Witnesses)
			continue
		}
		b.takeParties(e.Signatories)
		b.takeParties(e.Observers)
		b.takeParties(e.ActingParties)
	}
	slices.Sort(b.parties)
	for _, key := range slices.Compact(b.parties) {
		b.add(stream, byParty, key, at)
	}
}

func (b *Places) takeParties(parties []string) {
	for _, party := range parties {
		b.parties = append(b.parties, Key(party))
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
