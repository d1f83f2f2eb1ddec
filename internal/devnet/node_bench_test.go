package devnet

import (
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// BenchmarkNodeSubmits reports how many commands one client has executed over HTTP.
func BenchmarkNodeSubmits(b *testing.B) {
	l, c := startNode(b, sim.Config{Updates: 600, Seed: 11, SkipCompact: true}, nodeapi.NodeOptions{})
	f := flow{c, l, l.Names.Name(model.Dso), l.Names.Name(l.Names.ValidatorOf(l.View.Parties[0]))}
	alice := f.addParty("alice")
	n := 0
	for b.Loop() {
		n++
		var done waited
		f.call("POST", "/v2/commands/submit-and-wait", f.install("alice", alice, fmt.Sprint("c-", n)), &done)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
}
