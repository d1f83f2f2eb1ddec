package payload

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestAmounts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0.0000000000", "0.0000000000"},
		{"0E-10", "0.0000000000"},
		{"1", "1.0000000000"},
		{"-1.5", "-1.5000000000"},
		{"0.0000000001", "0.0000000001"},
		{"-0.0000000001", "-0.0000000001"},
		{"123456789012345678.0123456789", "123456789012345678.0123456789"},
		{"9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"},
	} {
		got, ok := Amount([]byte(c.text))
		if !ok || got.String() != c.want {
			t.Errorf("%s is read as %s, %t; want %s", c.text, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", ".5", "1.12345678901", "1e5", "1,5", "12345678901234567890123456789", " 1"} {
		if got, ok := Amount([]byte(text)); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"record":{"fields":[{"value":{"record":{"fields":[{"value":{"int64":"7"}}]}}},{"value":{"record":{"fields":[{"value":{"numeric":"1.0"}},{"value":{"optional":{"value":{"numeric":"2.0"}}}}]}}}]}}`))
	f.Add([]byte(`{"a":[1,2,{"b":"\\\""}],"c":null}`))
	f.Add([]byte(`{"record":{"fields":[{"value"`))
	kind := values.Default().ChoiceResult("splice-amulet", "pkg:Splice.AmuletRules:AmuletRules", "", "AmuletRules_Transfer")
	f.Fuzz(func(t *testing.T, json []byte) {
		for _, compact := range []bool{true, false} {
			p := Value{json, kind, compact}
			for _, field := range p.Field("summary").AppendFields(nil) {
				field.Each(func(e Value) { e.Amount() })
				field.Some().Text()
			}
			p.Path("round", "number").Text()
		}
		if end := skip(json); end > len(json) || len(json) > 0 && end < 1 {
			t.Fatalf("skip of %q is %d", json, end)
		}
	})
}
