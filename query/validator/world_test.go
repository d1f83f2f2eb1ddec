package validator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

const (
	dso          = "DSO::1220aa"
	alice        = "alice::1220bb"
	bob          = "bob::1220bb"
	external     = "ext::1220ee"
	operator     = "operator::1220ff"
	synchronizer = "global-domain::1220dd"
	audience     = "https://validator.example.com"
)

var (
	secret  = []byte("a shared secret of 32 bytes, or so")
	present = time.Date(2026, 7, 5, 12, 0, 0, 0, time.UTC)
	// later is an expiry in the future, in microseconds.
	later = present.Add(time.Hour).UnixMicro()
)

// memory is Network, Users and Commands over what a test puts into it, and the fixture out of
// which Views are made, see stored.
type memory struct {
	mu        sync.Mutex
	contracts []wallethistory.Contract // by creation
	log       map[string][]wallethistory.Entry
	statuses  map[string]wallethistory.Status // by kind, party and tracking id
	rounds    []Round
	users     map[string]auth.Rights
	// fail is what commands answer with, if set.
	fail     error
	commands []string // what was asked for
	visible  bool
	asked    [][]string // the parties as whom views were read
}

// newMemory is a network in which alice and bob have wallets.
func newMemory() *memory {
	m := &memory{
		log: map[string][]wallethistory.Entry{}, statuses: map[string]wallethistory.Status{}, visible: true,
		rounds: []Round{{9, present.Add(10 * time.Minute)}, {7, present.Add(-20 * time.Minute)}, {8, present.Add(-10 * time.Minute)}},
		users: map[string]auth.Rights{
			"alice":   {PrimaryParty: alice, ActAs: set(alice)},
			"bob":     {PrimaryParty: bob, ActAs: set(bob)},
			"admin":   {PrimaryParty: operator, ActAs: set(operator), ParticipantAdmin: true},
			"newbie":  {},
			"retired": {PrimaryParty: "retired::1220", ActAs: set("retired::1220"), Deactivated: true},
			"robbed":  {PrimaryParty: "robbed::1220", ActAs: map[string]bool{}},
			// Almost administrators: each lacks one of what it takes.
			"no-admin":   {PrimaryParty: operator, ActAs: set(operator)},
			"no-actor":   {PrimaryParty: operator, ActAs: map[string]bool{}, ParticipantAdmin: true},
			"no-primary": {PrimaryParty: alice, ActAs: set(operator), ParticipantAdmin: true},
			"off-admin":  {PrimaryParty: operator, ActAs: set(operator), ParticipantAdmin: true, Deactivated: true},
		},
	}
	for user, party := range map[string]string{"alice": alice, "bob": bob, "retired": "retired::1220", "robbed": "robbed::1220", "gone": "gone::1220"} {
		m.put(template.WalletAppInstall, "00install"+user, user, `{"dsoParty":"`+dso+`","endUserName":"`+user+`","endUserParty":"`+party+`","validatorParty":"`+operator+`"}`, party, operator)
	}
	m.put(template.ValidatorRight, "00right", external, `{"dso":"`+dso+`","user":"`+external+`","validator":"`+operator+`"}`, external, operator)
	return m
}

func set(parties ...string) map[string]bool {
	s := map[string]bool{}
	for _, p := range parties {
		s[p] = true
	}
	return s
}

// put adds a contract; key is its lookup key.
func (m *memory) put(template, id, key, payload string, stakeholders ...string) *wallethistory.Contract {
	m.mu.Lock()
	defer m.mu.Unlock()
	pkg, rest, _ := strings.Cut(template, ":")
	c := wallethistory.Contract{Template: template, SynchronizerID: synchronizer, Blob: "YWI="}
	c.LookupKey = key
	c.Encoding = schemas.CompactJSON
	c.Event = schemas.Event{
		Kind: schemas.Created, ContractID: id, TemplateID: strings.Repeat("ab", 32) + ":" + rest, PackageName: pkg, Argument: []byte(payload),
		CreatedAt: schemas.MicrosOf(present.Add(-time.Hour)) + schemas.Micros(len(m.contracts)), Signatories: stakeholders,
	}
	m.contracts = append(m.contracts, c)
	return &m.contracts[len(m.contracts)-1]
}

// coin gives a party a coin, or a locked one.
func (m *memory) coin(id, owner, amount string, round int64, locked bool) {
	payload := fmt.Sprintf(`{"amount":{"createdAt":{"number":"%d"},"initialAmount":"%s","ratePerRound":{"rate":"0.5000000000"}},"dso":"%s","owner":"%s"}`, round, amount, dso, owner)
	name := template.Coin
	if locked {
		name, payload = template.LockedCoin, `{"amulet":`+payload+`,"lock":{"expiresAt":"2026-08-01T00:00:00Z","holders":["`+dso+`"],"optContext":null}}`
	}
	c := m.put(name, id, "", payload, dso, owner)
	c.Owner, c.Amount, c.Rate, c.Round = owner, decimal.Must(amount), decimal.Must("0.5"), round
}

