package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
)

// Movement is a row of table movements.
type Movement struct {
	schemas.Position
	Instrument string
	Round      int64
	coins.Movement
}

// Movements are rows of table movements.
type Movements struct {
	stream, party, instrument, class, purpose, counterparty, choice, template *lowCardinality
	migration, round, statedRound, offset                                     proto.ColInt64
	recordTime                                                                *proto.ColDateTime64
	updateID, reference, reason                                               texts
	entry, event                                                              proto.ColInt32
	pocket, cause, source                                                     proto.ColEnum
	amount                                                                    proto.ColDecimal128
}

// NewMovements returns a block without rows.
func NewMovements() *Movements {
	return &Movements{
		stream: newLowCardinality(), party: newLowCardinality(), instrument: newLowCardinality(), class: newLowCardinality(),
		purpose: newLowCardinality(), counterparty: newLowCardinality(), choice: newLowCardinality(), template: newLowCardinality(), recordTime: newTime(),
	}
}

func (b *Movements) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID}, {"entry", &b.entry},
		{"event", &b.event}, {"party", b.party}, {"instrument", b.instrument}, {"pocket", &b.pocket}, {"amount", decimals(&b.amount)},
		{"cause", &b.cause}, {"class", b.class}, {"purpose", b.purpose}, {"counterparty", b.counterparty}, {"round", &b.round},
		{"stated_round", &b.statedRound}, {"choice", b.choice}, {"template", b.template}, {"reference", &b.reference}, {"reason", &b.reason},
		{"source", &b.source}, {"node_offset", &b.offset},
	}
}

// Rows returns the number of rows.
func (b *Movements) Rows() int { return b.entry.Rows() }

// Append adds m, a movement of an update.
func (b *Movements) Append(stream string, m *Movement) {
	b.stream.Append(stream)
	b.migration.Append(m.MigrationID)
	appendTime(b.recordTime, Clamp(m.RecordTime))
	b.updateID.Append(m.UpdateID)
	b.entry.Append(m.Entry)
	b.event.Append(m.Event)
	b.party.Append(m.Party)
	b.instrument.Append(m.Instrument)
	b.pocket.Append(m.Pocket)
	b.amount.Append(decimal128(m.Amount))
	b.cause.Append(m.Cause)
	b.class.Append(m.Class)
	b.purpose.Append(m.Purpose)
	b.counterparty.Append(m.Counterparty)
	b.round.Append(m.Round)
	b.statedRound.Append(m.StatedRound)
	b.choice.Append(m.Choice)
	b.template.Append(m.Template)
	b.reference.Append(m.Reference)
	b.reason.Append(m.Reason)
	b.source.Append(m.Source)
	b.offset.Append(m.Offset)
}

// AppendTo appends the block's rows to list.
func (b *Movements) AppendTo(list []Movement) []Movement {
	updateID, reference, reason := stringsOf(&b.updateID), stringsOf(&b.reference), stringsOf(&b.reason)
	for i := range b.Rows() {
		list = append(list, Movement{
			Position:   schemas.Position{MigrationID: b.migration[i], RecordTime: timeAt(b.recordTime, i), UpdateID: updateID(i), Offset: b.offset[i]},
			Instrument: b.instrument.Row(i), Round: b.round[i],
			Movement: coins.Movement{
				Entry: b.entry[i], Event: b.event[i], Party: b.party.Row(i), Pocket: b.pocket.Row(i), Amount: decimalOf(b.amount[i]),
				Cause: b.cause.Row(i), Class: b.class.Row(i), Purpose: b.purpose.Row(i), Counterparty: b.counterparty.Row(i),
				StatedRound: b.statedRound[i], Choice: b.choice.Row(i), Template: b.template.Row(i), Reference: reference(i), Reason: reason(i),
				Source: b.source.Row(i),
			},
		})
	}
	return list
}

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
