package devnet

import (
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// BenchmarkSubmit reports the rate at which transfers that are submitted are executed,
// rendered for scan and node, and visible: one after the other, between two of the node's
// parties, each of the change of the one before it.
func BenchmarkSubmit(b *testing.B) {
	for _, skip := range []bool{true, false} {
		b.Run(fmt.Sprintf("skip_compact=%v", skip), func(b *testing.B) {
			d := newDesk(b, sim.Config{Updates: 5000, Seed: 1, SkipCompact: skip})
			alice, bob := d.party("alice", nil), d.party("bob", nil)
			coin := d.tap(alice, "100000000")
			template := d.transfer(alice, []string{coin}, bob, "0.0001")
			b.ReportAllocs()
			for b.Loop() {
				s := d.submission([]string{alice, bob}, choices.Command{TemplateID: template.TemplateID, ContractID: template.ContractID,
					Choice: template.Choice, Argument: replaceOnce(template.Argument, coin)})
				done, err := d.l.Submit(b.Context(), s)
				if err != nil {
					b.Fatal(err)
				}
				template.Argument = s.Commands[0].Argument
				coin = in(b, done.Results[0], "senderChangeAmulet")
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transfers/s")
		})
	}
}

// replaceOnce puts a coin in the place of the one input of a transfer.
func replaceOnce(argument []byte, coin string) []byte {
	const before = `{"tag":"InputAmulet","value":"`
	next := append([]byte(nil), argument...)
	for at := range next {
		if string(next[at:min(len(next), at+len(before))]) == before {
			copy(next[at+len(before):], coin)
			return next
		}
	}
	return next
}
