package devnet

import (
	"context"
	"net/http"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

// What callers of New need of the packages below.
type (
	Config      = sim.Config
	NodeConfig  = sim.NodeConfig
	NodeOptions = nodeapi.NodeOptions
	NodeAuth    = nodeapi.NodeAuth
	Submission  = choices.Submission
	Command     = choices.Command
	TableDigest = history.TableDigest
)

// Errors of New and ReadNetwork.
var (
	ErrOtherNetwork = ledger.ErrOtherNetwork
	ErrOtherVersion = ledger.ErrOtherVersion
	ErrInUse        = ledger.ErrInUse
)

// Ledger is a simulated ledger with the services that hand it out.
type Ledger struct{ *ledger.Ledger }

// New creates a ledger; see ledger.New.
func New(ctx context.Context, c Config, progress func(done, total int)) (*Ledger, error) {
	l, err := ledger.New(ctx, c, progress)
	if err != nil {
		return nil, err
	}
	return &Ledger{l}, nil
}

// ReadNetwork returns the network that is kept in a folder; see ledger.ReadNetwork.
func ReadNetwork(dir string) (*ledger.Network, error) { return ledger.ReadNetwork(dir) }

// Handler serves the ledger as a scan does; see scanapi.Handler.
func (l *Ledger) Handler() http.Handler { return scanapi.Handler(l.Ledger) }

// NodeHandler serves what a participant sees as its node does; see nodeapi.NodeHandler.
func (l *Ledger) NodeHandler(o NodeOptions) (http.Handler, error) {
	return nodeapi.NodeHandler(l.Ledger, o)
}
