package app

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/hibiken/asynq"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestCausesOfFailedExports tells those that pass from those that somebody has to settle.
func TestCausesOfFailedExports(t *testing.T) {
	passing := fmt.Sprintf("%T", jobs.Passing(io.EOF))
	for _, c := range []struct {
		name    string
		err     error
		passes  bool
		forGood bool
	}{
		{"our disk is full", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true, false},
		{"our quota is used up", &os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, true, false},
		{"the engine's disk is full", fmt.Errorf("inserting: %w", schemas.ErrNoSpace), true, false},
		{"the engine's disk is full, by the other driver", &clickhouse.Exception{Code: 243, Message: "Cannot reserve 1 MiB"}, true, false},
		{"the engine has no memory", &clickhouse.Exception{Code: 241}, true, false},
		{"the engine restarts", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true, false},
		{"the engine has gone", io.ErrUnexpectedEOF, true, false},
		{"the store is damaged", fmt.Errorf("reading: %w", schemas.ErrDamaged), false, true},
		{"a file of the store is damaged", &clickhouse.Exception{Code: 40}, false, true},
		{"other bytes are published", published.ErrConflict, false, true},
		{"something else", errors.New("something else"), false, false},
	} {
		err := ExportJobs{}.classify(c.err)
		if got := fmt.Sprintf("%T", err) == passing; got != c.passes {
			t.Errorf("%s: passing is %v: %v", c.name, got, err)
		}
		if got := errors.Is(err, asynq.SkipRetry); got != c.forGood {
			t.Errorf("%s: for good is %v: %v", c.name, got, err)
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%s: the cause is lost: %v", c.name, err)
		}
	}
}
