package view_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// formatOf reads the format of a request for updates.
func formatOf(t testing.TB, k *view.Known, format string) *view.UpdateFormat {
	t.Helper()
	q, err := view.ParseUpdates([]byte(`{"beginExclusive":0,"updateFormat":`+format+`}`), k, view.Formats)
	if err != nil {
		t.Fatalf("%.500s: %v", format, err)
	}
	return q.Format
}

// transactionsOf is an update format for transactions by an event format.
func transactionsOf(events, shape string) string {
	return `{"includeTransactions":{"eventFormat":` + events + `,"transactionShape":"TRANSACTION_SHAPE_` + shape + `"}}`
}

// coin is a transaction in which alice, who acts, makes a coin for bob out of one of hers.
func coin() *schemas.Update {
	const alice, bob, carol = "alice::12", "bob::12", "carol::12"
	return &schemas.Update{
		Kind: schemas.Transaction, UpdateID: "1220aa", SynchronizerID: "global::12", RecordTime: 1_700_000_000_000_000, EffectiveAt: 1_700_000_000_500_000,
		RootEvents: []int32{0}, Local: &schemas.LocalUpdate{Offset: 7, CommandID: "c", PaidTrafficCost: 3},
		Events: []schemas.Event{
			{
				Kind: schemas.Exercised, Node: 0, ContractID: "00aa", TemplateID: coinTemplate, PackageName: "splice-amulet", Choice: "Give",
				Argument: []byte(`{}`), Result: []byte(`null`), Consuming: true, ActingParties: []string{alice},
				Local: &schemas.LocalEvent{Witnesses: []string{alice, carol}, ACSDelta: true, LastDescendant: 1,
					Contract: &schemas.EndedContract{TemplateID: "old1:Splice.Amulet:Amulet", Signatories: []string{alice}}},
			},
			{
				Kind: schemas.Created, Node: 1, ContractID: "00bb", TemplateID: coinTemplate, PackageName: "splice-amulet",
				Argument: []byte(`{"owner":"bob"}`), CreatedAt: 1_700_000_000_500_000, Signatories: []string{bob}, Observers: []string{"other::node"},
				Local: &schemas.LocalEvent{Witnesses: []string{alice, bob, carol}, ACSDelta: true, LastDescendant: 1, Extras: []byte(`{"createdEventBlob":"Ymxv","representativePackageId":"ab12"}`)},
			},
		},
	}
}

// Texts that are pinned: what a client gets, byte for byte.
func TestUpdateIsWrittenAs(t *testing.T) {
	wildcard := func(party string) string { return `{"filtersByParty":{"` + party + `":{}}}` }
	for _, c := range []struct{ name, format, want string }{
		{"archived for who has a stake, with the template of its creation", transactionsOf(wildcard("alice::12"), "ACS_DELTA"),
			`{"update":{"Transaction":{"value":{"commandId":"c","effectiveAt":"2023-11-14T22:13:20.500Z","events":[{"ArchivedEvent":{"contractId":"00aa","nodeId":0,"offset":7,"packageName":"splice-amulet","templateId":"old1:Splice.Amulet:Amulet","witnessParties":["alice::12"]}}],"offset":7,"paidTrafficCost":3,"recordTime":"2023-11-14T22:13:20.000000Z","synchronizerId":"global::12","updateId":"1220aa"}}}}`},
		{"created for who gets it, who did not submit it", transactionsOf(wildcard("bob::12"), "ACS_DELTA"),
			`{"update":{"Transaction":{"value":{"effectiveAt":"2023-11-14T22:13:20.500Z","events":[{"CreatedEvent":{"acsDelta":true,"contractId":"00bb","createArgument":{"owner":"bob"},"createdAt":"2023-11-14T22:13:20.500Z","nodeId":1,"observers":["other::node"],"offset":7,"packageName":"splice-amulet","representativePackageId":"ab12","signatories":["bob::12"],"templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["bob::12"]}}],"offset":7,"recordTime":"2023-11-14T22:13:20.000000Z","synchronizerId":"global::12","updateId":"1220aa"}}}}`},
		{"nothing for a mere witness", transactionsOf(wildcard("carol::12"), "ACS_DELTA"), ``},
		{"effects for a mere witness are no delta", transactionsOf(wildcard("carol::12"), "LEDGER_EFFECTS"),
			`{"update":{"Transaction":{"value":{"effectiveAt":"2023-11-14T22:13:20.500Z","events":[{"ExercisedEvent":{"acsDelta":false,"actingParties":["alice::12"],"choice":"Give","choiceArgument":{},"consuming":true,"contractId":"00aa","exerciseResult":null,"lastDescendantNodeId":1,"nodeId":0,"offset":7,"packageName":"splice-amulet","templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["carol::12"]}},{"CreatedEvent":{"acsDelta":false,"contractId":"00bb","createArgument":{"owner":"bob"},"createdAt":"2023-11-14T22:13:20.500Z","nodeId":1,"observers":["other::node"],"offset":7,"packageName":"splice-amulet","representativePackageId":"ab12","signatories":["bob::12"],"templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["carol::12"]}}],"offset":7,"recordTime":"2023-11-14T22:13:20.000000Z","synchronizerId":"global::12","updateId":"1220aa"}}}}`},
		{"nothing for a stakeholder of another node", transactionsOf(wildcard("other::node"), "LEDGER_EFFECTS"), ``},
		{"nothing of the other kinds", `{"includeReassignments":{"filtersForAnyParty":{}},"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`, ``},
	} {
		out, visible, err := formatOf(t, fewKnown(), c.format).AppendUpdate([]byte("before"), coin())
		if err != nil || string(out) != "before"+c.want || visible != (c.want != "") {
			t.Errorf("%s: %t, %v\n%s\nwant\n%s", c.name, visible, err, out, c.want)
		}
	}
}

