package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/console/login"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/wallet"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/query/validator"
)

// DevelopmentSecret signs tokens for the simulated network, where nothing else is configured. It is
// what development networks use by convention.
const DevelopmentSecret = "unsafe"

// clientsAudience is what the network's published clients have tokens for, unless they are told another.
// The simulated network takes it beside the configured one.
const clientsAudience = "https://canton.network.global"

// developmentUser is the ledger user of the operator on the simulated network.
const developmentUser = "validator"

// mountValidator adds the validator interface to a listener that it shares, if it is to be there.
func (s *servers) mountValidator(listener net.Listener, scanRoutes []query.Route, scanURLs []string, mounts []query.Mount) ([]query.Mount, error) {
	if !s.p.cfg.ValidatorShares() {
		return mounts, nil
	}
	api, err := s.newValidator(listener, scanRoutes, scanURLs)
	if err != nil || api == nil {
		return mounts, err
	}
	s.validatorAt = "http://" + listener.Addr().String() + "/api/validator/"
	return append(mounts, api.SharedMount()), nil
}

// newValidatorServer returns the server of the validator interface on a listener of its own, nil if
// it has none.
func (s *servers) newValidatorServer(scanURLs []string) (*query.Server, error) {
	cfg := s.p.cfg
	if cfg.ValidatorShares() || cfg.ValidatorListen == settings.ValidatorOff {
		return nil, nil
	}
	listener, err := s.listeners.listen(cfg.ValidatorListen, "validator-listen")
	if err != nil {
		return nil, err
	}
	api, err := s.newValidator(listener, s.scanProxy, scanURLs)
	if err != nil {
		return nil, err
	}
	if api == nil {
		return nil, errors.New("--validator-listen needs a key for tokens: --validator-auth-jwks, --validator-auth-certificate or --validator-auth-secret")
	}
	s.validatorAt = "http://" + listener.Addr().String() + "/"
	return s.serverOf(listener, &statusPage{db: s.db.db}, query.Config{Mounts: []query.Mount{api.Mount()}})
}

// newValidator returns the validator interface for a listener, nil where nobody could use it: it has
// no key for tokens, or no node.
func (s *servers) newValidator(listener net.Listener, scanRoutes []query.Route, scanURLs []string) (*validator.API, error) {
	cfg := s.p.cfg
	keys, err := s.validatorKeys(listener)
	if err != nil || keys == nil || s.p.nodeURL() == "" {
		return nil, err
	}
	parts, err := s.wallets.find()
	if err != nil {
		return nil, err
	}
	if err := parts.asksHosts(scanURLs); err != nil {
		return nil, err
	}
	s.users = auth.NewNodeUsers(auth.NodeConfig{BaseURL: s.p.nodeURL(), Token: cfg.AccessToken})
	tokens := auth.Config{Keys: keys, Users: s.users, Audience: cfg.ValidatorAuthAudience}
	if s.p.development() {
		tokens.OtherAudience = clientsAudience
	}
	verifier, err := auth.New(tokens)
	if err != nil {
		return nil, err
	}
	config := validator.Config{
		Auth: verifier, Users: s.users, Views: parts.views, History: parts.nodeHistory, Network: parts, Operator: parts.operator, Health: parts.ready, Log: s.p.log,
		ScanProxy: scanRoutes, Catalog: s.db.packages.Catalog, Naming: query.Naming(cfg.Naming),
		Development: s.p.development() || cfg.WalletDevelopment, TransferCommands: cfg.WalletTransferCommands,
		NodeID: "ledgerlake", Version: s.p.build.Version, CommitTime: s.p.build.Time, Ports: map[string]int{"validator": listener.Addr().(*net.TCPAddr).Port},
	}
	if len(scanURLs) > 0 {
		config.ScanURL = scanURLs[0]
	}
	switch cfg.WalletMode {
	case settings.WalletForward:
		config.Forward = &validator.Forward{BaseURL: cfg.ValidatorURL}
	case settings.WalletNode:
		config.Commands = parts.commands
	}
	return validator.New(config)
}

// operatorParts give the operator a wallet, where changes to the ledger are sent to the node. A simulated
// network has wallets only with a live clock.
func (s *servers) operatorParts() []func(context.Context) error {
	wanted := s.p.cfg.WalletMode == settings.WalletNode
	if s.p.development() {
		wanted = s.p.devnetClock
	}
	if s.validatorAt == "" || !wanted {
		return nil
	}
	return []func(context.Context) error{s.wallets.parts.setUpOperator}
}

