package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Network is the simulated network that up, demo and devnet run.
type Network struct {
	Updates         int
	Seed            uint64
	Days            int
	HugeUpdateBytes int
	TrafficRewards  bool // apps are rewarded by traffic
	// Live is how many updates a second it adds while it is served.
	Live float64
	// LiveClock says that its time is that of the wall clock while it is served.
	LiveClock bool
	// Given reports whether a flag was given: what was not is taken from the network of the data
	// folder, if there is one.
	Given func(flag string) bool

	// NodeListen is the address on which a participant's ledger API is served, "" for none;
	// Participant says whose.
	NodeListen, Participant string
	// NodeSecret signs the tokens that the participant asks for; none when empty.
	NodeSecret string

	kept bool // the network of the data folder is continued
}

// Check rejects a network that cannot be.
func (n *Network) Check() error {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{{"updates", float64(n.Updates), 1}, {"days", float64(n.Days), 1}, {"huge-update-bytes", float64(n.HugeUpdateBytes), 0}, {"live", n.Live, 0}} {
		if f.value < f.least {
			return settings.Usage("--%s must be at least %g, not %g", f.name, f.least, f.value)
		}
	}
	return nil
}

// Devnet runs the simulated network alone, on an address, until ctx ends. ready is called with
// its URL, and the id and URL of the participant, if one is served.
func (a *App) Devnet(ctx context.Context, n Network, address string, progress *console.Progress, ready func(url, participant, nodeURL string)) (err error) {
	network := networkFolder{a.p.cfg}
	if err := network.continues(&n); err != nil {
		return err
	}
	if err := n.Check(); err != nil {
		return err
	}
	if err := settings.CheckAddress("devnet-listen", address); err != nil {
		return settings.AsUsage(err)
	}
	if n.NodeListen != "" {
		if err := settings.CheckAddress("node-listen", n.NodeListen); err != nil {
			return settings.AsUsage(err)
		}
	}
	node, err := network.start(ctx, n, address, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.close()) }()
	if node.participant == nil {
		ready(node.url, "", "")
	} else {
		ready(node.url, node.ledger.NodeDigests().ParticipantID, node.participant.url)
	}
	return node.serve(ctx, n.Live)
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

// start executes the history and listens; serve answers requests.
func (f networkFolder) start(ctx context.Context, d Network, address string, p *console.Progress) (_ *devnetNode, err error) {
	n := &devnetNode{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.devnetServer, err = listenForDevnet(address, "devnet-listen"); err != nil {
		return nil, err
	}
	config := devnet.Config{Updates: d.Updates, Seed: d.Seed, Days: d.Days, HugeUpdateBytes: d.HugeUpdateBytes, TrafficRewards: d.TrafficRewards, Dir: f.path(), Keep: true}
	if d.NodeListen != "" {
		participant, err := listenForDevnet(d.NodeListen, "node-listen")
		if err != nil {
			return nil, err
		}
		n.participant = &participant
		config.Node = &devnet.NodeConfig{Participant: d.Participant}
	}
	if d.LiveClock {
		config.Start, config.DelegatesSend = time.Now().Add(-historyLength(d.Days)), true
	}
	label, executed := "simulated network", "executed"
	if d.kept {
		label, executed = "continuing the simulated network", "executed again"
	}
	p.Begin(label, "updates", int64(d.Updates))
	n.ledger, err = devnet.New(ctx, config, func(done, total int) { p.Set(int64(done), int64(total)) })
	if errors.Is(err, devnet.ErrInUse) {
		return nil, fmt.Errorf("%w: stop it, or use another --data folder", err)
	}
	if errors.Is(err, devnet.ErrOtherVersion) || errors.Is(err, devnet.ErrOtherNetwork) {
		return nil, fmt.Errorf("%w: %s", err, f.resetHint())
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
func (d *Network) nodeOptions() devnet.NodeOptions {
	if d.NodeSecret == "" {
		return devnet.NodeOptions{}
	}
	return devnet.NodeOptions{Auth: &devnet.NodeAuth{Secret: []byte(d.NodeSecret)}}
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
