package app

import (
	"context"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
)

// UpConfig says what Up runs beside what the settings say.
type UpConfig struct {
	// Network is the simulated network that is run where the settings name no upstream.
	Network  simulated.Network
	Progress *console.Progress
	Out      io.Writer // what people read
	// Ready is called once the servers listen.
	Ready func(Addresses)
}

// Addresses are where what a process serves can be reached, and what it reads.
type Addresses struct {
	Upstreams []string // without credentials
	Scan      string   // host:port of the scan interface
	// Ledger and Validator are the URLs of those interfaces, "" where there is none.
	Ledger, Validator string
	ClickHouse        string // without credentials
	// Simulated says that the network is the one of this process, LiveClock that its time is that
	// of the wall clock, and Secret is the one of its tokens for wallets, "" if another was given.
	Simulated, LiveClock bool
	Secret               string
}

// Up ingests, runs jobs and serves until ctx ends.
func (a *App) Up(ctx context.Context, u UpConfig) error {
	if err := u.Network.Check(); err != nil {
		return err
	}
	a.db.makes = true
	if err := a.db.checkLocal(ctx); err != nil {
		return err
	}
	isSimulated, err := a.chooseNetwork(&u)
	if err != nil {
		return err
	}
	if err := a.prepare(ctx); err != nil {
		return err
	}
	parts := []func(context.Context) error{a.db.watchDamage, a.db.packages.Run}
	scanURLs, nodeURL := a.p.cfg.ScanURLs, a.p.cfg.NodeURL
	if isSimulated {
		node, err := a.simulate(ctx, u)
		if err != nil {
			return err
		}
		scanURLs, nodeURL = []string{node.URL}, node.Participant.URL
		parts = append(parts, func(ctx context.Context) error { return node.Serve(ctx, u.Network.Live) })
	}
	in, err := a.db.newStreams(scanURLs, nodeURL)
	if err != nil {
		return err
	}
	served, err := a.servers.start(in, scanURLs)
	if err != nil {
		return err
	}
	work, err := a.worker.start(ctx)
	if err != nil {
		return err
	}
	at := a.servers.addresses(served)
	for _, raw := range append(scanURLs, nodeURL) {
		if raw != "" {
			at.Upstreams = append(at.Upstreams, settings.MaskURL(raw))
		}
	}
	u.Ready(at)
	parts = append(parts, a.servers.parts(served)...)
	return a.p.supervise(ctx, append(parts, in.run, work)...)
}

// chooseNetwork says whether the network is to be simulated. A data folder has the history of one
// network alone.
func (a *App) chooseNetwork(u *UpConfig) (isSimulated bool, err error) {
	folder := simulated.Folder{Settings: a.p.cfg}
	if len(a.p.cfg.ScanURLs) > 0 || a.p.cfg.NodeURL != "" {
		return false, folder.RefuseSimulated()
	}
	if err := folder.KeepClock(&u.Network, u.Out); err != nil {
		return false, err
	}
	return true, folder.Continue(&u.Network)
}

// prepare binds addresses and reaches what was given before it starts anything, then opens the
// store and the bucket.
func (a *App) prepare(ctx context.Context) error {
	if err := a.listeners.bindAll(); err != nil {
		return err
	}
	if err := a.worker.reachQueue(ctx); err != nil {
		return err
	}
	if err := a.db.reachUpstreams(ctx); err != nil {
		return err
	}
	if err := probe.MakeFolder(a.p.cfg.Data); err != nil {
		return err
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	return a.db.refuseDamaged(ctx, false)
}

// simulate starts the simulated network, or continues the one of the data folder.
func (a *App) simulate(ctx context.Context, u UpConfig) (*simulated.Node, error) {
	folder := simulated.Folder{Settings: a.p.cfg}
	if err := folder.RefuseForeign(ctx, a.db.db); err != nil {
		return nil, err
	}
	u.Network.NodeListen = "127.0.0.1:0"
	node, err := folder.Start(ctx, u.Network, "127.0.0.1:0", u.Progress)
	if err != nil {
		return nil, err
	}
	a.p.onClose(node.Close)
	a.p.simulated, a.p.devnetNode, a.p.devnetClock = true, node.Participant.URL, node.Clock
	return node, folder.NoteIngested(node)
}
