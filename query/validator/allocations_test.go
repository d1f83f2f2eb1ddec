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
}
