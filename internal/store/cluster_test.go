package store

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

// filled are blocks of all tables that are spread over shards, with rows.
func filled(t *testing.T) map[string]Block {
	t.Helper()
	rows := NewBatchRows()
	rows.Fill(&schemas.Batch{Stream: schemas.ScanStream, Items: schematest.New(schematest.Config{Seed: 3, Items: 200}).Items})
	blocks := maps.Clone(rows.Blocks())
	lifetimes, ends, ended := NewLifetimes(), NewEnds(), NewEndedContracts()
	contracts, entries, statuses, movements, inRounds := NewWalletContracts(), NewWalletLog(), NewStreamRecords[WalletStatus](), NewMovements(), NewRoundEntries()
	hours := NewStreamRecords[struct { // which statements fill on each shard
		Party string `column:"party,low"`
	}]()
	one, err := decimal.Parse("1.5")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		id, party := fmt.Sprintf("00%d", i), fmt.Sprintf("party-%d", i%7)
		row := ContractRow{Event: schemas.Event{ContractID: id, Argument: []byte(`{"n":1}`), Signatories: []string{party}, Observers: []string{"o", party}}}
		lifetimes.Append("s", &Lifetime{ContractRow: row, ArchivedAt: NeverArchived})
		ends.Append(End{ContractID: id, At: 5})
		ended.Append("s", EndedContract{Key: Key(id), Signatories: []string{party}})
		contracts.Append("s", &WalletContract{ContractRow: row, Party: party, Ended: i%2 == 0, WalletTerms: WalletTerms{Amount: one, ExpiresAt: NeverArchived}})
		entries.Append("s", &WalletEntry{Party: party, Offset: int64(i), Receivers: []PartyAmount{{Party: party, Amount: one}}})
		movements.Append("s", &Movement{Movement: coins.Movement{Party: party, Amount: one, Pocket: coins.Locked, Cause: coins.Mint, Source: coins.FromCoins}})
		inRounds.Append("s", &RoundEntry{RoundEntry: coins.RoundEntry{Party: party, AppRewards: one}})
		hours.Append("s", struct {
			Party string `column:"party,low"`
		}{party})
		statuses.Append("s", WalletStatus{Party: party, Kind: TrackedOffer, TrackingID: id})
	}
	for table, block := range map[string]Block{
		"contracts_live": lifetimes, "contracts_archived": lifetimes, "contract_ends": ends, "ended_contracts": ended,
		"wallet_contracts": contracts, "wallet_log": entries, "wallet_status": statuses, "movements": movements, "round_entries": inRounds,
		"balance_hours": hours, "party_hours": hours,
	} {
		blocks[table] = block
	}
	return blocks
}

// encoded is row i of each column as it is sent.
func encoded(b Block, i int) (row []string) {
	for _, c := range b.columns() {
		row = append(row, c.name+" "+string(c.data.Type())+" "+valueOf(c.data, i))
	}
	return row
}

func valueOf(c proto.Column, i int) string {
	switch data := c.(type) {
	case alias:
		return valueOf(data.Column, i)
	case *proto.ColDateTime64:
		return fmt.Sprint(data.Data[i])
	case interface{ Row(int) string }:
		return data.Row(i)
	case interface{ Row(int) int64 }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) int32 }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) uint64 }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) bool }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) proto.Decimal128 }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) []string }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) []int32 }:
		return fmt.Sprint(data.Row(i))
	case interface{ Row(int) []proto.Decimal128 }:
		var list []any
		for _, v := range data.Row(i) {
			list = append(list, decimalOf(v))
		}
		return fmt.Sprint(list)
	case *lists:
		return fmt.Sprint(data.value(i))
	}
	return fmt.Sprintf("no value of %T", c)
}

