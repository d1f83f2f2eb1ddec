package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

func newUp(a *app) *cobra.Command {
	d := devnetFlags{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "run everything in one process tree and print the URLs",
		Long: `up ingests, exports closed days and serves the scan interface and, of a node's stream, the
ledger interface and wallets, all from one process tree, until it is stopped. Without --scan-url and --node-url it runs a simulated network that
goes on living, so that there is something to see, and ingests the stream of one of its
nodes, too. The network is kept in the data folder; the next start continues it.`,
		Example: "  ledgerlake up\n  ledgerlake up --scan-url https://scan.example.com --data /srv/ledgerlake --listen 0.0.0.0:8080",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.up(cmd.Context(), cmd.Flags(), d) },
	}
	d.register(cmd.Flags(), 20_000)
	d.registerLive(cmd.Flags(), 5)
	return cmd
}

func (a *app) up(ctx context.Context, flags *pflag.FlagSet, d devnetFlags) (err error) {
	if err := d.check(); err != nil {
		return err
	}
	s := newStack(a)
	defer s.closeInto(&err)
	s.makesStore = true
	if err := s.checkLocal(ctx); err != nil {
		return err
	}
	simulated, err := a.chooseNetwork(&d, flags)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	parts := []func(context.Context) error{s.watchDamage}
	scanURLs, nodeURL := a.cfg.ScanURLs, a.cfg.NodeURL
	if simulated {
		node, err := s.simulate(ctx, d)
		if err != nil {
			return err
		}
		scanURLs, nodeURL = []string{node.url}, node.participant.url
		parts = append(parts, func(ctx context.Context) error { return node.serve(ctx, d.live) })
	}
	in, err := s.newStreams(scanURLs, nodeURL)
	if err != nil {
		return err
	}
	server, err := s.newServer(in, scanURLs)
	if err != nil {
		return err
	}
	ledgerServer, err := s.newLedgerServer(in)
	if err != nil {
		return err
	}
	validatorServer, err := s.newValidatorServer(scanURLs)
	if err != nil {
		return err
	}
	if s.validatorAt != "" && s.devnetClock {
		parts = append(parts, s.wallets.setUpOperator)
	}
	worker, err := s.newWorker(ctx)
	if err != nil {
		return err
	}
	a.printURLs(s, append(scanURLs, nodeURL), server.Addr(), ledgerAt(&a.cfg, server, ledgerServer))
	parts = append(parts, serving(server, ledgerServer, validatorServer)...)
	return s.supervise(ctx, append(parts, in.run, worker)...)
}

// chooseNetwork says whether the network is to be simulated. A data folder has the history of one
// network alone.
func (a *app) chooseNetwork(d *devnetFlags, flags *pflag.FlagSet) (simulated bool, err error) {
	if len(a.cfg.ScanURLs) > 0 || a.cfg.NodeURL != "" {
		return false, a.refuseSimulated()
	}
	if err := a.keepClock(d, flags); err != nil {
		return false, err
	}
	return true, a.continueNetwork(d, flags)
}

// prepare binds addresses and reaches what was given before it starts anything, then opens the
// store and the bucket.
func (s *stack) prepare(ctx context.Context) error {
	if err := s.bindAll(); err != nil {
		return err
	}
	if err := s.reachQueue(ctx); err != nil {
		return err
	}
	if err := s.reachUpstreams(ctx); err != nil {
		return err
	}
	if err := makeFolder(s.app.cfg.Data); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	return s.refuseDamaged(ctx, false)
}

// simulate starts the simulated network, or continues the one of the data folder.
func (s *stack) simulate(ctx context.Context, d devnetFlags) (*devnetNode, error) {
	a := s.app
	if err := s.refuseForeign(ctx); err != nil {
		return nil, err
	}
	d.node = "127.0.0.1:0"
	node, err := a.startDevnet(ctx, d, "127.0.0.1:0", console.NewProgress(a.console))
	if err != nil {
		return nil, err
	}
	s.onClose(node.close)
	s.simulated, s.devnetNode, s.devnetClock = true, node.participant.url, node.clock
	return node, a.noteIngested(node)
}

func (a *app) printURLs(s *stack, upstreams []string, address, ledgerURL string) {
	for _, raw := range upstreams {
		if raw == "" {
			continue
		}
		fmt.Fprintf(a.stdout, "upstream         %s\n", settings.MaskURL(raw))
	}
	fmt.Fprintf(a.stdout, "scan interface   http://%s/  (also below /api/scan)\n", address)
	if ledgerURL != "" {
		fmt.Fprintf(a.stdout, "ledger interface %s\n", ledgerURL)
	}
	a.printValidator(s)
	fmt.Fprintf(a.stdout, "streams          http://%s/streams\n", address)
	fmt.Fprintf(a.stdout, "metrics          http://%s/metrics\n", address)
	fmt.Fprintf(a.stdout, "ClickHouse       %s\n", settings.MaskURL(s.readerDSN()))
	fmt.Fprintf(a.stdout, "data             %s\n", a.cfg.Data)
	fmt.Fprintf(a.stdout, "Try: curl -s http://%s/v2/updates -d '{\"page_size\": 1}'\n", address)
}
