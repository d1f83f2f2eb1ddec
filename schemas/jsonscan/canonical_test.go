package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendCanonical(t *testing.T) {
	tests := []struct {
		name, src, want string
	}{
		{"white space goes", " { \"a\" : [ 1 ,\t2 ,\n{ } , [ ] ] }\r\n", `{"a":[1,2,{},[]]}`},
		{"keys are sorted at every level", `{"b":{"d":1,"c":[{"z":0,"y":0}]},"a":2}`, `{"a":2,"b":{"c":[{"y":0,"z":0}],"d":1}}`},
		{"a key sorts before its extension", `{"a!":1,"ab":2,"a":3}`, `{"a":3,"a!":1,"ab":2}`},
		{"keys sort by what escapes stand for", `{"\\":1,"A":2,"\n":3,"\"":4," ":5}`, `{"\n":3," ":5,"\"":4,"A":2,"\\":1}`},
		{"keys sort by UTF-8, not UTF-16", "{\"\U00010000\":1,\"\uffee\":2}", "{\"\uffee\":2,\"\U00010000\":1}"},
		{"the empty key", `{"a":1,"":2}`, `{"":2,"a":1}`},
		{"needless escapes go", `"\u0041\/\u00e9\ud83d\ude00\u007f\u2028"`, "\"A/é😀\u007f\u2028\""},
		{"control characters", `"\u0008\u0009\u000a\u000C\u000d\u0000\u001F\u0022\u005c"`, `"\b\t\n\f\r\u0000\u001f\"\\"`},
		{"numbers stay as written", `[-0,1.50,1E+9,0e-10,123456789012345678901234567890.0]`, `[-0,1.50,1E+9,0e-10,123456789012345678901234567890.0]`},
		{"words", `[true,false,null]`, `[true,false,null]`},
		{"a lone scalar", ` "x" `, `"x"`},
		{"long plain and accented text", ` "` + strings.Repeat("abcdefgh", 9) + `é` + strings.Repeat("0", 17) + `"`, `"` + strings.Repeat("abcdefgh", 9) + `é` + strings.Repeat("0", 17) + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendCanonical([]byte("before"), []byte(tt.src))
			if err != nil || string(got) != "before"+tt.want {
				t.Fatalf("AppendCanonical(%s) = %s, %v, want %s", tt.src, got, err, tt.want)
			}
			if IsCanonical([]byte(tt.src)) != (tt.src == tt.want) {
				t.Errorf("IsCanonical(%s) = %v", tt.src, tt.src != tt.want)
			}
			if !IsCanonical([]byte(tt.want)) {
				t.Errorf("IsCanonical(%s) = false", tt.want)
			}
		})
	}
}

