package validator

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet/wallettest"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// reality is the interface on real parts: the node of a simulated network over HTTP, its stream
// ingested into a store, the wallets that are derived from it, and the users that the node knows.
type reality struct {
	*wallettest.World
	*served
	users *auth.NodeUsers
}

// TestReality runs what needs all parts in one network. Time goes on in it only when a test says so.
func TestReality(t *testing.T) {
	// The manager of the development fund is a party of this node, and coupons wait.
	w := wallettest.New(t, func(c *devnet.Config) { c.Node.Participant, c.Fund.MintingDelay = "validator-2", 10*time.Minute })
	r := &reality{World: w}
	r.served = serveConfig(t, r.config(t))
	operator := r.World.Operator.Party
	r.user(t, node.User{ID: realOperator, PrimaryParty: operator}, actAs(operator), admin)
	t.Run("Access", r.access)
	t.Run("BadInput", r.badInput)
	t.Run("Names", r.names)
	t.Run("AppPayments", r.appPayments)
	t.Run("DevelopmentFund", r.developmentFund)
	t.Run("Allocations", r.allocations)
	t.Run("TokenStandardOffers", r.tokenStandardOffers)
	t.Run("MergeDelegations", r.mergeDelegations)
}

// realOperator is the user of the operator, whose wallet is that of another user: the operator's own.
const realOperator = "admin"

func (r *reality) config(t *testing.T) Config {
	t.Helper()
	keys, err := auth.Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	public, err := scan.New(scan.Config{Source: struct {
		*history.Reader
		*history.State
		*history.Rounds
	}{r.History.WithSide(), r.History.WithSide().State(), r.History.Rounds()}, Health: ready{}, Log: slog.New(slog.DiscardHandler), TokenKey: secret})
	if err != nil {
		t.Fatal(err)
	}
	r.users = auth.NewNodeUsers(auth.NodeConfig{BaseURL: r.NodeURL})
	return Config{
		Auth: r.verifier(t, keys), Users: r.users, Network: network{r.World}, Log: slog.New(slog.DiscardHandler), ScanProxy: public.ProxyRoutes(),
		Views:    func(context.Context) (Views, error) { return r.Wallets, nil },
		History:  func(context.Context) (NodeHistory, error) { return r.Node, nil },
		Commands: func(context.Context) (*Commands, error) { return WalletCommands(r.Wallet), nil },
		Operator: func(context.Context) (Operator, error) { return Operator{r.World.Operator.Party, realOperator}, nil },
		Health:   func(context.Context) error { return nil },
		// Tokens are good at that time, whatever the time of the network.
		Development: true, TransferCommands: true, Now: func() time.Time { return present },
	}
}

func (r *reality) verifier(t *testing.T, keys auth.Keys) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Config{Keys: keys, Users: r.users, Audience: audience, Now: func() time.Time { return present }})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type ready struct{}

func (ready) Backfilled(context.Context) bool { return true }
func (ready) Ready(context.Context) error     { return nil }

// user makes a user of the node.
func (r *reality) user(t *testing.T, u node.User, rights ...node.Right) {
	t.Helper()
	if err := r.Client.CreateUser(t.Context(), u, rights); err != nil {
		t.Fatal(err)
	}
}

func actAs(party string) node.Right { return node.Right{Kind: node.CanActAs, Party: party} }

var admin = node.Right{Kind: node.ParticipantAdmin}

// network is Network of the public history.
type network struct{ *wallettest.World }

func (n network) Time(ctx context.Context) (time.Time, error) { return n.Public.Now(ctx) }

func (n network) OpenRounds(ctx context.Context) (list []Round, err error) {
	rounds, err := n.Present.MiningRounds(ctx)
	for _, r := range rounds.Open {
		list = append(list, Round{r.Number, r.OpensAt.Time()})
	}
	return list, err
}

// person is a user with a wallet.
type person struct{ user, party string }

// register gives somebody a wallet, and coins worth some dollars unless that is "".
func (r *reality) register(t *testing.T, user, dollars string) *person {
	t.Helper()
	var registered struct {
		Party string `json:"party_id"`
	}
	r.must(t, user, "POST", "/v0/register", "", &registered)
	if dollars != "" {
		r.must(t, user, "POST", "/v0/wallet/tap", `{"amount":"`+dollars+`"}`, nil)
	}
	return &person{user, registered.Party}
}

