package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogTailIsOfThisRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.log")
	for _, run := range []string{"first", "second"} {
		file, log, err := openLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := log.tail(); got != "(empty)" {
			t.Errorf("tail at the start of the %s run = %q", run, got)
		}
		if _, err := file.WriteString("of the " + run + " run\n"); err != nil {
			t.Fatal(err)
		}
		if want := "of the " + run + " run"; log.tail() != want {
			t.Errorf("tail = %q, want %q", log.tail(), want)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLongLogIsPutAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.log")
	for _, content := range []string{"older", "newer"} {
		if err := os.WriteFile(path, []byte(strings.Repeat(content+"\n", logLimit/6+1)), 0o600); err != nil {
			t.Fatal(err)
		}
		file, _, err := openLog(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != 0 {
			t.Fatalf("engine.log after putting %q aside: %v, %v, want an empty file", content, info, err)
		}
		aside, err := os.ReadFile(path + ".1")
		if err != nil || !strings.HasPrefix(string(aside), content) {
			t.Errorf("engine.log.1 begins %.10q, %v, want %q", aside, err, content)
		}
	}
}

func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		n          int
		want       string
	}{
		{"nothing", "", 3, "(empty)"},
		{"blank lines", "\n \n", 3, "(empty)"},
		{"fewer than asked", "a\nb", 3, "a | b"},
		{"the last ones", "a\nb\nc\n\nd\n", 2, "c | d"},
		{"stack frames are left out", "Code: 243. Not enough space, Stack trace:\n\n0. ? @ 0x000000001c8fa4b3\n11. DB::f() @ 0x0e\n (version 26.7)\n", 4, "Code: 243. Not enough space, Stack trace: | (version 26.7)"},
		{"a numbered line stays", "1. first", 1, "1. first"},
		{"bytes that are no text", "a\xffb", 1, "a?b"},
	} {
		if got := lastLines([]byte(c.text), c.n); got != c.want {
			t.Errorf("%s: lastLines(%q, %d) = %q, want %q", c.name, c.text, c.n, got, c.want)
		}
	}
}