func (m *memory) OpenRounds(context.Context) ([]Round, error) { return m.rounds, nil }
func (m *memory) Time(context.Context) (time.Time, error)     { return present, nil }

func (m *memory) Rights(_ context.Context, user string) (auth.Rights, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rights, ok := m.users[user]
	if !ok {
		return rights, fmt.Errorf("%w: user %s", auth.ErrUnauthenticated, user)
	}
	return rights, nil
}

func (m *memory) Forget(string) {}

// emptyStream is a node's stream without updates.
type emptyStream struct{ NodeHistory }

func (emptyStream) LedgerEnd(context.Context) (int64, error) { return 0, nil }

// noHistory is a scan that has no history yet.
type noHistory struct{ scan.Source }

func (noHistory) ItemsByID(context.Context, []string) (map[string]schemas.Item, error) {
	return nil, nil
}
func (noHistory) Updates(context.Context, history.Range) ([]schemas.Update, error) { return nil, nil }

func (noHistory) Watermark(context.Context) (schemas.Position, error) { return schemas.Start, nil }

func (noHistory) ContractsWatermark(context.Context) (schemas.Position, error) {
	return schemas.Start, nil
}

func (noHistory) Migrations(context.Context) ([]history.Migration, error) { return nil, nil }

func (noHistory) Fact(context.Context, facts.Key) (facts.Fact, error) {
	return facts.Fact{}, schemas.ErrNotFound
}

type notBackfilled struct{}

func (notBackfilled) Backfilled(context.Context) bool { return false }
func (notBackfilled) Ready(context.Context) error     { return nil }

// scanRoutes are the lookups of a scan without history.
func scanRoutes(t testing.TB) []query.Route {
	t.Helper()
	api, err := scan.New(scan.Config{Source: noHistory{}, Health: notBackfilled{}, Log: slog.New(slog.DiscardHandler), TokenKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	return api.ProxyRoutes()
}

var loadDocument = sync.OnceValues(func() (*openapitest.Document, error) {
	return openapitest.Load(openapi.Validator, Prefixes[:])
})

// document is the description of the interface, which every answer in these tests is held against.
func document(t testing.TB) *openapitest.Document {
	t.Helper()
	d, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// served is the interface under test.
type served struct {
	t      testing.TB
	url    string
	client *http.Client
}

func verifier(t testing.TB, keys auth.Keys) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{Keys: keys, Users: newMemory(), Audience: audience, Now: func() time.Time { return present }})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func config(t testing.TB, m *memory, views Views) Config {
	t.Helper()
	keys, err := auth.Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Auth: verifier(t, keys), Users: m, Views: func(context.Context) (Views, error) { return views, nil }, Network: m,
		History:     func(context.Context) (NodeHistory, error) { return emptyStream{}, nil },
		Commands:    func(context.Context) (*Commands, error) { return m.commanded(), nil },
		Operator:    func(context.Context) (Operator, error) { return Operator{operator, "admin"}, nil },
		Health:      func(context.Context) error { return nil },
		Log:         slog.New(slog.DiscardHandler),
		ScanProxy:   scanRoutes(t),
		Development: true, TransferCommands: true, Version: "1.2.3", NodeID: "ledgerlake", Now: func() time.Time { return present },
	}
}

func serve(t testing.TB, m *memory, change func(*Config)) *served {
	t.Helper()
	cfg := config(t, m, m.stored(t))
	if change != nil {
		change(&cfg)
	}
	return serveConfig(t, cfg)
}

// serveConfig serves what a configuration says until the test ends.
func serveConfig(t testing.TB, cfg Config) *served {
	t.Helper()
	api, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, url: querytest.Serve(t, query.Config{Mounts: []query.Mount{api.Mount()}}).URL}
	d := document(t)
	if cfg.Naming == query.Network {
		text, err := openapi.NetworkSpelling(openapi.Validator)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = openapitest.Load(text, Prefixes[:]); err != nil {
			t.Fatal(err)
		}
	}
	s.client = &http.Client{Transport: d.Transport(t, http.DefaultTransport.(*http.Transport).Clone()), Timeout: 30 * time.Second}
	return s
}

func token(t testing.TB, user string) string {
	t.Helper()
	text, err := auth.Mint(secret, auth.Claims{User: user, Audience: audience, Issued: present, Expires: present.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type answer struct {
	status int
	header http.Header
	body   string
}

// as sends a request with the token of a user, "" for none.
func (s *served) as(user, method, target, body string) answer {
	s.t.Helper()
	bearer := ""
	if user != "" {
		bearer = token(s.t, user)
	}
	return s.with(bearer, method, target, body)
}

func (s *served) with(bearer, method, target, body string) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// wants checks status and body; a body that begins with { is compared as JSON.
func (s *served) wants(a answer, status int, body string) {
	s.t.Helper()
	if a.status != status {
		s.t.Errorf("the answer is %d %s, want %d", a.status, a.body, status)
		return
	}
	if body != "" && !sameJSON(a.body, body) {
		s.t.Errorf("the answer is %s, want %s", a.body, body)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return string(left) == string(right)
}
