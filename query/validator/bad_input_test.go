package validator

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// stranger is a party that the network does not have.
var stranger = "stranger::1220" + strings.Repeat("cd", 32)

// String lists coins by contract id.
func (f funds) String() string { return fmt.Sprintf("%v locked %v", f.unlocked, f.locked) }

// still returns what checks that neither the ledger has moved since, nor a coin of some people.
func (r *reality) still(t *testing.T, people ...*person) (check func()) {
	t.Helper()
	end, before := r.end(t), []string{}
	for _, p := range people {
		before = append(before, r.funds(t, p).String())
	}
	return func() {
		t.Helper()
		if now := r.end(t); now != end {
			t.Errorf("the ledger has gone from %d to %d", end, now)
		}
		for i, p := range people {
			if after := r.funds(t, p).String(); after != before[i] {
				t.Errorf("the coins of %s were %s, are %s", p.user, before[i], after)
			}
		}
	}
}

// badRequest is one that is refused.
type badRequest struct {
	name, user, path, body string
	status                 int
	text                   string // in the body
}

// refuse sends requests that must be refused and leave everything as it is.
func (r *reality) refuse(t *testing.T, people []*person, requests []badRequest) {
	t.Helper()
	check := r.still(t, people...)
	for _, b := range requests {
		a := r.as(b.user, "POST", b.path, b.body)
		var e struct {
			Error *string `json:"error"`
		}
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != b.status || e.Error == nil || !strings.Contains(*e.Error, b.text) {
			t.Errorf("%s: %s %s = %d %s, want %d with %q", b.name, b.path, b.body, a.status, a.body, b.status, b.text)
		}
	}
	check()
}

// badInput sends what a wallet must refuse to one with real coins.
func (r *reality) badInput(t *testing.T) {
	r.Tap(r.World.Operator, "1000")
	ann, ben, cal := r.register(t, "ann", "100"), r.register(t, "ben", "100"), r.register(t, "cal", "1")
	people := []*person{ann, ben, cal}
	r.must(t, ben.user, "POST", "/v0/wallet/transfer-preapproval", "", nil)
	r.awaitPreapproval(t, ben)
	t.Run("Amounts", func(t *testing.T) { r.refuse(t, people, r.badAmounts(ann, ben, cal)) })
	t.Run("UnknownParties", func(t *testing.T) { r.refuse(t, people, r.unknownParties(ann)) })
	t.Run("ContractsOfOthers", func(t *testing.T) { r.contractsOfOthers(t, ann, ben, cal) })
	t.Run("Expired", func(t *testing.T) { r.expiredOffers(t, ann, cal) })
	t.Run("ExternalParties", func(t *testing.T) { r.externalParty(t, ann, ben) })
}

// awaitPreapproval waits until the network shows that somebody takes transfers in one step.
func (r *reality) awaitPreapproval(t *testing.T, p *person) {
	t.Helper()
	r.Await("the preapproval of "+p.user, func() bool {
		return r.as(p.user, "GET", "/v0/scan-proxy/transfer-preapprovals/by-party/"+p.party, "").status == http.StatusOK
	})
}

// badAmounts are amounts that no transfer can have, at each operation that takes one.
func (r *reality) badAmounts(ann, ben, cal *person) (list []badRequest) {
	soon := r.Soon()
	for name, amount := range map[string]string{
		"11 decimals": "1.00000000001", "11 decimals, almost nothing": "0.00000000001", "negative": "-1", "a little negative": "-0.0000000001",
		"zero": "0", "zero with decimals": "0.0000000000", "10^28": "1" + strings.Repeat("0", 28), "beyond 10^28": strings.Repeat("9", 29) + ".5",
	} {
		for _, path := range []string{offersPath, "/v0" + tokenPath, "/v2" + tokenPath} {
			list = append(list, badRequest{name, ann.user, path, transferBody(ben.party, amount, "bad", soon), 400, "amount"})
		}
		send := fmt.Sprintf(`{"receiver_party_id":%q,"amount":%q,"deduplication_id":"bad"}`, ben.party, amount)
		external := fmt.Sprintf(`{"sender_party_id":%q,"receiver_party_id":%q,"amount":%s,"expires_at":%q,"nonce":0}`, ann.party, ben.party, amount, soon.Format(time.RFC3339))
		list = append(list,
			badRequest{name, ann.user, "/v0/wallet/transfer-preapproval/send", send, 400, "amount"},
			badRequest{name, ann.user, "/v0/wallet/tap", fmt.Sprintf(`{"amount":%q}`, amount), 400, "amount"},
			badRequest{name, realOperator, externalPath + "/transfer-preapproval/prepare-send", external, 400, "amount"})
	}
	// These are amounts, but not of anything that there is.
	for _, amount := range []string{"9999999999999999999999999999.9999999999", "100000000"} {
		list = append(list,
			badRequest{"more than there is", ann.user, "/v0" + tokenPath, transferBody(cal.party, amount, "much", soon), 400, "Insufficient funds"},
			badRequest{"more than is tapped", ann.user, "/v0/wallet/tap", `{"amount":"9999999999999999999999999999.9999999999"}`, 400, "amount"})
	}
	return list
}

