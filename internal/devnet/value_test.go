package devnet

import (
	"encoding/json"
	"testing"
)

func testNames() *names {
	return &names{
		ids:     newIDSpaces(7),
		parties: []string{"DSO::1220aa", "alice::1220bb"},
	}
}

func TestValueEncodings(t *testing.T) {
	a, n := &arena{}, testNames()
	cid := string(n.ids.appendContractID(nil, 5))
	pair := newShape("zeta", "alpha")
	for _, tc := range []struct {
		name              string
		value             value
		compact, protobuf string
	}{
		{"unit", unit(), `{}`, `{"unit":{}}`},
		{"bool", boolean(true), `true`, `{"bool":true}`},
		{"false", boolean(false), `false`, `{"bool":false}`},
		{"int64", int64Value(-42), `"-42"`, `{"int64":"-42"}`},
		{"numeric", numeric(one), `"1.0000000000"`, `{"numeric":"1.0000000000"}`},
		{"negative numeric", numeric(-1), `"-0.0000000001"`, `{"numeric":"-0.0000000001"}`},
		{"text", text("h\"i\n\u0001ü"), `"h\"i\n\u0001ü"`, `{"text":"h\"i\n\u0001ü"}`},
		{"party", partyValue(1), `"alice::1220bb"`, `{"party":"alice::1220bb"}`},
		{"contract id", contractID(5), `"` + cid + `"`, `{"contractId":"` + cid + `"}`},
		{"timestamp", timestamp(1726839089552807), `"2024-09-20T13:31:29.552807Z"`, `{"timestamp":"1726839089552807"}`},
		{"whole second", timestamp(1726839089000000), `"2024-09-20T13:31:29Z"`, `{"timestamp":"1726839089000000"}`},
		{"date", date(19986), `"2024-09-20"`, `{"date":19986}`},
		{"date before 1970", date(-1), `"1969-12-31"`, `{"date":-1}`},
		{"record", a.record(pair, int64Value(1), text("x")), `{"alpha":"x","zeta":"1"}`,
			`{"record":{"fields":[{"value":{"int64":"1"}},{"value":{"text":"x"}}]}}`},
		{"record of an older version", a.record(pair, int64Value(1)), `{"zeta":"1"}`,
			`{"record":{"fields":[{"value":{"int64":"1"}}]}}`},
		{"record without fields", a.record(emptyRecordShape), `{}`, `{"record":{}}`},
		{"list", a.list(int64Value(1), int64Value(2)), `["1","2"]`, `{"list":{"elements":[{"int64":"1"},{"int64":"2"}]}}`},
		{"empty list", a.list(), `[]`, `{"list":{}}`},
		{"none", none(), `null`, `{"optional":{}}`},
		{"some", a.some(int64Value(5)), `"5"`, `{"optional":{"value":{"int64":"5"}}}`},
		{"some none", a.some(none()), `[]`, `{"optional":{"value":{"optional":{}}}}`},
		{"some some", a.some(a.some(text("x"))), `["x"]`, `{"optional":{"value":{"optional":{"value":{"text":"x"}}}}}`},
		{"some some none", a.some(a.some(none())), `[[]]`,
			`{"optional":{"value":{"optional":{"value":{"optional":{}}}}}}`},
		{"some some some", a.some(a.some(a.some(unit()))), `[[{}]]`,
			`{"optional":{"value":{"optional":{"value":{"optional":{"value":{"unit":{}}}}}}}}`},
		{"variant", a.variant("InAccount", unit()), `{"tag":"InAccount","value":{}}`,
			`{"variant":{"constructor":"InAccount","value":{"unit":{}}}}`},
		{"enum", enum("Red"), `"Red"`, `{"enum":{"constructor":"Red"}}`},
		{"text map", a.textMap(text("k"), text("v"), text("l"), text("w")), `{"k":"v","l":"w"}`,
			`{"textMap":{"entries":[{"key":"k","value":{"text":"v"}},{"key":"l","value":{"text":"w"}}]}}`},
		{"empty text map", a.textMap(), `{}`, `{"textMap":{}}`},
		{"gen map", a.genMap(int64Value(1), text("a")), `[["1","a"]]`,
			`{"genMap":{"entries":[{"key":{"int64":"1"},"value":{"text":"a"}}]}}`},
		{"empty gen map", a.genMap(), `[]`, `{"genMap":{}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for enc, want := range map[encoding]string{compactJSON: tc.compact, protobufJSON: tc.protobuf} {
				got := string(enc.appendValue(nil, n, &tc.value))
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
	a := &arena{}
	var lists []value
	for i := range 3 * arenaChunk {
		lists = append(lists, a.list(int64Value(int64(i)), int64Value(int64(-i))))
	}
	for i, l := range lists {
		if l.elems[0].num != int64(i) || l.elems[1].num != int64(-i) {
			t.Fatalf("list %d holds %d and %d", i, l.elems[0].num, l.elems[1].num)
		}
	}
	if n := len(a.alloc(2 * arenaChunk)); n != 2*arenaChunk {
		t.Fatalf("large slice has %d elements, want %d", n, 2*arenaChunk)
	}
	a.reset()
	if again := a.alloc(2); again[0].kind != 0 || again[0].elems != nil {
		t.Fatalf("after reset the arena hands out a used value: %+v", again[0])
	}
}
