package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/validator"
)

// developmentSecret signs tokens for the simulated network, where nothing else is configured. It is
// what development networks use by convention.
const developmentSecret = "unsafe"

// developmentUser is the ledger user of the operator on the simulated network.
const developmentUser = "validator"

// mountValidator adds the validator interface to a listener that it shares, if it is to be there.
func (s *stack) mountValidator(listener net.Listener, scanRoutes []query.Route, scanURLs []string, mounts []query.Mount) ([]query.Mount, error) {
	if !s.app.cfg.ValidatorShares() {
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
func (s *stack) newValidatorServer(scanURLs []string) (*query.Server, error) {
	cfg := &s.app.cfg
	if cfg.ValidatorShares() || cfg.ValidatorListen == settings.ValidatorOff {
		return nil, nil
	}
	listener, err := s.listen(cfg.ValidatorListen, "validator-listen")
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
	documents, err := openapi.Documents(query.Naming(cfg.Naming))
	if err != nil {
		return nil, err
	}
	s.validatorAt = "http://" + listener.Addr().String() + "/"
	page := &statusPage{db: s.db}
	return query.New(query.Config{
		Listener: listener, Mounts: []query.Mount{api.Mount(), openapi.Mount(documents...)}, Log: s.app.log,
		Admission: s.admission(), MaxPageBytes: s.pageBytes(), ClientRateLimit: cfg.RateLimit, Metrics: newRegistry(page), Pprof: cfg.Profiling, Hosts: cfg.Hosts(),
	})
}

// newValidator returns the validator interface for a listener, nil where nobody could use it: it has
// no key for tokens, or no node.
func (s *stack) newValidator(listener net.Listener, scanRoutes []query.Route, scanURLs []string) (*validator.API, error) {
	cfg := &s.app.cfg
	keys, err := s.validatorKeys(listener)
	if err != nil || keys == nil || s.walletURL() == "" {
		return nil, err
	}
	parts, err := s.walletParts()
	if err != nil {
		return nil, err
	}
	if err := parts.asksHosts(scanURLs); err != nil {
		return nil, err
	}
	users := auth.NewNodeUsers(auth.NodeConfig{BaseURL: s.walletURL(), Token: cfg.AccessToken})
	verifier, err := auth.New(auth.Config{Keys: keys, Users: users, Audience: cfg.ValidatorAuthAudience})
	if err != nil {
		return nil, err
	}
	catalog, err := s.app.catalog()
	if err != nil {
		return nil, err
	}
	config := validator.Config{
		Auth: verifier, Users: users, Views: parts.views, Network: parts, Operator: parts.operator, Health: parts.ready, Log: s.app.log,
		ScanProxy: scanRoutes, Catalog: catalog, Naming: query.Naming(cfg.Naming),
		Development: s.development() || cfg.WalletDevelopment, TransferCommands: cfg.WalletTransferCommands,
		NodeID: "ledgerlake", Version: s.app.build.Version, CommitTime: s.app.build.Time, Ports: map[string]int{"validator": listener.Addr().(*net.TCPAddr).Port},
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

// validatorKeys returns the keys of tokens, nil when the interface is off or none are configured.
func (s *stack) validatorKeys(listener net.Listener) (auth.Keys, error) {
	cfg := &s.app.cfg
	addr, ok := listener.Addr().(*net.TCPAddr)
	private := ok && addr.IP.IsLoopback()
	secret := cfg.ValidatorAuthSecret
	if secret == "" && cfg.ValidatorAuthJWKS == "" && cfg.ValidatorAuthCertificate == "" && s.development() && private {
		secret = developmentSecret
	}
	switch {
	case cfg.ValidatorListen == settings.ValidatorOff:
		return nil, nil
	case secret != "" && private:
		return auth.UnsafeSecret([]byte(secret))
	}
	return s.keysOf("validator", secret, cfg.ValidatorAuthCertificate, cfg.ValidatorAuthJWKS)
}

// operatorUser is the name of the operator's ledger user.
func (s *stack) operatorUser(ctx context.Context) (string, error) {
	if s.app.cfg.ValidatorUser != "" {
		return s.app.cfg.ValidatorUser, nil
	}
	if s.development() {
		return developmentUser, nil
	}
	parts, err := s.walletParts()
	if err != nil {
		return "", err
	}
	return parts.client.SubmittingUser(ctx)
}

// printValidator says where the interface is, if it is anywhere.
func (a *app) printValidator(s *stack) {
	if s.validatorAt == "" {
		return
	}
	fmt.Fprintf(a.stdout, "validator interface %s\n", s.validatorAt)
	if s.development() && !s.devnetClock {
		fmt.Fprintf(a.stdout, "  to have wallets, start with --live-clock\n")
		return
	}
	if s.development() && a.cfg.ValidatorAuthSecret == "" {
		fmt.Fprintf(a.stdout, "  for development: tokens with the secret %q for the audience %q; ledgerlake token --validator --user alice\n",
			developmentSecret, a.cfg.ValidatorAuthAudience)
	}
}
