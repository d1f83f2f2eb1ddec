package validator

import (
	"context"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
)

// API is the validator interface. It is safe for concurrent use.
type API struct {
	cfg     Config
	start   time.Time
	forward *forwarder
	proxy   *scanProxy
	seen    *memo.Recent[installed, struct{}] // wallets that were found
	// foundOperator remembers Config.Operator.
	foundOperator memo.Value[Operator]
}

// New checks the configuration.
func New(cfg Config) (*API, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	forward, err := newForwarder(cfg.Forward)
	if err != nil {
		return nil, err
	}
	proxy, err := newScanProxy(cfg.ScanURL, cfg.ScanClient, cfg.Naming)
	if err != nil {
		return nil, err
	}
	return &API{
		cfg: cfg, start: cfg.Now(), forward: forward, proxy: proxy,
		seen:          memo.NewRecent[installed, struct{}](maxSeen, seenFor, cfg.Now),
		foundOperator: memo.Value[Operator]{Load: cfg.Operator, TTL: cfg.OperatorTTL, Now: cfg.Now},
	}, nil
}

// sharedPrefix is the place of the interface on a listener that it shares with others.
const sharedPrefix = "/api/validator"

// Prefixes are the places where a listener of its own serves the interface. On a listener
// shared with other interfaces only the last one is free of collisions.
var Prefixes = [...]string{"", sharedPrefix}

// Mount returns the interface for both prefixes.
func (a *API) Mount() query.Mount {
	return query.Mount{Prefixes: Prefixes[:], Routes: a.Routes()}
}

// SharedMount returns the interface for the prefix that is free of collisions.
func (a *API) SharedMount() query.Mount {
	return query.Mount{Prefixes: []string{sharedPrefix}, Routes: a.Routes()}
}

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	var routes []query.Route
	for _, op := range a.operations() {
		routes = append(routes, query.Route{
			Method: op.method, Path: op.path, Name: "validator." + op.name, Handle: a.guarded(op), Probe: op.access == public && op.path[:4] != "/v0/",
		})
	}
	return query.BothPaths(routes)
}

func (a *API) operations() []operation {
	return slices.Concat(
		a.offerOperations(), a.trafficOperations(), a.balanceOperations(), a.developmentOperations(), a.preapprovalOperations(),
		a.tokenOperations(), a.couponOperations(), a.mintingOperations(), a.nameOperations(), a.userOperations(), a.administrationOperations(),
		a.externalOperations(), a.proxy.operations(a.cfg.ScanProxy), a.notOfferedOperations(), a.serviceOperations(),
	)
}

// views are those of the node's stream, once it is there.
func (a *API) views(ctx context.Context) (Views, error) { return a.cfg.Views(ctx) }
