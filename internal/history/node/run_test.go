package node_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/node"
)

// TestLedgerRunGivenUp: a reader that is given up at any moment, as by a client that closes its
// websocket, returns an error and keeps nothing.
func TestLedgerRunGivenUp(t *testing.T) {
	s := storeLedger(t, newLedger(31, 700))
	whole := node.Range{Through: s.end, Limit: 700}
	began := time.Now()
	run, err := s.reader.LedgerRun(t.Context(), everything(), whole)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	run.Close()
	random := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		hangUp := time.AfterFunc(time.Duration(random.Int64N(int64(took))), cancel)
		run, err := s.reader.LedgerRun(ctx, everything(), whole)
		hangUp.Stop()
		ended := ctx.Err()
		cancel()
		switch {
		case err == nil:
			run.Close()
		case ended == nil:
			t.Fatal(err)
		default:
			failed++
		}
	}
	if failed < 6 {
		t.Errorf("only %d of 60 readings were given up", failed)
	}
}