// TestSplit fails unless the shards of a block together have its rows, each once and where its key puts
// it, in their order.
func TestSplit(t *testing.T) {
	blocks := filled(t)
	for table, name := range shardedBy {
		b, ok := blocks[table]
		if !ok || b.Rows() == 0 {
			t.Errorf("table %s has no rows to split", table)
			continue
		}
		columns := b.columns()
		keys := shardKeys(columns[slices.IndexFunc(columns, func(c column) bool { return c.name == name })])
		next := make([]int, 3)
		parts := split(b, name, 3)
		for i, key := range keys {
			n := key % 3
			if got, want := encoded(parts[n], next[n]), encoded(b, i); !slices.Equal(got, want) {
				t.Fatalf("row %d of %s is on shard %d\n%q, want\n%q", i, table, n, got, want)
			}
			next[n]++
		}
		for n, part := range parts {
			if part.Rows() != next[n] {
				t.Errorf("shard %d has %d rows of %s, want %d", n, part.Rows(), table, next[n])
			}
			for _, c := range part.columns() {
				if c.data.Rows() != part.Rows() {
					t.Errorf("column %s of %s has %d rows of %d", c.name, table, c.data.Rows(), part.Rows())
				}
			}
		}
	}
}

// TestColumnsOfAnyTable adds the rows of each table, cut in two, to columns made of the names of their
// types, as rows are copied.
func TestColumnsOfAnyTable(t *testing.T) {
	for table, b := range filled(t) {
		var of []TableColumn
		for _, c := range b.columns() {
			name := string(c.data.Type())
			if _, ok := c.data.(*proto.ColEnum); ok {
				name = "Enum8('offer' = 1)" // what the server says
			}
			of = append(of, TableColumn{Table: table, Name: c.name, Type: name})
		}
		read, added := columnsOf(t, of), columnsOf(t, of)
		for i, c := range b.columns() {
			half := b.Rows() / 2
			from := c.data
			if _, ok := from.(*proto.ColEnum); !ok {
				send(t, from, read.list[i].data)
				from = read.list[i].data
			}
			addRows(added.list[i].data, from, 0, half)
			addRows(added.list[i].data, from, half, half) // none
			addRows(added.list[i].data, from, half, b.Rows())
		}
		for i := range b.Rows() {
			if got, want := encoded(added, i), encoded(b, i); !slices.Equal(got, want) {
				t.Fatalf("row %d of %s is\n%q, want\n%q", i, table, got, want)
			}
			for column := range of {
				if added.Value(column, i) == nil {
					t.Fatalf("row %d of %s has no value of %s", i, table, of[column].Name)
				}
			}
		}
	}
	if _, err := NewColumns([]TableColumn{{Table: "t", Name: "c", Type: "IPv6"}}); err == nil {
		t.Error("a column of a type that cannot be copied was made")
	}
}

