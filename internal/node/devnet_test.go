package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/faults"
)

const installTemplate = "#splice-wallet:Splice.Wallet.Install:WalletAppInstall"

// simulated is the node of a simulated network.
type simulated struct {
	url, dso, operator string
}

func newSimulated(t *testing.T) simulated {
	t.Helper()
	l, err := devnet.New(t.Context(), devnet.Config{Updates: 300, Seed: 5, SkipCompact: true, Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	h, err := l.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return simulated{server.URL, l.GovernanceParty(), strings.TrimPrefix(l.NodeDigests().ParticipantID, "participant-")}
}

// install is the submission that makes a wallet with a name, which tells commands apart.
func (s simulated) install(name, party string) Submission {
	return Submission{CommandID: name, ActAs: []string{s.operator, party}, Commands: []Command{Create(installTemplate, map[string]string{
		"dsoParty": s.dso, "validatorParty": s.operator, "endUserName": name, "endUserParty": party,
	})}}
}

// installed counts the wallets by name.
func installed(t *testing.T, c *Client, party string) map[string]int {
	t.Helper()
	list, err := c.ActiveContracts(t.Context(), party, installTemplate, 200)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, contract := range list {
		var payload struct {
			Name string `json:"endUserName"`
		}
		if err := json.Unmarshal(contract.Argument, &payload); err != nil || contract.Blob == "" || contract.SynchronizerID == "" {
			t.Errorf("contract %+v, %v", contract, err)
		}
		counts[payload.Name]++
	}
	return counts
}

func TestSimulatedNodeExecutesOnceOrReports(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	direct := newClient(t, s.url, nil)
	tally := new(faults.Tally)
	const seeds, commands = 6, 6
	for seed := range seeds {
		party, err := direct.AllocateParty(t.Context(), fmt.Sprint("user", seed))
		if err != nil {
			t.Fatal(err)
		}
		plan := faults.PlanHTTP(faults.Seed(seed).Rand("devnet"), 5, 2*commands, faults.HTTPKinds()...)
		proxy, err := faults.NewHTTP(faults.HTTPConfig{Name: "node", Target: s.url, Faults: plan, Tally: tally})
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, proxy.URL(), func(c *Config) { c.RequestTimeout, c.ResolveTimeout = time.Second, 500*time.Millisecond })
		outcomes := map[string]error{}
		for n := range commands {
			name := fmt.Sprint("c", n)
			tx, err := c.Submit(t.Context(), s.install(name, party))
			outcomes[name] = err
			if err == nil && (tx.CreatedOf("WalletAppInstall") == nil || tx.UpdateID == "") {
				t.Errorf("seed %d: the transaction is %+v", seed, tx)
			}
		}
		counts := installed(t, direct, party)
		for name, err := range outcomes {
			if n := counts[name]; n > 1 || err == nil && n != 1 || errors.Is(err, ErrNotSent) && n != 0 || IsRefusal(err) {
				t.Errorf("seed %d: %s was executed %d times and reported as %v (%v)", seed, name, n, err, plan)
			}
		}
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	}
	if tally.Total() < 2*seeds {
		t.Errorf("only %d faults happened", tally.Total())
	}
}

func TestUsersPartiesAndRights(t *testing.T) {
	t.Parallel()
	s := newSimulated(t)
	c := newClient(t, s.url, func(c *Config) { c.PageSize = 2 })
	ctx := t.Context()
	alice, err := c.AllocateParty(ctx, "alice")
	if err != nil || !strings.HasPrefix(alice, "alice::1220") {
		t.Fatalf("allocated %s, %v", alice, err)
	}
	if p, ok, err := c.Party(ctx, alice); err != nil || !ok || !p.Local {
		t.Errorf("the party is %+v, %v, %v", p, ok, err)
	}
	if _, ok, err := c.Party(ctx, "nobody::1220"+strings.Repeat("ab", 32)); err != nil || ok {
		t.Errorf("a party that is not there: %v, %v", ok, err)
	}
	if _, ok, err := c.User(ctx, "ann"); err != nil || ok {
		t.Errorf("a user that is not there: %v, %v", ok, err)
	}
	for _, user := range []string{"ann", "bea", "cid"} {
		if err := c.CreateUser(ctx, User{ID: user, PrimaryParty: alice}, []Right{{CanActAs, alice}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.CreateUser(ctx, User{ID: "ann"}, nil); !UserExists(err) {
		t.Errorf("the user twice: %v", err)
	}
	if u, ok, err := c.User(ctx, "ann"); err != nil || !ok || u.PrimaryParty != alice {
		t.Errorf("the user is %+v, %v, %v", u, ok, err)
	}
	if err := c.GrantRights(ctx, "ann", Right{CanReadAs, alice}, Right{Kind: ParticipantAdmin}); err != nil {
		t.Fatal(err)
	}
	if err := c.RevokeRights(ctx, "ann", Right{CanActAs, alice}); err != nil {
		t.Fatal(err)
	}
	rights, err := c.Rights(ctx, "ann")
	want := map[Right]bool{{CanReadAs, alice}: true, {Kind: ParticipantAdmin}: true}
	if err != nil || len(rights) != 2 || !want[rights[0]] || !want[rights[1]] {
		t.Errorf("the rights are %+v, %v", rights, err)
	}
	seen := map[string]bool{}
	if err := c.Users(ctx, func(u User) error { seen[u.ID] = true; return nil }); err != nil || !seen["ann"] || !seen["cid"] {
		t.Errorf("the users are %v, %v", seen, err)
	}
	if err := c.DeleteUser(ctx, "cid"); err != nil {
		t.Error(err)
	}
	if synchronizers, err := c.Synchronizers(ctx); err != nil || len(synchronizers) == 0 || synchronizers[0].ID == "" {
		t.Errorf("the synchronizers are %+v, %v", synchronizers, err)
	}
	if id, err := c.ParticipantID(ctx); err != nil || !strings.Contains(id, "::1220") {
		t.Errorf("the participant is %q, %v", id, err)
	}
}

func TestPreferencesOfTheClient(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no logger":       {BaseURL: "http://localhost"},
		"no URL":          {Log: slog.New(slog.DiscardHandler)},
		"another scheme":  {Log: slog.New(slog.DiscardHandler), BaseURL: "ftp://x"},
		"negative limits": {Log: slog.New(slog.DiscardHandler), BaseURL: "http://localhost", Attempts: -1},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
