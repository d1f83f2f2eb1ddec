package validator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// allocated is the answer to an allocation.
type allocated struct {
	Output struct {
		Allocation string `json:"allocation_cid"`
	} `json:"output"`
	Change []string `json:"sender_change_cids"`
}

// allocations locks coins for settlements, and takes them back.
func (r *reality) allocations(t *testing.T) {
	sender, executor := r.register(t, "ada", "10"), r.register(t, "venue", "")
	now := r.Ledger.Now()
	body := func(leg, amount string, allocate, settle time.Duration) string {
		return fmt.Sprintf(`{"settlement":{"executor":%q,"settlement_ref":{"id":"trade-1"},"requested_at":%d,"allocate_before":%d,"settle_before":%d},
			"transfer_leg_id":%q,"transfer_leg":{"receiver":%q,"amount":%q,"meta":{"note":"hat"}}}`,
			executor.party, now.Add(-time.Minute).UnixMicro(), now.Add(allocate).UnixMicro(), now.Add(settle).UnixMicro(), leg, executor.party, amount)
	}
	const path = "/v0" + allocationsPath
	good := body("leg-1", "2.5", time.Hour, 2*time.Hour)
	r.refuse(t, []*person{sender}, []badRequest{
		{"too little money", sender.user, path, body("bad", "1000000", time.Hour, 2*time.Hour), 400, "Insufficient funds"},
		{"too late to allocate", sender.user, path, body("bad", "1", -time.Hour, time.Hour), 400, "allocate_before"},
		{"settled before it is allocated", sender.user, path, body("bad", "1", 2*time.Hour, time.Hour), 400, "settle_before"},
		{"a deadline too far ahead", sender.user, path, body("bad", "1", time.Hour, 2400*time.Hour), 400, "90 days"},
		{"no amount", sender.user, path, body("bad", "0", time.Hour, 2*time.Hour), 400, "amount"},
		{"a stranger", sender.user, path, strings.Replace(good, executor.party, stranger, 1), 400, ""},
	})
	first := r.as(sender.user, "POST", path, good)
	made := decoded[allocated](t, first)
	if _, locked := r.funds(t, sender).sums(); made.Output.Allocation == "" || len(made.Change) != 1 || locked.String() != "2.5000000000" {
		t.Fatalf("the allocation is %s, %s are locked", first.body, locked)
	}
	r.wants(r.as(sender.user, "POST", path, good), 200, first.body)
	if a := r.as(sender.user, "GET", path, ""); strings.Count(a.body, `"contract_id":"`+made.Output.Allocation+`"`) != 1 {
		t.Errorf("the allocations are %s", a.body)
	}
	r.wants(r.as(executor.user, "GET", path, ""), 200, `{"allocations":[]}`)
	withdraw := path + "/" + made.Output.Allocation + "/withdraw"
	r.refuse(t, []*person{sender}, []badRequest{
		{"an allocation of another", executor.user, withdraw, "", 404, ""},
		{"an allocation that is not there", sender.user, path + "/00ab/withdraw", "", 404, ""},
	})
	back := decoded[map[string]any](t, r.as(sender.user, "POST", withdraw, ""))
	if _, locked := r.funds(t, sender).sums(); locked.Sign() != 0 || len(back["sender_holding_cids"].([]any)) != 1 {
		t.Errorf("the end of the allocation is %v, %s are locked", back, locked)
	}
	r.refuse(t, []*person{sender}, []badRequest{{"an allocation that has ended", sender.user, withdraw, "", 404, ""}})
	r.allocationsV2(t, sender, executor)
	// No app of this network asks for allocations.
	r.wants(r.as(sender.user, "GET", "/v0"+requestsPath, ""), 200, `{"allocation_requests":[]}`)
	for _, version := range []string{"/v0", "/v2"} {
		r.wants(r.as(sender.user, "POST", version+requestsPath+"/"+made.Output.Allocation+"/reject", ""), 404, "")
	}
}

