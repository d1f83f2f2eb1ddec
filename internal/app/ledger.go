package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/analytics"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/ledger"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// newLedger returns the ledger interface for a listener, and beside it the tables of the same stream.
func (s *servers) newLedger(listener net.Listener) (*ledger.API, query.Mount, error) {
	cfg := s.p.cfg
	key, err := s.tokenKey()
	if err != nil {
		return nil, query.Mount{}, err
	}
	var api *ledger.API
	verifier, err := s.newVerifier(func() string { return api.Participant() })
	if err != nil {
		return nil, query.Mount{}, err
	}
	addr, ok := listener.Addr().(*net.TCPAddr)
	open := verifier == nil && !(ok && addr.IP.IsLoopback())
	if open && cfg.LedgerAuth != "none" {
		return nil, query.Mount{}, fmt.Errorf("the ledger interface would let everybody who reaches %s read everything: restrict it with "+
			"--ledger-auth-jwks, --ledger-auth-certificate or --ledger-auth-secret, or allow it with --ledger-auth none", listener.Addr())
	}
	node := s.p.nodeURL()
	if open {
		node = "" // to read without a token is what the operator allows, not to command
	}
	api, err = ledger.New(ledger.Config{
		Node: s.ledgerNode, NodeURL: node, Health: s.db.db.Ping, Log: s.p.log, Auth: verifier, Catalog: s.db.packages.Catalog, TokenKey: key, Prefix: cfg.LedgerPrefix,
		CacheBytes: cfg.AnswerCache, ListLimit: cfg.LedgerListLimit, MaxStreams: cfg.LedgerMaxStreams, Version: s.p.build.Version,
	})
	if err != nil {
		return nil, query.Mount{}, err
	}
	return api, s.privateTables(api, key), nil
}

// privateTables serves the tables of the stream that a ledger interface serves, to its users.
func (s *servers) privateTables(api *ledger.API, key []byte) query.Mount {
	var reader atomic.Pointer[tables.Reader] // the stream is the same once it is known
	caller := func(ctx context.Context, r *query.Request) (*auth.Principal, analytics.Source, error) {
		who, participant, err := api.Caller(ctx, r)
		if errors.Is(err, ledger.ErrNoStream) {
			return nil, nil, &query.Error{Code: query.Unavailable, Msg: "The stream of a node is not there yet.", Err: err}
		}
		if err != nil {
			return nil, nil, err
		}
		if reader.Load() == nil {
			reader.CompareAndSwap(nil, tables.NewReader(s.db.db, schemas.NodeStream(participant)))
		}
		return who, reader.Load(), nil
	}
	return analytics.New(analytics.Config{
		Open: analytics.Private(caller), Private: true, Prefixes: []string{s.p.cfg.LedgerPrefix}, TokenKey: key,
	}).Mount()
}

// newLedgerServer returns the server of the ledger interface on a listener of its own, nil if it
// has none.
func (s *servers) newLedgerServer(streams *streams) (*query.Server, error) {
	cfg := s.p.cfg
	address, err := cfg.LedgerAddress()
	if err != nil || address == "" || cfg.LedgerShares() {
		return nil, err
	}
	listener, err := s.listeners.listen(address, "ledger-listen")
	if err != nil {
		return nil, err
	}
	api, private, err := s.newLedger(listener)
	if err != nil {
		return nil, err
	}
	page := &statusPage{db: s.db.db, streams: streams}
	return s.serverOf(listener, page, query.Config{Mounts: []query.Mount{api.Mount(), private}, Errors: api.Errors})
}

// ledgerAt is where the ledger interface is served, "" for nowhere.
func ledgerAt(c *settings.Config, shared, own *query.Server) string {
	switch {
	case own != nil:
		return "http://" + own.Addr() + c.LedgerPrefix + "/"
	case c.LedgerShares():
		return "http://" + shared.Addr() + c.LedgerPrefix + "/"
	}
	return ""
}

// newVerifier returns what checks tokens, nil when nothing is configured.
func (s *servers) newVerifier(participant func() string) (*auth.Verifier, error) {
	cfg := s.p.cfg
	keys, err := s.authKeys()
	if err != nil || keys == nil {
		return nil, err
	}
	users, err := s.authUsers()
	if err != nil {
		return nil, err
	}
	return auth.New(auth.Config{
		Keys: keys, Users: users, Audience: cfg.LedgerAuthAudience, Scope: cfg.LedgerAuthScope, Participant: participant,
	})
}

// authKeys returns the keys of tokens, nil when none are configured.
func (s *servers) authKeys() (auth.Keys, error) {
	cfg := s.p.cfg
	return s.keysOf("ledger", cfg.LedgerAuthSecret, cfg.LedgerAuthCertificate, cfg.LedgerAuthJWKS)
}

// keysOf returns the keys of tokens for an interface, of which at most one is given: a shared
// secret, the file of a certificate or the URL of a key set; nil without any.
func (s *servers) keysOf(iface, secret, certificate, jwks string) (auth.Keys, error) {
	switch {
	case secret != "":
		keys, err := auth.Secret([]byte(secret))
		if err != nil {
			return nil, fmt.Errorf("--%s-auth-secret: %w", iface, err)
		}
		return keys, nil
	case certificate != "":
		text, err := os.ReadFile(certificate)
		if err != nil {
			return nil, fmt.Errorf("--%s-auth-certificate: %w", iface, err)
		}
		keys, err := auth.Certificate(text)
		if err != nil {
			return nil, fmt.Errorf("--%s-auth-certificate %s: %w", iface, certificate, err)
		}
		return keys, nil
	case jwks != "":
		ctx, stop := context.WithCancel(context.Background())
		s.p.onClose(func() error { stop(); return nil })
		return auth.KeySet(ctx, jwks, s.p.log)
	}
	return nil, nil
}

// authUsers returns who knows what users may do: a file, or the node.
func (s *servers) authUsers() (auth.Users, error) {
	cfg := s.p.cfg
	switch {
	case cfg.LedgerUsers != "":
		users, err := auth.ReadUsers(cfg.LedgerUsers, s.p.log)
		if err != nil {
			return nil, fmt.Errorf("--ledger-users: %w", err)
		}
		return users, nil
	case cfg.NodeURL != "":
		return auth.NewNodeUsers(auth.NodeConfig{BaseURL: cfg.NodeURL, Token: cfg.AccessToken}), nil
	}
	return nil, errors.New("tokens say who a user is, not what the user may read: give --ledger-users, a file of rights, or --node-url, the node that has them")
}

// ledgerNode reads the node's stream that is served.
func (s *servers) ledgerNode(ctx context.Context) (ledger.Node, error) {
	participant, err := s.db.participant(ctx)
	if err != nil {
		return ledger.Node{}, err
	}
	reader := nodehistory.NewReader(s.db.db, schemas.NodeStream(participant))
	if s.p.cfg.LookupRows {
		reader.UseCopies(copies.NewUpdates(s.db.db, reader.Stream()))
	}
	return ledger.Node{Participant: participant, Source: reader, Lists: nodehistory.NewPages(reader, s.p.cfg.AnswerCache, s.admission().Spare)}, nil
}
