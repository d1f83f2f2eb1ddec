package jsonscan

import (
	"errors"
	"slices"
	"testing"
)

// A decoder as callers write it: the names and sizes in an array of objects.
func TestScannerReadsAnArrayOfObjects(t *testing.T) {
	var s Scanner
	s.Reset([]byte(` [ {"name" : "a\tb", "size":12 } , {"size": -3.50,"name":"c"} ] `))
	var got []string
	err := s.Open('[')
	for more := s.First(']'); more && err == nil; more, err = s.More(']') {
		err = s.Open('{')
		for more := s.First('}'); more && err == nil; more, err = s.More('}') {
			key, kerr := s.Key()
			if kerr != nil {
				t.Fatal(kerr)
			}
			var value []byte
			if name := string(key); name == "name" {
				value, err = s.Text()
			} else {
				value, err = s.Number()
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(value))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a\tb", "12", "-3.50", "c"}; !slices.Equal(got, want) {
		t.Fatalf("read %q, want %q", got, want)
	}
}

func TestScannerSkip(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      error
	}{
		{"canonical", `{"a":[1,{}]},"next"`, nil},
		{"not canonical", ` { "b":1, "a":[ "\u0041" ] } ,"next"`, nil},
		{"duplicate key", `{"b":1,"a":2,"b":3},"next"`, ErrDuplicateKey},
		{"malformed", `{"b":},"next"`, ErrSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Scanner
			s.Reset([]byte(tt.src))
			if err := s.Skip(); !errors.Is(err, tt.want) {
				t.Fatalf("Skip(%s) = %v, want %v", tt.src, err, tt.want)
			}
			if rest := tt.src[s.Offset():]; tt.want == nil && rest != `,"next"` && rest != ` ,"next"` {
				t.Errorf("Skip(%s) leaves %q", tt.src, rest)
			}
		})
	}
}

func TestAppendStringEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"":                          `""`,
		"plain text of some length": `"plain text of some length"`,
		"q\"b\\":                    `"q\"b\\"`,
		"\b\t\n\f\r\x00\x1f\x7f":    "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\"",
		"é\u2028😀/<>&":              "\"é\u2028😀/<>&\"",
	} {
		if got := AppendString(nil, []byte(in)); string(got) != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
	}
}
