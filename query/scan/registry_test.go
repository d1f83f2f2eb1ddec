package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

const (
	configStateTemplate = "splice-amulet:Splice.ExternalPartyConfigState:ExternalPartyConfigState"
	instructionTemplate = "splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction"
	allocationTemplate  = "splice-amulet:Splice.AmuletAllocation:AmuletAllocation"
	allocationV2        = "splice-amulet:Splice.AmuletAllocationV2:AmuletAllocationV2"
	lockedTemplate      = "splice-amulet:Splice.Amulet:LockedAmulet"
)

// somebody's blobs are of all contracts but some; asked are the requests that were passed on.
type somebody struct {
	lacks []string
	asked []string
}

func (b *somebody) Known(_ context.Context, ids ...string) (map[string]string, error) {
	found := map[string]string{}
	for _, id := range ids {
		if !slices.Contains(b.lacks, id) {
			found[id] = "blob-" + id
		}
	}
	return found, nil
}

func (b *somebody) Find(ctx context.Context, _, _ string, ids ...string) (map[string]string, error) {
	return b.Known(ctx, ids...)
}

func (b *somebody) Registry(_ context.Context, path string, body []byte) (int, []byte, bool, error) {
	b.asked = append(b.asked, path+" "+string(body))
	return 0, nil, false, nil
}

// tokenWorld is a network with tokens that wait for what comes next. Coin 00gone is gone.
func tokenWorld() *memory {
	m := stateWorld()
	m.facts = map[facts.Key]facts.Fact{facts.Of(facts.InstanceNames): {Body: []byte(`{"coin_name":"Coin","coin_name_acronym":"CC","name_service_name":"Name Service","name_service_name_acronym":"ANS","network_favicon_url":"https://example.com/icon","network_name":"Network"}`)}}
	m.put(externalRulesTemplate, "00external", `{"dso":"`+dso+`"}`, 4*day)
	m.put(configStateTemplate, "00config", `{}`, 50*1e6)
	locked := func(amount string) string {
		return `{"amulet":{"owner":"` + alice + `","amount":{"initialAmount":"` + amount + `","createdAt":{"number":"1"},"ratePerRound":{"rate":"0.0"}}}}`
	}
	executor := `"allocation":{"settlement":{"executor":"` + bob + `"}}`
	for _, c := range []struct{ template, id, payload string }{
		{lockedTemplate, "00lock1", locked("7.0")}, {lockedTemplate, "00gone", locked("6.0")}, {lockedTemplate, "00lock2", locked("5.0")},
		{instructionTemplate, "00offer", `{"lockedAmulet":"00lock1"}`}, {instructionTemplate, "00stale", `{"lockedAmulet":"00gone"}`},
		{allocationTemplate, "00alloc", `{"lockedAmulet":"00lock2",` + executor + `}`}, {allocationTemplate, "00late", `{"lockedAmulet":"00gone",` + executor + `}`},
		{allocationV2, "00receives", `{"lockedAmulet":null}`},
	} {
		m.happened(c.template, c.id, c.payload, true)
	}
	m.happened(lockedTemplate, "00gone", `{}`, false)
	return m
}

// happened adds an update that creates or archives a contract.
func (m *memory) happened(template, id, payload string, creates bool) {
	pkg, name, _ := strings.Cut(template, ":")
	at := stateEnd - schemas.Micros(1000-len(m.items))
	e := schemas.Event{Kind: schemas.Created, ContractID: id, TemplateID: "6a3b:" + name, PackageName: pkg, Argument: []byte(payload), CreatedAt: at, Signatories: []string{dso}, Observers: []string{}}
	if !creates {
		e = schemas.Event{Kind: schemas.Exercised, Consuming: true, ContractID: id, TemplateID: "6a3b:" + name, PackageName: pkg, Choice: "Archive", Argument: []byte(`{}`)}
	}
	m.items = append(m.items, schemas.Item{Update: &schemas.Update{
		Kind: schemas.Transaction, MigrationID: 1, SynchronizerID: sync1, RecordTime: at, UpdateID: fmt.Sprintf("1220ff%04d", len(m.items)), Encoding: schemas.CompactJSON,
		EffectiveAt: at, RootEvents: []int32{0}, Events: []schemas.Event{e},
	}})
}

