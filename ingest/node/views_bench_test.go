package node

import (
	"fmt"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// BenchmarkViews measures what it costs to ask a simulated node for views: the processor time of both
// sides, and of the stream with the views of all coins, which are not stored.
func BenchmarkViews(b *testing.B) {
	ledger, err := devnet.New(b.Context(), devnet.Config{Updates: 20_000, Seed: 8, Dir: b.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer ledger.Close()
	handler, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	given := views.Given(values.Default())
	for name, interfaces := range map[string][]string{
		"none": nil, "requests": given, "requests_and_holdings": append(given, "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"),
	} {
		b.Run(name, func(b *testing.B) {
			begin, items := processorTime(b), 0
			for b.Loop() {
				sink := newSink()
				sink.forget = true
				ing, err := New(Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: quiet}, Computed: views.Computes,
					Interfaces: func() []string { return interfaces }})
				if err != nil {
					b.Fatal(err)
				}
				if err := ing.Backfill(b.Context()); err != nil || sink.items == 0 {
					b.Fatal(sink.items, err)
				}
				items += sink.items
			}
			b.ReportMetric((processorTime(b)-begin)/float64(items)*1e6, "cpu-µs/update")
		})
	}
}

// processorTime is that of this process, in seconds.
func processorTime(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(fmt.Errorf("reading the processor time: %w", err))
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
