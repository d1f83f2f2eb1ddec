package jsonscan

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// walk reads any value with the cursor's own methods and returns it as encoding/json
// would. Numbers that are no int64 are read raw.
func walk(c *Cursor) any {
	switch c.next() {
	case '{':
		object := map[string]any{}
		for m := c.Members(); m.Next(); {
			object[m.Key()] = walk(c)
		}
		return object
	case '[':
		list := []any{}
		for l := c.List(); l.Next(); {
			list = append(list, walk(c))
		}
		return list
	case '"':
		return c.Text()
	case 't', 'f':
		return c.Bool()
	case 'n':
		c.Null()
		return nil
	}
	return json.Number(c.Raw())
}

// checkWalk compares the cursor with IsCanonical and, where that holds, with encoding/json.
func checkWalk(t *testing.T, src string) {
	t.Helper()
	c := NewCursor([]byte(src))
	got := walk(&c)
	c.End()
	if c.Failed() == IsCanonical([]byte(src)) {
		t.Fatalf("%q: failed: %t, canonical: %t", src, c.Failed(), IsCanonical([]byte(src)))
	}
	if c.Failed() {
		return
	}
	var want any
	d := json.NewDecoder(strings.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	gotJSON, errGot := json.Marshal(got)
	wantJSON, errWant := json.Marshal(want)
	if errGot != nil || errWant != nil || string(gotJSON) != string(wantJSON) {
		t.Fatalf("%q reads as %s, %v, want %s, %v", src, gotJSON, errGot, wantJSON, errWant)
	}
}

func TestCursorReadsCanonicalTextsOnly(t *testing.T) {
	const text = `{"":[],"a":[1,-2.5,{"b":"x\"\u001fé","c":null}],"b":{},"c":[true,false,"` + "0123456789abcdef" + `"]}`
	checkWalk(t, text)
	for i := range len(text) {
		checkWalk(t, text[:i])
		checkWalk(t, text[i:])
		for _, b := range []byte("\x00 \"\\,:[]{}0a-\xff") {
			checkWalk(t, text[:i]+string([]byte{b})+text[i:])
			checkWalk(t, text[:i]+string([]byte{b})+text[i+1:])
		}
	}
	for _, n := range []int{MaxDepth, MaxDepth + 1} {
		checkWalk(t, strings.Repeat("[", n)+strings.Repeat("]", n))
		inner := NewCursor([]byte(`[` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `]`))
		for l := inner.List(); l.Next(); {
			inner.Raw()
		}
		if inner.End(); inner.Failed() != (n > MaxDepth) {
			t.Errorf("a raw value within an array, %d deep: failed: %t", n, inner.Failed())
		}
	}
}

func TestCursorReadsWholeNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "7", "-7", "10", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "-9223372036854775809", "99999999999999999999", "18446744073709551617", "", "-", "01", "-0", "+1", "a",
	} {
		c := NewCursor([]byte(text))
		got := c.Int()
		c.End()
		want, err := strconv.ParseInt(text, 10, 64)
		bad := err != nil || strconv.FormatInt(want, 10) != text
		if c.Failed() != bad || !bad && got != want {
			t.Errorf("%q reads as %d, failed: %t", text, got, c.Failed())
		}
	}
	for _, text := range []string{"1.0", "1e3"} {
		c := NewCursor([]byte(text))
		c.Int()
		if c.End(); !c.Failed() {
			t.Errorf("%q reads as a whole number", text)
		}
	}
}

// What a failed cursor is asked for it does not give, and it stays where it failed.
func TestCursorStaysFailed(t *testing.T) {
	c := NewCursor([]byte(`[1,"a",true,null,{}]`))
	for l := c.List(); l.Next(); {
		c.Text()
	}
	at := c.Offset()
	c.Raw()
	c.Int()
	c.Bool()
	for l := c.List(); l.Next(); {
		t.Fatal("a failed cursor has an element")
	}
	for m := c.Members(); m.Next(); {
		t.Fatal("a failed cursor has a member")
	}
	if !c.Failed() || at != 1 || c.Offset() != at || c.Null() || c.Text() != "" {
		t.Errorf("failed: %t at %d, now at %d", c.Failed(), at, c.Offset())
	}
}

func FuzzCursor(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"c"}],"d":null}`, `[]`, `"\n"`, `{"b":1,"a":2}`} {
		f.Add(text)
	}
	f.Fuzz(checkWalk)
}
