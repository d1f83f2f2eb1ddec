package devnet

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// replay follows the history that a client is given and knows what must be active.
type replay struct {
	t       *testing.T
	active  map[string]event // by contract id
	flying  map[string]event // contracts between synchronizers
	created uint64
}

func newReplay(t *testing.T) *replay {
	return &replay{t: t, active: map[string]event{}, flying: map[string]event{}}
}

// add applies one update and checks the form of its tree.
func (r *replay) add(it item) {
	r.t.Helper()
	if it.Event != nil {
		r.addReassignment(it)
		return
	}
	var next int
	for _, root := range it.RootEventIDs {
		r.addNode(it, root, &next)
	}
	if next != len(it.EventsByID) {
		r.t.Errorf("update %s has %d events, its roots lead to %d", it.UpdateID, len(it.EventsByID), next)
	}
}

// addNode applies the node with the given id, which must be the next in preorder.
func (r *replay) addNode(it item, id string, next *int) {
	r.t.Helper()
	if want := fmt.Sprintf("%s:%d", it.UpdateID, *next); id != want {
		r.t.Errorf("event id %s, want %s", id, want)
	}
	*next++
	e := decodeEvent(r.t, it.EventsByID[id])
	if e.EventID != id {
		r.t.Errorf("event %s calls itself %s", id, e.EventID)
	}
	if e.EventType == "created_event" {
		r.create(e)
		return
	}
	if _, ok := r.active[e.ContractID]; !ok {
		r.t.Errorf("event %s exercises %s on a contract that is not active", id, e.Choice)
	}
	if e.Consuming {
		delete(r.active, e.ContractID)
	}
	for _, child := range e.ChildEventIDs {
		r.addNode(it, child, next)
	}
}

func (r *replay) create(e event) {
	r.t.Helper()
	if _, ok := r.active[e.ContractID]; ok {
		r.t.Errorf("event %s creates an active contract", e.EventID)
	}
	for _, list := range [][]string{e.Signatories, e.Observers} {
		if !slices.IsSorted(list) {
			r.t.Errorf("event %s has unsorted stakeholders", e.EventID)
		}
	}
	r.active[e.ContractID] = e
	r.created++
}

func (r *replay) addReassignment(it item) {
	r.t.Helper()
	e := decodeEvent(r.t, it.Event)
	if e.CreatedEvent == nil {
		c, ok := r.active[e.ContractID]
		if !ok {
			r.t.Errorf("update %s unassigns a contract that is not active", it.UpdateID)
		}
		delete(r.active, e.ContractID)
		r.flying[e.UnassignID] = c
		return
	}
	c := decodeEvent(r.t, e.CreatedEvent)
	left, ok := r.flying[e.UnassignID]
	if !ok || left.ContractID != c.ContractID {
		r.t.Errorf("update %s assigns a contract that was not unassigned", it.UpdateID)
	}
	if string(left.CreateArguments) != string(c.CreateArguments) || left.CreatedAt != c.CreatedAt {
		r.t.Errorf("update %s changes contract %s", it.UpdateID, c.ContractID)
	}
	delete(r.flying, e.UnassignID)
	r.active[c.ContractID] = c
}

// row is the contract's row of the active contracts table.
func (e *event) row() []byte {
	parties := func(ps []string) string {
		b, _ := json.Marshal(ps) // strings always marshal
		return string(b)
	}
	return fmt.Appendf(nil, `{"contract_id":%q,"create_arguments":%s,"created_at":%q,"observers":%s,"package_name":%q,"signatories":%s,"template_id":%q}`,
		e.ContractID, e.CreateArguments, e.CreatedAt, parties(e.Observers), e.PackageName, parties(e.Signatories), e.TemplateID)
}

// TestHistoryIsExecutable replays all that is served: every exercise refers to an
// active contract, migration 1 imports exactly what was active, and the contracts
// that remain are those that the ledger says are active.
func TestHistoryIsExecutable(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 3000, Seed: 11, SkipCompact: true})
	r := newReplay(t)
	reassigned, switched := 0, false
	for _, it := range c.allUpdates("/v2/updates", "protobuf_json", 1000) {
		if it.MigrationID == 1 && !switched {
			switched = true
			compareImports(t, r, c.imports(1, 300))
		}
		if it.Event != nil {
			reassigned++
		}
		r.add(it)
	}
	if !switched || reassigned < 10 {
		t.Errorf("migration switched: %v, %d reassignments", switched, reassigned)
	}
	d := l.Digests()
	if r.created != d.Counts.ContractsCreated {
		t.Errorf("%d contracts created, the ledger says %d", r.created, d.Counts.ContractsCreated)
	}
	if d.Counts.Rounds < 20 || d.Counts.Rounds > 6000/sim.UpdatesPerRound {
		t.Errorf("%d rounds in 6000 updates", d.Counts.Rounds)
	}
	var sum rowSum
	for _, e := range r.active {
		sum.add(e.row())
	}
	sum.compare(t, "active_contracts", d)
	compareSupply(t, r, l)
}

