package validator

import (
	"fmt"
	"strings"
	"testing"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func fillStatuses(m *memory) {
	add := func(kind, id string, s wallethistory.Status) {
		s.TrackingID = id
		m.statuses[kind+" "+alice+" "+id] = s
	}
	add("offer", "t-1", wallethistory.Status{Status: "created", UpdateID: "1220c", ContractID: "00offer"})
	add("offer", "t-2", wallethistory.Status{Status: "accepted", UpdateID: "1220a", ContractID: "00accepted"})
	add("offer", "t-3", wallethistory.Status{Status: "completed", UpdateID: "1220d", ContractID: "00coin"})
	add("offer", "t-4", wallethistory.Status{Status: "failed", UpdateID: "1220e", Failure: "withdrawn", Reason: "too late"})
	add("offer", "t-5", wallethistory.Status{Status: "failed", UpdateID: "1220f", Failure: "expired"})
	add("traffic", "b-1", wallethistory.Status{Status: "created", UpdateID: "1220c", ContractID: "00request"})
	add("traffic", "b-2", wallethistory.Status{Status: "completed", UpdateID: "1220d"})
	add("traffic", "b-3", wallethistory.Status{Status: "failed", Failure: "rejected", Reason: "too little"})
}

func TestStatuses(t *testing.T) {
	s := serve(t, full(), nil)
	for id, want := range map[string]string{
		"t-1": `{"status":"created","transaction_id":"1220c","contract_id":"00offer"}`,
		"t-2": `{"status":"accepted","transaction_id":"1220a","contract_id":"00accepted"}`,
		"t-3": `{"status":"completed","transaction_id":"1220d","contract_id":"00coin"}`,
		"t-4": `{"status":"failed","failure_kind":"withdrawn","withdrawn_reason":"too late"}`,
		"t-5": `{"status":"failed","failure_kind":"expired"}`,
	} {
		s.wants(s.as("alice", "POST", "/v0/wallet/transfer-offers/"+id+"/status", ""), 200, want)
		s.wants(s.as("bob", "POST", "/v0/wallet/transfer-offers/"+id+"/status", ""), 404, "")
	}
	for id, want := range map[string]string{
		"b-1": `{"status":"created"}`, "b-2": `{"status":"completed","transaction_id":"1220d"}`,
		"b-3": `{"status":"failed","failure_reason":"rejected","rejection_reason":"too little"}`,
	} {
		s.wants(s.as("alice", "POST", "/v0/wallet/buy-traffic-requests/"+id+"/status", ""), 200, want)
		s.wants(s.as("bob", "POST", "/v0/wallet/buy-traffic-requests/"+id+"/status", ""), 404, "")
	}
	// The names of actions are tracking ids as well.
	s.wants(s.as("alice", "POST", "/v0/wallet/transfer-offers/accept/status", ""), 404, "")
}

func fillLog(m *memory) {
	at := schemas.MicrosOf(present)
	m.log[alice] = []wallethistory.Entry{
		{EventID: "1220:4", Kind: wallethistory.Transfer, TemplateID: "p:M:E", Choice: "TransferFactory_Transfer", InterfaceID: "i:M:I", EffectiveAt: at,
			Sender: wallethistory.PartyAmount{Party: alice, Amount: decimal.Must("-5")}, InstructionID: "00instruction", InstructionReceiver: bob, InstructionAmount: decimal.Must("5"), Description: "rent"},
		{EventID: "1220:3", Kind: wallethistory.Transfer, TemplateID: "p:M:E", Choice: "WalletAppInstall_ExecuteBatch", AmuletOperation: "CO_MergeTransferInputs", EffectiveAt: at,
			Sender: wallethistory.PartyAmount{Party: alice, Amount: decimal.Must("2")}, Receivers: []wallethistory.PartyAmount{{Party: bob, Amount: decimal.Must("1")}}, AppRewards: decimal.Must("2")},
		{EventID: "1220:2", Kind: wallethistory.BalanceChange, TemplateID: "p:M:E", Choice: "AmuletRules_DevNet_Tap", EffectiveAt: at, Receivers: []wallethistory.PartyAmount{{Party: alice, Amount: decimal.Must("7")}}},
		{EventID: "1220:1", Kind: wallethistory.Notification, TemplateID: "p:M:E", Choice: "WalletAppInstall_ExecuteBatch", AmuletOperation: "CO_CompleteAcceptedTransfer", EffectiveAt: at, Details: "ITR_InsufficientFunds"},
		{EventID: "1220:0", Kind: wallethistory.Unknown, TemplateID: "unknown", Choice: "unknown", EffectiveAt: at},
	}
}

func TestTransactions(t *testing.T) {
	const path = "/v0/wallet/transactions"
	s := serve(t, full(), nil)
	s.wants(s.as("alice", "POST", path, `{"page_size":2}`), 200, `{"items":[
		{"transaction_type":"transfer","transaction_subtype":{"template_id":"p:M:E","choice":"TransferFactory_Transfer","interface_id":"i:M:I"},"event_id":"1220:4","date":"2026-07-05T12:00:00Z",
		 "sender":{"party":"`+alice+`","amount":"-5.0000000000"},"receivers":[],"holding_fees":"0.0000000000","app_rewards_used":"0.0000000000","validator_rewards_used":"0.0000000000",
		 "sv_rewards_used":"0.0000000000","development_fund_coupons_used":"0.0000000000","transfer_instruction_receiver":"`+bob+`","transfer_instruction_amount":"5.0000000000",
		 "transfer_instruction_cid":"00instruction","description":"rent"},
		{"transaction_type":"transfer","transaction_subtype":{"template_id":"p:M:E","choice":"WalletAppInstall_ExecuteBatch","coin_operation":"CO_MergeTransferInputs"},"event_id":"1220:3","date":"2026-07-05T12:00:00Z",
		 "sender":{"party":"`+alice+`","amount":"2.0000000000"},"receivers":[{"party":"`+bob+`","amount":"1.0000000000"}],"holding_fees":"0.0000000000","app_rewards_used":"2.0000000000",
		 "validator_rewards_used":"0.0000000000","sv_rewards_used":"0.0000000000","development_fund_coupons_used":"0.0000000000"}]}`)
	s.wants(s.as("alice", "POST", path, `{"page_size":1000,"begin_after_id":"1220:3"}`), 200, `{"items":[
		{"transaction_type":"balance_change","transaction_subtype":{"template_id":"p:M:E","choice":"AmuletRules_DevNet_Tap"},"event_id":"1220:2","date":"2026-07-05T12:00:00Z","receivers":[{"party":"`+alice+`","amount":"7.0000000000"}]},
		{"transaction_type":"notification","transaction_subtype":{"template_id":"p:M:E","choice":"WalletAppInstall_ExecuteBatch","coin_operation":"CO_CompleteAcceptedTransfer"},"event_id":"1220:1","date":"2026-07-05T12:00:00Z","details":"ITR_InsufficientFunds"},
		{"transaction_type":"unknown","transaction_subtype":{"template_id":"unknown","choice":"unknown"},"event_id":"1220:0","date":"2026-07-05T12:00:00Z"}]}`)
	s.wants(s.as("alice", "POST", path, `{"page_size":1,"begin_after_id":""}`), 200, "")
	s.wants(s.as("alice", "POST", path, `{"page_size":1,"begin_after_id":"1220:0"}`), 200, `{"items":[]}`)
	s.wants(s.as("bob", "POST", path, `{"page_size":9}`), 200, `{"items":[]}`)
	s.wants(s.as("bob", "POST", path, `{"page_size":9,"begin_after_id":"1220:0"}`), 400, "")
	for _, size := range []string{"0", "-1", "1001", `"5"`, "1.5", "null", "9223372036854775808"} {
		s.wants(s.as("alice", "POST", path, `{"page_size":`+size+`}`), 400, "")
	}
	network := serve(t, full(), func(c *Config) { c.Naming = query.Network })
	if a := network.as("alice", "POST", path, `{"page_size":2}`); !strings.Contains(a.body, `"amulet_operation"`) {
		t.Errorf("in the network's spelling: %s", a.body)
	}
}

func TestBalanceAndCoins(t *testing.T) {
	m := newMemory()
	m.coin("00aa", alice, "5.0000000000", 6, false)
	m.coin("00bb", alice, "0.7000000000", 1, false) // more fees than coins
	m.coin("00cc", alice, "2.0000000000", 8, true)
	m.coin("00dd", bob, "100.0000000000", 8, false)
	s := serve(t, m, nil)
	// Round 9 is not open yet.
	s.wants(s.as("alice", "GET", "/v0/wallet/balance", ""), 200, `{"round":8,"effective_unlocked_qty":"5.7000000000","effective_locked_qty":"2.0000000000","total_holding_fees":"1.7000000000"}`)
	a := s.as("alice", "GET", "/v0/wallet/coins", "")
	for _, want := range []string{
		`"round":8,"accrued_holding_fee":"1.0000000000","effective_amount":"4.0000000000"`, `"accrued_holding_fee":"0.7000000000","effective_amount":"0.0000000000"`,
		`"domain_id":"` + synchronizer + `"`, `"created_event_blob":"YWI="`, `"locked_coins":[{`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
	if strings.Contains(a.body, bob) || strings.Count(a.body, `"round":8`) != 3 {
		t.Errorf("the coins are %s", a.body)
	}
	network := serve(t, m, func(c *Config) { c.Naming = query.Network })
	if a := network.as("alice", "GET", "/v0/wallet/amulets", ""); !strings.Contains(a.body, `"locked_amulets":[{`) {
		t.Errorf("in the network's spelling: %s", a.body)
	}
	m.rounds = m.rounds[:1]
	s.wants(s.as("alice", "GET", "/v0/wallet/balance", ""), 404, "")
}

func fillLists(m *memory) {
	offer := func(id, sender, receiver string) string {
		return `{"amount":{"amount":"1.0000000000","unit":"AmuletUnit"},"dso":"` + dso + `","expiresAt":"2026-07-06T00:00:00Z","receiver":"` + receiver + `","sender":"` + sender + `","trackingId":"` + id + `"}`
	}
	m.put(template.TransferOffer, "00offer", "t-1", offer("t-1", alice, bob), alice, bob)
	m.put(template.TransferOffer, "00other", "t-9", offer("t-9", bob, external), bob, external)
	m.put(template.AcceptedTransferOffer, "00accepted", "t-2", offer("t-2", bob, alice), alice, bob)
	m.put(template.CoinTransferInstruction, "00instruction", "", `{"lockedAmulet":"00locked","transfer":{"amount":"1.0000000000","executeBefore":"2026-08-01T00:00:00Z","inputHoldingCids":[],"instrumentId":{"admin":"`+dso+`","id":"Amulet"},"meta":{"values":{}},"receiver":"`+bob+`","requestedAt":"2026-07-01T00:00:00Z","sender":"`+alice+`"}}`, alice, bob)
	m.put(template.AppRewardCoupon, "00app1", "", `{"dso":"`+dso+`","provider":"`+alice+`","beneficiary":null,"round":{"number":"7"}}`, dso, alice)
	m.put(template.AppRewardCoupon, "00app2", "", `{"dso":"`+dso+`","provider":"`+alice+`","beneficiary":"`+bob+`","round":{"number":"7"}}`, dso, alice, bob)
	m.put(template.ValidatorRight, "00right2", bob, `{"dso":"`+dso+`","user":"`+bob+`","validator":"`+alice+`"}`, bob, alice)
	m.put(template.ValidatorRewardCoupon, "00val1", "", `{"dso":"`+dso+`","user":"`+bob+`","round":{"number":"7"}}`, dso, bob)
	m.put(template.ValidatorRewardCoupon, "00val2", "", `{"dso":"`+dso+`","user":"`+alice+`","round":{"number":"7"}}`, dso, alice)
	m.put(template.ValidatorFaucetCoupon, "00faucet", "", `{"dso":"`+dso+`","validator":"`+alice+`","round":{"number":"7"}}`, dso, alice)
	m.put(template.ValidatorLivenessActivityRecord, "00live", "", `{"dso":"`+dso+`","validator":"`+alice+`","round":{"number":"7"}}`, dso, alice)
	m.put(template.SvRewardCoupon, "00sv", "", `{"dso":"`+dso+`","sv":"`+bob+`","beneficiary":"`+alice+`","round":{"number":"7"}}`, dso, bob, alice)
	m.put(template.TransferPreapproval, "00pre", bob, `{"dso":"`+dso+`","receiver":"`+bob+`","provider":"`+operator+`","expiresAt":"2026-09-01T00:00:00Z"}`, dso, bob, operator)
	m.put(template.TransferPreapproval, "00old", alice, `{"dso":"`+dso+`","receiver":"`+alice+`","provider":"`+operator+`","expiresAt":"2026-07-01T00:00:00Z"}`, dso, alice, operator)
	m.put(template.ExternalPartySetupProposal, "00setup", "", `{"dso":"`+dso+`","user":"`+external+`","validator":"`+operator+`"}`, dso, external, operator)
	m.put(template.MintingDelegation, "00delegation", external, `{"beneficiary":"`+external+`","delegate":"`+alice+`","dso":"`+dso+`"}`, external, alice)
	m.put(template.MintingDelegation, "00given", alice, `{"beneficiary":"`+alice+`","delegate":"`+bob+`","dso":"`+dso+`"}`, bob, alice)
	m.put(template.MintingDelegationProposal, "00proposal", "stranger::1220", `{"delegation":{"beneficiary":"stranger::1220","delegate":"`+alice+`","dso":"`+dso+`"}}`, "stranger::1220", alice)
	fillNames(m)
	payment := func(sender string) string {
		return `{"dso":"` + dso + `","provider":"` + external + `","sender":"` + sender + `"}`
	}
	m.put(template.AppPaymentRequest, "00cd", "", payment(alice), alice, bob, external)
	m.put(template.AppPaymentRequest, "00asked", "", payment(bob), alice, bob, external)
	m.put(template.AcceptedAppPayment, "00paid", "", payment(alice), alice, external)
	fund := func(beneficiary, manager, expires string) string {
		return `{"dso":"` + dso + `","beneficiary":"` + beneficiary + `","fundManager":"` + manager + `","amount":"1.0000000000","expiresAt":"` + expires + `","reason":"r"}`
	}
	m.put(template.DevelopmentFundCoupon, "00later", "", fund(alice, bob, "2026-09-01T00:00:00Z"), dso, alice, bob)
	m.put(template.DevelopmentFundCoupon, "00sooner", "", fund(external, alice, "2026-08-01T00:00:00Z"), dso, alice, external)
	leg := func(sender, receiver string) string {
		return `{"lockedAmulet":"00locked","allocation":{"transferLeg":{"sender":"` + sender + `","receiver":"` + receiver + `"}}}`
	}
	m.put(template.CoinAllocation, "00leg", "", leg(alice, bob), dso, alice, bob)
	m.put(template.CoinAllocation, "00others", "", leg(bob, alice), dso, bob, alice)
	m.put(template.CoinAllocationV2, "00sides", "", `{"allocation":{"authorizer":{"owner":"`+alice+`","provider":null,"id":""}}}`, dso, alice, bob)
	m.put(template.FeaturedAppRight, "00featured", "", `{"dso":"`+dso+`","provider":"`+operator+`"}`, dso, operator)
}

// fillNames gives alice a name, one that is being paid for again, one that nothing pays for any
// more, and one that she is asked to pay for.
func fillNames(m *memory) {
	subscription := func(members string) string {
		return `{` + members + `"payData":{"paymentAmount":{"amount":"1.0000000000","unit":"USDUnit"},"paymentDuration":{"microseconds":"30"},"paymentInterval":{"microseconds":"90"}},` +
			`"subscriptionData":{"description":"d","dso":"` + dso + `","provider":"` + dso + `","receiver":"` + dso + `","sender":"` + alice + `"}}`
	}
	for i, name := range []string{"alice.unverified.cns", "a.unverified.cns", "old.unverified.cns"} {
		reference := fmt.Sprintf(`"reference":"00ref%d"`, i)
		common := `"description":"","dso":"` + dso + `","name":"` + name + `","url":"","user":"` + alice + `"`
		m.put(template.NameEntry, fmt.Sprintf("00name%d", i), name, `{`+common+`,"expiresAt":"2026-09-01T00:00:00Z"}`, alice, dso)
		m.put(template.NameEntryContext, fmt.Sprintf("00context%d", i), name, `{`+common+`,`+reference+`}`, alice, dso)
	}
	m.put(template.SubscriptionIdleState, "00idle", "", subscription(`"nextPaymentDueAt":"2026-08-01T00:00:00Z","reference":"00ref0","subscription":"00sub0",`), alice, dso)
	m.put(template.SubscriptionPayment, "00renewal", "", subscription(`"reference":"00ref1","subscription":"00sub1",`), alice, dso)
	for _, id := range []string{"00sub0", "00sub1", "00stateless"} {
		m.put(template.Subscription, id, "", subscription(""), alice, dso)
	}
	m.put(template.SubscriptionRequest, "00ab", "", subscription(""), alice, dso)
	m.put(template.SubscriptionInitialPayment, "00initial", "", subscription(`"reference":"00ref9",`), alice, dso)
}

// Each list has what the caller has the role in, and nothing else.
func TestLists(t *testing.T) {
	s := serve(t, full(), nil)
	for _, c := range []struct {
		user, path string
		want       []string // contract ids
	}{
		{"alice", "/v0/wallet/transfer-offers", []string{"00offer"}},
		{"bob", "/v0/wallet/transfer-offers", []string{"00offer", "00other"}},
		{"alice", "/v0/wallet/accepted-transfer-offers", []string{"00accepted"}},
		{"alice", "/v0/wallet/token-standard/transfers", []string{"00instruction"}},
		{"alice", "/v0/wallet/app-reward-coupons", []string{"00app1"}},
		{"bob", "/v0/wallet/app-reward-coupons", []string{"00app2"}},
		{"alice", "/v0/wallet/validator-reward-coupons", []string{"00val1"}},
		{"bob", "/v0/wallet/validator-reward-coupons", nil},
		{"alice", "/v0/wallet/validator-faucet-coupons", []string{"00faucet"}},
		{"alice", "/v0/wallet/validator-liveness-activity-records", []string{"00live"}},
		{"alice", "/v0/wallet/sv-reward-coupons", []string{"00sv"}},
		{"bob", "/v0/wallet/sv-reward-coupons", nil},
		{"alice", "/v0/wallet/minting-delegations", []string{"00delegation"}},
		{"alice", "/v0/wallet/minting-delegation-proposals", []string{"00proposal"}},
		{"bob", "/v0/wallet/minting-delegation-proposals", nil},
		{"alice", "/v0/wallet/subscription-requests", []string{"00ab"}},
		{"alice", "/v0/wallet/subscription-requests/00ab", []string{"00ab"}},
		{"bob", "/v0/wallet/subscription-requests", nil},
		{"alice", "/v0/wallet/subscription-initial-payments", []string{"00initial"}},
		{"alice", "/v0/wallet/subscriptions", []string{"00sub0", "00idle", "00sub1", "00renewal"}},
		{"bob", "/v0/wallet/subscriptions", nil},
		{"alice", "/v0/wallet/app-payment-requests", []string{"00cd"}},
		{"bob", "/v0/wallet/app-payment-requests", []string{"00asked"}},
		{"alice", "/v0/wallet/app-payment-requests/00cd", []string{"00cd"}},
		{"alice", "/v0/wallet/accepted-app-payments", []string{"00paid"}},
		{"bob", "/v0/wallet/accepted-app-payments", nil},
		{"alice", fundPath, []string{"00sooner", "00later"}},
		{"bob", fundPath, []string{"00later"}},
		{"alice", "/v0/allocations", []string{"00leg", "00sides"}},
		{"bob", "/v0/allocations", []string{"00others"}},
		{"admin", "/v0/admin/transfer-preapprovals", []string{"00pre"}},
		{"admin", "/v0/admin/external-party/setup-proposal", []string{"00setup"}},
	} {
		a := s.as(c.user, "GET", c.path, "")
		if a.status != 200 || strings.Count(a.body, `"contract_id"`) != len(c.want) {
			t.Errorf("%s of %s: %d %s, want %v", c.path, c.user, a.status, a.body, c.want)
		}
		for rest, i := a.body, 0; i < len(c.want); i++ {
			_, after, found := strings.Cut(rest, `"contract_id":"`+c.want[i]+`"`)
			if !found {
				t.Errorf("%s of %s lacks %s at its place: %s", c.path, c.user, c.want[i], a.body)
			}
			rest = after
		}
	}
	s.wants(s.as("bob", "GET", "/v0/wallet/subscription-requests/00ab", ""), 404, "")
	for _, id := range []string{"00asked", "00paid", "00ab", "00nowhere"} { // another's, and of other templates
		s.wants(s.as("alice", "GET", "/v0/wallet/app-payment-requests/"+id, ""), 404, "")
	}
	terms := `"amount":"1.0000000000","unit":"USDUnit","expiresAt":"2026-09-01T00:00:00Z","paymentInterval":"90","paymentDuration":"30"}`
	s.wants(s.as("alice", "GET", "/v0/entry/all", ""), 200, `{"entries":[{"contractId":"00name0","name":"alice.unverified.cns",`+terms+`,{"contractId":"00name1","name":"a.unverified.cns",`+terms+`]}`)
	s.wants(s.as("bob", "GET", "/v0/entry/all", ""), 200, `{"entries":[]}`)
	s.wants(s.as("admin", "GET", "/v0/admin/transfer-preapprovals/by-party/"+alice, ""), 404, "")
	s.wants(s.as("admin", "GET", "/v0/admin/users", ""), 200, `{"usernames":["alice","bob","gone","retired","robbed"]}`)
	s.wants(s.as("", "GET", "/v0/validator-user", ""), 200, `{"party_id":"`+operator+`","user_name":"admin","featured":true}`)
	if a := s.as("alice", "GET", "/v0/wallet/minting-delegations", ""); !strings.Contains(a.body, `"beneficiary_hosted":true`) {
		t.Errorf("the external party is not hosted: %s", a.body)
	}
	if a := s.as("alice", "GET", "/v0/wallet/minting-delegation-proposals", ""); !strings.Contains(a.body, `"beneficiary_hosted":false`) {
		t.Errorf("the stranger is hosted: %s", a.body)
	}
	if a := s.as("alice", "GET", "/v0/wallet/token-standard/transfers", ""); !strings.Contains(a.body, `"status":{"tag":"TransferPendingReceiverAcceptance"`) || strings.Contains(a.body, "lockedAmulet") {
		t.Errorf("the payload is not the view of the interface: %s", a.body)
	}
}

// Pages hold every delegation once, also of those created at the same time.
func TestMintingPages(t *testing.T) {
	m := newMemory()
	const n = 25
	for i := range n {
		c := m.put(template.MintingDelegation, fmt.Sprintf("00%02d", i), "", `{"beneficiary":"`+external+`","delegate":"`+alice+`","dso":"`+dso+`"}`, external, alice)
		c.Event.CreatedAt = schemas.MicrosOf(present) + schemas.Micros(i/7)
	}
	s := serve(t, m, nil)
	for _, limit := range []int{1, 4, 7, 24, 25, 26} {
		var ids []string
		target := fmt.Sprintf("/v0/wallet/minting-delegations?limit=%d", limit)
		for next := target; next != ""; {
			a := s.as("alice", "GET", next, "")
			next = ""
			for part := range strings.SplitSeq(a.body, `"contract_id":"`) {
				if id, _, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(id, "00") {
					ids = append(ids, id)
				}
			}
			if _, token, ok := strings.Cut(a.body, `"next_page_token":`); ok {
				next = target + "&after=" + strings.TrimRight(token, "}")
			}
		}
		if len(ids) != n || ids[0] != "0000" || ids[n-1] != "0024" {
			t.Errorf("pages of %d have %d delegations: %v", limit, len(ids), ids)
		}
	}
}

func TestExternalBalance(t *testing.T) {
	m := newMemory()
	m.coin("00aa", external, "5.0000000000", 5, false)
	m.coin("00bb", external, "3.0000000000", 6, true)
	s := serve(t, m, nil)
	s.wants(s.as("admin", "GET", "/v0/admin/external-party/balance?party_id="+external, ""), 200, `{"party_id":"`+external+`","total_unlocked_coin":"5.0000000000",
		"total_locked_coin":"3.0000000000","total_coin_holdings":"8.0000000000","accumulated_holding_fees_unlocked":"1.0000000000","accumulated_holding_fees_locked":"0.5000000000",
		"accumulated_holding_fees_total":"1.5000000000","total_available_coin":"4.0000000000","computed_as_of_round":7}`)
	s.wants(s.as("admin", "GET", "/v0/admin/external-party/balance?party_id="+bob, ""), 404, "")
}
