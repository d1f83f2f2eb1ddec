package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
)

func newDevnet(c *cli) *cobra.Command {
	var n simulated.Network
	address := ""
	cmd := &cobra.Command{
		Use:   "devnet",
		Short: "run the simulated network alone, as an upstream to ingest from",
		Long: `devnet executes a seeded history of a small network (rounds, taps, transfers, rewards,
traffic, names, a third-party app, two migrations) and serves it over the operations of
a scan service: history, active contracts at an instant, and the state of the network.
GET /devnet/digests returns digests of what it serves. The network is kept in the data
folder: the next start continues it, with everything that was added.

With --node-listen it also serves what one participant sees, private transactions
included, over the ledger API of a node (websockets and lists). GET /devnet/node-digests
on that address returns digests of its stream.`,
		Example: "  ledgerlake devnet --updates 20000 --seed 7 --devnet-listen 127.0.0.1:5012\n" +
			"  ledgerlake devnet --node-listen 127.0.0.1:5013 --live-clock\n" +
			"  ledgerlake devnet --updates 1000000 --live 50\n" +
			"  ledgerlake devnet --node-listen 127.0.0.1:5013 --participant Super-Validator-1",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return simulated.Run(cmd.Context(), &c.cfg, n, address, console.NewProgress(c.console), func(url, participant, nodeURL string) {
				fmt.Fprintf(c.stdout, "simulated network: %s (stop with Ctrl-C)\n", url)
				if nodeURL != "" {
					fmt.Fprintf(c.stdout, "ledger API of %s: %s\n", participant, nodeURL)
				}
			})
		},
	}
	networkFlags(cmd, &n, 100_000)
	liveFlags(cmd, &n, 0)
	cmd.Flags().StringVar(&address, "devnet-listen", "127.0.0.1:5012", "address to serve on")
	cmd.Flags().StringVar(&n.NodeListen, "node-listen", "", "address to serve a participant's ledger API on; default none")
	cmd.Flags().StringVar(&n.Participant, "participant", "", "the participant of --node-listen, such as validator-2 or Super-Validator-1 (default the busiest validator)")
	cmd.Flags().StringVar(&n.NodeSecret, "node-secret", "", "secret of the tokens (HS256) that --node-listen requires; without it everybody may do everything")
	return cmd
}

// networkFlags adds the flags that shape the simulated network.
func networkFlags(cmd *cobra.Command, n *simulated.Network, updates int) {
	f := cmd.Flags()
	n.Given = f.Changed
	f.IntVar(&n.Updates, "updates", updates, "number of updates in the simulated network's history")
	f.Uint64Var(&n.Seed, "seed", 42, "seed of the simulated network; the same seed gives the same history, byte for byte")
	f.IntVar(&n.Days, "days", 8, "days of record time over which the history is spread")
	f.IntVar(&n.HugeUpdateBytes, "huge-update-bytes", 0, "give one update a text of this many bytes")
	f.BoolVar(&n.TrafficRewards, "traffic-rewards", false, "reward the simulated network's apps by the traffic of their transactions, instead of coupons for transfers")
}

// liveFlags adds the flags of a network that goes on while it is served.
func liveFlags(cmd *cobra.Command, n *simulated.Network, perSecond float64) {
	f := cmd.Flags()
	f.Float64Var(&n.Live, "live", perSecond, "updates per second that the simulated network adds while serving")
	f.BoolVar(&n.LiveClock, "live-clock", false, "run the simulated network on the wall clock while serving: history ends about now, rounds tick, offers expire; a network that was started this way stays so")
}