// validatorKeys returns the keys of tokens, nil when the interface is off or none are configured.
func (s *servers) validatorKeys(listener net.Listener) (auth.Keys, error) {
	cfg := s.p.cfg
	addr, ok := listener.Addr().(*net.TCPAddr)
	private := ok && addr.IP.IsLoopback()
	secret := cfg.ValidatorAuthSecret
	if secret == "" && cfg.ValidatorAuthJWKS == "" && cfg.ValidatorAuthCertificate == "" && s.p.development() && private {
		secret = DevelopmentSecret
	}
	switch {
	case cfg.ValidatorListen == settings.ValidatorOff:
		return nil, nil
	case secret != "" && private:
		return auth.UnsafeSecret([]byte(secret))
	}
	return s.keysOf("validator", secret, cfg.ValidatorAuthCertificate, cfg.ValidatorAuthJWKS)
}

// walletServer sends requests of pages to the server of this process that has the validator interface, which
// is made after the pages.
type walletServer struct{ server *query.Server }

// RoundTrip implements http.RoundTripper.
func (w *walletServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.server == nil {
		return nil, errors.New("no server of this process has the validator interface")
	}
	return w.server.Local().RoundTrip(r)
}

// walletClient reaches the validator interface for pages, nil if this process does not have it. It works
// once the servers are made: see servers.start.
func (s *servers) walletClient() *walletapi.Client {
	cfg := s.p.cfg
	switch {
	case cfg.ValidatorListen == settings.ValidatorOff, cfg.ValidatorShares() && s.validatorAt == "":
		return nil
	case cfg.ValidatorShares():
		return &walletapi.Client{Transport: &s.walletServer, Prefix: "/api/validator"}
	}
	return &walletapi.Client{Transport: &s.walletServer}
}

// sections are those of the navigation.
func sections(wallets *walletapi.Client) []page.Section {
	if wallets != nil {
		return nil
	}
	return slices.DeleteFunc(page.Sections(), func(s page.Section) bool { return s == page.Wallet })
}

// signIn says how people sign in.
func (s *servers) signIn(listener net.Listener, wallets *walletapi.Client) login.Config {
	cfg := s.p.cfg
	config := login.Config{Wallet: wallets, Log: s.p.log, Admin: s.isAdmin}
	if s.anybodySignsIn(listener) {
		config.Development = &login.Development{Operator: developmentUser, Token: func(user string, lasting time.Duration) (string, error) {
			return Token(cfg, TokenRequest{User: user, Validator: true, Lasting: lasting})
		}}
	}
	if cfg.ConsoleOIDCIssuer != "" {
		config.OIDC = &login.OIDC{
			Issuer: cfg.ConsoleOIDCIssuer, ClientID: cfg.ConsoleOIDCClientID, ClientSecret: cfg.ConsoleOIDCClientSecret,
			Audience: cfg.ConsoleOIDCAudience, Scopes: cfg.ConsoleOIDCScopes, PublicURL: cfg.PublicURL,
		}
	}
	return config
}

// anybodySignsIn reports whether pages make tokens for any user: on the simulated network without keys
// of its own, for browsers of this machine.
func (s *servers) anybodySignsIn(listener net.Listener) bool {
	cfg := s.p.cfg
	addr, ok := listener.Addr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback() && s.p.development() && cfg.ValidatorAuthSecret == "" && cfg.ValidatorAuthJWKS == "" && cfg.ValidatorAuthCertificate == ""
}

// isAdmin reports whether a user administers the node, as the operator does. A user whom the node does not
// know administers nothing.
func (s *servers) isAdmin(ctx context.Context, user string) (bool, error) {
	if s.users == nil {
		return false, nil
	}
	rights, err := s.users.Rights(ctx, user)
	switch {
	case errors.Is(err, auth.ErrUnauthenticated):
		return false, nil
	case err != nil:
		return false, &query.Error{Code: query.Unavailable, Msg: "The rights of users cannot be read at the moment.", Err: err}
	}
	return rights.ParticipantAdmin && !rights.Deactivated, nil
}

// walletPages says what the pages of the wallet work through.
func (s *servers) walletPages(wallets *walletapi.Client) wallet.Config {
	return wallet.Config{Client: wallets, Development: s.p.development() || s.p.cfg.WalletDevelopment, Automations: s.plannedAutomations()}
}

// plannedFresh is how old the plan of automations on a page may be: to make one reads every wallet.
const plannedFresh = 5 * time.Second

// plannedAutomations tells what automations would do, nil where this process may not send commands.
func (s *servers) plannedAutomations() func(context.Context) ([]wallet.Step, error) {
	if s.p.cfg.WalletMode != settings.WalletNode || s.p.nodeURL() == "" {
		return nil
	}
	names, _ := s.wallets.automationNames()
	all := s.wallets.newAutomations(names)
	planned := &memo.Value[[]wallet.Step]{Now: time.Now, TTL: plannedFresh, Load: func(ctx context.Context) ([]wallet.Step, error) {
		list, err := all.find(ctx)
		if err != nil {
			return nil, err
		}
		steps, err := list.Plan(ctx)
		told := make([]wallet.Step, len(steps))
		for i, step := range steps {
			told[i] = wallet.Step{Automation: step.Automation, User: step.User, Do: step.Do, What: step.What, Why: step.Why}
		}
		return told, err
	}}
	return planned.Get
}
