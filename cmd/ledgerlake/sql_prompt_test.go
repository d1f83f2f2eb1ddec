package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// await waits until the terminal has shown a text after what it had shown before the call that
// typed it.
func (t *terminal) await(test *testing.T, typed, text string) {
	test.Helper()
	t.mu.Lock()
	before := t.raw.Len()
	_, err := io.WriteString(t.pty, typed)
	t.mu.Unlock()
	if err != nil {
		test.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		t.mu.Lock()
		shown := t.raw.String()[before:]
		t.mu.Unlock()
		if strings.Contains(shown, text) {
			return
		}
		if time.Now().After(deadline) {
			test.Fatalf("after %q was typed there is no %q in\n%q", typed, text, shown)
		}
	}
}

// At the prompt one types statements of several lines, completes names, lists tables, cancels a query
// without leaving, and finds everything again the next time.
func TestPrompt(t *testing.T) {
	needEngine(t)
	data, state := t.TempDir(), t.TempDir()
	e := startEngine(t, filepath.Join(data, "engine"))
	owner, err := engine.Open(t.Context(), e.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	if err := owner.Exec(t.Context(), "CREATE TABLE payments (amount Int64 COMMENT 'What was paid, in units') ENGINE = MergeTree ORDER BY amount"); err != nil {
		t.Fatal(err)
	}
	prompt := func(width int) *terminal {
		term := onTerminal(t, width, []string{"XDG_STATE_HOME=" + state}, "sql", "--data", data)
		term.await(t, "", "ledgerlake> ")
		return term
	}
	term := prompt(120)
	term.await(t, "SELECT 40 -- and;\r", "...> ")
	term.await(t, "+ 2 AS answer;\r", "answer\r\n42\r\n")
	term.await(t, "SELECT count() FROM paym\t", "payments")
	term.await(t, ";\r", "count()\r\n0\r\n")
	term.await(t, "\\d\r", "payments")
	term.await(t, "\\d payments\r", "What was paid, in units")
	term.await(t, "\\d absent\r", `error: there is no table absent: \d lists them`)
	term.await(t, "SELECT nowhere;\r", "error: line 1, column 8: Unknown expression identifier")
	term.await(t, "DROP TABLE payments;\r", "error: sql is read-only")
	term.await(t, "SELECT 'half typed\r", "...> ")
	term.await(t, "\x03", "ledgerlake> ")
	term.await(t, "\\timing\r", "timing is on")
	term.await(t, "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1;\r", " of 1000000000000 rows, 0%, ")
	term.await(t, "\x03", "error: cancelled")
	term.await(t, "SELECT 5 AS after;\r", "1 rows, ")
	running := uint64(1)
	for deadline := time.Now().Add(20 * time.Second); running > 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := owner.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number)%' AND user = 'reader'").Scan(&running); err != nil {
			t.Fatal(err)
		}
	}
	if running > 0 {
		t.Error("a cancelled query is still running")
	}
	term.await(t, "exit\r", "\r\n")
	if err := term.Wait(); err != nil {
		t.Error(err)
	}
	history, err := os.ReadFile(filepath.Join(state, "ledgerlake", "sql_history"))
	if want := "SELECT 40  + 2 AS answer;\n"; err != nil || !strings.HasPrefix(string(history), want) || strings.Contains(string(history), "DROP") {
		t.Errorf("the history is %q, %v", history, err)
	}
	term = prompt(80)
	term.await(t, "\x1b[A\r", "after\r\n5\r\n")
	term.await(t, "\x04", "\r\n")
	if err := term.Wait(); err != nil {
		t.Error(err)
	}
	term = prompt(12) // too narrow to edit: the terminal's own lines
	term.await(t, "SELECT 'dropped\x03", "^C")
	time.Sleep(200 * time.Millisecond) // the signal would cancel the next statement
	term.await(t, "SELECT 7;\r", "7\r\n7\r\n")
}
