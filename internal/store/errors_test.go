package store

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// A query that could not even be sent within its caller's time ends with the error of the
// context, as one does that was sent: the caller has run out of time, the store has not failed.
func TestQueriesOutOfTimeSaySo(t *testing.T) {
	timeout := &net.OpError{Op: "writev", Net: "tcp", Err: os.ErrDeadlineExceeded}
	passed, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	ended, end := context.WithCancel(t.Context())
	end()
	later, cancelLater := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancelLater()
	other := errors.New("another")
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want []error
		not  error
	}{
		{"the connection's deadline is that of the context", passed, timeout, []error{context.DeadlineExceeded, os.ErrDeadlineExceeded}, context.Canceled},
		{"the caller has hung up", ended, timeout, []error{context.Canceled}, context.DeadlineExceeded},
		{"the connection has a timeout of its own", later, timeout, []error{os.ErrDeadlineExceeded}, context.DeadlineExceeded},
		{"the store fails", later, other, []error{other}, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := gaveUp(c.ctx, c.err)
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
			if errors.Is(err, c.not) {
				t.Errorf("%v is %v", err, c.not)
			}
		})
	}
	if err := gaveUp(passed, nil); err != nil {
		t.Errorf("a query that was answered in time gives %v", err)
	}
}

// TestReplicasThatAreAway has what a server says when it cannot write to all replicas: callers wait.
func TestReplicasThatAreAway(t *testing.T) {
	for _, code := range []proto.Error{proto.ErrTooFewLiveReplicas, proto.ErrUnknownStatusOfInsert, proto.ErrTableIsReadOnly, proto.ErrKeeperException, proto.ErrAllReplicasAreStale} {
		err := error(&ch.Exception{Code: code, Message: "Number of alive replicas (1) is less than requested quorum (2/2)."})
		if !isAway(err) || !Passes(err) {
			t.Errorf("%v: away %v, passes %v", code, isAway(err), Passes(err))
		}
	}
}
