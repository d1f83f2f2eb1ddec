package validator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Each operation asks for just what its request says.
func TestCommands(t *testing.T) {
	m := full()
	s := serve(t, m, nil)
	key, signature := strings.Repeat("ab", 32), strings.Repeat("cd", 64)
	submission := `{"submission":{"party_id":"` + external + `","transaction":"dHg=","signed_tx_hash":"` + signature + `","public_key":"` + key + `"}}`
	transfer := fmt.Sprintf(`{"receiver_party_id":"%s","amount":"1.5","description":"lunch","expires_at":%d,"tracking_id":"t-7"}`, bob, later)
	for _, c := range []struct {
		user, method, path, body string
		want, answer             string
	}{
		{"alice", "POST", "/v0/wallet/transfer-offers", transfer, fmt.Sprintf(`offer alice %s %s 1.5000000000 "lunch" %d t-7`, alice, bob, later), `{"offer_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/transfer-offers/00%61b/accept", "", "accept " + alice + " 00ab", `{"accepted_offer_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/transfer-offers/accept", `{"contract_id":"00ab"}`, "accept " + alice + " 00ab", `{"accepted_offer_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/transfer-offers/00ab/reject", "{}", "reject " + alice + " 00ab", `{}`},
		{"alice", "POST", "/v0/wallet/transfer-offers/withdraw", `{"contract_id":"00ab"}`, "withdraw " + alice + " 00ab", `{}`},
		{"alice", "POST", "/v0/wallet/buy-traffic-requests", fmt.Sprintf(`{"receiving_validator_party_id":"%s","domain_id":"%s","traffic_amount":200000,"tracking_id":"b-7","expires_at":%d}`, bob, synchronizer, later),
			"traffic " + alice + " " + bob + " " + synchronizer + " 200000 b-7", `{"request_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/tap", `{"amount":"0.0000000001"}`, "tap " + alice + " 0.0000000001 ", `{"contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/tap", `{"amount":"10","command_id":"c-1"}`, "tap " + alice + " 10.0000000000 c-1", `{"contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/self-grant-feature-app-right", "null", "feature " + alice, `{"contract_id":"00made"}`},
		{"alice", "DELETE", "/v0/wallet/cancel-featured-app-rights", "", "unfeature " + alice, ""},
		{"alice", "POST", "/v0/wallet/transfer-preapproval", "", "preapproval " + alice, `{"transfer_preapproval_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/transfer-preapproval/send", `{"receiver_party_id":"` + bob + `","amount":"2","deduplication_id":"d-1","description":"x"}`, "send " + alice + " " + bob + ` 2.0000000000 d-1 "x"`, ""},
		{"alice", "POST", "/v0/wallet/token-standard/transfers", transfer, "token " + alice + " " + bob + " 1.5000000000 t-7",
			`{"output":{"transfer_instruction_cid":"00pending"},"sender_change_cids":["00change"],"meta":{"k":"v"}}`},
		{"alice", "POST", "/v2/wallet/token-standard/transfers", transfer, "token v2 " + alice + " " + bob + " 1.5000000000 t-7", ""},
		{"alice", "POST", "/v0/wallet/token-standard/transfers/00ab/accept", "", "token accept " + alice + " 00ab", ""},
		{"alice", "POST", "/v2/wallet/token-standard/transfers/00ab/reject", "", "token v2 reject " + alice + " 00ab", ""},
		{"alice", "POST", "/v0/wallet/token-standard/transfers/00ab/withdraw", "", "token withdraw " + alice + " 00ab", ""},
		{"alice", "POST", "/v0/wallet/minting-delegation-proposals/00ab/accept", "", "minting accept " + alice + " 00ab", `{"contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/minting-delegation-proposals/00ab/reject", "", "minting reject " + alice + " 00ab", ""},
		{"alice", "POST", "/v0/wallet/minting-delegations/00ab/reject", "", "minting end " + alice + " 00ab", ""},
		{"alice", "POST", "/v0/entry/create", `{"name":"alice.unverified.cns","url":"","description":"me"}`, "name " + alice + ` alice.unverified.cns "" "me"`,
			`{"entryContextCid":"00context","subscriptionRequestCid":"00subscription","name":"alice.unverified.cns","url":"","description":"me"}`},
		{"alice", "POST", "/v0/wallet/subscription-requests/00ab/accept", "", "subscription accept " + alice + " 00ab", `{"initial_payment_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/subscription-requests/00ab/reject", "", "subscription reject " + alice + " 00ab", ""},
		{"alice", "DELETE", "/v0/wallet/subscription-requests/00ab", "", "subscription cancel " + alice + " 00ab", ""},
		{"alice", "DELETE", "/v0/wallet/subscriptions/00ab", "", "subscription cancel " + alice + " 00ab", ""},
		{"alice", "POST", "/v0/wallet/app-payment-requests/00ab/accept", "{}", "app payment accept " + alice + " 00ab", `{"accepted_payment_contract_id":"00made"}`},
		{"alice", "POST", "/v0/wallet/app-payment-requests/00ab/reject", "", "app payment reject " + alice + " 00ab", ""},
		{"alice", "POST", fundPath + "/allocate", fmt.Sprintf(`{"beneficiary":"%s","amount":"2.5","expiresAt":%d,"reason":"grant","mintAfter":%d}`, bob, later, later-1),
			fmt.Sprintf(`fund %s %s 2.5000000000 %d "grant" %d`, alice, bob, later, later-1), `{"development_fund_coupon_contract_id":"00made","unclaimed_development_fund_coupon_contract_id":"00rest"}`},
		{"alice", "POST", fundPath + "/allocate", fmt.Sprintf(`{"beneficiary":"%s","amount":"2.5","expiresAt":%d,"reason":""}`, bob, later),
			fmt.Sprintf(`fund %s %s 2.5000000000 %d "" 0`, alice, bob, later), ""},
		{"alice", "POST", fundPath + "/00ab/withdraw", `{"reason":"spent"}`, "fund withdraw " + alice + ` 00ab "spent"`, `{"unclaimed_development_fund_coupon_contract_id":"00made"}`},
		{"alice", "POST", "/v0/allocations", fmt.Sprintf(`{"settlement":{"executor":"%s","settlement_ref":{"id":"s","cid":"00ref"},"requested_at":1,"allocate_before":%d,"settle_before":%d,"meta":{"a":"b"}},
			"transfer_leg_id":"l","transfer_leg":{"receiver":"%s","amount":"2.5"}}`, external, later, later+1, bob),
			fmt.Sprintf("leg %s %s {s 00ref} 1 %d %d map[a:b] l %s 2.5000000000 map[]", alice, external, later, later+1, bob),
			`{"output":{"allocation_cid":"00allocation"},"sender_change_cids":["00change"],"meta":{"k":"v"}}`},
		{"alice", "POST", "/v0/allocations/00ab/withdraw", "", "leg withdraw " + alice + " 00ab", `{"sender_holding_cids":["00change"],"meta":{"k":"v"}}`},
		{"alice", "POST", "/v2/allocations", fmt.Sprintf(`{"settlement":{"executors":["%s"],"settlement_ref":{"id":"s"},"settlement_deadline":%d},"transfer_leg_sides":[
			{"transfer_leg_id":"l1","side":"SENDERSIDE","otherside":"%s","amount":"2","meta":{"a":"b"}},{"transfer_leg_id":"l2","side":"RECEIVERSIDE","otherside":"%s","amount":"3"}],
			"next_iteration_funding":{"Amulet":"1"},"committed":true}`, external, later, bob, bob),
			fmt.Sprintf("sides %s [%s] {s } true [{l1 true %s 2.0000000000 map[a:b]} {l2 false %s 3.0000000000 map[]}] map[Amulet:1.0000000000] true map[]", alice, external, bob, bob),
			`{"output":{"allocation_cid":"00allocation"},"sender_change_cids":["00change"],"meta":{"k":"v"}}`},
		{"alice", "POST", "/v2/allocations/00ab/withdraw", "", "sides withdraw " + alice + " 00ab", `{"authorizer_holding_cids":{"Amulet":["00change"]},"meta":{"k":"v"}}`},
		{"alice", "GET", "/v0/wallet/token-standard/allocation-requests", "", "allocation requests " + alice,
			`{"allocation_requests":[{"contract":{"contract_id":"00request","template_id":"ab:M:E","payload":{"k":"v"},"created_at":"2026-07-05T12:00:00Z","created_event_blob":"YWI="}}]}`},
		{"alice", "POST", "/v0/wallet/token-standard/allocation-requests/00ab/reject", "", "reject request " + alice + " 00ab", `{"meta":{"k":"v"}}`},
		{"alice", "POST", "/v2/wallet/token-standard/allocation-requests/00ab/reject", "", "reject request v2 " + alice + " 00ab", `{"meta":{"k":"v"}}`},
		{"newbie", "POST", "/v0/register", "", `onboard newbie "" false`, `{"party_id":"newbie::1220"}`},
		{"nobody", "POST", "/v0/register", "{}", `onboard nobody "" false`, `{"party_id":"nobody::1220"}`},
		{"admin", "POST", "/v0/admin/users", `{"name":"carol"}`, `onboard carol "" false`, `{"party_id":"carol::1220"}`},
		{"admin", "POST", "/v0/admin/users", `{"name":"carol","party_id":"c::1220","createPartyIfMissing":true}`, `onboard carol "c::1220" true`, `{"party_id":"c::1220"}`},
		{"admin", "POST", "/v0/admin/users/offboard?username=alice", "", "offboard alice", ""},
		{"admin", "DELETE", "/v0/admin/transfer-preapprovals/by-party/" + bob, "", "cancel preapproval " + bob, ""},
		{"admin", "POST", "/v0/admin/external-party/topology/generate", `{"party_hint":"ext","public_key":"` + key + `"}`, "topology ext " + key, `{"party_id":"ext::1220","topology_txs":[{"topology_tx":"dHg=","hash":"1220"}]}`},
		{"admin", "POST", "/v0/admin/external-party/topology/submit", `{"public_key":"` + key + `","signed_topology_txs":[{"topology_tx":"dHg=","signed_hash":"` + signature + `"}]}`, "submit topology " + key + " 1 " + signature, `{"party_id":"` + external + `"}`},
		{"admin", "POST", "/v0/admin/external-party/setup-proposal", `{"user_party_id":"` + external + `"}`, "propose setup " + external, `{"contract_id":"00made"}`},
		{"admin", "POST", "/v0/admin/external-party/setup-proposal/prepare-accept", `{"contract_id":"00ab","user_party_id":"` + external + `","verbose_hashing":true}`, "prepare accept " + external + " 00ab true",
			`{"transaction":"dHg=","tx_hash":"0102","hashing_details":"details"}`},
		{"admin", "POST", "/v0/admin/external-party/setup-proposal/submit-accept", submission, "submit accept " + external + " tx " + signature + " " + key, `{"transfer_preapproval_contract_id":"00made","update_id":"1220made"}`},
		{"admin", "POST", "/v0/admin/external-party/transfer-preapproval/prepare-send", `{"sender_party_id":"` + external + `","receiver_party_id":"` + bob + `","amount":5.25,"expires_at":"2026-07-06T00:00:00Z","nonce":3}`,
			"prepare send " + external + " " + bob + " 5.2500000000 3", `{"transaction":"dHg=","tx_hash":"0102","transfer_command_contract_id_prefix":"00ab"}`},
		{"admin", "POST", "/v0/admin/external-party/transfer-preapproval/prepare-send", `{"sender_party_id":"` + external + `","receiver_party_id":"` + bob + `","amount":1e-05,"expires_at":"2026-07-06T00:00:00Z","nonce":0}`,
			"prepare send " + external + " " + bob + " 0.0000100000 0", ""},
		{"admin", "POST", "/v0/admin/external-party/transfer-preapproval/submit-send", submission, "submit send " + external, `{"update_id":"1220made"}`},
	} {
		m.commands = nil
		a := s.as(c.user, c.method, c.path, c.body)
		s.wants(a, 200, c.answer)
		if !slices.Equal(m.commands, []string{c.want}) {
			t.Errorf("%s %s %s asks for %q, want %q", c.method, c.path, c.body, m.commands, c.want)
		}
	}
}

// The answer to a change says where it is and whether it can be read.
func TestChangesTellTheirOffset(t *testing.T) {
	m := newMemory()
	s := serve(t, m, nil)
	for _, visible := range []bool{true, false} {
		m.visible = visible
		a := s.as("alice", "POST", "/v0/wallet/tap", `{"amount":"1"}`)
		if a.header.Get(offsetHeader) != "17" || a.header.Get(visibleHeader) != fmt.Sprint(visible) {
			t.Errorf("the headers are %v", a.header)
		}
	}
}

// Errors of the wallet become statuses, at every operation that changes something.
func TestErrorsOfCommands(t *testing.T) {
	m := full()
	s := serve(t, m, nil)
	for kind, want := range map[error]int{
		wallet.ErrInvalid: 400, wallet.ErrNotFound: 404, wallet.ErrConflict: 409, wallet.ErrInFlight: 429,
		wallet.ErrUnavailable: 503, wallet.ErrUnknown: 503,
	} {
		m.fail = fmt.Errorf("doing it: %w", &wallet.Error{Kind: kind, Message: "because", Err: errors.New("host 10.0.0.1")})
		a := s.as("alice", "POST", "/v0/wallet/transfer-offers/00ab/accept", "")
		s.wants(a, want, `{"error":"because"}`)
		if retry := a.header.Get("Retry-After"); (retry != "") != (want == 429 || want == 503) {
			t.Errorf("status %d has Retry-After %q", a.status, retry)
		}
	}
	m.fail = errors.New("host 10.0.0.1")
	s.wants(s.as("alice", "POST", "/v0/wallet/transfer-offers/00ab/accept", ""), 500, `{"error":"An unexpected error occurred."}`)
	m.fail = &wallet.Error{Kind: wallet.ErrConflict, Message: "there is one", ContractID: "00there"}
	s.wants(s.as("alice", "POST", "/v0/wallet/transfer-preapproval", ""), 409, `{"transfer_preapproval_contract_id":"00there"}`)
	s.wants(s.as("alice", "POST", "/v0/wallet/transfer-offers", fmt.Sprintf(`{"receiver_party_id":"%s","amount":"1","description":"","expires_at":%d,"tracking_id":"t"}`, bob, later)), 409, `{"error":"there is one"}`)
	m.fail = &wallet.Error{Kind: wallet.ErrDisabled, Message: "off"}
	s.wants(s.as("admin", "POST", "/v0/admin/external-party/setup-proposal", `{"user_party_id":"`+external+`"}`), 501, `{"error":"off"}`)
}

// Amounts, instants and parties that no transfer can have are refused by each operation that takes
// them, and nothing is asked for.
func TestBadValues(t *testing.T) {
	m := full()
	s := serve(t, m, nil)
	operations := map[string]func(name, value string) (user, path, body string){
		"offer": func(name, value string) (string, string, string) {
			return "alice", "/v0/wallet/transfer-offers", with(name, value, `"amount":"1"`, `"receiver_party_id":"`+bob+`"`, fmt.Sprintf(`"expires_at":%d`, later), `"description":"d"`, `"tracking_id":"t"`)
		},
		"token transfer": func(name, value string) (string, string, string) {
			return "alice", "/v2/wallet/token-standard/transfers", with(name, value, `"amount":"1"`, `"receiver_party_id":"`+bob+`"`, fmt.Sprintf(`"expires_at":%d`, later), `"description":"d"`, `"tracking_id":"t"`)
		},
		"send": func(name, value string) (string, string, string) {
			return "alice", "/v0/wallet/transfer-preapproval/send", with(name, value, `"amount":"1"`, `"receiver_party_id":"`+bob+`"`, `"deduplication_id":"t"`)
		},
		"tap": func(name, value string) (string, string, string) {
			return "alice", "/v0/wallet/tap", with(name, value, `"amount":"1"`)
		},
		"external send": func(name, value string) (string, string, string) {
			return "admin", "/v0/admin/external-party/transfer-preapproval/prepare-send", with(name, value, `"amount":"1"`, `"sender_party_id":"`+external+`"`, `"receiver_party_id":"`+bob+`"`, `"expires_at":"2026-07-06T00:00:00Z"`, `"nonce":0`)
		},
		"traffic": func(name, value string) (string, string, string) {
			return "alice", "/v0/wallet/buy-traffic-requests", with(name, value, `"receiving_validator_party_id":"`+bob+`"`, `"domain_id":"`+synchronizer+`"`, `"traffic_amount":1`, `"tracking_id":"t"`, fmt.Sprintf(`"expires_at":%d`, later))
		},
	}
	amounts := []string{
		`"0.00000000001"`, `"1.12345678901"`, `"0"`, `"0.0"`, `"0.0000000000"`, `"-1"`, `"-0.5"`, `"-0"`, `"10000000000000000000000000000"`, `"99999999999999999999999999999.0"`, `""`, `"."`, `"1."`, `".5"`,
		`"1e3"`, `"0x10"`, `"1,5"`, `" 1"`, `"1 "`, `"+1"`, `"NaN"`, `"Infinity"`, `"١"`, `"` + strings.Repeat("1", 200) + `"`, `null`, `true`, `[]`, `{}`,
	}
	for operation, request := range operations {
		bad := map[string][]string{"amount": amounts}
		if operation != "external send" {
			bad["amount"] = append(slices.Clone(amounts), "1", "1.5")
		} else {
			bad["amount"] = append(slices.Clone(amounts[:len(amounts)-4]), "0", "-1", "1e-11", "1e29", "1e400", "null", "true", "[]", "{}")
			bad["nonce"] = []string{"-1", `"0"`, "1.5", "null", "9223372036854775808"}
			bad["expires_at"] = []string{`"2026-07-05T12:00:00Z"`, `"2001-01-01T00:00:00Z"`, `"tomorrow"`, "1"}
			bad["sender_party_id"] = []string{`"alice"`}
		}
		switch operation {
		case "offer", "token transfer", "traffic":
			bad["expires_at"] = []string{"0", "-1", "1", fmt.Sprint(present.UnixMicro()), fmt.Sprint(present.Add(-time.Microsecond).UnixMicro()), "9223372036854775807", `"2100-01-01T00:00:00Z"`, "1.5", "null"}
			bad["tracking_id"] = []string{`""`, `"` + strings.Repeat("t", 256) + `"`, "1", "null"}
		}
		switch operation {
		case "traffic":
			delete(bad, "amount")
			bad["traffic_amount"] = []string{"0", "-1", `"5"`, "1.5", "9223372036854775808", "null"}
			bad["receiving_validator_party_id"] = []string{`"alice"`, `"::1220"`, `"alice::"`, `""`, "1", "null"}
			bad["domain_id"] = []string{`"global-domain"`, `""`, "null"}
		case "tap":
			bad["command_id"] = []string{`""`, "1", `"` + strings.Repeat("t", 256) + `"`}
		default:
			bad["receiver_party_id"] = []string{`"alice"`, `"::1220"`, `"alice::"`, `""`, "1", "null", `"` + strings.Repeat("a", 1000) + `::1220"`}
		}
		for name, values := range bad {
			for _, value := range values {
				user, path, body := request(name, value)
				a := s.as(user, "POST", path, body)
				if a.status != 400 || !strings.Contains(a.body, name) {
					t.Errorf("%s with %s = %s: %d %s, want 400 and a text that names it", operation, name, value, a.status, a.body)
				}
			}
		}
	}
	if len(m.commands) > 0 {
		t.Errorf("bad values have led to %q", m.commands)
	}
}

// with is an object of members, in which one has another value.
func with(name, value string, members ...string) string {
	for i, m := range members {
		if strings.HasPrefix(m, `"`+name+`":`) {
			members[i] = ""
		}
	}
	members = append(slices.DeleteFunc(members, func(m string) bool { return m == "" }), `"`+name+`":`+value)
	return "{" + strings.Join(members, ",") + "}"
}

func TestLargestAmounts(t *testing.T) {
	m := newMemory()
	s := serve(t, m, nil)
	for amount, want := range map[string]string{
		"9999999999999999999999999999.9999999999": "9999999999999999999999999999.9999999999", "0.0000000001": "0.0000000001", "007.50": "7.5000000000", "1": "1.0000000000",
	} {
		m.commands = nil
		s.wants(s.as("alice", "POST", "/v0/wallet/tap", `{"amount":"`+amount+`"}`), 200, "")
		if !slices.Equal(m.commands, []string{"tap " + alice + " " + want + " "}) {
			t.Errorf("amount %s asks for %q", amount, m.commands)
		}
	}
}

// What a deployment does not allow is refused before anything is done.
func TestWhatIsSwitchedOff(t *testing.T) {
	m := full()
	s := serve(t, m, func(c *Config) { c.Development, c.TransferCommands = false, false })
	s.wants(s.as("alice", "POST", "/v0/wallet/tap", `{"amount":"1"}`), 403, "")
	s.wants(s.as("alice", "POST", "/v0/wallet/self-grant-feature-app-right", `{}`), 403, "")
	submission := `{"submission":{"party_id":"` + external + `","transaction":"dHg=","signed_tx_hash":"` + strings.Repeat("cd", 64) + `","public_key":"` + strings.Repeat("ab", 32) + `"}}`
	s.wants(s.as("admin", "POST", "/v0/admin/external-party/transfer-preapproval/submit-send", submission), 501, "")
	s.wants(s.as("admin", "POST", "/v0/admin/external-party/transfer-preapproval/prepare-send", `{"sender_party_id":"`+external+`","receiver_party_id":"`+bob+`","amount":1,"expires_at":"2026-07-06T00:00:00Z","nonce":0}`), 501, "")
	readOnly := serve(t, m, func(c *Config) { c.Commands = nil })
	readOnly.wants(readOnly.as("alice", "POST", "/v0/wallet/tap", `{"amount":"1"}`), 501, "")
	readOnly.wants(readOnly.as("newbie", "POST", "/v0/register", ""), 501, "")
	readOnly.wants(readOnly.as("alice", "GET", "/v0/wallet/balance", ""), 200, "")
	if len(m.commands) > 0 {
		t.Errorf("what is switched off has led to %q", m.commands)
	}
}

func TestUserStatus(t *testing.T) {
	m := full()
	m.put(template.FeaturedAppRight, "00featured2", "", `{"dso":"`+dso+`","provider":"`+bob+`"}`, dso, bob)
	s := serve(t, m, nil)
	const path = "/v0/wallet/user-status"
	nobody := `{"party_id":"","user_onboarded":false,"user_wallet_installed":false,"has_featured_app_right":false}`
	s.wants(s.as("alice", "GET", path, ""), 200, `{"party_id":"`+alice+`","user_onboarded":true,"user_wallet_installed":true,"has_featured_app_right":false}`)
	s.wants(s.as("bob", "GET", path, ""), 200, `{"party_id":"`+bob+`","user_onboarded":true,"user_wallet_installed":true,"has_featured_app_right":true}`)
	for _, user := range []string{"newbie", "nobody", "retired", "gone", "admin"} {
		s.wants(s.as(user, "GET", path, ""), 200, nobody)
	}
}

// While there is no stream of the node, or nobody knows its users, the answer is to come again.
func TestWhatIsNotThereYet(t *testing.T) {
	m := newMemory()
	s := serve(t, m, func(c *Config) { c.Network = lostNetwork{} })
	s.wants(s.as("alice", "GET", "/v0/wallet/balance", ""), 503, `{"error":"lost"}`)
}

// lostNetwork is one of which nothing is known.
type lostNetwork struct{ Network }

var errLost = query.Errorf(query.Unavailable, "lost")

func (lostNetwork) OpenRounds(context.Context) ([]Round, error) { return nil, errLost }

func (lostNetwork) Time(context.Context) (time.Time, error) { return time.Time{}, errLost }