// must sends a request that succeeds, and is shown when it is a change.
func (r *reality) must(t *testing.T, user, method, path, body string, into any) {
	t.Helper()
	a := r.as(user, method, path, body)
	if a.status != http.StatusOK {
		t.Fatalf("%s %s %.300s of %s = %d %s", method, path, body, user, a.status, a.body)
	}
	if visible := a.header.Get(visibleHeader); visible != "" && visible != "true" {
		t.Fatalf("%s %s %.300s of %s is not shown", method, path, body, user)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.body), into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, a.body)
		}
	}
}

// end is how far the node's ledger is: refused commands do not move it.
func (r *reality) end(t *testing.T) (end int64) {
	t.Helper()
	response, err := http.Get(r.NodeURL + "/v2/state/ledger-end")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Offset int64 `json:"offset"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Offset == 0 {
		t.Fatalf("the end of the ledger is %d, %v", answer.Offset, err)
	}
	return answer.Offset
}

// funds are the coins of a person by contract id, as the interface lists them.
type funds struct {
	unlocked, locked map[string]decimal.Decimal
}

func (f funds) sums() (unlocked, locked decimal.Decimal) {
	for _, amount := range f.unlocked {
		unlocked = unlocked.Plus(amount)
	}
	for _, amount := range f.locked {
		locked = locked.Plus(amount)
	}
	return unlocked, locked
}

type amountPayload struct {
	Owner  string `json:"owner"`
	Amount struct {
		Initial decimal.Decimal `json:"initialAmount"`
	} `json:"amount"`
}

type coinList []struct {
	Contract struct {
		Contract struct {
			ID      string `json:"contract_id"`
			Payload struct {
				amountPayload
				Coin amountPayload `json:"amulet"`
			} `json:"payload"`
		} `json:"contract"`
	} `json:"contract"`
}

// funds reads the coins of a person and holds the balance against their sum.
func (r *reality) funds(t *testing.T, p *person) funds {
	t.Helper()
	var coins struct {
		Unlocked coinList `json:"coins"`
		Locked   coinList `json:"locked_coins"`
	}
	r.must(t, p.user, "GET", "/v0/wallet/coins", "", &coins)
	f := funds{map[string]decimal.Decimal{}, map[string]decimal.Decimal{}}
	for _, c := range coins.Unlocked {
		if c.Contract.Contract.Payload.Owner != p.party {
			t.Fatalf("coin %s of %s is one of %s", c.Contract.Contract.ID, p.user, c.Contract.Contract.Payload.Owner)
		}
		f.unlocked[c.Contract.Contract.ID] = c.Contract.Contract.Payload.Amount.Initial
	}
	for _, c := range coins.Locked {
		if c.Contract.Contract.Payload.Coin.Owner != p.party {
			t.Fatalf("locked coin %s of %s is one of %s", c.Contract.Contract.ID, p.user, c.Contract.Contract.Payload.Coin.Owner)
		}
		f.locked[c.Contract.Contract.ID] = c.Contract.Contract.Payload.Coin.Amount.Initial
	}
	var balance struct {
		Unlocked decimal.Decimal `json:"effective_unlocked_qty"`
		Locked   decimal.Decimal `json:"effective_locked_qty"`
	}
	r.must(t, p.user, "GET", "/v0/wallet/balance", "", &balance)
	if unlocked, locked := f.sums(); unlocked.Cmp(balance.Unlocked) != 0 || locked.Cmp(balance.Locked) != 0 {
		t.Fatalf("the coins of %s are worth %s and %s locked, the balance is %s and %s locked", p.user, unlocked, locked, balance.Unlocked, balance.Locked)
	}
	return f
}

// entry is an item of a history.
type entry struct {
	Type    string `json:"transaction_type"`
	Subtype struct {
		Choice string `json:"choice"`
	} `json:"transaction_subtype"`
	EventID     string        `json:"event_id"`
	Sender      partyAmount   `json:"sender"`
	Receivers   []partyAmount `json:"receivers"`
	Instruction string        `json:"transfer_instruction_cid"`
}

// gain is what an entry did to the unlocked coins of a party.
func (e *entry) gain(party string) (sum decimal.Decimal) {
	for _, a := range append([]partyAmount{e.Sender}, e.Receivers...) {
		if a.Party == party {
			sum = sum.Plus(a.Amount)
		}
	}
	return sum
}

// entriesUntil reads the history of a person, newest first, in pages down to an event that is
// known, or to its beginning if that is "".
func (r *reality) entriesUntil(t *testing.T, p *person, known string, pageSize int) (list []entry) {
	t.Helper()
	for after := ""; ; {
		var page struct {
			Items []entry `json:"items"`
		}
		r.must(t, p.user, "POST", "/v0/wallet/transactions", fmt.Sprintf(`{"page_size":%d,"begin_after_id":%q}`, pageSize, after), &page)
		for _, e := range page.Items {
			if e.EventID == known {
				return list
			}
			list = append(list, e)
		}
		if len(page.Items) < pageSize {
			if known != "" {
				t.Fatalf("the history of %s has lost event %s", p.user, known)
			}
			return list
		}
		after = page.Items[len(page.Items)-1].EventID
	}
}

// chronicle follows the history of a person.
type chronicle struct {
	*person
	newest string
	count  int
	sum    decimal.Decimal // what the entries did to the person's unlocked coins
	// told are the entries about each transfer instruction, oldest first.
	told map[string][]entry
}

func chronicleOf(p *person) *chronicle { return &chronicle{person: p, told: map[string][]entry{}} }

// follow takes the entries in that are new.
func (c *chronicle) follow(t *testing.T, r *reality) {
	t.Helper()
	fresh := r.entriesUntil(t, c.person, c.newest, 10)
	for i := len(fresh) - 1; i >= 0; i-- {
		e := fresh[i]
		if e.Type != "transfer" && e.Type != "balance_change" {
			t.Fatalf("the history of %s has an entry of type %s: %+v", c.user, e.Type, e)
		}
		c.newest, c.count, c.sum = e.EventID, c.count+1, c.sum.Plus(e.gain(c.party))
		if e.Instruction != "" {
			c.told[e.Instruction] = append(c.told[e.Instruction], e)
		}
	}
}

// whole reads the history again from its beginning and holds it against what was followed.
func (c *chronicle) whole(t *testing.T, r *reality) {
	t.Helper()
	seen, sum := map[string]bool{}, decimal.Decimal{}
	for _, e := range r.entriesUntil(t, c.person, "", 7) {
		if seen[e.EventID] {
			t.Errorf("the history of %s has event %s twice", c.user, e.EventID)
		}
		seen[e.EventID], sum = true, sum.Plus(e.gain(c.party))
	}
	if len(seen) != c.count || sum.Cmp(c.sum) != 0 {
		t.Errorf("the history of %s has %d entries that add up to %s; there were %d of %s", c.user, len(seen), sum, c.count, c.sum)
	}
}

// expires writes an instant as expires_at.
func expires(at time.Time) int64 { return at.UnixMicro() }

// transferBody is what an offer of either kind is made with.
func transferBody(receiver, amount, tracking string, until time.Time) string {
	return fmt.Sprintf(`{"receiver_party_id":%q,"amount":%q,"description":"model","expires_at":%d,"tracking_id":%q}`, receiver, amount, expires(until), tracking)
}

// trace are the last steps of a run, by which a failure is understood.
type trace struct {
	seed  uint64
	steps []string
}

func (tr *trace) note(format string, args ...any) {
	tr.steps = append(tr.steps, fmt.Sprintf("%4d ", len(tr.steps)+1)+fmt.Sprintf(format, args...))
}

// tell prints the last steps of a failed run and how to repeat it.
func (tr *trace) tell(t *testing.T) {
	if t.Failed() {
		t.Logf("repeat with %s=%d; the last steps were\n%s", modelSeedEnv, tr.seed, strings.Join(tr.steps[max(0, len(tr.steps)-15):], "\n"))
	}
}

// decoded reads an answer that must be a success.
func decoded[T any](t *testing.T, a answer) (value T) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("the answer is %d %s", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return value
}
