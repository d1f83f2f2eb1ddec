package sqlprompt

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// Queries are read up to their semicolons; at a prompt an error does not end the reading.
func TestSQLReadsQueries(t *testing.T) {
	conn := enginetest.Start(t).Conn
	const text = "SELECT 1 AS one,\n  '; ' AS mark;\n\nSELEC 2;\nSELECT 3 AS three"
	var out, errs, asked bytes.Buffer
	q := New(conn, &out, "tsv")
	q.Errors, q.Prompt = &errs, &asked
	if err := q.RunAll(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if want := "one\tmark\n1\t; \nthree\n3\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if !strings.Contains(errs.String(), "Syntax error") || strings.Count(asked.String(), "ledgerlake> ") < 3 || !strings.Contains(asked.String(), "...> ") {
		t.Errorf("errors %q, prompts %q", errs.String(), asked.String())
	}
	q = New(conn, &out, "tsv")
	if err := q.RunAll(t.Context(), strings.NewReader(text)); err == nil {
		t.Error("without a prompt an error does not end the reading")
	}
}
