package network_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is a store, and the network that its history is of.
type world struct {
	*testing.T
	store  *consoletest.Store
	reader *network.Reader
	now    network.Instant
}

// TestNetwork compares what is read of a store with what the network says of itself, at the end of its history.
func TestNetwork(t *testing.T) {
	s := consoletest.NewStore(t, devnet.Config{Updates: 900, Seed: 3, Days: 4})
	w := &world{T: t, store: s, reader: network.NewReader(s.DB, history.NewReader(s.DB, schemas.ScanStream), values.Default())}
	now, ok, err := w.reader.Instant(t.Context(), schemas.MaxMicros)
	if err != nil || !ok || now.MigrationID < 1 {
		t.Fatalf("now is %+v, %v, %v", now, ok, err)
	}
	w.now = now
	w.instants()
	w.rules()
	w.rounds()
	w.licenses()
	w.names()
	w.votes()
	w.holdings()
	w.traffic()
}

// ask asks the network itself.
func (w *world) ask(method, path, body string, into any) {
	w.Helper()
	answer := httptest.NewRecorder()
	w.store.Network.Handler().ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil || answer.Code != 200 {
		w.Fatalf("%s: %d %v %.300s", path, answer.Code, err, answer.Body)
	}
}

type contractJSON struct {
	ContractID string `json:"contract_id"`
}

func (w *world) instants() {
	if _, ok, err := w.reader.Instant(w.Context(), 0); ok || err != nil {
		w.Errorf("before history there is an instant: %v, %v", ok, err)
	}
	reader := history.NewReader(w.store.DB, schemas.ScanStream)
	first, err := reader.Updates(w.Context(), history.Range{After: schemas.Start, Through: w.now.Mark, Limit: 50})
	if err != nil {
		w.Fatal(err)
	}
	at, ok, err := w.reader.Instant(w.Context(), first[49].RecordTime)
	if err != nil || !ok || at.MigrationID != first[49].MigrationID || at.At != first[49].RecordTime {
		w.Errorf("the instant of %s is %+v, %v, %v", first[49].Position(), at, ok, err)
	}
	rounds, err := w.reader.Rounds(w.Context(), at)
	later, err2 := w.reader.Rounds(w.Context(), w.now)
	if err != nil || err2 != nil || len(rounds) == 0 || rounds[0].Number >= later[0].Number {
		w.Errorf("the rounds of the 50th update are %+v, %v, %v", rounds, err, err2)
	}
}

