package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// TestMain makes the test binary what bench itself is: the engine and the measured parts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == engine.ChildCommand || os.Args[1] == childCommand) {
		os.Exit(process())
	}
	os.Exit(m.Run())
}

// A small run on real parts: the product and the baseline must end with equal rows,
// which baseline itself checks, and everything published must convert, which size does.
func TestBaselineAndSizeOnASmallHistory(t *testing.T) {
	if _, err := engine.Locate("", nil); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"--updates", "400", "--only", "verify,baseline,size", "--quiet", "200ms", "--json", "--work", t.TempDir()}
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	positive := map[string]bool{
		"times the rate of ingest":                     false,
		"product without lifetimes / raw JSON and SQL": false, "product with lifetimes: both, per million events": false,
		"raw JSON and SQL that parses once: engine, per million events": false,
		"network, updates and daily ACS in both encodings":              false, "all tables": false,
	}
	for _, row := range r.Rows {
		if _, ok := positive[row.What]; ok {
			positive[row.What] = row.Value > 0
		}
		if row.Piece == "backfill" || row.Piece == "demo" {
			t.Errorf("row %q of piece %s, which was not asked for", row.What, row.Piece)
		}
	}
	for what, ok := range positive {
		if !ok {
			t.Errorf("row %q is missing or not positive in\n%s", what, stdout.String())
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string // part of the error, "" for none
	}{
		{"defaults", nil, ""},
		{"two pieces", []string{"--only", "size,demo"}, ""},
		{"an unknown piece", []string{"--only", "size,speed"}, "--only speed"},
		{"no updates", []string{"--updates", "0"}, "must be positive"},
		{"no quiet", []string{"--quiet", "0s"}, "--quiet"},
		{"an argument", []string{"size"}, `unexpected argument "size"`},
	} {
		_, err := parseOptions(tt.args, t.Output())
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: parseOptions(%q) = %v, want an error with %q", tt.name, tt.args, err, tt.want)
		}
	}
}

func TestParseCPU(t *testing.T) {
	for _, tt := range []struct {
		name, stat string
		want       float64
		fails      bool
	}{
		{"a plain name", "12 (bench) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0", 3, false},
		{"a name with parentheses and spaces", "12 (a) R (b) S 1 2 3 4 5 6 7 8 9 10 100 1 0 0", 1.01, false},
		{"no name", "12 S 1 2 3 4 5 6 7 8 9 10 100 1", 0, true},
		{"cut off", "12 (bench) S 1 2", 0, true},
		{"not a number", "12 (bench) S 1 2 3 4 5 6 7 8 9 10 x 1 0", 0, true},
	} {
		got, err := parseCPU([]byte(tt.stat))
		if (err != nil) != tt.fails || err == nil && got != tt.want {
			t.Errorf("%s: parseCPU(%q) = %v, %v, want %v, error %v", tt.name, tt.stat, got, err, tt.want, tt.fails)
		}
	}
}

func TestParsePeak(t *testing.T) {
	got, err := parsePeak([]byte("Name:\tbench\nVmPeak:\t  900 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 10 kB\n"))
	if err != nil || got != 2<<20 {
		t.Errorf("parsePeak = %d, %v, want %d", got, err, 2<<20)
	}
	if _, err := parsePeak([]byte("Name:\tbench\n")); err == nil {
		t.Error("parsePeak without VmHWM gave no error")
	}
}

func TestOwnUsageCanBeRead(t *testing.T) {
	if _, err := cpuSeconds(os.Getpid()); err != nil {
		t.Error(err)
	}
	if peak, err := peakBytes(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("peakBytes of this process = %d, %v", peak, err)
	}
}

