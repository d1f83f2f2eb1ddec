package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestOpenExplainsWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		name, url, want string
		err             error
	}{
		{"nothing listens", "redis://:hush@127.0.0.1:1/0", "redis://***@127.0.0.1:1/0: dial tcp 127.0.0.1:1: connect: connection refused: start redis there, or leave the redis url empty", jobs.ErrUnreachable},
		{"no scheme", "127.0.0.1:6379", "write redis://[user:password@]host:port[/db]", nil},
		{"wrong scheme", "http://me:hush@localhost", "write redis://", nil},
		{"bad port", "redis://me:hush@localhost:port", "write redis://", nil},
		{"bad sentinel", "redis-sentinel://:hush@host:x:y", "", nil},
		{"no socket", "unix:///no/such.sock", "start redis there", jobs.ErrUnreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := jobs.Open(t.Context(), jobs.Config{RedisURL: test.url, Log: slog.New(slog.DiscardHandler)})
			wantMessage(t, err, test.want)
			if test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("error %v is not %v", err, test.err)
			}
		})
	}
}

func TestOpenExplainsAWrongPassword(t *testing.T) {
	url := startRedis(t, "--requirepass", "right")
	right := strings.Replace(url, "redis://", "redis://:right@", 1)
	wrong := strings.Replace(url, "redis://", "redis://:hush@", 1)
	q := open(t, jobs.Config{RedisURL: right, Log: testLog(t)})
	if err := q.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	for _, url := range []string{url, wrong} {
		_, err := jobs.Open(t.Context(), jobs.Config{RedisURL: url, Log: testLog(t)})
		wantMessage(t, err, "correct the user and password in the redis url")
	}
}

func TestTLSMismatchIsExplained(t *testing.T) {
	url := strings.Replace(startRedis(t), "redis://", "rediss://", 1) + "?dial_timeout=500ms" // as Redis answers nothing
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := jobs.Open(ctx, jobs.Config{RedisURL: url, Log: testLog(t)})
	wantMessage(t, err, "write redis://")
}

// wantMessage checks that err is one line that holds want and not the password.
func wantMessage(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with %q and without the password", err, want)
	}
}

func TestConfigHidesThePassword(t *testing.T) {
	cfg := jobs.Config{RedisURL: "redis://me:hush@localhost:6379/3"}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("opened", "config", cfg)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), logged.String()} {
		if strings.Contains(printed, "hush") || !strings.Contains(printed, "localhost:6379/3") {
			t.Errorf("printed as %s", printed)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	q := open(t, jobs.Config{Log: testLog(t)})
	ok := jobs.Handler{
		Kind: jobs.Kind{Name: "a", Lane: jobs.Bulk},
		Run:  func(context.Context, []byte, jobs.ProgressFunc) error { return nil },
	}
	noRun, noName, noLane := ok, ok, ok
	noRun.Run, noName.Kind.Name, noLane.Kind.Lane = nil, "", "other"
	for name, handlers := range map[string][]jobs.Handler{
		"no run": {noRun}, "no name": {noName}, "unknown lane": {noLane}, "two of a kind": {ok, ok},
	} {
		if err := q.Register(handlers...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := q.Enqueue(t.Context(), jobs.Task{Kind: ok.Kind}); err == nil {
		t.Error("a task without an id was queued")
	}
}

func TestSegmentTaskID(t *testing.T) {
	for _, test := range []struct {
		segment schemas.SegmentRef
		want    string
	}{
		{schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-02"}, "export:scan:1:2026-07-02"},
		{schemas.SegmentRef{Stream: "scan", MigrationID: 1}, "export:scan:1:imports"},
		{schemas.SegmentRef{Stream: "node:p::12", MigrationID: 0, Date: "2026-07-02"}, "export:node%3Ap%3A%3A12:0:2026-07-02"},
	} {
		if got := jobs.ExportSegmentTask(test.segment).ID; got != test.want {
			t.Errorf("TaskID of %+v = %s, want %s", test.segment, got, test.want)
		}
	}
}
