package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// devnetFlags are the flags that shape the simulated network.
type devnetFlags struct {
	updates int
	seed    uint64
	days    int
	huge    int
	traffic bool // apps are rewarded by traffic
	live    float64
	clock   bool
	kept    bool // the network of the data folder is continued

	// node is the address on which a participant's ledger API is served, "" for none;
	// participant says whose.
	node, participant string
	// secret signs the tokens that the participant asks for; none when empty.
	secret string
}

func (d *devnetFlags) register(f *pflag.FlagSet, updates int) {
	f.IntVar(&d.updates, "updates", updates, "updates of the simulated network's history")
	f.Uint64Var(&d.seed, "seed", 42, "seed of the simulated network; the same seed gives the same history to the byte")
	f.IntVar(&d.days, "days", 8, "days of record time over which the history is spread")
	f.IntVar(&d.huge, "huge-update-bytes", 0, "let one update carry a text of so many bytes")
	f.BoolVar(&d.traffic, "traffic-rewards", false, "reward the simulated network's apps by the traffic of their transactions, in place of coupons for transfers")
}

// check rejects a network that cannot be.
func (d *devnetFlags) check() error {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{{"updates", float64(d.updates), 1}, {"days", float64(d.days), 1}, {"huge-update-bytes", float64(d.huge), 0}, {"live", d.live, 0}} {
		if f.value < f.least {
			return settings.Usage("--%s must be at least %g, not %g", f.name, f.least, f.value)
		}
	}
	return nil
}

// registerLive adds the flags of a network that goes on while it is served.
func (d *devnetFlags) registerLive(f *pflag.FlagSet, perSecond float64) {
	f.Float64Var(&d.live, "live", perSecond, "updates per second that the simulated network adds while serving")
	f.BoolVar(&d.clock, "live-clock", false, "let the simulated network's time be that of the wall clock while serving: history ends about now, rounds tick, offers expire; a network that began to stays so")
}

func newDevnet(a *app) *cobra.Command {
	var d devnetFlags
	address := ""
	cmd := &cobra.Command{
		Use:   "devnet",
		Short: "run the simulated network alone, as an upstream to ingest from",
		Long: `devnet executes a seeded history of a small network (rounds, taps, transfers, rewards,
traffic, names, a third-party app, two migrations) and serves it over the operations of
a scan service: history, active contracts at an instant, and the state of the network.
GET /devnet/digests tells what it serves. The network is kept in the data folder: the next
start continues it, with all that was added.

With --node-listen it also serves what one participant sees, private transactions
included, over the ledger API of a node (websockets and lists). GET /devnet/node-digests
on that address tells what its stream has.`,
		Example: "  ledgerlake devnet --updates 20000 --seed 7 --devnet-listen 127.0.0.1:5012\n" +
			"  ledgerlake devnet --node-listen 127.0.0.1:5013 --live-clock\n" +
			"  ledgerlake devnet --updates 1000000 --live 50\n" +
			"  ledgerlake devnet --node-listen 127.0.0.1:5013 --participant Super-Validator-1",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.continueNetwork(&d, cmd.Flags()); err != nil {
				return err
			}
			return a.runDevnet(cmd.Context(), d, address)
		},
	}
	d.register(cmd.Flags(), 100_000)
	d.registerLive(cmd.Flags(), 0)
	cmd.Flags().StringVar(&address, "devnet-listen", "127.0.0.1:5012", "address to serve on")
	cmd.Flags().StringVar(&d.node, "node-listen", "", "address to serve a participant's ledger API on; none when empty")
	cmd.Flags().StringVar(&d.participant, "participant", "", "the participant of --node-listen, such as validator-2 or Super-Validator-1 (default the busiest validator)")
	cmd.Flags().StringVar(&d.secret, "node-secret", "", "secret of the tokens (HS256) that --node-listen asks for; everybody may do everything without")
	return cmd
}

func (a *app) runDevnet(ctx context.Context, d devnetFlags, address string) (err error) {
	if err := d.check(); err != nil {
		return err
	}
	if err := settings.CheckAddress("devnet-listen", address); err != nil {
		return settings.AsUsage(err)
	}
	if d.node != "" {
		if err := settings.CheckAddress("node-listen", d.node); err != nil {
			return settings.AsUsage(err)
		}
	}
	node, err := a.startDevnet(ctx, d, address, console.NewProgress(a.console))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.close()) }()
	fmt.Fprintf(a.stdout, "simulated network: %s (stop with Ctrl-C)\n", node.url)
	if node.participant != nil {
		fmt.Fprintf(a.stdout, "ledger API of %s: %s\n", node.ledger.NodeDigests().ParticipantID, node.participant.url)
	}
	return node.serve(ctx, d.live)
}

