package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// devnetFlags are the flags that shape the simulated network.
type devnetFlags struct {
	updates int
	seed    uint64
	days    int
	huge    int
	live    float64
}

func (d *devnetFlags) register(f *pflag.FlagSet, updates int) {
	f.IntVar(&d.updates, "updates", updates, "updates of the simulated network's history")
	f.Uint64Var(&d.seed, "seed", 42, "seed of the simulated network; the same seed gives the same history to the byte")
	f.IntVar(&d.days, "days", 8, "days of record time over which the history is spread")
	f.IntVar(&d.huge, "huge-update-bytes", 0, "let one update carry a text of so many bytes")
}

func newDevnet(a *app) *cobra.Command {
	var d devnetFlags
	address := ""
	cmd := &cobra.Command{
		Use:   "devnet",
		Short: "run the simulated network alone, as an upstream to ingest from",
		Long: `devnet executes a seeded history of a small network (rounds, taps, transfers, rewards,
traffic, names, a third-party app, two migrations) and serves it over the operations of
a scan service that an indexer reads. GET /devnet/digests tells what it serves.`,
		Example: "  ledgerlake devnet --updates 20000 --seed 7 --devnet-listen 127.0.0.1:5012\n" +
			"  ledgerlake devnet --updates 1000000 --live 50",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runDevnet(cmd.Context(), d, address)
		},
	}
	d.register(cmd.Flags(), 100_000)
	cmd.Flags().Float64Var(&d.live, "live", 0, "updates per second that are added while serving")
	cmd.Flags().StringVar(&address, "devnet-listen", "127.0.0.1:5012", "address to serve on")
	return cmd
}

func (a *app) runDevnet(ctx context.Context, d devnetFlags, address string) (err error) {
	node, err := a.startDevnet(ctx, d, address, newProgress(a.stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.close()) }()
	fmt.Fprintf(a.stdout, "simulated network: %s (stop with Ctrl-C)\n", node.url)
	return node.serve(ctx, d.live)
}

// devnetNode is a simulated network with its HTTP server.
type devnetNode struct {
	ledger   *devnet.Ledger
	url      string
	listener net.Listener
	server   *http.Server
}

// startDevnet executes the history and listens; serve answers requests.
func (a *app) startDevnet(ctx context.Context, d devnetFlags, address string, p *progress) (*devnetNode, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s for the simulated network: %w; choose another address or stop what uses it", address, err)
	}
	p.begin("simulated network", "updates", int64(d.updates))
	ledger, err := devnet.New(ctx, devnet.Config{
		Updates: d.updates, Seed: d.seed, Days: d.days, HugeUpdateBytes: d.huge, Dir: filepath.Join(a.cfg.Data, "devnet"),
	}, func(done, total int) { p.set(int64(done), int64(total)) })
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p.end(fmt.Sprintf("%d updates executed", d.updates))
	return &devnetNode{
		ledger: ledger, url: "http://" + listener.Addr().String(), listener: listener,
		server: &http.Server{Handler: ledger.Handler(), ReadHeaderTimeout: 10 * time.Second},
	}, nil
}

// serve answers requests, and adds updates live if perSecond is positive, until ctx ends.
func (n *devnetNode) serve(ctx context.Context, perSecond float64) error {
	failed := make(chan error, 2)
	go func() { failed <- n.server.Serve(n.listener) }()
	if perSecond > 0 {
		go func() {
			if err := n.ledger.Run(ctx, perSecond); err != nil && ctx.Err() == nil {
				failed <- err
			}
		}()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving the simulated network: %w", err)
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if err := n.server.Shutdown(stop); err != nil {
			return n.server.Close() // a client that holds on does not hold us
		}
		return nil
	}
}

func (n *devnetNode) close() error {
	err := n.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, n.ledger.Close())
}