func (w *world) rules() {
	rules, err := w.reader.Rules(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	var dso struct {
		Party     string `json:"dso_party_id"`
		Threshold int64  `json:"voting_threshold"`
		Rules     struct {
			Contract struct {
				contractJSON
				Payload struct {
					Delegate string  `json:"dsoDelegate"`
					SVs      [][]any `json:"svs"`
				}
			}
		} `json:"dso_rules"`
	}
	w.ask("GET", "/api/scan/v0/dso", "", &dso)
	own := dso.Rules.Contract
	if rules.Governance != dso.Party || rules.Threshold != dso.Threshold || rules.Delegate != own.Payload.Delegate || rules.Own.ID() != own.ContractID || rules.Coin == nil {
		w.Errorf("the rules are %+v, want those of %+v", rules, dso)
	}
	if len(rules.Operators) != len(own.Payload.SVs) || len(rules.Operators) == 0 {
		w.Fatalf("operators are %+v, want %v", rules.Operators, own.Payload.SVs)
	}
	for i, o := range rules.Operators {
		if o.Party != own.Payload.SVs[i][0] || o.Name == "" || o.Weight < 1000 || o.JoinedRound < 0 || !strings.HasPrefix(o.Participant, "PAR::") {
			w.Errorf("operator %+v, want %v", o, own.Payload.SVs[i])
		}
	}
	if o, ok := rules.Operator(rules.Operators[0].Party); !ok || o != rules.Operators[0] {
		w.Errorf("the first operator is %+v, %v", o, ok)
	}
}

func (w *world) rounds() {
	var answer struct {
		Open    map[string]any `json:"open_mining_rounds"`
		Issuing map[string]any `json:"issuing_mining_rounds"`
	}
	w.ask("POST", "/api/scan/v0/open-and-issuing-mining-rounds", `{"cached_open_mining_round_contract_ids":[],"cached_issuing_round_contract_ids":[]}`, &answer)
	rounds, err := w.reader.Rounds(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	count := map[network.Phase]int{}
	for _, r := range rounds {
		count[r.Phase]++
		_, open := answer.Open[r.Contract.ID()]
		_, issuing := answer.Issuing[r.Contract.ID()]
		if open != (r.Phase == network.Open) || issuing != (r.Phase == network.Issuing) || open && (r.Price == "" || r.OpensAt >= r.ClosesAt) || issuing && len(r.Issuance) != 5 {
			w.Errorf("round %+v", r)
		}
	}
	if count[network.Open] != len(answer.Open) || count[network.Issuing] != len(answer.Issuing) || count[network.Open] == 0 || count[network.Issuing] == 0 {
		w.Errorf("there are rounds %v, want %d open and %d issuing", count, len(answer.Open), len(answer.Issuing))
	}
	var opened []network.Round
	for before := schemas.MaxMicros; ; before = opened[len(opened)-1].Contract.Event.CreatedAt {
		page, err := w.reader.Opened(w.Context(), w.now, before, 6)
		if err != nil {
			w.Fatal(err)
		}
		if opened = append(opened, page...); len(page) < 6 {
			break
		}
	}
	for i := 1; i < len(opened); i++ {
		if opened[i].Number >= opened[i-1].Number && opened[i].Number > 2 { // those are opened at once
			w.Errorf("round %d was opened before round %d", opened[i].Number, opened[i-1].Number)
		}
	}
	if newest := rounds[len(rounds)-1]; len(opened) < 15 || opened[0].Number != newest.Number {
		w.Fatalf("%d rounds were opened, the newest %d", len(opened), opened[0].Number)
	}
	life, err := w.reader.Life(w.Context(), w.now, opened[10].Number)
	var phases []network.Phase
	for _, r := range life {
		phases = append(phases, r.Phase)
		if r.Number != opened[10].Number {
			w.Errorf("round %d has a phase %+v", opened[10].Number, r)
		}
	}
	if err != nil || !slices.Equal(phases, []network.Phase{network.Open, network.Summarizing, network.Issuing, network.Closed}) {
		w.Errorf("the life of round %d is %v, %v", opened[10].Number, phases, err)
	}
	if life, err := w.reader.Life(w.Context(), w.now, 1<<40); len(life) > 0 || err != nil {
		w.Errorf("an unknown round has the life %+v, %v", life, err)
	}
}

// contracts asks the network for a list of contracts.
func (w *world) contracts(path, member string) (ids []string) {
	w.Helper()
	var answer map[string]json.RawMessage
	w.ask("GET", path, "", &answer)
	var list []contractJSON
	if err := json.Unmarshal(answer[member], &list); err != nil || len(list) == 0 {
		w.Fatalf("%s: %v in %s", path, err, answer[member])
	}
	for _, c := range list {
		if c.ContractID != "" {
			ids = append(ids, c.ContractID)
		}
	}
	slices.Sort(ids)
	return ids
}

// same compares contracts with those of the network, in any order.
func (w *world) same(what string, got, want []string) {
	w.Helper()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.Errorf("%s are\n%q, want\n%q", what, got, want)
	}
}

func (w *world) licenses() {
	var all []network.License
	for before := network.Newest; ; before = network.KeyOf(&all[len(all)-1].Contract) {
		page, err := w.reader.Licenses(w.Context(), w.now, before, 2)
		if err != nil {
			w.Fatal(err)
		}
		if all = append(all, page...); len(page) < 2 {
			break
		}
	}
	var ids []string
	for i, l := range all {
		ids = append(ids, l.Contract.ID())
		if l.Validator == "" || l.Sponsor == "" || i > 0 && all[i-1].Contract.Event.CreatedAt < l.Contract.Event.CreatedAt {
			w.Errorf("license %+v", l)
		}
		of, err := w.reader.LicensesOf(w.Context(), w.now, l.Validator)
		if err != nil || !slices.ContainsFunc(of, func(o network.License) bool { return o.Contract.ID() == l.Contract.ID() }) {
			w.Errorf("%s has no license of its: %v", l.Validator, err)
		}
	}
	w.same("licenses", ids, w.contracts("/api/scan/v0/admin/validator/licenses?limit=100", "validator_licenses"))
	if !slices.ContainsFunc(all, func(l network.License) bool { return l.Liveness != nil && l.Version != "" && l.LastActive > 0 }) {
		w.Errorf("no license of %+v says how active the validator is", all)
	}
	var apps struct {
		List []struct{ Payload struct{ Provider string } } `json:"featured_apps"`
	}
	w.ask("GET", "/api/scan/v0/featured-apps", "", &apps)
	if list, err := w.reader.FeaturedApps(w.Context(), w.now, apps.List[0].Payload.Provider); err != nil || len(list) == 0 {
		w.Errorf("the first app is not featured: %v", err)
	}
}

func (w *world) names() {
	var all []network.Name
	for before := network.Newest; ; before = network.KeyOf(&all[len(all)-1].Contract) {
		page, err := w.reader.Names(w.Context(), w.now, "name-", before, 3)
		if err != nil {
			w.Fatal(err)
		}
		if all = append(all, page...); len(page) < 3 {
			break
		}
	}
	var ids []string
	for _, n := range all {
		if n.ExpiresAt > w.now.At {
			ids = append(ids, n.Contract.ID())
		}
		named, err := w.reader.Named(w.Context(), w.now, n.Name)
		of, err2 := w.reader.NamesOf(w.Context(), w.now, n.Owner)
		if err != nil || err2 != nil || !slices.ContainsFunc(named, func(o network.Name) bool { return o.Contract.ID() == n.Contract.ID() }) || !slices.ContainsFunc(of, func(o network.Name) bool { return o.Name == n.Name }) {
			w.Errorf("%s of %s is not found: %v, %v", n.Name, n.Owner, err, err2)
		}
	}
	w.same("names", ids, w.contracts("/api/scan/v0/ans-entries?page_size=1000", "entries"))
	for _, prefix := range []string{"no", "%", "name-_"} {
		if list, err := w.reader.Names(w.Context(), w.now, prefix, network.Newest, 3); err != nil || len(list) > 0 {
			w.Errorf("names with %q: %+v, %v", prefix, list, err)
		}
	}
	if rules, err := w.reader.Rules(w.Context(), w.now); err != nil {
		w.Error(err)
	} else if list, err := w.reader.NamesOf(w.Context(), w.now, rules.Governance); err != nil || len(list) > 0 {
		w.Errorf("the governance party has names %+v, %v", list, err)
	}
}

func (w *world) votes() {
	var count struct{ Count int }
	w.ask("POST", "/api/scan/v0/admin/sv/voteresults/count", "{}", &count)
	var all []network.Result
	for before := (&schemas.Position{MigrationID: 1 << 40}); before != nil; {
		page, next, err := w.reader.Results(w.Context(), w.now, *before, 1)
		if err != nil {
			w.Fatal(err)
		}
		all, before = append(all, page...), next
	}
	if len(all) != count.Count || len(all) < 2 {
		w.Fatalf("%d votes have ended, want %d", len(all), count.Count)
	}
	for i, r := range all {
		if r.Outcome == "" || r.Requester == "" || r.Action == "" || len(r.Details) == 0 || r.CompletedAt == 0 || i > 0 && all[i-1].Update.Before(r.Update) {
			w.Errorf("result %+v", r)
		}
	}
	if !slices.ContainsFunc(all, func(r network.Result) bool {
		return len(r.Votes) > 1 && r.Votes[0].Operator != "" && r.Votes[0].CastAt > 0
	}) {
		w.Error("no result has votes")
	}
	w.same("votes on the price", w.priceVotes(), w.contracts("/api/scan/v0/amulet-price/votes", "amulet_price_votes"))
	var open struct {
		List []contractJSON `json:"dso_rules_vote_requests"`
	}
	w.ask("GET", "/api/scan/v0/admin/sv/voterequests", "", &open)
	requests, err := w.reader.Requests(w.Context(), w.now)
	if err != nil || len(requests) != len(open.List) {
		w.Errorf("%d requests are open, want %d: %v", len(requests), len(open.List), err)
	}
	at, _, err := w.reader.Instant(w.Context(), all[0].CompletedAt-60*1e6)
	if err != nil {
		w.Fatal(err)
	}
	requests, err = w.reader.Requests(w.Context(), at)
	if err != nil || !slices.ContainsFunc(requests, func(r network.OpenRequest) bool {
		return r.Tracking == all[0].Tracking && r.Action == all[0].Action && r.Before > 0
	}) {
		w.Errorf("a minute before its end the last vote is not among %+v: %v", requests, err)
	}
}

func (w *world) priceVotes() (ids []string) {
	votes, err := w.reader.PriceVotes(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	for _, v := range votes {
		ids = append(ids, v.Contract.ID())
	}
	return ids
}

// holdings holds that the coins of a party are its balance.
func (w *world) holdings() {
	rules, err := w.reader.Rules(w.Context(), w.now)
	if err != nil {
		w.Fatal(err)
	}
	book := accounts.NewReader(w.store.DB, schemas.ScanStream)
	locked := 0
	for _, o := range append(rules.Operators, network.Operator{Party: rules.Governance}) {
		var unlocked, bound decimal.Decimal
		for before := &network.Newest; before != nil; {
			page, next, err := w.reader.Holdings(w.Context(), w.now, o.Party, *before, 2)
			if err != nil {
				w.Fatal(err)
			}
			for _, h := range page {
				if h.Lock != nil {
					bound, locked = bound.Plus(decimal.Must(h.Amount)), locked+1
				} else {
					unlocked = unlocked.Plus(decimal.Must(h.Amount))
				}
			}
			before = next
		}
		list, err := book.Balances(w.Context(), o.Party, w.now.At)
		if err != nil {
			w.Fatal(err)
		}
		if b, _ := accounts.Coin(list); b.Unlocked != unlocked || b.Locked != bound {
			w.Errorf("%s holds coins of %s and %s, its balance is %+v", o.Party, unlocked, bound, b)
		}
	}
}

func (w *world) traffic() {
	list, err := w.reader.Traffic(w.Context(), w.now, "", network.Newest, 3)
	if err != nil || len(list) != 3 {
		w.Fatalf("traffic is %+v, %v", list, err)
	}
	of, err := w.reader.Traffic(w.Context(), w.now, list[2].Member, network.Newest, 100)
	if err != nil || !slices.ContainsFunc(of, func(o network.Traffic) bool { return o.Contract.ID() == list[2].Contract.ID() }) || list[0].Bought == "" || list[0].Coins == "" {
		w.Errorf("%s has traffic %+v, %v", list[2].Member, of, err)
	}
	members := []string{"PAR::nobody::1220"}
	for _, one := range list {
		members = append(members, one.Member)
	}
	used, err := w.reader.Used(w.Context(), w.now, members)
	if err != nil || used[list[0].Member].Bytes <= 0 || used[list[0].Member].Transactions < 1 || used[members[0]].Bytes > 0 {
		w.Errorf("%s used %+v, %v", members, used, err)
	}
}
