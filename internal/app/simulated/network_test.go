package simulated

import (
	"io"
	"math"
	"runtime/debug"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// TestNetworkIsOutsideTheLimit has a network that must not be counted as memory of the product: with
// 100,000 updates in a process of 700 MiB the collector took a whole core, for ever.
func TestNetworkIsOutsideTheLimit(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	settings.LimitMemory(64 << 20)
	cfg := &settings.Config{}
	cfg.Data = t.TempDir()
	node, err := Folder{cfg}.Start(t.Context(), Network{Updates: 50, Seed: 1, Days: 1}, "127.0.0.1:0", console.NewProgress(console.New(io.Discard, io.Discard)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("a process with a simulated network has a limit of %d bytes", limit)
	}
}
