package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/native"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var errSilent = errors.New("the server stopped responding")

// ErrAway says that the store, or a shard of it, does not answer: a schemas.ErrUnavailable.
var ErrAway = fmt.Errorf("the store: %w", schemas.ErrUnavailable)

// gaveUp marks the error of a query whose caller has given up with the error of its context. The
// client gives the connection the deadline of the context, and what the connection then reports
// is a timeout of its own: to callers it must not look like a store that fails.
func gaveUp(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	cause := ctx.Err()
	// The connection may notice first.
	if deadline, ok := ctx.Deadline(); ok && cause == nil && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	}
	if cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// isAway reports whether an error says that the server is not there: a connection to it cannot
// be made or has ended, or it is about to end. On a cluster the server says so of a shard.
func isAway(err error) bool {
	if e, ok := ch.AsException(err); ok {
		lost := e.IsCode(proto.ErrAttemptToReadAfterEOF, proto.ErrSocketTimeout) && strings.Contains(e.Message, "while receiving packet from")
		return lost || lacksReplicas(e) || e.IsCode(proto.ErrAborted, proto.ErrNetworkError, proto.ErrAllConnectionTriesFailed, proto.ErrAllReplicasAreStale)
	}
	return isBroken(err) || errors.Is(err, native.ErrGone) || errors.Is(err, net.ErrClosed) || errors.Is(err, ch.ErrClosed)
}

// lacksReplicas reports whether a server says that it cannot reach the other replicas of a table, or Keeper.
func lacksReplicas(e *ch.Exception) bool {
	return e.IsCode(proto.ErrTooFewLiveReplicas, proto.ErrUnknownStatusOfInsert, proto.ErrTableIsReadOnly, proto.ErrKeeperException)
}

// oneLine cuts what a server says of another, which may be the log of its tries or a stack, to what
// failed and the first reason.
func oneLine(err error) error {
	e, ok := ch.AsException(err)
	if !ok || !strings.Contains(e.Message, "\n") {
		return err
	}
	lines := slices.DeleteFunc(strings.Split(e.Message, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	short := *e
	short.Message = strings.Join(lines[:min(2, len(lines))], " ")
	return &short
}

// isBroken reports whether an error is that of a connection, or of one that could not be made.
func isBroken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Explain marks errors of a connection of clickhouse-go that callers decide on, as those of DB are.
func Explain(err error) error {
	var e *clickhouse.Exception
	if !errors.As(err, &e) {
		return err
	}
	return explained(err, proto.Error(e.Code), e.Message)
}

// explain marks errors that callers decide on.
func explain(err error) error {
	e, ok := ch.AsException(err)
	if !ok {
		return err
	}
	return explained(err, e.Code, e.Message)
}

func explained(err error, code proto.Error, message string) error {
	switch {
	case code == proto.ErrNotEnoughSpace, strings.Contains(message, "No space left on device"):
		return fmt.Errorf("%w: %w", schemas.ErrNoSpace, err)
	case isDamage(code):
		return fmt.Errorf("%w: its files cannot be read, ledgerlake verify --check parts names the part: %w", schemas.ErrDamaged, err)
	}
	return err
}

// Passes reports whether an error of DB has a cause that passes: the server is away, restarts,
// has no memory or no room, or is slow.
func Passes(err error) bool {
	if e, ok := ch.AsException(err); ok {
		return isBusy(int32(e.Code))
	}
	var e *clickhouse.Exception
	if errors.As(err, &e) {
		return isBusy(e.Code) || strings.Contains(e.Message, "No space left on device")
	}
	return errors.Is(err, schemas.ErrNoSpace) || errors.Is(err, errSilent) || isBroken(err) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isBusy reports whether a server says that it cannot answer now.
func isBusy(code int32) bool {
	switch proto.Error(code) {
	case proto.ErrNotEnoughSpace, proto.ErrMemoryLimitExceeded, proto.ErrTooManyParts, proto.ErrTooManySimultaneousQueries, proto.ErrTimeoutExceeded,
		proto.ErrNetworkError, proto.ErrSocketTimeout, proto.ErrAllConnectionTriesFailed, proto.ErrAllReplicasAreStale,
		proto.ErrTooFewLiveReplicas, proto.ErrUnknownStatusOfInsert, proto.ErrTableIsReadOnly, proto.ErrKeeperException:
		return true
	}
	return false
}

// isDamage reports whether the server says that a file of a table is not as it was written.
func isDamage(code proto.Error) bool {
	switch code {
	case proto.ErrChecksumDoesntMatch, proto.ErrCorruptedData, proto.ErrCannotReadAllData, proto.ErrNoFileInDataPart, proto.ErrFileDoesntExist,
		proto.ErrCannotDecompress, proto.ErrTooLargeSizeCompressed, proto.ErrUnknownCompressionMethod, proto.ErrSizesOfMarksFilesAreInconsistent,
		proto.ErrUnexpectedFileInDataPart, proto.ErrBadSizeOfFileInDataPart:
		return true
	}
	return false
}