// allocationsV2 does the same by the second version, which has several sides and executors.
func (r *reality) allocationsV2(t *testing.T, sender, executor *person) {
	const path = "/v2" + allocationsPath
	now := r.Ledger.Now()
	body := func(reference, amount, more string) string {
		return fmt.Sprintf(`{"settlement":{"executors":[%[1]q],"settlement_ref":{"id":%[2]q},"settlement_deadline":%[3]d},
			"transfer_leg_sides":[{"transfer_leg_id":"out","side":"SENDERSIDE","otherside":%[1]q,"amount":%[4]q},{"transfer_leg_id":"in","side":"RECEIVERSIDE","otherside":%[1]q,"amount":"0.25"}]%[5]s}`,
			executor.party, reference, now.Add(time.Hour).UnixMicro(), amount, more)
	}
	good := body("trade-2", "2.5", `,"committed":false,"next_iteration_funding":{"Amulet":"0.5"}`)
	r.refuse(t, []*person{sender}, []badRequest{
		{"too little money", sender.user, path, body("bad", "1000000", `,"committed":false`), 400, "Insufficient funds"},
		{"nothing about commitment", sender.user, path, body("bad", "1", ""), 400, "committed"},
		{"another instrument", sender.user, path, body("bad", "1", `,"committed":false,"next_iteration_funding":{"Gold":"1"}`), 400, "Amulet"},
		{"no amount", sender.user, path, body("bad", "0", `,"committed":false`), 400, "amount"},
		{"a stranger", sender.user, path, strings.ReplaceAll(good, executor.party, stranger), 400, ""},
	})
	known := r.entriesUntil(t, sender, "", 100)[0].EventID
	first := r.as(sender.user, "POST", path, good)
	made := decoded[allocated](t, first)
	if _, locked := r.funds(t, sender).sums(); made.Output.Allocation == "" || len(made.Change) != 1 || locked.String() != "2.7500000000" {
		t.Fatalf("the allocation is %s, %s are locked", first.body, locked)
	}
	if fresh := r.entriesUntil(t, sender, known, 100); len(fresh) != 1 || fresh[0].gain(sender.party).String() != "-2.7500000000" {
		t.Errorf("the history has %+v", fresh)
	}
	r.wants(r.as(sender.user, "POST", path, good), 200, first.body)
	if a := r.as(sender.user, "GET", "/v0"+allocationsPath, ""); strings.Count(a.body, `"contract_id":"`+made.Output.Allocation+`"`) != 1 {
		t.Errorf("the allocations are %s", a.body)
	}
	committed := decoded[allocated](t, r.as(sender.user, "POST", path, body("trade-3", "1", `,"committed":true`))).Output.Allocation
	withdraw := func(id string) string { return path + "/" + id + "/withdraw" }
	r.refuse(t, []*person{sender}, []badRequest{
		{"an allocation of another", executor.user, withdraw(made.Output.Allocation), "", 404, ""},
		{"an allocation that is not there", sender.user, withdraw("00ab"), "", 404, ""},
		{"one of the second version by the first", sender.user, "/v0" + allocationsPath + "/" + made.Output.Allocation + "/withdraw", "", 404, ""},
		{"one that the owner is committed to", sender.user, withdraw(committed), "", 400, "committed"},
	})
	legs := fmt.Sprintf(`{"settlement":{"executor":%[1]q,"settlement_ref":{"id":"trade-4"},"requested_at":1,"allocate_before":%[2]d,"settle_before":%[2]d},
		"transfer_leg_id":"leg","transfer_leg":{"receiver":%[1]q,"amount":"1"}}`, executor.party, now.Add(time.Hour).UnixMicro())
	leg := decoded[allocated](t, r.as(sender.user, "POST", "/v0"+allocationsPath, legs)).Output.Allocation
	for _, id := range []string{made.Output.Allocation, leg} { // both versions
		if back := r.as(sender.user, "POST", withdraw(id), ""); back.status != 200 || !strings.Contains(back.body, `"Amulet":["00`) {
			t.Errorf("the end of an allocation is %d %s", back.status, back.body)
		}
	}
	r.Advance(2 * time.Hour) // behind the deadline
	r.must(t, sender.user, "POST", withdraw(committed), "", nil)
	if _, locked := r.funds(t, sender).sums(); locked.Sign() != 0 {
		t.Errorf("%s are locked", locked)
	}
}