// unknownParties are requests that name a party that is not there.
func (r *reality) unknownParties(ann *person) []badRequest {
	soon := r.Soon()
	synchronizer := r.synchronizer()
	return []badRequest{
		{"an offer", ann.user, offersPath, transferBody(stranger, "1", "u", soon), 400, ""},
		{"a token transfer", ann.user, "/v0" + tokenPath, transferBody(stranger, "1", "u", soon), 400, ""},
		{"a token transfer of version 2", ann.user, "/v2" + tokenPath, transferBody(stranger, "1", "u", soon), 400, ""},
		{"no party", ann.user, "/v0" + tokenPath, transferBody("stranger", "1", "u", soon), 400, "receiver_party_id"},
		{"a transfer in one step", ann.user, "/v0/wallet/transfer-preapproval/send", fmt.Sprintf(`{"receiver_party_id":%q,"amount":"1","deduplication_id":"u"}`, stranger), 400, ""},
		{"a receiver without preapproval", ann.user, "/v0/wallet/transfer-preapproval/send", fmt.Sprintf(`{"receiver_party_id":%q,"amount":"1","deduplication_id":"u"}`, ann.party), 400, ""},
		{"traffic", ann.user, "/v0/wallet/buy-traffic-requests",
			fmt.Sprintf(`{"receiving_validator_party_id":%q,"domain_id":%q,"traffic_amount":400000,"tracking_id":"u","expires_at":%d}`, stranger, synchronizer, soon.UnixMicro()), 400, ""},
		{"a new user", realOperator, "/v0/admin/users", fmt.Sprintf(`{"name":"new","party_id":%q}`, stranger), 400, ""},
		{"a setup proposal", realOperator, externalPath + "/setup-proposal", fmt.Sprintf(`{"user_party_id":%q}`, stranger), 404, ""},
		{"an acceptance", realOperator, externalPath + "/setup-proposal/prepare-accept", fmt.Sprintf(`{"user_party_id":%q,"contract_id":"00ab"}`, stranger), 404, ""},
		{"the receiver of an external party", realOperator, externalPath + "/transfer-preapproval/prepare-send",
			fmt.Sprintf(`{"sender_party_id":%q,"receiver_party_id":%q,"amount":1,"expires_at":%q,"nonce":0}`, ann.party, stranger, soon.Format(time.RFC3339)), 404, ""},
		{"who is offboarded", realOperator, "/v0/admin/users/offboard?username=stranger", "", 404, ""},
	}
}