func columnsOf(t *testing.T, of []TableColumn) *Columns {
	t.Helper()
	b, err := NewColumns(of)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// send writes a column as the client does, and reads it into another one.
func send(t *testing.T, from, to proto.Column) {
	t.Helper()
	var buf proto.Buffer
	if p, ok := from.(proto.Preparable); ok {
		if err := p.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	if s, ok := from.(proto.StateEncoder); ok {
		s.EncodeState(&buf)
	}
	from.EncodeColumn(&buf)
	r := proto.NewReader(&buf)
	to.Reset()
	if s, ok := to.(proto.StateDecoder); ok {
		if err := s.DecodeState(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.DecodeColumn(r, from.Rows()); err != nil {
		t.Fatalf("%s: %v", from.Type(), err)
	}
}

// TestColumnsOfTypedTables appends values of each type that a typed table has, some of them none, and gets them
// back after they were sent, copied and split.
func TestColumnsOfTypedTables(t *testing.T) {
	units := typed.Units{High: math.MaxUint64, Low: math.MaxUint64 - 14} // -15
	scalars := map[string][2]any{                                        // as they are appended and as they are read
		"String": {"é", "é"}, "LowCardinality(String)": {"a::1220", "a::1220"}, "Int64": {int64(-5), int64(-5)}, "Bool": {true, true},
		"Date32": {typed.Days(-3), typed.Days(-3)}, "DateTime64(6, 'UTC')": {schemas.Micros(-7), schemas.Micros(-7)},
		"Decimal(38, 10)": {units, decimal.OfInt128(units.High, units.Low)}, "Decimal(38, 2)": {units, typed.Number{Units: units, Scale: 2}},
	}
	of := []TableColumn{{Name: "id", Type: "String"}}
	var rows, want [3][]any
	add := func(columnType string, given, found [3]any) {
		of = append(of, TableColumn{Name: columnType, Type: columnType})
		for i := range rows {
			rows[i], want[i] = append(rows[i], given[i]), append(want[i], found[i])
		}
	}
	add("Int32", [3]any{int64(1), int64(-1), int64(0)}, [3]any{int64(1), int64(-1), int64(0)})
	for name, v := range scalars {
		none := "Nullable(" + name + ")"
		if strings.HasPrefix(name, "Low") {
			none = "LowCardinality(Nullable(String))"
		}
		zero := typed.Zero(name)
		read := columnsOf(t, []TableColumn{{Type: name}})
		read.Append([]any{zero})
		add(name, [3]any{v[0], zero, v[0]}, [3]any{v[1], read.Value(0, 0), v[1]})
		add(none, [3]any{v[0], nil, v[0]}, [3]any{v[1], nil, v[1]})
		add("Array("+name+")", [3]any{[]any{v[0], v[0]}, []any{}, []any{v[0]}}, [3]any{[]any{v[1], v[1]}, []any{}, []any{v[1]}})
		add("Array("+none+")", [3]any{[]any{nil, v[0]}, []any{nil}, []any{}}, [3]any{[]any{nil, v[1]}, []any{nil}, []any{}})
		add("Map(String, "+name+")", [3]any{[]any{"k", v[0]}, []any{}, []any{"a", v[0], "b", v[0]}}, [3]any{map[string]any{"k": v[1]}, map[string]any{}, map[string]any{"a": v[1], "b": v[1]}})
	}
	b, read, copied := columnsOf(t, of), columnsOf(t, of), columnsOf(t, of)
	for i := range rows {
		rows[i], want[i] = append([]any{fmt.Sprint("id", i)}, rows[i]...), append([]any{fmt.Sprint("id", i)}, want[i]...)
		b.Append(rows[i])
	}
	for i, c := range b.list {
		if string(c.data.Type()) != of[i].Type {
			t.Errorf("column %s has type %s", of[i].Type, c.data.Type())
		}
		send(t, c.data, read.list[i].data)
		addRows(copied.list[i].data, read.list[i].data, 0, 1)
		addRows(copied.list[i].data, read.list[i].data, 1, 3)
	}
	seen := 0
	for i := range want {
		if got := copied.Row(i); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("row %d is\n%v, want\n%v", i, got, want[i])
		}
	}
	for _, part := range split(b, "id", 2) {
		parted := &Columns{part.columns()}
		for i := range parted.Rows() {
			row := parted.Row(i)
			if !slices.ContainsFunc(want[:], func(w []any) bool { return reflect.DeepEqual(w, row) }) {
				t.Errorf("a shard has row %v", row)
			}
			seen++
		}
	}
	if seen != 3 {
		t.Errorf("the shards have %d rows", seen)
	}
}

// TestShardKeysAreForever pins where rows are: stores depend on it.
func TestShardKeysAreForever(t *testing.T) {
	for text, want := range map[string]uint64{"": 17241709254077376921, "1220ab": Key("1220ab")} {
		var c texts
		c.Append(text)
		if got := shardKeys(column{"update_id", &c}); !slices.Equal(got, []uint64{want}) {
			t.Errorf("key of %q is %d, want %d", text, got, want)
		}
	}
}
