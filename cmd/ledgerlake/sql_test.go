package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// The command answers out of the engine that runs on its data folder, in each format, and
// changes nothing.
func TestSQL(t *testing.T) {
	needEngine(t)
	data := t.TempDir()
	store, err := engine.Start(t.Context(), engine.Config{DataDir: filepath.Join(data, "engine"), StopGrace: app.StopTimeout, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
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
	for name, args := range map[string][]string{
		"a query that writes": {"sql", "--data", data, "CREATE TABLE made (n Int64) ENGINE = Memory"},
		"no SQL":              {"sql", "--data", data, "SELEC 1"},
		"an unknown format":   {"sql", "--data", data, "--format", "xml", "SELECT 1"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
