package store

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/cespare/xxhash/v2"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// PartyKey is the key of a party in table party_offsets.
func PartyKey(party string) uint64 { return xxhash.Sum64String(party) }

// PartyOffsets are rows of table party_offsets.
type PartyOffsets struct {
	stream *lowCardinality
	key    proto.ColUInt64
	offset proto.ColInt64

	keys []uint64 // of the update that is being added
}

// NewPartyOffsets returns a block without rows.
func NewPartyOffsets() *PartyOffsets { return &PartyOffsets{stream: newLowCardinality()} }

func (b *PartyOffsets) columns() []column {
	return []column{{"stream", b.stream}, {"party_key", &b.key}, {"node_offset", &b.offset}}
}

// Rows returns the number of rows.
func (b *PartyOffsets) Rows() int { return b.key.Rows() }

// Append adds the rows of an update, none if it is one of public history.
func (b *PartyOffsets) Append(stream string, u *schemas.Update) {
	if u.Local == nil {
		return
	}
	b.keys = b.keys[:0]
	for i := range u.Events {
		if l := u.Events[i].Local; l != nil {
			for _, party := range l.Witnesses {
				b.keys = append(b.keys, PartyKey(party))
			}
		}
	}
	slices.Sort(b.keys)
	for _, key := range slices.Compact(b.keys) {
		b.stream.Append(stream)
		b.key.Append(key)
		b.offset.Append(u.Local.Offset)
	}
}
