package schemas

import (
	"reflect"
	"strings"
	"testing"
)

var rowTypes = map[ParquetTable]reflect.Type{
	ParquetUpdates: reflect.TypeFor[UpdateRow](), ParquetEvents: reflect.TypeFor[EventRow](),
	ParquetACS: reflect.TypeFor[ActiveContractRow](), ParquetVerdicts: reflect.TypeFor[VerdictRow](),
	ParquetTraffic: reflect.TypeFor[TrafficRow](), ParquetAppActivity: reflect.TypeFor[AppActivityRow](),
	ParquetImports: reflect.TypeFor[ImportRow](),
}

func TestEveryTableHasDescribedColumns(t *testing.T) {
	listed := append(SegmentRef{Date: "2026-07-01"}.Tables(), SegmentRef{}.Tables()...)
	if len(listed) != len(rowTypes) {
		t.Errorf("segments have %d tables, %d have a row type", len(listed), len(rowTypes))
	}
	for _, table := range listed {
		columns := make(map[string]bool)
		for _, field := range reflect.VisibleFields(rowTypes[table]) {
			name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
			if name == "" || columns[name] || !strings.HasSuffix(field.Tag.Get("doc"), ".") {
				t.Errorf("column %q of table %s is unnamed, doubled or not described", name, table)
			}
			columns[name] = true
		}
		for _, name := range append(table.SortKey(), table.BloomColumns()...) {
			if !columns[name] {
				t.Errorf("table %s has no column %s to sort or filter by", table, name)
			}
		}
	}
}

func TestUpdateIsNotRebuiltFromOtherEvents(t *testing.T) {
	u := Update{Kind: Transaction, UpdateID: "u", Events: []Event{{Kind: Created, EventID: "u:0"}, {Kind: Exercised, EventID: "u:1", Node: 1}}}
	var row UpdateRow
	if err := row.Set(&u); err != nil {
		t.Fatal(err)
	}
	events := make([]EventRow, 2)
	for i := range events {
		events[i].SetEvent(&u, i)
	}
	if _, err := row.Update(events); err != nil {
		t.Fatal(err)
	}
	foreign := []EventRow{events[0], events[1]}
	foreign[1].UpdateID = "v"
	moved := row
	moved.Kind = string(Assignment)
	for _, tt := range []struct {
		name   string
		row    UpdateRow
		events []EventRow
	}{
		{"an event is missing", row, events[:1]},
		{"an event of another update", row, foreign},
		{"an assignment with the events of a transaction", moved, events},
		{"an assignment of a created node", UpdateRow{UpdateID: "u", Kind: string(Assignment), EventCount: 1}, events[:1]},
	} {
		if got, err := tt.row.Update(tt.events); err == nil {
			t.Errorf("%s: rebuilt as %+v", tt.name, got)
		}
	}
}
