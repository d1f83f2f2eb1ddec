package wallet_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	actor "github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet/wallettest"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/console/login"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/wallet"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/query/validator"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

const audience = "https://validator.example.com"

var secret = []byte("a shared secret of 32 bytes, or so")

var quiet = slog.New(slog.DiscardHandler)

// world is a network with a node, its wallets behind the validator interface, and the console before that.
type world struct {
	*wallettest.World
	url   string
	pages *page.Pages
	list  *automations.Automations
	users *auth.NodeUsers
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: wallettest.New(t, func(c *devnet.Config) { c.Updates = 300 })}
	var err error
	if w.list, err = automations.New(automations.Config{Wallet: w.Wallet, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	api := w.validator(t)
	var server *query.Server
	client := &walletapi.Client{Transport: later(func() *query.Server { return server }), Prefix: "/api/validator"}
	signIn := login.New(login.Config{Wallet: client, Log: quiet, Admin: w.isAdmin, Development: &login.Development{Operator: "operator", Token: token}})
	status := func(context.Context) (page.Status, error) {
		return page.Status{Through: schemas.MicrosOf(w.Ledger.Now())}, nil
	}
	if w.pages, err = page.New(page.Config{Key: secret, Status: status, Log: quiet, Renew: signIn.Renew}); err != nil {
		t.Fatal(err)
	}
	pages := wallet.New(wallet.Config{Client: client, Development: true, Automations: w.planned, Now: w.Ledger.Now})
	routes := append(signIn.Routes(w.pages), pages.Routes(w.pages)...)
	server, err = query.New(query.Config{
		Address: "127.0.0.1:0", Log: quiet, Mounts: []query.Mount{api.SharedMount(), {Prefixes: []string{""}, Routes: routes}}, Errors: w.pages.Unrouted,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	w.url = "http://" + server.Addr()
	return w
}

// token makes a token of the development network.
func token(user string, lasting time.Duration) (string, error) {
	now := time.Now()
	return auth.Mint(secret, auth.Claims{User: user, Audience: audience, Issued: now, Expires: now.Add(lasting)})
}

func (w *world) isAdmin(ctx context.Context, user string) (bool, error) {
	return user == "operator", nil
}

func (w *world) planned(ctx context.Context) ([]wallet.Step, error) {
	steps, err := w.list.Plan(ctx)
	var told []wallet.Step
	for _, s := range steps {
		told = append(told, wallet.Step{Automation: s.Automation, User: s.User, Do: s.Do, What: s.What, Why: s.Why})
	}
	return told, err
}

// automate runs an automation.
func (w *world) automate(t *testing.T, name string) {
	t.Helper()
	if _, err := w.list.Run(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// validator is the interface over the network.
func (w *world) validator(t *testing.T) *validator.API {
	t.Helper()
	keys, err := auth.Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	w.users = auth.NewNodeUsers(auth.NodeConfig{BaseURL: w.NodeURL})
	verifier, err := auth.New(auth.Config{Keys: keys, Users: w.users, Audience: audience})
	if err != nil {
		t.Fatal(err)
	}
	public, err := scan.New(scan.Config{Source: struct {
		*history.Reader
		*history.State
		*history.Rounds
	}{w.History.WithSide(), w.History.WithSide().State(), w.History.Rounds()}, Health: ready{}, Log: quiet, TokenKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	api, err := validator.New(validator.Config{
		Auth: verifier, Users: w.users, Network: network{w.World}, Log: quiet, ScanProxy: public.ProxyRoutes(),
		Views:    func(context.Context) (validator.Views, error) { return w.Wallets, nil },
		History:  func(context.Context) (validator.NodeHistory, error) { return w.Node, nil },
		Commands: func(context.Context) (*validator.Commands, error) { return validator.WalletCommands(w.Wallet), nil },
		Operator: func(context.Context) (validator.Operator, error) {
			return validator.Operator{Party: w.Operator.Party, User: "operator"}, nil
		},
		Health:      func(context.Context) error { return nil },
		Development: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

type ready struct{}

func (ready) Backfilled(context.Context) bool { return true }
func (ready) Ready(context.Context) error     { return nil }

// network is validator.Network of the public history.
type network struct{ *wallettest.World }

func (n network) Time(ctx context.Context) (time.Time, error) { return n.Public.Now(ctx) }

func (n network) OpenRounds(ctx context.Context) (list []validator.Round, err error) {
	rounds, err := n.Present.MiningRounds(ctx)
	for _, r := range rounds.Open {
		list = append(list, validator.Round{Number: r.Number, OpensAt: r.OpensAt.Time()})
	}
	return list, err
}

// actor is a user with its party.
func (w *world) actor(t *testing.T, user string) actor.Actor {
	return actor.Actor{User: user, Party: w.party(t, user)}
}