// context is what a choice needs, in few words.
type tokenContext struct {
	FactoryID string
	Kind      string `json:"transferKind"`
	Data      struct {
		Values map[string]struct{ Value any }
	} `json:"choiceContextData"`
	Disclosed []struct {
		ContractID, CreatedEventBlob, SynchronizerID, TemplateID, DebugPackageName string
	} `json:"disclosedContracts"`
	Inner *tokenContext `json:"choiceContext"`
}

func (c *tokenContext) words() string {
	var list []string
	if c.Inner != nil {
		list = append(list, c.FactoryID, c.Kind, c.Inner.words())
	}
	for key, v := range c.Data.Values {
		list = append(list, fmt.Sprintf("%s=%v", key, v.Value))
	}
	for _, d := range c.Disclosed {
		list = append(list, d.CreatedEventBlob)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func transferOf(sender, receiver string) string {
	return fmt.Sprintf(`{"choiceArguments":{"transfer":{"sender":%s,"receiver":%s,"instrumentId":{"admin":"%s","id":"Amulet"}}}}`, sender, receiver, dso)
}

func quoted(party string) string { return `"` + party + `"` }

func ownedBy(party string) string { return `{"owner":"` + party + `","provider":null,"id":""}` }

const (
	offered    = "amulet-rules=00rules blob-00config blob-00external blob-00open8 blob-00rules external-party-config-state=00config open-round=00open8"
	transferAt = "/registry/transfer-instruction/"
	settleAt   = "/registry/allocation/v2/settlement-factory"
)

func TestContextsOfChoices(t *testing.T) {
	m := tokenWorld()
	s := serve(t, m, func(c *Config) { c.Blobs = &somebody{} })
	spent, unlocked := "blob-00config blob-00lock1 expire-lock=true external-party-config-state=00config", "expire-lock=false"
	allocation := `{"choiceArguments":{"allocation":{"transferLeg":` + strings.TrimSuffix(strings.TrimPrefix(transferOf(quoted(alice), quoted(bob)), `{"choiceArguments":{"transfer":`), `}}`) + `}}}`
	for _, c := range []struct{ path, body, want string }{
		{transferAt + "v1/transfer-factory", transferOf(quoted(bob), quoted(bob)), " 00external self " + offered},
		{transferAt + "v1/transfer-factory", transferOf(quoted(alice), quoted(bob)), "00external offer " + offered},
		{transferAt + "v2/transfer-factory", transferOf(ownedBy(alice), ownedBy(bob)), "00external offer " + offered},
		{transferAt + "v1/transfer-factory", transferOf(quoted(bob), quoted(alice)),
			"00external direct " + offered + " blob-00pre1 transfer-preapproval=00pre1 featured-app-right=00app1 blob-00app1"},
		{transferAt + "v1/00offer/choice-contexts/accept", `{}`, spent},
		{transferAt + "v2/00offer/choice-contexts/accept", `{"meta":{}}`, spent},
		{transferAt + "v1/00offer/choice-contexts/reject", `{}`, spent},
		{transferAt + "v2/00offer/choice-contexts/reject", `{}`, spent},
		{transferAt + "v1/00stale/choice-contexts/withdraw", `{}`, unlocked},
		{transferAt + "v2/00stale/choice-contexts/withdraw", `{}`, unlocked},
		{"/registry/allocations/v1/00alloc/choice-contexts/execute-transfer", `{}`, strings.ReplaceAll(spent, "lock1", "lock2") + " blob-00app2 featured-app-right=00app2"},
		{"/registry/allocations/v1/00alloc/choice-contexts/withdraw", `{}`, strings.ReplaceAll(spent, "lock1", "lock2")},
		{"/registry/allocations/v1/00late/choice-contexts/cancel", `{}`, unlocked},
		{"/registry/allocations/v2/00alloc/choice-contexts/withdraw", `{}`, strings.ReplaceAll(spent, "lock1", "lock2")},
		{"/registry/allocations/v2/00receives/choice-contexts/cancel", `{}`, unlocked},
		{"/registry/allocation-instruction/v1/allocation-factory", allocation, "00external " + offered},
		{"/registry/allocation-instruction/v2/allocation-factory", `{"choiceArguments":{"allocation":{"admin":"` + dso + `","authorizer":` + ownedBy(alice) + `}}}`,
			"00external blob-00config blob-00external external-party-config-state=00config"},
		{settleAt, `{"choiceArguments":{"transferLegs":[{"sender":` + ownedBy(alice) + `,"receiver":{}}],"allocations":[{"allocationCid":"00alloc"},{"allocationCid":"00alloc"},{"allocationCid":"00receives"}]}}`,
			"00external blob-00config blob-00external external-party-config-state=00config blob-00lock2"},
	} {
		var answer tokenContext
		body := s.ok("POST", c.path, c.body, &answer)
		got, want := strings.Fields(answer.words()), strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s:\n got %q\nwant %q", c.path, c.body, got, want)
		}
		if strings.Contains(body, `"debugPayload"`) != strings.Contains(body, `"createdEventBlob"`) {
			t.Errorf("%s: debug members are not those of all contracts: %s", c.path, body)
		}
		plain := s.ok("POST", c.path, strings.TrimSuffix(strings.TrimSuffix(c.body, "}"), ",")+map[bool]string{true: "", false: ","}[c.body == "{}"]+`"excludeDebugFields":true}`, &answer)
		if strings.Contains(plain, "debug") {
			t.Errorf("%s: %s", c.path, plain)
		}
	}
	var rules map[string]any
	if body := s.ok("POST", "/v0/coin-rules", `{}`, &rules); !strings.Contains(body, `"created_event_blob":"blob-00rules"`) {
		t.Errorf("the rules have no blob: %s", body)
	}
}

func TestContextsThatAreRefused(t *testing.T) {
	s := serve(t, tokenWorld(), func(c *Config) { c.Blobs = &somebody{} })
	many := strings.TrimSuffix(strings.Repeat(`{"sender":{},"receiver":{}},`, 101), ",")
	owners := make([]string, 51)
	for i := range owners {
		owners[i] = fmt.Sprintf(`{"sender":{"owner":"a%d::1220"},"receiver":{"owner":"b%d::1220"}}`, i, i)
	}
	for _, c := range []struct {
		path, body string
		status     int
		text       string
	}{
		{transferAt + "v1/transfer-factory", strings.Replace(transferOf(quoted(alice), quoted(bob)), "Amulet", "Gold", 1), 400, "no instrument Gold"},
		{transferAt + "v1/transfer-factory", strings.Replace(transferOf(quoted(alice), quoted(bob)), dso, alice, 1), 400, "registry of " + dso},
		{transferAt + "v1/transfer-factory", transferOf(quoted("alice"), quoted(bob)), 400, "NAME::FINGERPRINT"},
		{transferAt + "v1/transfer-factory", transferOf(ownedBy(alice), quoted(bob)), 400, "sender must be a string"},
		{transferAt + "v2/transfer-factory", transferOf(ownedBy(alice), `{"owner":null,"id":"cip-112/burn"}`), 400, "special account"},
		{transferAt + "v1/00nothing/choice-contexts/accept", `{}`, 404, "No active transfer instruction with contract id 00nothing"},
		{transferAt + "v1/00alloc/choice-contexts/accept", `{}`, 404, "No active transfer instruction"},
		{transferAt + "v1/00gone/choice-contexts/accept", `{}`, 404, "No active transfer instruction"},
		{transferAt + "v1/00stale/choice-contexts/accept", `{}`, 404, "locked coin 00gone"},
		{transferAt + "v1/00offer/choice-contexts/accept", `{"meta":7}`, 400, "meta"},
		{"/registry/allocations/v1/00late/choice-contexts/execute-transfer", `{}`, 404, "locked coin 00gone"},
		{"/registry/allocations/v1/00receives/choice-contexts/cancel", `{}`, 404, "No active allocation"},
		{"/registry/allocation-instruction/v2/00ab/choice-contexts/accept", `{}`, 400, "no allocation instructions"},
		{settleAt, `{"choiceArguments":{"transferLegs":[` + many + `],"allocations":[]}}`, 400, "101 elements"},
		{settleAt, `{"choiceArguments":{"transferLegs":[` + strings.Join(owners, ",") + `],"allocations":[]}}`, 400, "at most 100 parties"},
		{settleAt, `{"choiceArguments":{"transferLegs":[],"allocations":[{"allocationCid":"00late"}]}}`, 404, "locked coin 00gone"},
		{settleAt, `{"choiceArguments":{"transferLegs":[],"allocations":[{"allocationCid":"00nothing"}]}}`, 404, "00nothing"},
	} {
		s.refused("POST", c.path, c.body, c.status, c.text)
	}
}

// A contract that has left one synchronizer and is not yet on another cannot be disclosed.
func TestContractsBetweenSynchronizersAreAConflict(t *testing.T) {
	for _, c := range []struct{ moves, path, body string }{
		{"00offer", transferAt + "v1/00offer/choice-contexts/accept", `{}`},
		{"00lock1", transferAt + "v2/00offer/choice-contexts/withdraw", `{}`},
		{"00alloc", "/registry/allocations/v2/00alloc/choice-contexts/cancel", `{}`},
		{"00lock2", settleAt, `{"choiceArguments":{"transferLegs":[],"allocations":[{"allocationCid":"00alloc"}]}}`},
	} {
		m := tokenWorld()
		m.reassigned(c.moves, schemas.Unassignment)
		s := serve(t, m, func(c *Config) { c.Blobs = &somebody{} })
		s.refused("POST", c.path, c.body, 409, "Contract "+c.moves+" is being reassigned")
		s.refused("POST", transferAt+"v1/"+c.moves+"/choice-contexts/reject", `{}`, map[bool]int{true: 409, false: 404}[c.moves == "00offer"], c.moves)
		m.reassigned(c.moves, schemas.Assignment)
		var answer json.RawMessage
		s = serve(t, m, func(c *Config) { c.Blobs = &somebody{} })
		s.ok("POST", c.path, c.body, &answer)
	}
}

// reassigned adds half of a contract's way to another synchronizer.
func (m *memory) reassigned(contract string, kind schemas.UpdateKind) {
	u := schemas.Update{
		Kind: kind, MigrationID: 1, SynchronizerID: sync1, RecordTime: stateEnd - schemas.Micros(1000-len(m.items)), UpdateID: fmt.Sprintf("1220ff%04d", len(m.items)), Encoding: schemas.CompactJSON,
		Reassignment: &schemas.Reassignment{Submitter: alice, SourceSynchronizer: sync1, TargetSynchronizer: "other::1220ff", UnassignID: "ab", Counter: 1, ContractID: contract},
	}
	if kind == schemas.Assignment {
		u.SynchronizerID = u.Reassignment.TargetSynchronizer
		for _, it := range m.items {
			if it.Update != nil && len(it.Update.Events) > 0 && it.Update.Events[0].ContractID == contract {
				u.Events = it.Update.Events
			}
		}
	}
	m.items = append(m.items, schemas.Item{Update: &u})
}

// Where nobody has the blob of a contract, the answer names it; a scan that may have it is asked first.
func TestMissingBlobsAreNamed(t *testing.T) {
	for _, b := range []*somebody{nil, {lacks: []string{"00lock1"}}} {
		s := serve(t, tokenWorld(), func(c *Config) {
			if b != nil {
				c.Blobs = b
			}
		})
		s.refused("POST", "/api/scan"+transferAt+"v1/00offer/choice-contexts/accept", `{"meta":{}}`, 503, "contract 00lock1 of Splice.Amulet:LockedAmulet")
		if b != nil && !slices.Equal(b.asked, []string{transferAt + `v1/00offer/choice-contexts/accept {"meta":{}}`}) {
			t.Errorf("asked for %q", b.asked)
		}
	}
}

// From the time of the operators' switch-over on, contexts do not name the rights of featured apps.
func TestFeaturedAppsAreLeftOutAfterTheSwitchOver(t *testing.T) {
	for at, want := range map[string]bool{"2026-07-02T04:40:00Z": false, "2026-07-02T04:40:00.000001Z": true} {
		m := tokenWorld()
		m.put(dsoRulesTemplate, "00dso2", `{"dso":"`+dso+`","svs":[],"config":{"svOperationsSwitchOverTimes":{"no-featured-app-choice-context":"`+at+`"}}}`, day)
		s := serve(t, m, func(c *Config) { c.Blobs = &somebody{} })
		var answer json.RawMessage
		body := s.ok("POST", transferAt+"v1/transfer-factory", transferOf(quoted(bob), quoted(alice)), &answer)
		if strings.Contains(body, "featured-app-right") != want {
			t.Errorf("switched over at %s: %s", at, body)
		}
	}
}