// devnetNode is a simulated network with its HTTP servers.
type devnetNode struct {
	ledger *devnet.Ledger
	devnetServer
	participant *devnetServer // of a participant's ledger API, or nil
	clock       bool          // whether time goes on with the wall clock
}

// devnetServer is one address that the simulated network serves.
type devnetServer struct {
	url      string
	listener net.Listener
	server   *http.Server
}

func listenForDevnet(address, setting string) (devnetServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return devnetServer{}, explainListen(address, setting, err)
	}
	return devnetServer{url: "http://" + listener.Addr().String(), listener: listener}, nil
}

// answer has h answer requests once the server runs.
func (s *devnetServer) answer(h http.Handler) {
	s.server = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
}

func (s *devnetServer) close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// startDevnet executes the history and listens; serve answers requests.
func (a *app) startDevnet(ctx context.Context, d devnetFlags, address string, p *console.Progress) (_ *devnetNode, err error) {
	n := &devnetNode{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.devnetServer, err = listenForDevnet(address, "devnet-listen"); err != nil {
		return nil, err
	}
	config := devnet.Config{Updates: d.updates, Seed: d.seed, Days: d.days, HugeUpdateBytes: d.huge, TrafficRewards: d.traffic, Dir: a.networkFolder(), Keep: true}
	if d.node != "" {
		participant, err := listenForDevnet(d.node, "node-listen")
		if err != nil {
			return nil, err
		}
		n.participant = &participant
		config.Node = &devnet.NodeConfig{Participant: d.participant}
	}
	if d.clock {
		config.Start, config.DelegatesSend = time.Now().Add(-historyLength(d.days)), true
	}
	label, executed := "simulated network", "executed"
	if d.kept {
		label, executed = "continuing the simulated network", "executed again"
	}
	p.Begin(label, "updates", int64(d.updates))
	n.ledger, err = devnet.New(ctx, config, func(done, total int) { p.Set(int64(done), int64(total)) })
	if errors.Is(err, devnet.ErrInUse) {
		return nil, fmt.Errorf("%w: stop it, or use another --data folder", err)
	}
	if errors.Is(err, devnet.ErrOtherVersion) || errors.Is(err, devnet.ErrOtherNetwork) {
		return nil, fmt.Errorf("%w: %s", err, a.resetHint())
	}
	if err != nil {
		return nil, err
	}
	n.clock = n.ledger.DelegatesSend()
	p.End(fmt.Sprintf("%d updates %s", n.ledger.Updates(), executed))
	n.answer(n.ledger.Handler())
	if n.participant != nil {
		h, err := n.ledger.NodeHandler(d.nodeOptions())
		if err != nil {
			return nil, err
		}
		n.participant.answer(h)
	}
	return n, nil
}

// nodeOptions says how the participant serves its ledger API.
func (d *devnetFlags) nodeOptions() devnet.NodeOptions {
	if d.secret == "" {
		return devnet.NodeOptions{}
	}
	return devnet.NodeOptions{Auth: &devnet.NodeAuth{Secret: []byte(d.secret)}}
}

// historyLength is what a history of so many days takes at most: it is a little longer or
// shorter, as the times between its updates are random.
func historyLength(days int) time.Duration { return time.Duration(days) * 24 * time.Hour * 21 / 20 }

// servers are all addresses served.
func (n *devnetNode) servers() []*devnetServer {
	if n.participant == nil {
		return []*devnetServer{&n.devnetServer}
	}
	return []*devnetServer{&n.devnetServer, n.participant}
}

// serve answers requests, adds updates live if perSecond is positive, and has time go on if
// that was asked for, until ctx ends.
func (n *devnetNode) serve(ctx context.Context, perSecond float64) error {
	failed := make(chan error, 3)
	for _, s := range n.servers() {
		guard.Go(func() error { return s.server.Serve(s.listener) }, func(err error) { failed <- err })
	}
	run := n.ledger.Run
	if n.clock {
		run = n.ledger.RunLive
	}
	if perSecond > 0 || n.clock {
		guard.Go(func() error { return run(ctx, perSecond) }, func(err error) {
			if err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving the simulated network: %w", err)
	case <-ctx.Done():
		return n.shutdown(context.WithoutCancel(ctx))
	}
}

func (n *devnetNode) shutdown(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, s := range n.servers() {
		if s.server.Shutdown(ctx) != nil {
			err = errors.Join(err, s.server.Close()) // a client that holds on does not hold us
		}
	}
	return err
}

func (n *devnetNode) close() (err error) {
	for _, s := range n.servers() {
		if s.listener != nil {
			err = errors.Join(err, s.close())
		}
	}
	if n.ledger != nil {
		err = errors.Join(err, n.ledger.Close())
	}
	return err
}
