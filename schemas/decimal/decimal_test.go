package decimal

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0.0000000000", "1.5": "1.5000000000", "-1.5": "-1.5000000000", "0E-10": "0.0000000000", "-0.0000000001": "-0.0000000001",
		"9999999999999999999999999999.9999999999": "9999999999999999999999999999.9999999999", "1.000000000000": "1.0000000000", "007": "7.0000000000",
	} {
		if got, err := Parse(text); err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %s, %v, want %s", text, got, err, want)
		}
		if got, err := Parse([]byte(text)); err != nil || got.String() != want {
			t.Errorf("Parse of the bytes %q = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", ".5", "5.", "1.00000000001", "1e5", "+1", "1,5", "--1", "0x1", " 1", "NaN", "1.-5", "-.1", ".", "0E-9", "-0E-10", "1.5.5", strings.Repeat("9", 100)} {
		if got, err := Parse(text); !errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%q) = %s, %v, want ErrSyntax", text, got, err)
		}
	}
}

func TestStorable(t *testing.T) {
	if !Must("9999999999999999999999999999.9999999999").Storable() || Must("10000000000000000000000000000").Storable() || !Must("-9999999999999999999999999999.9999999999").Storable() ||
		Must("-10000000000000000000000000000").Storable() || Must("1"+strings.Repeat("0", 50)).Storable() {
		t.Error("the limit is not at 28 digits before the point")
	}
}

func TestRounding(t *testing.T) {
	cases := []struct{ name, got, want string }{
		{"times, exact", Must("1.5").Times(Must("2")).String(), "3.0000000000"},
		{"times, middle to even, down", Must("0.0000000001").Times(Must("0.5")).String(), "0.0000000000"},
		{"times, middle to even, up", Must("0.0000000003").Times(Must("0.5")).String(), "0.0000000002"},
		{"times, negative middle", Must("-0.0000000003").Times(Must("0.5")).String(), "-0.0000000002"},
		{"times, above the middle", Must("0.0000000001").Times(Must("0.51")).String(), "0.0000000001"},
		{"over", Must("1").Over(Must("3")).String(), "0.3333333333"},
		{"over, nearest", Must("2").Over(Must("3")).String(), "0.6666666667"},
		{"over, negative", Must("-2").Over(Must("3")).String(), "-0.6666666667"},
		{"over up", Must("1").OverUp(Must("3")).String(), "0.3333333334"},
		{"over up, exact", Must("1").OverUp(Must("4")).String(), "0.2500000000"},
		{"over up, negative", Must("-1").OverUp(Must("3")).String(), "-0.3333333333"},
		{"over away, middle", Must("0.0000000001").OverAway(Must("2")).String(), "0.0000000001"},
		{"over away, negative middle", Must("-0.0000000003").OverAway(Must("2")).String(), "-0.0000000002"},
		{"over away, below the middle", Must("1").OverAway(Must("3")).String(), "0.3333333333"},
		{"over away, above the middle", Must("2").OverAway(Must("-3")).String(), "-0.6666666667"},
		{"short, whole", Must("20").Short(), "20.0"},
		{"short, fraction", Must("-0.0500").Short(), "-0.05"},
		{"short, all digits", Must("1.0000000001").Short(), "1.0000000001"},
		{"minus", Must("1").Minus(Must("3")).String(), "-2.0000000000"},
		{"zero value", Decimal{}.Plus(Decimal{}).String(), "0.0000000000"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestFloor(t *testing.T) {
	for text, want := range map[string]int64{"1.9999999999": 1, "-0.5": -1, "-2": -2, "0": 0} {
		if got, ok := Must(text).Floor(); got != want || !ok {
			t.Errorf("the floor of %s is %d, %t, want %d", text, got, ok, want)
		}
	}
	if _, ok := Must("9223372036854775808").Floor(); ok {
		t.Error("2^63 is taken for an int64")
	}
}

func TestJSON(t *testing.T) {
	var list []Decimal
	if err := json.Unmarshal([]byte(`["1.5", 2, -3.25]`), &list); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(list)
	if want := `["1.5000000000","2.0000000000","-3.2500000000"]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if err := json.Unmarshal([]byte(`"x"`), &list[0]); err == nil {
		t.Error("a word was read as a number")
	}
}
