package store

import (
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestRecordsComeBack(t *testing.T) {
	comeBack(t, NewRecords[SegmentRow]())
	comeBack(t, NewRecords[NetworkFolderRow]())
	comeBack(t, NewRecords[PublishedRow]())
	comeBack(t, NewRecords[ExportDisagreementRow]())
	comeBack(t, NewRecords[CollectionRow]())
	comeBack(t, NewRecords[StreamRow]())
	comeBack(t, NewRecords[SynchronizerRange]())
	comeBack(t, NewRecords[ImportCount]())
	comeBack(t, NewRecords[LedgerTemplate]())
	comeBack(t, NewRecords[WalletPlace]())
	comeBack(t, NewRecords[Name]())
	comeBack(t, NewRecords[Count]())
	comeBack(t, NewRecords[Span]())
	comeBack(t, NewBatches())
	comeBack(t, ofOneStream[WalletStatus]{NewStreamRecords[WalletStatus]()})
	comeBack(t, ofOneStream[LookupDictionary]{NewStreamRecords[LookupDictionary]()})
}

// ofOneStream appends rows of one stream.
type ofOneStream[T any] struct{ *StreamRecords[T] }

func (b ofOneStream[T]) Append(row T) { b.StreamRecords.Append("stream", row) }

// comeBack appends random rows to a block, and reads them.
func comeBack[T any](t *testing.T, b interface {
	Rows[T]
	Append(row T)
}) {
	t.Helper()
	random := rand.New(rand.NewSource(1))
	var rows []T
	for range 20 {
		row, ok := quick.Value(reflect.TypeFor[T](), random)
		if !ok {
			t.Fatalf("no %T can be made", rows)
		}
		rows = append(rows, row.Interface().(T))
		b.Append(rows[len(rows)-1])
	}
	for _, c := range b.columns() {
		if c.data.Rows() != len(rows) {
			t.Errorf("column %s of %T has %d rows, not %d", c.name, rows, c.data.Rows(), len(rows))
		}
	}
	if got := b.AppendTo(nil); b.Rows() != len(rows) || !reflect.DeepEqual(got, rows) {
		t.Errorf("%+v came back as %+v", rows, got)
	}
	Reset(b)
	if b.Rows() != 0 {
		t.Errorf("%d rows of %T are left", b.Rows(), rows)
	}
}

// Disagreements are of public history, which has no offsets.
func TestPublicPositionsHaveNoOffset(t *testing.T) {
	b := NewRecords[DisagreementRow]()
	at := schemas.Position{MigrationID: 2, RecordTime: schemas.MinMicros, UpdateID: "1220"}
	row := DisagreementRow{Stream: "scan", After: schemas.Start, Through: at, Resolved: true, Items: 3}
	b.Append(row)
	if got := b.AppendTo(nil); len(got) != 1 || got[0] != row {
		t.Errorf("%+v came back as %+v", row, got)
	}
	for _, c := range b.columns() {
		if c.name == "through_offset" {
			t.Error("there is a column through_offset")
		}
	}
}