func TestAppendCanonicalErrors(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2) }
	tests := []struct {
		name, src string
		want      error
	}{
		{"nothing", ``, ErrSyntax},
		{"only white space", ` `, ErrSyntax},
		{"two texts", `1 2`, ErrSyntax},
		{"trailing comma in array", `[1,]`, ErrSyntax},
		{"trailing comma in object", `{"a":1,}`, ErrSyntax},
		{"missing comma", `[1 2]`, ErrSyntax},
		{"missing colon", `{"a" 1}`, ErrSyntax},
		{"key without quotes", `{a:1}`, ErrSyntax},
		{"wrong bracket", `[1}`, ErrSyntax},
		{"open array", `[1`, ErrSyntax},
		{"open object", `{"a":1`, ErrSyntax},
		{"open string", `"abc`, ErrSyntax},
		{"open escape", `"abc\`, ErrSyntax},
		{"short unicode escape", `"\u12"`, ErrSyntax},
		{"unknown escape", `"\x"`, ErrSyntax},
		{"bad hex digit", `"\u00g0"`, ErrSyntax},
		{"raw control character", "\"a\nb\"", ErrSyntax},
		{"leading zero", `01`, ErrSyntax},
		{"leading plus", `+1`, ErrSyntax},
		{"no integer part", `.5`, ErrSyntax},
		{"no fraction digits", `1.`, ErrSyntax},
		{"no exponent digits", `1e+`, ErrSyntax},
		{"only a minus", `-`, ErrSyntax},
		{"broken word", `nul`, ErrSyntax},
		{"broken word inside", `[tru]`, ErrSyntax},
		{"broken UTF-8", "\"a\xffb\"", ErrUTF8},
		{"overlong UTF-8", "\"\xc0\x80\"", ErrUTF8},
		{"UTF-8 surrogate", "\"\xed\xa0\x80\"", ErrUTF8},
		{"UTF-8 cut short", "\"\xe2\x82\"", ErrUTF8},
		{"lone high surrogate", `"\ud800"`, ErrUTF8},
		{"lone low surrogate", `"\udc00x"`, ErrUTF8},
		{"two high surrogates", `"\ud800\ud800"`, ErrUTF8},
		{"lone surrogate in a key", `{"\ud800":1}`, ErrUTF8},
		{"duplicate key", `{"a":1,"b":2,"a":3}`, ErrDuplicateKey},
		{"duplicate neighbours", `{"a":1,"a":1}`, ErrDuplicateKey},
		{"duplicate key by escape", `{"a":1,"\u0061":2}`, ErrDuplicateKey},
		{"duplicate key inside", `[{"x":{"a":1,"a":2}}]`, ErrDuplicateKey},
		{"too deep", deep(MaxDepth + 2), ErrDepth},
		{"far too deep", strings.Repeat("[", 1<<20), ErrDepth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendCanonical([]byte("kept"), []byte(tt.src))
			if !errors.Is(err, tt.want) || string(got) != "kept" {
				t.Fatalf("AppendCanonical(%.60q) = %.60q, %v, want error %v", tt.src, got, err, tt.want)
			}
			if err := Valid([]byte(tt.src)); !errors.Is(err, tt.want) {
				t.Errorf("Valid(%.60q) = %v, want %v", tt.src, err, tt.want)
			}
		})
	}
	if err := Valid([]byte(deep(MaxDepth))); err != nil {
		t.Errorf("Valid(%d levels) = %v", MaxDepth, err)
	}
	if err := Valid([]byte(" " + deep(MaxDepth))); err != nil {
		t.Errorf("Valid(%d levels, not canonical) = %v", MaxDepth, err)
	}
}

// The standard library decides what is JSON; we are stricter about UTF-8, surrogates,
// duplicate keys and depth only.
func FuzzAppendCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,-2.5e+10,true,false,null],"a":{"\u00e9":"\ud83d\ude00\/\n"}}`,
		`[{},[],"",0]`, "\"\xff\"", `{"a":1,"a":2}`, `"\ud800"`, sample(3, true),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := AppendCanonical(nil, src)
		if err != nil {
			known := errors.Is(err, ErrUTF8) || errors.Is(err, ErrDuplicateKey) || errors.Is(err, ErrDepth)
			if !known && json.Valid(src) {
				t.Fatalf("AppendCanonical(%q) rejects JSON: %v", src, err)
			}
			return
		}
		if !utf8.Valid(got) || !json.Valid(got) {
			t.Fatalf("AppendCanonical(%q) = %q is not JSON", src, got)
		}
		if !IsCanonical(got) {
			t.Fatalf("AppendCanonical(%q) = %q is not canonical", src, got)
		}
		again, err := (&canonicalizer{}).appendText(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("rewriting canonical %q gives %q, %v", got, again, err)
		}
		if !sameJSON(t, src, got) {
			t.Fatalf("AppendCanonical(%q) = %q means something else", src, got)
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var out [2][]byte
	for i, src := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("decoding %q: %v", src, err)
		}
		var err error
		if out[i], err = json.Marshal(v); err != nil { // sorts keys
			t.Fatalf("encoding %v: %v", v, err)
		}
	}
	return bytes.Equal(out[0], out[1])
}

// sample is a page of n updates with typical texts, canonical or with unsorted keys.
func sample(n int, unsorted bool) string {
	cid := "00" + strings.Repeat("0123456789abcdef", 4) + "ca101220" + strings.Repeat("f0e1d2c3", 8)
	owner := "alice-validator-1::1220" + strings.Repeat("ab12cd34", 8)
	event := `{"contract_id":"` + cid + `","create_arguments":{"record":{"fields":[{"value":{"party":"` + owner +
		`"}},{"value":{"numeric":"50.0000000000"}},{"value":{"optional":{}}}]}},"observers":[],"signatories":["` + owner + `"]}`
	if unsorted {
		event = `{"signatories":["` + owner + `"],"contract_id":"` + cid + `","create_arguments":{"record":{"fields":[{"value":{"party":"` + owner +
			`"}},{"value":{"numeric":"50.0000000000"}},{"value":{"optional":{}}}]}},"observers":[]}`
	}
	return `[` + strings.Repeat(event+`,`, n) + `{}]`
}

func BenchmarkAppendCanonical(b *testing.B) {
	for _, bm := range []struct {
		name string
		src  string
	}{
		{"already_canonical", sample(200, false)},
		{"keys_unsorted", sample(200, true)},
		{"one_payload", sample(1, false)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			src := []byte(bm.src)
			dst := make([]byte, 0, 2*len(src))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AppendCanonical(dst[:0], src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
