package validator

import (
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// names has two people ask for one name: who pays first has it, the other has the money back.
func (r *reality) names(t *testing.T) {
	people := []*person{r.register(t, "nora", "10"), r.register(t, "nick", "10")}
	type requested struct {
		Subscription string `json:"subscriptionRequestCid"`
	}
	body := `{"name":"nora.unverified.cns","url":"https://nora.example.com","description":"me"}`
	for i, p := range people {
		check := r.still(t, p)
		r.refuse(t, people, []badRequest{
			{"a name that cannot be", p.user, "/v0/entry/create", `{"name":"Nora","url":"","description":""}`, 400, "unverified"},
			{"a long description", p.user, "/v0/entry/create", `{"name":"n.unverified.cns","url":"","description":"` + strings.Repeat("d", 141) + `"}`, 400, "description"},
		})
		check()
		var asked requested
		r.must(t, p.user, "POST", "/v0/entry/create", body, &asked)
		other := people[1-i]
		accept := subscriptionRequestsPath + "/" + asked.Subscription + "/accept"
		r.refuse(t, people, []badRequest{{"the subscription of another", other.user, accept, "", 404, ""}})
		had, _ := r.funds(t, p).sums()
		accepted := r.as(p.user, "POST", accept, "")
		r.wants(accepted, 200, "")
		r.wants(r.as(p.user, "POST", accept, ""), 200, accepted.body)
		if _, locked := r.funds(t, p).sums(); locked.Sign() <= 0 {
			t.Errorf("nothing is locked for the name")
		}
		r.Advance(time.Second)
		r.Await("the payment to be collected or returned", func() bool {
			_, locked := r.funds(t, p).sums()
			return locked.Sign() == 0
		})
		has, _ := r.funds(t, p).sums()
		if i == 0 && has.Cmp(had) >= 0 || i == 1 && has.Cmp(had) != 0 {
			t.Errorf("%s had %s, has %s", p.user, had, has)
		}
	}
	for i, want := range []int{1, 0} {
		var all struct {
			Entries []nameEntry `json:"entries"`
		}
		r.must(t, people[i].user, "GET", "/v0/entry/all", "", &all)
		if len(all.Entries) != want || want == 1 && all.Entries[0].Name != "nora.unverified.cns" {
			t.Errorf("the names of %s are %+v", people[i].user, all.Entries)
		}
	}
	r.cancelSubscription(t, people[0], people[1])
}

// cancelSubscription has somebody end the subscription that pays for a name. The name stays until
// it expires.
func (r *reality) cancelSubscription(t *testing.T, p, other *person) {
	type running struct {
		List []struct {
			State struct {
				Idle struct {
					ID string `json:"contract_id"`
				} `json:"idle"`
			} `json:"state"`
		} `json:"subscriptions"`
	}
	var before, after running
	r.must(t, p.user, "GET", subscriptionsPath, "", &before)
	if len(before.List) != 1 || before.List[0].State.Idle.ID == "" {
		t.Fatalf("the subscriptions of %s are %+v", p.user, before)
	}
	idle := before.List[0].State.Idle.ID
	r.wants(r.as(other.user, "DELETE", subscriptionRequestsPath+"/"+idle, ""), 404, "")
	r.must(t, p.user, "DELETE", subscriptionRequestsPath+"/"+idle, "", nil)
	r.wants(r.as(p.user, "DELETE", subscriptionsPath+"/"+idle, ""), 404, "")
	r.must(t, p.user, "GET", subscriptionsPath, "", &after)
	if len(after.List) != 0 {
		t.Errorf("a cancelled subscription is running: %+v", after)
	}
}

// created has some parties create a contract together and returns its id once it can be seen.
func (r *reality) created(t *testing.T, name string, arguments any, parties ...string) string {
	t.Helper()
	tx, err := r.Client.Submit(t.Context(), node.Submission{ActAs: parties, Commands: []node.Command{node.Create("#"+name, arguments)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wallets.WaitFor(t.Context(), tx.Offset); err != nil {
		t.Fatal(err)
	}
	return tx.CreatedOf(node.Entity(name)).ContractID
}

// appPayments has an app ask for payments, of which one is paid, one rejected and one too large.
func (r *reality) appPayments(t *testing.T) {
	payer, shop := r.register(t, "pia", "10"), r.register(t, "shop", "")
	asked := func(amount string) string {
		return r.created(t, template.AppPaymentRequest, map[string]any{
			"sender": payer.party, "provider": shop.party, "dso": r.Ledger.GovernanceParty(), "expiresAt": r.Soon(), "description": "a hat",
			"receiverAmounts": []any{map[string]any{"receiver": shop.party, "amount": map[string]any{"amount": amount, "unit": "USDUnit"}}},
		}, payer.party, shop.party)
	}
	paid, rejected, dear := asked("4"), asked("1"), asked("1000")
	path := func(id string) string { return appPaymentsPath + "/" + id }
	r.refuse(t, []*person{payer, shop}, []badRequest{
		{"a payment of another", shop.user, path(paid) + "/accept", "", 404, ""},
		{"rejecting one of another", shop.user, path(paid) + "/reject", "", 404, ""},
		{"a payment that is not there", payer.user, path("00ab") + "/accept", "", 404, ""},
	})
	if a := r.as(payer.user, "POST", path(dear)+"/accept", ""); a.status != 400 || !strings.Contains(a.body, "Insufficient funds") {
		t.Errorf("too little money: %d %s", a.status, a.body)
	}
	r.must(t, payer.user, "GET", path(paid), "", nil)
	r.wants(r.as(shop.user, "GET", path(paid), ""), 404, "")
	r.must(t, payer.user, "POST", path(rejected)+"/reject", "", nil)
	r.wants(r.as(payer.user, "GET", path(rejected), ""), 404, "")
	accepted := decoded[map[string]string](t, r.as(payer.user, "POST", path(paid)+"/accept", ""))["accepted_payment_contract_id"]
	if _, locked := r.funds(t, payer).sums(); locked.Sign() <= 0 {
		t.Errorf("nothing is locked for the payment")
	}
	var waiting struct {
		List []struct {
			Contract struct {
				ID string `json:"contract_id"`
			} `json:"contract"`
		} `json:"accepted_app_payments"`
	}
	r.must(t, payer.user, "GET", "/v0/wallet/accepted-app-payments", "", &waiting)
	if len(waiting.List) != 1 || waiting.List[0].Contract.ID != accepted {
		t.Errorf("%s is accepted, listed are %+v", accepted, waiting)
	}
	again := r.as(payer.user, "POST", path(paid)+"/accept", "")
	r.wants(again, 200, `{"accepted_payment_contract_id":"`+accepted+`"}`)
	r.refuse(t, []*person{payer}, []badRequest{{"a payment that was rejected", payer.user, path(rejected) + "/accept", "", 404, ""}})
}
