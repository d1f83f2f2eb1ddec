package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/console"
	"github.com/ledgerlake/ledgerlake/query/console/boards"
	bulkpages "github.com/ledgerlake/ledgerlake/query/console/bulk"
	"github.com/ledgerlake/ledgerlake/query/console/explorer"
	"github.com/ledgerlake/ledgerlake/query/console/login"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/query/console/wallet"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/query/scan"
)

// statusFresh is how old the state of history on a page may be.
const statusFresh = time.Second

// newConsole returns the pages for browsers.
func (s *servers) newConsole(listener net.Listener, key []byte, readiness *health) (*console.Console, error) {
	wallets := s.walletClient()
	status := &memo.Value[page.Status]{Now: time.Now, TTL: statusFresh, Load: func(ctx context.Context) (page.Status, error) {
		return s.pageStatus(ctx, readiness)
	}}
	catalog, err := s.objects.published()
	if err != nil {
		return nil, err
	}
	return console.New(console.Config{
		Pages: page.Config{Key: key, Status: status.Get, Network: s.networkName(), Version: s.p.build.Version, Log: s.p.log, Sections: sections(wallets)},
		Explorer: explorer.Config{
			History: s.db.reader.WithSide(), Explore: explore.NewReader(s.db.db, s.db.reader), Metrics: metrics.NewReader(s.db.db),
			Labels: values.NewLabels(s.db.packages.Catalog), Scan: scan.Prefixes[len(scan.Prefixes)-1],
		},
		Boards: boards.Config{Metrics: metrics.NewReader(s.db.db), Answers: answers.NewReader(s.db.db)},
		Bulk:   bulkpages.Config{Catalog: catalog, Objects: s.objects.bucket, Agree: s.p.cfg.ExportAgree},
		Login:  s.signIn(listener, wallets),
		Wallet: wallet.Config{Client: wallets, Development: s.p.development() || s.p.cfg.WalletDevelopment, Automations: s.plannedAutomations()},
	})
}

// networkName is what pages call the network.
func (s *servers) networkName() string {
	if s.p.development() {
		return "simulated network"
	}
	return ""
}

// pageStatus is how far public history is.
func (s *servers) pageStatus(ctx context.Context, readiness *health) (status page.Status, err error) {
	at, err := s.db.reader.Watermark(ctx)
	if err != nil {
		return status, err
	}
	status.Through, status.Migration = at.RecordTime, at.MigrationID
	if !readiness.Backfilled(ctx) {
		status.Behind = "it is still being read from the network."
	}
	if err := s.db.damage.err(); err != nil {
		status.Damaged = err.Error()
	}
	return status, nil
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
	if errors.Is(err, auth.ErrUnauthenticated) {
		return false, nil
	}
	return rights.ParticipantAdmin && !rights.Deactivated, err
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
