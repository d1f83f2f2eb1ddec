package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// sideData are rows of tables traffic and app_activity, which differ in names only:
// a number and a JSON text at a position.
type sideData struct {
	numberName, textName string
	stream               *lowCardinality
	migration, number    proto.ColInt64
	recordTime           *proto.ColDateTime64
	updateID, text       proto.ColStr
}

func newSideData(number, text string) sideData {
	return sideData{numberName: number, textName: text, stream: newLowCardinality(), recordTime: newTime()}
}

func (b *sideData) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{b.numberName, &b.number}, {b.textName, &b.text},
	}
}

// Rows returns the number of rows.
func (b *sideData) Rows() int { return b.updateID.Rows() }

func (b *sideData) append(stream string, p schemas.Position, number int64, text []byte) {
	b.stream.Append(stream)
	b.migration.Append(p.MigrationID)
	appendTime(b.recordTime, p.RecordTime)
	b.updateID.Append(p.UpdateID)
	b.number.Append(number)
	b.text.AppendBytes(text)
}

func (b *sideData) position(i int) schemas.Position {
	return schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: b.updateID.Row(i)}
}

// Traffic are rows of table traffic.
type Traffic struct{ sideData }

// NewTraffic returns a block without rows.
func NewTraffic() *Traffic { return &Traffic{newSideData("total_cost", "envelopes")} }

// Append adds the row of t, which belongs to the transaction at p.
func (b *Traffic) Append(stream string, p schemas.Position, t *schemas.TrafficSummary) {
	b.append(stream, p, t.TotalCost, t.Envelopes)
}

// AddTo adds the block's rows to m by position.
func (b *Traffic) AddTo(m map[schemas.Position]*schemas.TrafficSummary) {
	text := bytesOf(&b.text)
	for i := range b.Rows() {
		m[b.position(i)] = &schemas.TrafficSummary{TotalCost: b.number.Row(i), Envelopes: text(i)}
	}
}

// AppActivity are rows of table app_activity.
type AppActivity struct{ sideData }

// NewAppActivity returns a block without rows.
func NewAppActivity() *AppActivity { return &AppActivity{newSideData("round_number", "records")} }

// Append adds the row of a, which belongs to the transaction at p.
func (b *AppActivity) Append(stream string, p schemas.Position, a *schemas.AppActivity) {
	b.append(stream, p, a.RoundNumber, a.Records)
}

// AddTo adds the block's rows to m by position.
func (b *AppActivity) AddTo(m map[schemas.Position]*schemas.AppActivity) {
	text := bytesOf(&b.text)
	for i := range b.Rows() {
		m[b.position(i)] = &schemas.AppActivity{RoundNumber: b.number.Row(i), Records: text(i)}
	}
}
