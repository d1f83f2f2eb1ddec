package devnet

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

// BenchmarkNew reports executed, rendered and stored updates per second. Each ledger
// is removed before the next: a full page cache would slow them all down.
func BenchmarkNew(b *testing.B) {
	for _, skip := range []bool{true, false} {
		b.Run(fmt.Sprintf("skip_compact=%v", skip), func(b *testing.B) {
			const updates = 50_000
			b.ReportAllocs()
			for b.Loop() {
				l, err := ledger.New(context.Background(), sim.Config{Updates: updates, Seed: 1, SkipCompact: skip}, nil)
				if err != nil {
					b.Fatal(err)
				}
				size := int64(0)
				for _, n := range l.Store.Ends {
					size += n
				}
				b.SetBytes(size)
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(updates*b.N)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}

// BenchmarkExecute reports what execution alone costs.
func BenchmarkExecute(b *testing.B) {
	c, err := sim.Config{Updates: 1 << 20, Seed: 1}.WithDefaults()
	if err != nil {
		b.Fatal(err)
	}
	x, batch := sim.NewExecutor(c, model.NewNames(c.Seed, c.Updates, c.Synchronizers)), &sim.Batch{}
	b.ReportAllocs()
	for b.Loop() {
		if x.SwitchDue() {
			x.SwitchMigration()
		}
		if batch.Counted == ledger.UpdatesPerBatch {
			batch.Reset()
		}
		if err := x.Step(batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPages reports the rate at which pages of 1,000 items are served.
func BenchmarkPages(b *testing.B) {
	l, err := ledger.New(context.Background(), sim.Config{Updates: 5000, Seed: 1, Dir: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	h := scanapi.Handler(l)
	for _, q := range []struct{ path, body string }{
		{"/v2/updates", `{"page_size":1000}`},
		{"/v0/events", `{"page_size":1000}`},
		{"/v0/backfilling/updates-before", fmt.Sprintf(
			`{"migration_id":1,"synchronizer_id":%q,"before":"2030-01-01T00:00:00Z","count":1000}`, l.Names.Synchronizers[0])},
	} {
		b.Run(strings.TrimPrefix(q.path, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := &discardResponse{ResponseRecorder: httptest.NewRecorder()}
				h.ServeHTTP(w, httptest.NewRequest("POST", q.path, strings.NewReader(q.body)))
				if w.Code != 200 || w.written == 0 {
					b.Fatalf("status %d, %d bytes", w.Code, w.written)
				}
				b.SetBytes(w.written)
			}
		})
	}
}

// discardResponse counts the body instead of keeping it.
type discardResponse struct {
	*httptest.ResponseRecorder
	written int64
}

func (w *discardResponse) Write(p []byte) (int, error) {
	w.written += int64(len(p))
	return io.Discard.Write(p)
}

// BenchmarkNewWithNode is BenchmarkNew with the view of a super-validator, which sees
// every public update.
func BenchmarkNewWithNode(b *testing.B) {
	const updates = 20_000
	for b.Loop() {
		l, err := ledger.New(context.Background(), sim.Config{Updates: updates, Seed: 1, SkipCompact: true,
			Node: &sim.NodeConfig{Participant: "Super-Validator-1"}}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(updates*b.N)/b.Elapsed().Seconds(), "updates/s")
}

// BenchmarkNodeReplay reports the rate at which a websocket client is sent history: as
// it is kept, and cut to the changes of active contracts.
func BenchmarkNodeReplay(b *testing.B) {
	_, c := startNode(b, sim.Config{Updates: 20_000, Seed: 1, SkipCompact: true,
		Node: &sim.NodeConfig{Participant: "Super-Validator-1"}}, nodeapi.NodeOptions{})
	end := c.ledgerEnd()
	for _, format := range []struct{ name, text string }{{"everything", everything}, {"acs_delta", acsDeltas}} {
		b.Run(format.name, func(b *testing.B) {
			updates, size := 0, int64(0)
			for b.Loop() {
				n, bytes := c.drain("/v2/updates", updatesBody(0, end, format.text))
				updates, size = updates+n, bytes
			}
			b.SetBytes(size)
			b.ReportMetric(float64(updates)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}
