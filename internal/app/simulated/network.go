// Package simulated runs the simulated network in the product's process, and keeps it in the data
// folder: the next start continues it.
package simulated

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
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

// Run runs the simulated network alone, on an address, until ctx ends. ready is called with
// its URL, and the id and URL of the participant, if one is served.
func Run(ctx context.Context, cfg *settings.Config, n Network, address string, progress *console.Progress, ready func(url, participant, nodeURL string)) (err error) {
	network := Folder{cfg}
	if err := network.Continue(&n); err != nil {
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
	node, err := network.Start(ctx, n, address, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	if node.Participant == nil {
		ready(node.URL, "", "")
	} else {
		ready(node.URL, node.Ledger.NodeDigests().ParticipantID, node.Participant.URL)
	}
	return node.Serve(ctx, n.Live)
}

// Node is a simulated network with its HTTP servers.
type Node struct {
	Ledger *devnet.Ledger
	Server
	Participant *Server // of a participant's ledger API, or nil
	Clock       bool    // whether time goes on with the wall clock
}

// Server is one address that the simulated network serves.
type Server struct {
	URL      string
	listener net.Listener
	server   *http.Server
}

func listenForDevnet(address, setting string) (Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return Server{}, probe.ExplainListen(address, setting, err)
	}
	return Server{URL: "http://" + listener.Addr().String(), listener: listener}, nil
}

// answer has h answer requests once the server runs.
func (s *Server) answer(h http.Handler) {
	s.server = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
}

func (s *Server) close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Start executes the history and listens; Serve answers requests.
func (f Folder) Start(ctx context.Context, d Network, address string, p *console.Progress) (_ *Node, err error) {
	n := &Node{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.Server, err = listenForDevnet(address, "devnet-listen"); err != nil {
		return nil, err
	}
	config := devnet.Config{Updates: d.Updates, Seed: d.Seed, Days: d.Days, HugeUpdateBytes: d.HugeUpdateBytes, TrafficRewards: d.TrafficRewards, Dir: f.path(), Keep: true}
	if d.NodeListen != "" {
		participant, err := listenForDevnet(d.NodeListen, "node-listen")
		if err != nil {
			return nil, err
		}
		n.Participant = &participant
		config.Node = &devnet.NodeConfig{Participant: d.Participant}
	}
	if d.LiveClock {
		config.Start, config.DelegatesSend = time.Now().Add(-historyLength(d.Days)), true
	}
	label, executed := "simulated network", "executed"
	if d.kept {
		label, executed = "continuing the simulated network", "executed again"
	}
	// The limit is for the product. A network lives in memory whole: above the limit the collector
	// would run all the time and free nothing.
	settings.LimitMemory(math.MaxInt64)
	p.Begin(label, "updates", int64(d.Updates))
	n.Ledger, err = devnet.New(ctx, config, func(done, total int) { p.Set(int64(done), int64(total)) })
	if errors.Is(err, devnet.ErrInUse) {
		return nil, fmt.Errorf("%w: stop it, or use another --data folder", err)
	}
	if errors.Is(err, devnet.ErrOtherVersion) || errors.Is(err, devnet.ErrOtherNetwork) {
		return nil, fmt.Errorf("%w: %s", err, f.resetHint())
	}
	if err != nil {
		return nil, err
	}
	n.Clock = n.Ledger.DelegatesSend()
	p.End(fmt.Sprintf("%d updates %s", n.Ledger.Updates(), executed))
	n.answer(n.Ledger.Handler())
	if n.Participant != nil {
		h, err := n.Ledger.NodeHandler(d.nodeOptions())
		if err != nil {
			return nil, err
		}
		n.Participant.answer(h)
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
func (n *Node) servers() []*Server {
	if n.Participant == nil {
		return []*Server{&n.Server}
	}
	return []*Server{&n.Server, n.Participant}
}

// Serve answers requests, adds updates live if perSecond is positive, and has time go on if
// that was asked for, until ctx ends.
func (n *Node) Serve(ctx context.Context, perSecond float64) error {
	failed := make(chan error, 3)
	for _, s := range n.servers() {
		guard.Go(func() error { return s.server.Serve(s.listener) }, func(err error) { failed <- err })
	}
	run := n.Ledger.Run
	if n.Clock {
		run = n.Ledger.RunLive
	}
	if perSecond > 0 || n.Clock {
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

func (n *Node) shutdown(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, s := range n.servers() {
		if s.server.Shutdown(ctx) != nil {
			err = errors.Join(err, s.server.Close()) // a client that holds on does not hold us
		}
	}
	return err
}

// Close ends it.
func (n *Node) Close() (err error) {
	for _, s := range n.servers() {
		if s.listener != nil {
			err = errors.Join(err, s.close())
		}
	}
	if n.Ledger != nil {
		err = errors.Join(err, n.Ledger.Close())
	}
	return err
}
