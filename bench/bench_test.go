package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// TestMain makes the test binary what bench itself is: the engine and the measured parts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == engine.ChildCommand || os.Args[1] == lab.ChildCommand) {
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
	var r lab.Report
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

func TestHelpIsNoError(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, &stdout, &stderr); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"Examples:", "--only backfill,verify,size", "--huge-update-bytes"} {
		if !strings.Contains(stderr.String(), part) {
			t.Errorf("no %q in\n%s", part, stderr.String())
		}
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

func TestDifferentContentsAreNotCompared(t *testing.T) {
	a := &lab.Loaded{Tables: map[string]lab.TableFacts{"events": {Rows: 5, Content: 1}}}
	b := &lab.Loaded{Tables: map[string]lab.TableFacts{"events": {Rows: 5, Content: 2}}}
	if err := equalContents(a, a); err != nil {
		t.Errorf("equal loads: %v", err)
	}
	if err := equalContents(a, b); err == nil || !strings.Contains(err.Error(), "events") {
		t.Errorf("loads with different events: %v, want an error that names the table", err)
	}
}

func TestChildTellsWhyItFailed(t *testing.T) {
	var stderr bytes.Buffer
	_, err := lab.Ask[lab.Loaded](t.Context(), "nobody", struct{}{}, &stderr)
	if err == nil || !strings.Contains(stderr.String(), `no part named "nobody"`) {
		t.Errorf("an unknown role: error %v, stderr %q", err, stderr.String())
	}
	if errors.Is(err, errMissedTarget) {
		t.Error("a failure looks like a missed target")
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
