package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
)

// TestMigrationLog has long steps, of which a person sees a count every 10 s.
func TestMigrationLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 7, 5, 0, 0, 0, 0, time.UTC)
	l := migrationLog{now: func() time.Time { return now }, log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))}
	for _, m := range []indexer.Migration{
		{Name: "0170_one", Step: 1},
		{Name: "0170_one", Step: 1, Done: 3, Total: 12}, // soon after
		{Name: "0180_two", Step: 2},
		{Name: "0180_two", Step: 2, Done: 5, Total: 9}, // after 10 s
		{Waiting: true},
	} {
		m.From, m.To, m.Steps = 160, 180, 2
		if m.Done == 5 {
			now = now.Add(countInterval)
		}
		l.report(m)
	}
	want := `level=WARN msg="the store is migrated: earlier versions of ledgerlake will refuse it" from=160 to=180 steps=2
level=INFO msg="migrating the store" from=160 to=180 step=0170_one number="1 of 2"
level=DEBUG msg="migrating the store" from=160 to=180 step=0170_one number="1 of 2" done="3 of 12"
level=INFO msg="migrating the store" from=160 to=180 step=0180_two number="2 of 2"
level=INFO msg="migrating the store" from=160 to=180 step=0180_two number="2 of 2" done="5 of 9"
level=INFO msg="another process migrates the store: waiting until it has" from=160 to=180
`
	if out.String() != want {
		t.Errorf("the log is\n%s, want\n%s", out.String(), want)
	}
	out.Reset()
	made := migrationLog{now: l.now, log: l.log}
	made.report(indexer.Migration{Name: "0001_batches", To: 180, Step: 1, Steps: 30})
	if !strings.HasPrefix(out.String(), "level=DEBUG ") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a new store is logged as %q", out.String())
	}
}
