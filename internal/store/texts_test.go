package store

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
)

// Columns of texts come back as they were sent, and what follows them is not touched.
func TestTextsComeBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	long := bytes.Repeat([]byte("0123456789"), 50_000)
	var read texts
	for round := range 300 {
		var sent texts
		for range rnd.IntN(2000) {
			size := rnd.IntN(40)
			switch rnd.IntN(100) {
			case 0:
				size = rnd.IntN(len(long))
			case 1, 2, 3:
				size = 120 + rnd.IntN(20) // lengths of one byte and of two
			case 4:
				size = 0
			}
			sent.AppendBytes(long[:size])
		}
		var wire proto.Buffer
		sent.EncodeColumn(&wire)
		wire.PutString("what follows")
		r := proto.NewReader(bytes.NewReader(wire.Buf))
		if err := read.DecodeColumn(r, sent.Rows()); err != nil {
			t.Fatal(err)
		}
		if read.Rows() != sent.Rows() {
			t.Fatalf("round %d: %d rows, want %d", round, read.Rows(), sent.Rows())
		}
		for i := range sent.Rows() {
			if !bytes.Equal(read.RowBytes(i), sent.RowBytes(i)) {
				t.Fatalf("round %d, row %d: %.40q, want %.40q", round, i, read.RowBytes(i), sent.RowBytes(i))
			}
		}
		if next, err := r.Str(); err != nil || next != "what follows" {
			t.Fatalf("round %d: then came %q, %v", round, next, err)
		}
	}
}

func TestTextsThatDoNotEnd(t *testing.T) {
	for name, wire := range map[string][]byte{
		"no length":      {},
		"half a length":  {0x80},
		"half a text":    {5, 'a', 'b'},
		"a row too few":  {1, 'a'},
		"far too long":   {0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a', 'b'},
		"above 2 GiB":    {0xff, 0xff, 0xff, 0xff, 0x0f, 'a'},
		"length no end":  bytes.Repeat([]byte{0xff}, 20),
		"empty and more": {0},
	} {
		var read texts
		if err := read.DecodeColumn(proto.NewReader(bytes.NewReader(wire)), 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The parts of a body are the same whether it is put together as a whole or line by line.
func TestBodyByLines(t *testing.T) {
	argument := `{"owner":"` + alice + `","of":"` + contract + `","amount":"1.5","n":7,"none":null}`
	for name, body := range map[string][3]string{
		"exercised":              {contract, argument, `{"x":["` + contract + `",-3]}`},
		"created":                {contract, argument, ""},
		"an id of another kind":  {"#12:0", argument, `"` + alice + `"`},
		"a long argument":        {contract, `[` + string(bytes.Repeat([]byte(`"`+contract+`",`), maxShape)) + `1]`, argument},
		"a number as the result": {contract, `{}`, `12`},
	} {
		b := newPacked("body")
		b.appendBody(body[0], []byte(body[1]), []byte(body[2]))
		if got := string(b.appendRow(nil, 0)); got != body[0]+"\n"+body[1]+"\n"+body[2] {
			t.Errorf("%s: whole %.200q", name, got)
		}
		values, at, end := b.appendValues(nil, 0)
		if got := b.contractIDOf(0); got != body[0] || string(values[:at]) != body[1] || string(values[at:end]) != body[2] {
			t.Errorf("%s: id %.200q, argument %.200q, result %.200q", name, got, values[:at], values[at:end])
		}
		alone := newPacked("argument")
		alone.appendText([]byte(body[1]))
		if body[2] == "" && b.argumentKey(0) != alone.key(0) {
			t.Errorf("%s: the argument has another key than alone", name)
		}
	}
}
