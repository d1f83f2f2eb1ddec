package store

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	hex64    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	contract = "00" + hex64 + "ca1012" + hex64
	alice    = "alice::1220" + hex64
)

// roundTrip packs the texts as rows of one block and returns what comes back.
func roundTrip(p *packed, texts [][]byte) [][]byte {
	for _, text := range texts {
		p.appendText(text)
	}
	row, got := p.rows(), make([][]byte, len(texts))
	for i := range texts {
		got[i] = row(i)
	}
	return got
}

func TestPackedTextComesBack(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                     ``,
		"neither ids nor parties":   `{"record":{"fields":[]}}`,
		"one id":                    `{"contractId":"` + contract + `"}`,
		"one party":                 `{"party":"` + alice + `"}`,
		"both, twice":               strings.Repeat(`["`+contract+`","`+alice+`"]`, 2),
		"side by side":              `"` + contract + `""` + contract + `""` + alice + `""` + alice + `"`,
		"id of odd length":          `"` + contract + `0"`,
		"id that is too short":      `"0012ab"`,
		"id in capitals":            `"` + strings.ToUpper(contract) + `"`,
		"id that does not end":      `"` + contract,
		"id in a longer text":       `"` + contract + ` and more"`,
		"huge hexadecimal text":     `"00` + strings.Repeat("ab", 10_000) + `"`,
		"party with a short print":  `"alice::1220ab"`,
		"party in a longer text":    `"` + alice + ` and more"`,
		"party without a quote":     alice + `"`,
		"party after a quote":       `"say \"` + alice + `"`,
		"party with a long name":    `"` + strings.Repeat("x", 2*maxID) + alice + `"`,
		"numbers":                   `{"a":-1.5e+10,"b":[0,1,{"c":22}],"d":true,"e":null}`,
		"names of members":          `{"` + contract + `":"x","` + alice + `":1}`,
		"escapes":                   `["\\","\\\"","a\"b\\",{"\"":"\""}]`,
		"empty strings":             `{"a":"","b":[""]}`,
		"a long list":               `[` + strings.Repeat(`{"party":"`+alice+`","id":"`+contract+`","n":1},`, maxShape/16) + `""]`,
		"party like an id":          `"00` + hex64 + `::1220` + hex64 + `"`,
		"colons at the end":         `"::1220`,
		"party name that is empty":  `"::1220` + hex64 + `"`,
		"party, then its own colon": `"` + alice + `"::1220"`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPacked("body")
			if got := roundTrip(&p, [][]byte{[]byte(text)})[0]; string(got) != text {
				t.Errorf("got  %q\nwant %q", got, text)
			}
		})
	}
}

func TestPackedTakesIDsAndPartiesOut(t *testing.T) {
	p := newPacked("body")
	p.appendBody(contract, []byte(`{"owner":"`+alice+`","of":"`+contract+`","amount":"1.5","n":7}`), nil)
	if got, want := p.shape.Row(0), "\x01\n{\"owner\":\"\x02\",\"of\":\"\x01\",\"amount\":\"\x03\",\"n\":\x03}\n"; got != want {
		t.Errorf("shape %q, want %q", got, want)
	}
	if got, want := p.scalars.Row(0), "1.5\x007\x00"; got != want {
		t.Errorf("scalars %q, want %q", got, want)
	}
	if p.raw.Rows() != 2 || len(p.raw.Row(0)) != len(contract)/2 || p.names.Row(0) != alice {
		t.Errorf("%d ids, party %q", p.raw.Rows(), p.names.Row(0))
	}
}

// Rows made at random of pieces that look like ids, parties and text come back.
func TestPackedRandomRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`"`, `""`, `","`, contract, contract[:80], contract[1:], alice, alice[3:], "::1220", "00", hex64, `\"`, "x", "{}", "\n", "ü"}
	for round := range 200 {
		p := newPacked("body")
		texts := make([][]byte, 50)
		for i := range texts {
			for range rnd.IntN(12) {
				texts[i] = append(texts[i], pieces[rnd.IntN(len(pieces))]...)
			}
		}
		for i, got := range roundTrip(&p, texts) {
			if !bytes.Equal(got, texts[i]) {
				t.Fatalf("round %d, row %d\ngot  %q\nwant %q", round, i, got, texts[i])
			}
		}
	}
}

// FuzzPacked packs the body of an event out of any texts that have no marks, as canonical JSON
// has none: what is hashed and verified is the packed form, so it must not lose a byte.
func FuzzPacked(f *testing.F) {
	f.Add(contract, `{"owner":"`+alice+`","of":"`+contract+`","n":-1.5e3}`, `[null,"x\\""]`)
	f.Add("#12:0", `["`+alice+alice+`","`+contract[:64]+`"]`, "")
	f.Add(alice, `"`+contract, `12`)
	f.Add("", strings.Repeat(`{"`+alice+`":["`+contract+`",7,"`+alice+`"]}`, maxShape/24), `{}`)
	f.Fuzz(func(t *testing.T, contractID, argument, result string) {
		if strings.ContainsAny(contractID, "\n\x00\x01\x02\x03") || strings.ContainsAny(argument+result, "\n\x00\x01\x02\x03") {
			t.Skip("what the writer refuses and canonical JSON never has")
		}
		b := newPacked("body")
		b.appendBody("before", []byte(argument), []byte(result))
		b.appendBody(contractID, []byte(argument), []byte(result))
		b.appendText([]byte(argument))
		if got, want := string(b.appendRow(nil, 1)), contractID+"\n"+argument+"\n"+result; got != want {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
		if got := string(b.appendRow(nil, 2)); got != argument {
			t.Fatalf("alone: got  %q\nwant %q", got, argument)
		}
		values, at, end := b.appendValues(nil, 1)
		if b.contractIDOf(1) != contractID || string(values[:at]) != argument || string(values[at:end]) != result {
			t.Fatalf("line by line: %q, %q, %q", b.contractIDOf(1), values[:at], values[at:end])
		}
	})
}

func BenchmarkPackedAppend(b *testing.B) {
	text := []byte(strings.Repeat(`{"record":{"fields":[{"value":{"party":"`+alice+`"}},{"value":{"contractId":"`+contract+`"}},{"value":{"numeric":"12.3456789000"}},{"value":{"record":{"fields":[{"value":{"int64":"624"}}]}}}]}}`, 16))
	p := newPacked("body")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		p.appendText(text)
		if p.shape.Rows() == 1000 {
			for _, c := range p.columns() {
				c.data.Reset()
			}
		}
	}
}

func BenchmarkPackedRows(b *testing.B) {
	text := []byte(strings.Repeat(`{"record":{"fields":[{"value":{"party":"`+alice+`"}},{"value":{"contractId":"`+contract+`"}},{"value":{"numeric":"12.3456789000"}},{"value":{"record":{"fields":[{"value":{"int64":"624"}}]}}}]}}`, 16))
	p := newPacked("body")
	for range 1000 {
		p.appendText(text)
	}
	b.SetBytes(int64(len(text)) * 1000)
	for b.Loop() {
		p.rows()
	}
}
