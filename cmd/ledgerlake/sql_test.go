package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The command answers out of the engine that runs on its data folder, in each format, and
// changes nothing.
func TestSQL(t *testing.T) {
	needEngine(t)
	data := t.TempDir()
	startEngine(t, filepath.Join(data, "engine"))
	const query = `SELECT number AS n, concat('a\tb', toString(number)) AS text, [number, 7] AS list, toNullable(NULL) AS nothing,
		toDateTime64('2026-07-01 00:00:00.5', 6, 'UTC') AS at, toDate('2026-07-01') AS day, true AS yes, toDecimal128('1.50', 10) AS amount FROM numbers(2);`
	for format, want := range map[string]string{
		"tsv": "n\ttext\tlist\tnothing\tat\tday\tyes\tamount\n" +
			"0\ta\\tb0\t[0,7]\tNULL\t2026-07-01T00:00:00.5Z\t2026-07-01\ttrue\t1.5\n1\ta\\tb1\t[1,7]\tNULL\t2026-07-01T00:00:00.5Z\t2026-07-01\ttrue\t1.5\n",
		"table": "n  text   list   nothing  at                      day         yes   amount\n" +
			"0  a\\tb0  [0,7]  NULL     2026-07-01T00:00:00.5Z  2026-07-01  true  1.5\n1  a\\tb1  [1,7]  NULL     2026-07-01T00:00:00.5Z  2026-07-01  true  1.5\n",
		"json": `{"n":0,"text":"a\tb0","list":[0,7],"nothing":null,"at":"2026-07-01T00:00:00.5Z","day":"2026-07-01","yes":true,"amount":"1.5"}` + "\n" +
			`{"n":1,"text":"a\tb1","list":[1,7],"nothing":null,"at":"2026-07-01T00:00:00.5Z","day":"2026-07-01","yes":true,"amount":"1.5"}` + "\n",
	} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"sql", "--data", data, "--format", format, query}, &out, io.Discard); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if out.String() != want {
			t.Errorf("%s prints\n%s\nwant\n%s", format, out.String(), want)
		}
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	mustRun(t, "sql", "--data", data, "-o", file, "--param", "from=2026-07-01", "--param", "text=a,b=c", "SELECT 1; SELECT {from:Date} AS day, {text:String} AS text")
	const rows = "1\n1\nday,text\n2026-07-01,\"a,b=c\"\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != rows {
		t.Errorf("the file has %q, %v", got, err)
	}
	if err := run(t.Context(), []string{"sql", "--data", data, "-o", file, "SELECT 2; SELECT nowhere"}, io.Discard, io.Discard); err == nil {
		t.Error("an error in the second statement: no error")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != rows {
		t.Errorf("after an error the file has %q, %v", got, err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := run(t.Context(), []string{"sql", "--data", none, "SELECT 1"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "ledgerlake up") {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	for name, args := range map[string][]string{
		"a query that writes":         {"sql", "--data", data, "CREATE TABLE made (n Int64) ENGINE = Memory"},
		"no SQL":                      {"sql", "--data", data, "SELEC 1"},
		"a parameter without a value": {"sql", "--data", data, "--param", "from", "SELECT 1"},
		"no query":                    {"sql", "--data", data, " "},
		"an unknown question":         {"sql", "--data", data, "--run", "nothing"},
		"an unknown parameter":        {"sql", "--data", data, "--run", "supply", "--param", "day=1"},
		"a missing parameter":         {"sql", "--data", data, "--run", "statement"},
		"two questions":               {"sql", "--data", data, "--run", "supply", "SELECT 1"},
		"an unknown format":           {"sql", "--data", data, "--format", "xml", "SELECT 1"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