func TestCutDropsWhatLiesBehindTheSlice(t *testing.T) {
	const (
		first  = `{"update":{"event":{"migration_id":1},"record_time":"2026-07-01T00:00:01.000000Z"}}`
		second = `{"verdict":{"migration_id":1,"record_time":"2026-07-01T00:00:02.000000Z","views":"},{"}}`
		third  = `{"verdict":{"migration_id":1,"record_time":"2026-07-01T00:00:03.000000Z"}}`
		next   = `{"verdict":{"migration_id":2,"record_time":"2026-07-01T00:00:02.000000Z"}}`
	)
	at, err := lastPosition([]byte(second))
	if err != nil {
		t.Fatal(err)
	}
	s := rawSlice{migration: 1, through: at.RecordTime}
	for _, tt := range []struct{ name, elements, want string }{
		{"nothing behind", first + "," + second, first + "," + second},
		{"later ones", first + "," + second + "," + third, first + "," + second},
		{"the next migration", first + "," + next, first},
		{"all of it", third, ""},
	} {
		got, err := s.cut([]byte(tt.elements))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: cut(%s) = %s, %v, want %s", tt.name, tt.elements, got, err, tt.want)
		}
	}
}

func TestReportJudges(t *testing.T) {
	r := &report{Updates: 10, Machine: machine{Processor: "x", Cores: 2, MemoryBytes: 1 << 30, Kernel: "6", Go: "go1"}}
	s := section{r, "backfill"}
	s.add("pages", 1234567, "MB")
	s.atLeast(8000, "updates", 8000, "1/s")
	s.atMost(0.6, "share", 0.61, "")
	if got := r.missed(); got != 1 {
		t.Errorf("missed() = %d, want 1", got)
	}
	var b bytes.Buffer
	if err := r.markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `10 updates; 2 cores of x, 1 GiB, Linux 6, go1

| | What | Measured | Unit | Target | Met |
| --- | --- | ---: | --- | --- | --- |
| backfill | pages | 1,234,567 | MB |  |  |
|  | updates | 8,000 | 1/s | at least 8,000 | yes |
|  | share | 0.61 |  | at most 0.60 | no |
`
	if b.String() != want {
		t.Errorf("markdown:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestDifferentContentsAreNotCompared(t *testing.T) {
	a := &loaded{Tables: map[string]tableFacts{"events": {Rows: 5, Content: 1}}}
	b := &loaded{Tables: map[string]tableFacts{"events": {Rows: 5, Content: 2}}}
	if err := equalContents(a, a); err != nil {
		t.Errorf("equal loads: %v", err)
	}
	if err := equalContents(a, b); err == nil || !strings.Contains(err.Error(), "events") {
		t.Errorf("loads with different events: %v, want an error that names the table", err)
	}
}

func TestChildTellsWhyItFailed(t *testing.T) {
	var stderr bytes.Buffer
	_, err := ask[loaded](t.Context(), "nobody", struct{}{}, &stderr)
	if err == nil || !strings.Contains(stderr.String(), `no part named "nobody"`) {
		t.Errorf("an unknown role: error %v, stderr %q", err, stderr.String())
	}
	if errors.Is(err, errMissedTarget) {
		t.Error("a failure looks like a missed target")
	}
}

func TestCursorFollowsAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want cursor
	}{
		"updates":             {`{"transactions":[{"migration_id":0,"record_time":"a"},{"migration_id":1,"record_time":"b"}]}`, cursor{1, "b"}},
		"a reassignment":      {`{"transactions":[{"event":{"migration_id":2,"x":1},"record_time":"c"}]}`, cursor{2, "c"}},
		"a page of nothing":   {`{"transactions":[]}`, cursor{}},
		"without its time":    {`{"transactions":[{"migration_id":1}]}`, cursor{}},
		"migration no number": {`{"migration_id":x,"record_time":"d"}`, cursor{}},
	} {
		var got cursor
		if err := got.take([]byte(tt.body)); got != tt.want || (err == nil) != (tt.want != cursor{}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestTransfersAreExecutedInBulk(t *testing.T) {
	var got commandOutcome
	err := executeTransfers(t.Context(), commandTask{Dir: t.TempDir(), Transfers: commandsAtOnce + 50}, func(answer any) error {
		got = answer.(commandOutcome)
		return nil
	})
	if err != nil || got.Seconds <= 0 || got.Peak <= 0 {
		t.Errorf("measured %+v, %v", got, err)
	}
}