// Without the contract that an exercise ended witnesses count as stakeholders, and nobody
// else.
func TestUnknownContractIsShownToWitnessesOnly(t *testing.T) {
	u := coin()
	u.Events[0].Local.Contract = nil
	for party, want := range map[string]bool{"alice::12": true, "carol::12": true, "bob::12": false, "dave::12": false} {
		out, _, err := formatOf(t, fewKnown(), transactionsOf(`{"filtersByParty":{"`+party+`":{}}}`, "ACS_DELTA")).AppendUpdate(nil, u)
		if err != nil || strings.Contains(string(out), "ArchivedEvent") != want {
			t.Errorf("%s: %v, %s", party, err, out)
		}
	}
}

func TestTemplatesAreNamedInBothSpellings(t *testing.T) {
	k := fewKnown()
	k.AddTemplate("app-coin", "cd34:App.Coin:LockedCoin") // a network of neutral names
	u := coin()
	locked := u.Events[1]
	locked.TemplateID, locked.PackageName, locked.Node, locked.ContractID = "cd34:App.Coin:LockedCoin", "app-coin", 2, "00cc"
	u.Events = append(u.Events, locked)
	for _, c := range []struct{ filter, want string }{
		{"#splice-amulet:Splice.Amulet:Amulet", "00aa 00bb"},
		{"#app-coin:App.Coin:Coin", "00aa 00bb"},
		{"ab12:Splice.Amulet:Amulet", "00aa 00bb"},
		{"ab12:App.Coin:Coin", "00aa 00bb"},
		{"#app-coin:App.Coin:LockedCoin", "00cc"},
		{"#splice-amulet:Splice.Amulet:LockedAmulet", "00cc"},
		{"cd34:Splice.Amulet:LockedAmulet", "00cc"},
		{"#acme:Acme.Trade:Order", ""},
	} {
		filter := fmt.Sprintf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":%q}}}}]}}`, c.filter)
		out, _, err := formatOf(t, k, transactionsOf(filter, "LEDGER_EFFECTS")).AppendUpdate(nil, u)
		var got []string
		for _, id := range []string{"00aa", "00bb", "00cc"} {
			if strings.Contains(string(out), `"contractId":"`+id) {
				got = append(got, id)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v; want %s", c.filter, got, err, c.want)
		}
	}
}

// The catalogue says which of the network's templates implement an interface.
func TestInterfacesOfTheCatalogue(t *testing.T) {
	for _, filter := range []string{"#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding", "#app-api-token-holding-v1:App.Api.Token.HoldingV1:Holding"} {
		format := formatOf(t, fewKnown(), transactionsOf(fmt.Sprintf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q,"includeInterfaceView":true}}}}]}}`, filter), "ACS_DELTA"))
		out, visible, err := format.AppendUpdate(nil, coin())
		neutral := coin()
		neutral.Events[1].TemplateID, neutral.Events[1].PackageName = "ab12:App.Coin:Coin", "app-coin"
		if out, visible, err := format.AppendUpdate(nil, neutral); err != nil || !visible || !strings.Contains(string(out), "CreatedEvent") {
			t.Errorf("%s on a network of neutral names: %t, %v: %s", filter, visible, err, out)
		}
		if err != nil || !visible || !strings.Contains(string(out), `"interfaceViews":[{"interfaceId":"`+filter+`","viewStatus":{"code":9`) {
			t.Errorf("%s: %t, %v: %s", filter, visible, err, out)
		}
		want := []string{"app-coin:App.Coin:Coin", "app-coin:App.Coin:LockedCoin", "splice-amulet:Splice.Amulet:Amulet", "splice-amulet:Splice.Amulet:LockedAmulet"}
		if s := format.Selection(); len(s.Transactions.Entries) != 1 || !slices.Equal(s.Transactions.Entries[0].Templates, want) || !s.Contracts {
			t.Errorf("%s selects %+v", filter, s)
		}
	}
	if len(values.Default().Entries()) < 40 {
		t.Errorf("the catalogue has %d entries", len(values.Default().Entries()))
	}
}

func TestSelectionIsAsNarrowAsTheFormat(t *testing.T) {
	byName := `{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":"#splice-amulet:Splice.Amulet:Amulet"}}}}]}`
	format := formatOf(t, fewKnown(), transactionsOf(`{"filtersByParty":{"b::1":`+byName+`,"a::1":`+byName+`,"c::1":{}}}`, "LEDGER_EFFECTS"))
	s := format.Selection()
	found := map[string]string{}
	for _, e := range s.Transactions.Entries {
		found[strings.Join(e.Parties, " ")] = strings.Join(e.Templates, " ")
	}
	if want := map[string]string{"a::1 b::1": "splice-amulet:Splice.Amulet:Amulet", "c::1": ""}; !maps.Equal(found, want) || s.Reassignments != nil || s.Topology || !s.Contracts {
		t.Errorf("selects %+v, want %v", s, want)
	}
	all := formatOf(t, fewKnown(), transactionsOf(everyone, "LEDGER_EFFECTS")).Selection()
	if len(all.Transactions.Entries) != 1 || all.Transactions.Entries[0].Parties != nil || all.Contracts {
		t.Errorf("everything selects %+v", all)
	}
}

// Formats that say the same have one digest, however they are written.
func TestDigestsTellFormatsApart(t *testing.T) {
	one := `{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}}`
	two := `{"identifierFilter":{"TemplateFilter":{"value":{"templateId":"#splice-amulet:Splice.Amulet:Amulet"}}}}`
	same := []string{
		transactionsOf(`{"filtersByParty":{"a::1":{"cumulative":[`+one+`,`+two+`]},"b::1":{}}}`, "ACS_DELTA"),
		transactionsOf(`{"filtersByParty":{"b::1":{"cumulative":[]},"a::1":{"cumulative":[`+two+`, `+one+`,`+two+`]}},"verbose":true}`, "ACS_DELTA"),
	}
	digests := map[[32]byte]string{formatOf(t, fewKnown(), same[0]).Digest(): "", formatOf(t, fewKnown(), same[1]).Digest(): ""}
	if len(digests) != 1 {
		t.Error("two ways to write a format give two digests")
	}
	for _, other := range []string{
		transactionsOf(`{"filtersByParty":{"a::1":{"cumulative":[`+one+`,`+two+`]},"b::1":{}}}`, "LEDGER_EFFECTS"),
		transactionsOf(`{"filtersByParty":{"a::1":{"cumulative":[`+one+`]},"b::1":{}}}`, "ACS_DELTA"),
		transactionsOf(`{"filtersByParty":{"a::1":{"cumulative":[`+one+`,`+two+`]}}}`, "ACS_DELTA"),
		transactionsOf(`{"filtersForAnyParty":{"cumulative":[`+one+`,`+two+`]}}`, "ACS_DELTA"),
		everything, `{}`, `{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`,
		`{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{"parties":["a::1"]}}}`,
	} {
		d := formatOf(t, fewKnown(), other).Digest()
		if _, ok := digests[d]; ok {
			t.Errorf("%s has the digest of another format", other)
		}
		digests[d] = other
	}
}

// A request of 10,000 parties, each with filters of its own or all with the same, is read
// and used as fast as its size allows: no slower than some decodings of the same text.
func TestManyParties(t *testing.T) {
	const parties = 10_000
	for _, distinct := range []bool{false, true} {
		k := fewKnown()
		byParty := map[string]any{}
		for i := range parties {
			filter := map[string]any{}
			if distinct {
				name := fmt.Sprintf("Acme.Trade:Order%d", i)
				k.AddTemplate("acme", "ee99:"+name)
				filter["cumulative"] = []any{map[string]any{"identifierFilter": map[string]any{"TemplateFilter": map[string]any{"value": map[string]any{"templateId": "#acme:" + name}}}}}
			}
			byParty[fmt.Sprintf("party-%d::1220%064d", i, i)] = filter
		}
		byParty["alice::12"] = map[string]any{}
		body := transactionsOf(toJSON(map[string]any{"filtersByParty": byParty}), "LEDGER_EFFECTS")
		read, plain := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		var format *view.UpdateFormat
		for range 3 {
			var decoded map[string]any
			begin := time.Now()
			if err := json.Unmarshal([]byte(body), &decoded); err != nil {
				t.Fatal(err)
			}
			plain = min(plain, time.Since(begin))
			begin = time.Now()
			format = formatOf(t, k, body)
			format.Selection()
			read = min(read, time.Since(begin))
		}
		t.Logf("distinct: %t: %d bytes are read in %s, decoded in %s", distinct, len(body), read, plain)
		if read > 20*plain {
			t.Errorf("reading %d bytes took %s, decoding them %s", len(body), read, plain)
		}
		named, anyParty := format.Readers()
		if len(named) != parties+1 || anyParty {
			t.Fatalf("%d parties named", len(named))
		}
		entries := format.Selection().Transactions.Entries
		if want := map[bool]int{false: 1, true: parties + 1}[distinct]; len(entries) != want {
			t.Errorf("%d entries selected, want %d", len(entries), want)
		}
		u := coin()
		var before, after runtime.MemStats
		out, visible, err := format.AppendUpdate(nil, u)
		if err != nil || !visible {
			t.Fatal(visible, err)
		}
		runtime.ReadMemStats(&before)
		const rounds = 2000
		for range rounds {
			if out, _, err = format.AppendUpdate(out[:0], u); err != nil {
				t.Fatal(err)
			}
		}
		if runtime.ReadMemStats(&after); after.Mallocs-before.Mallocs > rounds/10 {
			t.Errorf("%d updates made %d allocations", rounds, after.Mallocs-before.Mallocs)
		}
	}
}

// Requests that name more than anybody needs are refused.
func TestRequestsAreBounded(t *testing.T) {
	var parties strings.Builder
	for i := range 100_001 {
		fmt.Fprintf(&parties, `"p%d::1":{},`, i)
	}
	for name, format := range map[string]string{
		"too many parties":    transactionsOf(`{"filtersByParty":{`+strings.TrimSuffix(parties.String(), ",")+`}}`, "ACS_DELTA"),
		"too many entries":    transactionsOf(`{"filtersForAnyParty":{"cumulative":[`+strings.Repeat(`{},`, 10_000)+`{}]}}`, "ACS_DELTA"),
		"a party named twice": transactionsOf(`{"filtersByParty":{"a::1":{},"a::1":{}}}`, "ACS_DELTA"),
	} {
		if _, err := view.ParseUpdates([]byte(`{"beginExclusive":0,"updateFormat":`+format+`}`), fewKnown(), view.Formats); err == nil {
			t.Errorf("%s were taken", name)
		}
	}
}

func TestCheckpoint(t *testing.T) {
	got := string(view.AppendCheckpoint(nil, 12, []nodehistory.SynchronizerTime{{SynchronizerID: "a::1", RecordTime: 5_000_000}, {SynchronizerID: "b::2", RecordTime: 1}}))
	want := `{"update":{"OffsetCheckpoint":{"value":{"offset":12,"synchronizerTimes":[{"recordTime":"1970-01-01T00:00:05.000000Z","synchronizerId":"a::1"},{"recordTime":"1970-01-01T00:00:00.000001Z","synchronizerId":"b::2"}]}}}}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(view.AppendCheckpoint(nil, 1, nil)); got != `{"update":{"OffsetCheckpoint":{"value":{"offset":1,"synchronizerTimes":[]}}}}` {
		t.Error(got)
	}
}

// eventOf is one event of an update as lookups by contract give it.
func eventOf(u *schemas.Update, i int) *nodehistory.Event {
	one := *u
	one.Events = u.Events[i : i+1]
	return &nodehistory.Event{Update: one}
}

func TestContractEvents(t *testing.T) {
	created, archived := coin(), coin()
	created.Events[1].ContractID, created.Local.Offset = "00aa", 3
	archived.Events[0].Local.Contract = nil // the creation tells it
	archived.Events[0].Local.Witnesses = []string{"alice::12", "bob::12", "carol::12"}
	for _, c := range []struct {
		party             string
		created, archived bool
	}{{"bob::12", true, true}, {"carol::12", false, false}, {"alice::12", false, false}} {
		q, err := view.ParseContractEvents([]byte(`{"contractId":"00aa","eventFormat":{"filtersByParty":{"`+c.party+`":{}}}}`), fewKnown())
		if err != nil || q.ContractID != "00aa" {
			t.Fatal(err)
		}
		out, visible, err := q.Format.AppendContractEvents(nil, eventOf(created, 1), eventOf(archived, 0))
		if err != nil || visible != (c.created || c.archived) {
			t.Fatalf("%s: %t, %v", c.party, visible, err)
		}
		if !visible {
			if len(out) > 0 {
				t.Errorf("%s: not visible, but %s", c.party, out)
			}
			continue
		}
		var got struct {
			Created struct {
				Event struct {
					Offset     int64    `json:"offset"`
					ContractID string   `json:"contractId"`
					Witnesses  []string `json:"witnessParties"`
				} `json:"createdEvent"`
				Synchronizer string `json:"synchronizerId"`
			} `json:"created"`
			Archived struct {
				Event struct {
					Offset     int64    `json:"offset"`
					TemplateID string   `json:"templateId"`
					Witnesses  []string `json:"witnessParties"`
				} `json:"archivedEvent"`
				Synchronizer string `json:"synchronizerId"`
			} `json:"archived"`
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got.Created.Event.Offset != 3 || got.Archived.Event.Offset != 7 || got.Created.Synchronizer != "global::12" || got.Archived.Synchronizer != "global::12" ||
			!slices.Equal(got.Created.Event.Witnesses, []string{c.party}) || !slices.Equal(got.Archived.Event.Witnesses, []string{c.party}) {
			t.Errorf("%s: %s", c.party, out)
		}
	}
	q, err := view.ParseContractEvents([]byte(`{"contractId":"00aa","eventFormat":`+everyone+`}`), fewKnown())
	if err != nil {
		t.Fatal(err)
	}
	if out, visible, err := q.Format.AppendContractEvents(nil, nil, nil); visible || err != nil || len(out) > 0 {
		t.Errorf("no events: %s, %t, %v", out, visible, err)
	}
	if out, visible, err := q.Format.AppendContractEvents(nil, eventOf(created, 1), nil); !visible || err != nil || !json.Valid(out) || strings.Contains(string(out), "archived") {
		t.Errorf("not ended: %s, %t, %v", out, visible, err)
	}
}

func TestActiveContractInEachState(t *testing.T) {
	q, err := view.ParseActive([]byte(`{"activeAtOffset":9,"eventFormat":{"filtersByParty":{"bob::12":{"cumulative":[{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}}]}}}}`), fewKnown())
	if err != nil {
		t.Fatal(err)
	}
	contract := nodehistory.Contract{Event: coin().Events[1], SynchronizerID: "global::12", Offset: 5, Counter: 2, WorkflowID: "w"}
	assigned := contract
	assigned.Assigned = &schemas.Reassignment{Submitter: "bob::12", SourceSynchronizer: "a::1", TargetSynchronizer: "global::12", UnassignID: "r1"}
	left := schemas.Update{Kind: schemas.Unassignment, Local: &schemas.LocalUpdate{Offset: 8}, Reassignment: &schemas.Reassignment{SourceSynchronizer: "global::12", TargetSynchronizer: "b::1", UnassignID: "r2", Counter: 3},
		Events: []schemas.Event{{Kind: schemas.Unassigned, ContractID: "00bb", TemplateID: coinTemplate, PackageName: "splice-amulet", Local: &schemas.LocalEvent{ACSDelta: true, Witnesses: []string{"bob::12"}}}}}
	unassigned := contract
	unassigned.Unassigned = &nodehistory.Event{Update: left}
	carried := contract
	carried.Event.Local = &schemas.LocalEvent{ACSDelta: true, Witnesses: []string{"bob::12"}, Extras: []byte(`{"entry":{"x":1},"nodeId":4,"offset":2,"reassignmentCounter":2}`)}
	const created = `{"acsDelta":true,"contractId":"00bb","createArgument":{"owner":"bob"},"createdAt":"2023-11-14T22:13:20.500Z","createdEventBlob":"Ymxv","nodeId":1,"observers":["other::node"],"offset":5,"packageName":"splice-amulet","representativePackageId":"ab12","signatories":["bob::12"],"templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["bob::12"]}`
	for _, c := range []struct {
		name     string
		contract nodehistory.Contract
		token    string
		want     string
	}{
		{"active", contract, "", `{"contractEntry":{"JsActiveContract":{"createdEvent":` + created + `,"reassignmentCounter":2,"synchronizerId":"global::12"}},"workflowId":"w"}`},
		{"with a token", contract, `t"`, `{"contractEntry":{"JsActiveContract":{"createdEvent":` + created + `,"reassignmentCounter":2,"synchronizerId":"global::12"}},"streamContinuationToken":"t\"","workflowId":"w"}`},
		{"arrived early", assigned, "", `{"contractEntry":{"JsIncompleteAssigned":{"assignedEvent":{"createdEvent":` + created + `,"reassignmentCounter":2,"reassignmentId":"r1","source":"a::1","submitter":"bob::12","target":"global::12"}}},"workflowId":"w"}`},
		{"in flight", unassigned, "", `{"contractEntry":{"JsIncompleteUnassigned":{"createdEvent":` + created + `,"unassignedEvent":{"contractId":"00bb","nodeId":0,"offset":8,"packageName":"splice-amulet","reassignmentCounter":3,"reassignmentId":"r2","source":"global::12","target":"b::1","templateId":"ab12:Splice.Amulet:Amulet","witnessParties":["bob::12"]}}},"workflowId":"w"}`},
		{"from before the stream", carried, "", `{"contractEntry":{"JsActiveContract":{"createdEvent":` + strings.NewReplacer(`"createdEventBlob":"Ymxv",`, "", `"representativePackageId":"ab12",`, "", `"nodeId":1`, `"nodeId":4`, `"offset":5`, `"offset":2`).Replace(created) + `,"reassignmentCounter":2,"synchronizerId":"global::12"}},"workflowId":"w"}`},
	} {
		out, visible, err := q.Format.AppendActive(nil, &c.contract, c.token)
		if err != nil || !visible || string(out) != c.want {
			t.Errorf("%s: %t, %v\n%s\nwant\n%s", c.name, visible, err, out, c.want)
		}
	}
	contract.Event.Local = &schemas.LocalEvent{ACSDelta: true, Witnesses: []string{"alice::12"}}
	if out, visible, err := q.Format.AppendActive(nil, &contract, ""); visible || err != nil || len(out) > 0 {
		t.Errorf("of others: %s, %t, %v", out, visible, err)
	}
}

// Damage in the store is an error, and nothing is shown of the update.
func TestDamagedUpdates(t *testing.T) {
	format := formatOf(t, fewKnown(), `{"includeTransactions":{"eventFormat":`+everyone+`,"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS"},"includeReassignments":`+everyone+`,"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`)
	for name, damage := range map[string]func(u *schemas.Update){
		"an update of public history": func(u *schemas.Update) { u.Local = nil },
		"an unknown kind":             func(u *schemas.Update) { u.Kind = "round" },
		"an event of public history":  func(u *schemas.Update) { u.Events[1].Local = nil },
		"extras that are no object":   func(u *schemas.Update) { u.Events[1].Local.Extras = []byte(`[]`) },
		"extras that are cut":         func(u *schemas.Update) { u.Events[1].Local.Extras = []byte(`{"a":`) },
		"a hash that is none":         func(u *schemas.Update) { u.ExternalTransactionHash = "xyz" },
		"topology that is no list":    func(u *schemas.Update) { u.Kind, u.Local.Topology = schemas.Topology, []byte(`{}`) },
		"a reassignment of nothing":   func(u *schemas.Update) { u.Kind = schemas.Assignment },
	} {
		u := coin()
		damage(u)
		out, visible, err := format.AppendUpdate([]byte("x"), u)
		if err == nil || visible || string(out) != "x" {
			t.Errorf("%s: %q, %t, %v", name, out, visible, err)
		}
	}
}
