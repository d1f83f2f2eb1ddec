package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
)

// RoundEntry is a row of table round_entries. Its position has no update id and no offset.
type RoundEntry struct {
	schemas.Position
	coins.RoundEntry
}

// RoundEntries are rows of table round_entries.
type RoundEntries struct {
	stream, party                                                  *lowCardinality
	migration, round, bytes, purchases                             proto.ColInt64
	recordTime                                                     *proto.ColDateTime64
	appRewards, validatorRewards, spent, initialChange, rateChange proto.ColDecimal128
}

// NewRoundEntries returns a block without rows.
func NewRoundEntries() *RoundEntries {
	return &RoundEntries{stream: newLowCardinality(), party: newLowCardinality(), recordTime: newTime()}
}

func (b *RoundEntries) columns() []column {
	return []column{
		{"stream", b.stream}, {"round", &b.round}, {"party", b.party}, {"migration_id", &b.migration}, {"record_time", b.recordTime},
		{"app_rewards", decimals(&b.appRewards)}, {"validator_rewards", decimals(&b.validatorRewards)}, {"traffic_bytes", &b.bytes},
		{"traffic_purchases", &b.purchases}, {"traffic_spent", decimals(&b.spent)}, {"initial_change", decimals(&b.initialChange)},
		{"rate_change", decimals(&b.rateChange)},
	}
}

// Rows returns the number of rows.
func (b *RoundEntries) Rows() int { return b.round.Rows() }

// Append adds e, an entry of an update.
func (b *RoundEntries) Append(stream string, e *RoundEntry) {
	b.stream.Append(stream)
	b.round.Append(e.Round)
	b.party.Append(e.Party)
	b.migration.Append(e.MigrationID)
	appendTime(b.recordTime, Clamp(e.RecordTime))
	b.appRewards.Append(decimal128(e.AppRewards))
	b.validatorRewards.Append(decimal128(e.ValidatorRewards))
	b.bytes.Append(e.TrafficBytes)
	b.purchases.Append(e.TrafficPurchases)
	b.spent.Append(decimal128(e.TrafficSpent))
	b.initialChange.Append(decimal128(e.InitialChange))
	b.rateChange.Append(decimal128(e.RateChange))
}

// AppendTo appends the block's rows to list.
func (b *RoundEntries) AppendTo(list []RoundEntry) []RoundEntry {
	for i := range b.Rows() {
		list = append(list, RoundEntry{
			Position: schemas.Position{MigrationID: b.migration[i], RecordTime: timeAt(b.recordTime, i)},
			RoundEntry: coins.RoundEntry{
				Round: b.round[i], Party: b.party.Row(i),
				AppRewards: decimalOf(b.appRewards[i]), ValidatorRewards: decimalOf(b.validatorRewards[i]),
				TrafficBytes: b.bytes[i], TrafficPurchases: b.purchases[i], TrafficSpent: decimalOf(b.spent[i]),
				InitialChange: decimalOf(b.initialChange[i]), RateChange: decimalOf(b.rateChange[i]),
			},
		})
	}
	return list
}
