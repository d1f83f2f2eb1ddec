package decimal

import "testing"

func TestInt128(t *testing.T) {
	for _, text := range []string{
		"0.0000000000", "0.0000000001", "-0.0000000001", "1844674407.3709551615", "1844674407.3709551616", "-1844674407.3709551616",
		"9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999",
	} {
		high, low, ok := Must(text).Int128()
		if got := OfInt128(high, low).String(); !ok || got != text {
			t.Errorf("%s became %s (%x %x, %t)", text, got, high, low, ok)
		}
	}
	if _, _, ok := Must("99999999999999999999999999999").Times(Must("10")).Int128(); ok {
		t.Error("a number beyond 127 bits has an Int128")
	}
}
