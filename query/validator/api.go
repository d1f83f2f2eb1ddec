package validator

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// API is the validator interface. It is safe for concurrent use.
type API struct {
	auth     *auth.Verifier
	commands func(context.Context) (*Commands, error) // nil if none may be sent
	forward  *forwarder                               // nil without Config.Forward
	accounts *accounts
	// operations are all that the interface has.
	operations []operation
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
	r := &reader{cfg.Views, cfg.Catalog}
	accounts := newAccounts(&cfg, r)
	rounds := rounds{cfg.Network}
	return &API{auth: cfg.Auth, commands: cfg.Commands, forward: forward, accounts: accounts, operations: slices.Concat(
		(&offers{r, cfg.Network}).operations(), (&traffic{r, cfg.Network}).operations(),
		(&balances{r, rounds, cfg.Naming, cfg.MaxPageSize}).operations(), (&development{cfg.Development}).operations(), preapprovalOperations(),
		(&tokenTransfers{r, cfg.Network}).operations(), (&coupons{r}).operations(), (&minting{r, accounts, cfg.MaxPageSize}).operations(),
		(&names{r}).operations(), (&subscriptions{r}).operations(), (&appPayments{r}).operations(), (&developmentFund{r, cfg.Network, cfg.History}).operations(), (&allocations{r, cfg.Network}).operations(), (&users{accounts}).operations(), (&administration{r, accounts, cfg.Network}).operations(),
		(&externalParties{r, accounts, rounds, cfg.Network, cfg.TransferCommands}).operations(), proxy.operations(cfg.ScanProxy),
		participantOperations(forward), allocationRequestOperations(), serviceOperations(&cfg),
	)}, nil
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
	for _, op := range a.operations {
		routes = append(routes, query.Route{
			Method: op.method, Path: op.path, Name: "validator." + op.name, Class: op.class, Handle: a.guarded(op), Probe: op.access == public && op.path[:4] != "/v0/",
		})
	}
	return query.BothPaths(routes)
}