func compareImports(t *testing.T, r *replay, imports []item) {
	t.Helper()
	if len(r.flying) > 0 {
		t.Errorf("%d contracts in flight at the switch of migrations", len(r.flying))
	}
	left := maps.Clone(r.active)
	last := ""
	for _, it := range imports {
		if it.UpdateID <= last || it.RecordTime != "0001-01-01T00:00:00.000000Z" || it.MigrationID != 1 ||
			len(it.EventsByID) != 1 || it.RootEventIDs[0] != it.UpdateID+":0" {
			t.Fatalf("import %s behind %s is malformed: %s", it.UpdateID, last, it.raw)
		}
		last = it.UpdateID
		e, ok := left[it.UpdateID]
		if !ok {
			t.Errorf("import %s was not active", it.UpdateID)
			continue
		}
		delete(left, it.UpdateID)
		if got := decodeEvent(t, it.EventsByID[it.UpdateID+":0"]); string(got.row()) != string(e.row()) {
			t.Errorf("import %s is %s, was %s", it.UpdateID, got.row(), e.row())
		}
	}
	if len(left) > 0 {
		t.Errorf("%d active contracts were not imported", len(left))
	}
}

// compareSupply adds up the coins that are active after the replay.
func compareSupply(t *testing.T, r *replay, l *ledger.Ledger) {
	t.Helper()
	sum := new(big.Int)
	for _, e := range r.active {
		switch {
		case strings.HasSuffix(e.TemplateID, ":Splice.Amulet:Amulet"):
			sum.Add(sum, amount(t, fields(t, e.CreateArguments)[2], 0))
		case strings.HasSuffix(e.TemplateID, ":Splice.Amulet:LockedAmulet"):
			sum.Add(sum, amount(t, fields(t, fields(t, e.CreateArguments)[0])[2], 0))
		}
	}
	s := l.Supply()
	if got := sum.String(); got != strings.Replace(s.Circulating, ".", "", 1) {
		t.Errorf("active coins add up to %s, the ledger says %+v", got, s)
	}
	if counted := countedCoins(l).String(); counted != s.Circulating {
		t.Errorf("the ledger holds %s coins but says %s circulate", counted, s.Circulating)
	}
}

// fields returns the fields of a record in protobuf_json.
func fields(t *testing.T, raw json.RawMessage) []json.RawMessage {
	t.Helper()
	var v struct {
		Record struct {
			Fields []struct {
				Value json.RawMessage `json:"value"`
			} `json:"fields"`
		} `json:"record"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Record.Fields) == 0 {
		t.Fatalf("not a record: %.300s (%v)", raw, err)
	}
	var fs []json.RawMessage
	for _, f := range v.Record.Fields {
		fs = append(fs, f.Value)
	}
	return fs
}

// amount reads a numeric field of a record in units of 10^-10, unwrapping optionals.
func amount(t *testing.T, record json.RawMessage, at int) *big.Int {
	t.Helper()
	return number(t, fields(t, record)[at])
}

func number(t *testing.T, raw json.RawMessage) *big.Int {
	t.Helper()
	var v struct {
		Numeric  string `json:"numeric"`
		Optional *struct {
			Value json.RawMessage `json:"value"`
		} `json:"optional"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("not a numeric: %s", raw)
	}
	if v.Optional != nil {
		return number(t, v.Optional.Value)
	}
	n, ok := new(big.Int).SetString(strings.Replace(v.Numeric, ".", "", 1), 10)
	if !ok {
		t.Fatalf("not a numeric: %s", raw)
	}
	return n
}

// TestTransfersConserveCoins checks every transfer: what goes in is what comes out
// plus the change and the fees.
func TestTransfersConserveCoins(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 3000, Seed: 12, SkipCompact: true})
	transfers, withFees, collecting := 0, 0, 0
	for _, it := range c.allUpdates("/v2/updates", "protobuf_json", 1000) {
		for id, raw := range it.EventsByID {
			e := decodeEvent(t, raw)
			if e.Choice != "AmuletRules_Transfer" {
				continue
			}
			transfers++
			in, out, fees, rewards := transferSums(t, e)
			if in.Cmp(new(big.Int).Add(out, fees)) != 0 {
				t.Errorf("event %s: %s in, %s out, %s fees", id, in, out, fees)
			}
			if fees.Sign() > 0 {
				withFees++
			}
			if rewards.Sign() > 0 {
				collecting++
			}
			if fees.Sign() > 0 != (it.MigrationID == 0) {
				t.Errorf("event %s of migration %d burns fees of %s", id, it.MigrationID, fees)
			}
		}
	}
	if transfers < 1000 || withFees < 100 || collecting < 50 {
		t.Errorf("%d transfers, %d with fees, %d that collect rewards", transfers, withFees, collecting)
	}
}

// transferSums reads argument and result of AmuletRules_Transfer.
func transferSums(t *testing.T, e event) (in, out, fees, rewards *big.Int) {
	t.Helper()
	summary := fields(t, fields(t, e.Result)[1])
	rewards = new(big.Int)
	for _, i := range []int{0, 1, 2, 11, 12} { // the last two only in the newer version; field 10 is a part of 1
		if i < len(summary) && string(summary[i]) != `{"optional":{}}` {
			rewards.Add(rewards, number(t, summary[i]))
		}
	}
	in = new(big.Int).Add(rewards, number(t, summary[3]))
	fees = new(big.Int).Add(number(t, summary[5]), number(t, summary[7]))
	for _, f := range elements(t, summary[6]) {
		fees.Add(fees, number(t, f))
	}
	out = number(t, summary[8])
	for _, o := range elements(t, fields(t, fields(t, e.Argument)[0])[3]) {
		out.Add(out, amount(t, o, 2))
	}
	return in, out, fees, rewards
}

func elements(t *testing.T, raw json.RawMessage) []json.RawMessage {
	t.Helper()
	var v struct {
		List *struct {
			Elements []json.RawMessage `json:"elements"`
		} `json:"list"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || v.List == nil {
		t.Fatalf("not a list: %.200s (%v)", raw, err)
	}
	return v.List.Elements
}