// synchronizer is the one of the coin.
func (r *reality) synchronizer() string {
	r.World.Helper()
	m, err := r.Wallet.Network.Market(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return m.Config().Synchronizer.Active
}

// contractsOfOthers has people do things with contracts in which they have another role, or none,
// or that are something else.
func (r *reality) contractsOfOthers(t *testing.T, ann, ben, cal *person) {
	var offer struct {
		ID string `json:"offer_contract_id"`
	}
	r.must(t, ann.user, "POST", offersPath, transferBody(cal.party, "1", "others", r.Soon()), &offer)
	var token instructionMade
	r.must(t, ann.user, "POST", "/v0"+tokenPath, transferBody(cal.party, "2", "others", r.Soon()), &token)
	anyCoin := func(p *person) string {
		for id := range r.funds(t, p).unlocked {
			return id
		}
		t.Fatalf("%s has no coin", p.user)
		return ""
	}
	ids := map[string]string{"the offer": offer.ID, "the token transfer": token.Output.ID, "a coin": anyCoin(ann), "another's coin": anyCoin(cal), "nothing": "00" + strings.Repeat("ab", 60)}
	may := map[string]bool{
		"cal accept the offer": true, "cal reject the offer": true, "ann withdraw the offer": true,
		"cal accept the token transfer": true, "cal reject the token transfer": true, "ann withdraw the token transfer": true,
	}
	var list []badRequest
	for what, id := range ids {
		for _, p := range []*person{ann, ben, cal} {
			for _, action := range tokenActions {
				who := fmt.Sprintf("%s %s %s", p.user, action, what)
				if !may[who] || what != "the offer" {
					list = append(list,
						badRequest{who, p.user, offersPath + "/" + id + "/" + action, "", 404, ""},
						badRequest{who, p.user, offersPath + "/" + action, `{"contract_id":"` + id + `"}`, 404, ""})
				}
				if !may[who] || what != "the token transfer" {
					list = append(list, badRequest{who, p.user, "/v2" + tokenPath + "/" + id + "/" + action, "", 404, ""})
				}
			}
			for _, path := range []string{"minting-delegation-proposals/%s/accept", "minting-delegation-proposals/%s/reject", "minting-delegations/%s/reject"} {
				list = append(list, badRequest{what, p.user, "/v0/wallet/" + fmt.Sprintf(path, id), "", 404, ""})
			}
		}
	}
	r.refuse(t, []*person{ann, ben, cal}, list)
	r.must(t, ann.user, "POST", offersPath+"/"+offer.ID+"/withdraw", "", nil)
	r.must(t, cal.user, "POST", "/v0"+tokenPath+"/"+token.Output.ID+"/reject", "", nil)
}

// expiredOffers are those whose time has passed, when they are made and when they are answered.
func (r *reality) expiredOffers(t *testing.T, ann, cal *person) {
	var offer struct {
		ID string `json:"offer_contract_id"`
	}
	until := r.Ledger.Now().Add(5 * time.Minute)
	r.must(t, ann.user, "POST", offersPath, transferBody(cal.party, "1", "late", until), &offer)
	var token instructionMade
	r.must(t, ann.user, "POST", "/v0"+tokenPath, transferBody(cal.party, "2", "late", until), &token)
	r.Advance(20 * time.Minute)
	var list []badRequest
	for name, at := range map[string]time.Time{"now": r.Ledger.Now(), "before": until, "long ago": time.UnixMicro(1)} {
		for _, path := range []string{offersPath, "/v0" + tokenPath, "/v2" + tokenPath} {
			list = append(list, badRequest{name, ann.user, path, transferBody(cal.party, "1", "past", at), 400, "expires_at"})
		}
	}
	list = append(list,
		badRequest{"accepting an offer", cal.user, offersPath + "/" + offer.ID + "/accept", "", 400, ""},
		badRequest{"accepting a token transfer", cal.user, "/v0" + tokenPath + "/" + token.Output.ID + "/accept", "", 400, ""})
	r.refuse(t, []*person{ann, cal}, list)
	_, locked := r.funds(t, ann).sums()
	r.must(t, ann.user, "POST", "/v0"+tokenPath+"/"+token.Output.ID+"/withdraw", "", nil)
	if _, left := r.funds(t, ann).sums(); locked.Minus(left).Cmp(decimal.FromInt(2)) != 0 {
		t.Errorf("%s were locked, %s are after 2 were taken back", locked, left)
	}
}

// outsider is a party with a key of its own.
type outsider struct {
	party  string
	public ed25519.PublicKey
	key    ed25519.PrivateKey
}

// preparedSend is a transaction that waits for its signature.
type preparedSend struct {
	Transaction string `json:"transaction"`
	Hash        string `json:"tx_hash"`
}

// submission is a prepared transaction as it is sent back; signed is what was signed.
func (o *outsider) submission(key ed25519.PrivateKey, p preparedSend, signed string) string {
	hash, err := hex.DecodeString(signed)
	if err != nil {
		panic(err) // the answers of the interface are held against its document
	}
	return fmt.Sprintf(`{"submission":{"party_id":%q,"transaction":%q,"signed_tx_hash":"%x","public_key":"%x"}}`,
		o.party, p.Transaction, ed25519.Sign(key, hash), key.Public())
}

func (o *outsider) signed(p preparedSend) string { return o.submission(o.key, p, p.Hash) }

// newOutsider allocates a party by the steps of the interface.
func (r *reality) newOutsider(t *testing.T, hint string) *outsider {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o := &outsider{public: public, key: key}
	var topology struct {
		Party string `json:"party_id"`
		Txs   []struct {
			Tx   string `json:"topology_tx"`
			Hash string `json:"hash"`
		} `json:"topology_txs"`
	}
	r.must(t, realOperator, "POST", externalPath+"/topology/generate", fmt.Sprintf(`{"party_hint":%q,"public_key":"%x"}`, hint, public), &topology)
	var signed []string
	for _, tx := range topology.Txs {
		hash, err := hex.DecodeString(tx.Hash)
		if err != nil {
			t.Fatal(err)
		}
		signed = append(signed, fmt.Sprintf(`{"topology_tx":%q,"signed_hash":"%x"}`, tx.Tx, ed25519.Sign(key, hash)))
	}
	r.must(t, realOperator, "POST", externalPath+"/topology/submit", fmt.Sprintf(`{"public_key":"%x","signed_topology_txs":[%s]}`, public, strings.Join(signed, ",")), nil)
	o.party = topology.Party
	return o
}

// prepareSend prepares a transfer of an outsider.
func (r *reality) prepareSend(t *testing.T, o *outsider, to *person, nonce int) (p preparedSend) {
	t.Helper()
	r.must(t, realOperator, "POST", externalPath+"/transfer-preapproval/prepare-send",
		fmt.Sprintf(`{"sender_party_id":%q,"receiver_party_id":%q,"amount":1.5,"expires_at":%q,"nonce":%d}`, o.party, to.party, r.Soon().Format(time.RFC3339), nonce), &p)
	return p
}

// externalParty has an outsider replay what it has signed, sign what it should not, and count its
// transfers wrong.
func (r *reality) externalParty(t *testing.T, ann, ben *person) {
	o, other := r.newOutsider(t, "outside"), r.newOutsider(t, "other")
	var proposal struct {
		ID string `json:"contract_id"`
	}
	r.must(t, realOperator, "POST", externalPath+"/setup-proposal", fmt.Sprintf(`{"user_party_id":%q}`, o.party), &proposal)
	var accept preparedSend
	r.must(t, realOperator, "POST", externalPath+"/setup-proposal/prepare-accept", fmt.Sprintf(`{"user_party_id":%q,"contract_id":%q}`, o.party, proposal.ID), &accept)
	submitAccept := externalPath + "/setup-proposal/submit-accept"
	r.refuse(t, []*person{ann, ben}, r.badSubmissions("", o, other, submitAccept, accept))
	r.must(t, realOperator, "POST", submitAccept, o.signed(accept), nil)
	r.refuse(t, []*person{ann, ben}, []badRequest{
		{"an acceptance that was done", realOperator, submitAccept, o.signed(accept), 409, ""},
		{"a second proposal", realOperator, externalPath + "/setup-proposal", fmt.Sprintf(`{"user_party_id":%q}`, o.party), 409, "already exists"},
	})
	r.AwaitPublic()
	r.must(t, ann.user, "POST", "/v0/wallet/transfer-preapproval/send", fmt.Sprintf(`{"receiver_party_id":%q,"amount":"20","deduplication_id":"fund"}`, o.party), nil)
	r.transferCommands(t, o, other, ann, ben)
}

// badSubmissions are those of a prepared transaction that its party has not signed like that.
func (r *reality) badSubmissions(name string, o, other *outsider, path string, p preparedSend) []badRequest {
	raw, err := base64.StdEncoding.DecodeString(p.Transaction)
	if err != nil {
		panic(err)
	}
	raw[len(raw)/2] ^= 1
	changed := preparedSend{base64.StdEncoding.EncodeToString(raw), p.Hash}
	foreign := strings.Replace(other.submission(other.key, p, p.Hash), other.party, o.party, 1)
	return []badRequest{
		{name + " another hash", realOperator, path, o.submission(o.key, p, strings.Repeat("ab", 32)), 400, ""},
		{name + " the text of the hash", realOperator, path, o.submission(o.key, p, hex.EncodeToString([]byte(p.Hash))), 400, ""},
		{name + " another key", realOperator, path, foreign, 400, ""},
		{name + " another party", realOperator, path, other.signed(p), 400, ""},
		{name + " a changed transaction", realOperator, path, o.signed(changed), 400, ""},
	}
}

// transferCommands sends with nonces that are and are not next.
func (r *reality) transferCommands(t *testing.T, o, other *outsider, ann, ben *person) {
	submit := externalPath + "/transfer-preapproval/submit-send"
	first := r.prepareSend(t, o, ben, 0)
	r.refuse(t, []*person{ann, ben}, r.badSubmissions("", o, other, submit, first))
	r.must(t, realOperator, "POST", submit, o.signed(first), nil)
	r.refuse(t, []*person{ann, ben}, []badRequest{
		{"a transfer that was ordered", realOperator, submit, o.signed(first), 409, ""},
		{"a negative nonce", realOperator, externalPath + "/transfer-preapproval/prepare-send",
			fmt.Sprintf(`{"sender_party_id":%q,"receiver_party_id":%q,"amount":1.5,"expires_at":%q,"nonce":-1}`, o.party, ben.party, r.Soon().Format(time.RFC3339)), 400, "nonce"},
	})
	had, _ := r.funds(t, ben).sums()
	r.Advance(time.Second)
	r.awaitCommand(t, o, 0, "sent")
	has, _ := r.funds(t, ben).sums()
	if has.Minus(had).Cmp(decimal.Must("1.5")) != 0 {
		t.Errorf("%s had %s, has %s after 1.5 were sent", ben.user, had, has)
	}
	// A nonce that was used, and one whose turn has not come: they are ordered, and not sent.
	for nonce, status := range map[int]string{0: "failed", 7: "created"} {
		before, balance := r.funds(t, ben).String(), r.outsiderBalance(t, o)
		r.must(t, realOperator, "POST", submit, o.signed(r.prepareSend(t, o, ben, nonce)), nil)
		r.Advance(time.Second)
		r.awaitCommand(t, o, nonce, status)
		if after := r.funds(t, ben).String(); after != before {
			t.Errorf("by nonce %d the coins of %s have become %s, were %s", nonce, ben.user, after, before)
		}
		if after := r.outsiderBalance(t, o); after != balance {
			t.Errorf("by nonce %d the outsider has %s, had %s", nonce, after, balance)
		}
	}
	var counter struct {
		Counter struct {
			Contract struct {
				Payload struct {
					Next string `json:"nextNonce"`
				} `json:"payload"`
			} `json:"contract"`
		} `json:"transfer_command_counter"`
	}
	r.must(t, ann.user, "GET", "/v0/scan-proxy/transfer-command-counter/"+o.party, "", &counter)
	if next := counter.Counter.Contract.Payload.Next; next != "1" {
		t.Errorf("the next nonce is %q, want 1", next)
	}
}

// awaitCommand waits until the transfer commands of a nonce include one with a status.
func (r *reality) awaitCommand(t *testing.T, o *outsider, nonce int, status string) {
	t.Helper()
	var last answer
	path := fmt.Sprintf("/v0/scan-proxy/transfer-command/status?sender=%s&nonce=%d", o.party, nonce)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if last = r.as(realOperator, "GET", path, ""); strings.Contains(last.body, `"status":"`+status+`"`) {
			return
		}
	}
	t.Fatalf("the commands of nonce %d are %d %s, none is %s", nonce, last.status, last.body, status)
}

func (r *reality) outsiderBalance(t *testing.T, o *outsider) string {
	t.Helper()
	var balance struct {
		Total decimal.Decimal `json:"total_coin_holdings"`
	}
	r.must(t, realOperator, "GET", externalPath+"/balance?party_id="+o.party, "", &balance)
	return balance.Total.String()
}
