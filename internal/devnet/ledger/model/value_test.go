package model

import (
	"encoding/json"
	"testing"
)

func testNames() *Names {
	return &Names{
		IDs:     NewIDSpaces(7),
		Parties: []string{"DSO::1220aa", "alice::1220bb"},
	}
}

func TestValueEncodings(t *testing.T) {
	a, n := &Arena{}, testNames()
	cid := string(n.IDs.AppendContractID(nil, 5))
	pair := NewShape("zeta", "alpha")
	for _, tc := range []struct {
		name              string
		value             Value
		compact, protobuf string
	}{
		{"unit", Unit(), `{}`, `{"unit":{}}`},
		{"bool", Boolean(true), `true`, `{"bool":true}`},
		{"false", Boolean(false), `false`, `{"bool":false}`},
		{"int64", Int64Value(-42), `"-42"`, `{"int64":"-42"}`},
		{"numeric", Numeric(One), `"1.0000000000"`, `{"numeric":"1.0000000000"}`},
		{"negative numeric", Numeric(-1), `"-0.0000000001"`, `{"numeric":"-0.0000000001"}`},
		{"text", Text("h\"i\n\u0001ü"), `"h\"i\n\u0001ü"`, `{"text":"h\"i\n\u0001ü"}`},
		{"party", PartyValue(1), `"alice::1220bb"`, `{"party":"alice::1220bb"}`},
		{"contract id", ContractID(5), `"` + cid + `"`, `{"contractId":"` + cid + `"}`},
		{"timestamp", Timestamp(1726839089552807), `"2024-09-20T13:31:29.552807Z"`, `{"timestamp":"1726839089552807"}`},
		{"whole second", Timestamp(1726839089000000), `"2024-09-20T13:31:29Z"`, `{"timestamp":"1726839089000000"}`},
		{"date", Date(19986), `"2024-09-20"`, `{"date":19986}`},
		{"date before 1970", Date(-1), `"1969-12-31"`, `{"date":-1}`},
		{"record", a.Record(pair, Int64Value(1), Text("x")), `{"alpha":"x","zeta":"1"}`,
			`{"record":{"fields":[{"value":{"int64":"1"}},{"value":{"text":"x"}}]}}`},
		{"record of an older version", a.Record(pair, Int64Value(1)), `{"zeta":"1"}`,
			`{"record":{"fields":[{"value":{"int64":"1"}}]}}`},
		{"record without fields", a.Record(EmptyRecordShape), `{}`, `{"record":{}}`},
		{"list", a.List(Int64Value(1), Int64Value(2)), `["1","2"]`, `{"list":{"elements":[{"int64":"1"},{"int64":"2"}]}}`},
		{"empty list", a.List(), `[]`, `{"list":{}}`},
		{"none", None(), `null`, `{"optional":{}}`},
		{"some", a.Some(Int64Value(5)), `"5"`, `{"optional":{"value":{"int64":"5"}}}`},
		{"some none", a.Some(None()), `[]`, `{"optional":{"value":{"optional":{}}}}`},
		{"some some", a.Some(a.Some(Text("x"))), `["x"]`, `{"optional":{"value":{"optional":{"value":{"text":"x"}}}}}`},
		{"some some none", a.Some(a.Some(None())), `[[]]`,
			`{"optional":{"value":{"optional":{"value":{"optional":{}}}}}}`},
		{"some some some", a.Some(a.Some(a.Some(Unit()))), `[[{}]]`,
			`{"optional":{"value":{"optional":{"value":{"optional":{"value":{"unit":{}}}}}}}}`},
		{"variant", a.Variant("InAccount", Unit()), `{"tag":"InAccount","value":{}}`,
			`{"variant":{"constructor":"InAccount","value":{"unit":{}}}}`},
		{"enum", Enum("Red"), `"Red"`, `{"enum":{"constructor":"Red"}}`},
		{"text map", a.TextMap(Text("k"), Text("v"), Text("l"), Text("w")), `{"k":"v","l":"w"}`,
			`{"textMap":{"entries":[{"key":"k","value":{"text":"v"}},{"key":"l","value":{"text":"w"}}]}}`},
		{"empty text map", a.TextMap(), `{}`, `{"textMap":{}}`},
		{"gen map", a.GenMap(Int64Value(1), Text("a")), `[["1","a"]]`,
			`{"genMap":{"entries":[{"key":{"int64":"1"},"value":{"text":"a"}}]}}`},
		{"empty gen map", a.GenMap(), `[]`, `{"genMap":{}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for enc, want := range map[Encoding]string{CompactJSON: tc.compact, ProtobufJSON: tc.protobuf} {
				got := string(enc.AppendValue(nil, n, &tc.value))
				if got != want {
					t.Errorf("encoding %d: got %s, want %s", enc, got, want)
				}
				if !json.Valid([]byte(got)) {
					t.Errorf("encoding %d: %s is not JSON", enc, got)
				}
			}
		})
	}
}

func TestArenaKeepsSlicesApart(t *testing.T) {
	a := &Arena{}
	var lists []Value
	for i := range 3 * arenaChunk {
		lists = append(lists, a.List(Int64Value(int64(i)), Int64Value(int64(-i))))
	}
	for i, l := range lists {
		if l.Elems[0].Num != int64(i) || l.Elems[1].Num != int64(-i) {
			t.Fatalf("list %d holds %d and %d", i, l.Elems[0].Num, l.Elems[1].Num)
		}
	}
	if n := len(a.Alloc(2 * arenaChunk)); n != 2*arenaChunk {
		t.Fatalf("large slice has %d elements, want %d", n, 2*arenaChunk)
	}
	a.Reset()
	if again := a.Alloc(2); again[0].Kind != 0 || again[0].Elems != nil {
		t.Fatalf("after reset the arena hands out a used value: %+v", again[0])
	}
}
