package devnet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/internal/devnet/prepared"
)

// wireTransaction is a transaction that was waited for.
type wireTransaction struct {
	Transaction nodeValue `json:"transaction"`
}

type waited struct {
	UpdateID string `json:"updateId"`
	Offset   int64  `json:"completionOffset"`
}

// flow is a node to write to, with the parties that the tests need.
type flow struct {
	nodeClient
	ledger        *ledger.Ledger
	dso, operator string
}

func startFlow(t *testing.T, o nodeapi.NodeOptions) flow {
	l, c := startNode(t, sim.Config{Updates: 600, Seed: 11, SkipCompact: true}, o)
	return flow{c, l, l.Names.Name(model.Dso), l.Names.Name(l.Names.ValidatorOf(l.View.Parties[0]))}
}

// addParty allocates a party over the API.
func (f flow) addParty(hint string) string {
	f.t.Helper()
	var answer struct {
		Details nodeapi.PartyDetails `json:"partyDetails"`
	}
	f.call("POST", "/v2/parties", fmt.Sprintf(`{"partyIdHint":%q,"identityProviderId":""}`, hint), &answer)
	if !strings.HasPrefix(answer.Details.Party, hint+"::1220") || !answer.Details.Local {
		f.t.Fatalf("allocated %+v", answer)
	}
	return answer.Details.Party
}

// install is the command by which a user gets a wallet.
func (f flow) install(user, party, commandID string, members ...string) string {
	arguments := fmt.Sprintf(`{"dsoParty":%q,"validatorParty":%q,"endUserName":%q,"endUserParty":%q}`, f.dso, f.operator, user, party)
	return fmt.Sprintf(`{"commandId":%q,"actAs":[%q,%q],"commands":[{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.Install:WalletAppInstall","createArguments":%s}}]%s}`,
		commandID, party, f.operator, arguments, strings.Join(append([]string{""}, members...), ","))
}

// completionsSince reads the completions of a user.
func (f flow) completionsSince(user, party string, begin int64) (found []nodeapi.WireCompletion) {
	f.t.Helper()
	for _, raw := range f.list("/v2/commands/completions?stream_idle_timeout_ms=20", fmt.Sprintf(`{"userId":%q,"parties":[%q],"beginExclusive":%d}`, user, party, begin)) {
		kind, value := single(f.t, unwrap(f.t, raw, "completionResponse"))
		if kind != "Completion" {
			continue
		}
		var c nodeapi.WireCompletion
		decodeStrictly(f.t, unwrap(f.t, value, "value"), &c)
		found = append(found, c)
	}
	return found
}

// streamed reads the update at an offset from the stream.
func (f flow) streamed(offset int64) nodeUpdate {
	f.t.Helper()
	updates := decodeNodeUpdates(f.t, f.frames("/v2/updates", updatesBody(offset-1, offset, everything)))
	if len(updates) != 1 {
		f.t.Fatalf("%d updates at offset %d", len(updates), offset)
	}
	return updates[0]
}

func TestNodeExecutesCommands(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	begin := f.ledgerEnd()
	conn := f.dial("/v2/commands/command-completions", fmt.Sprintf(`{"userId":"ann","parties":[%q],"beginExclusive":%d}`, f.operator, begin))
	alice, bob := f.addParty("alice"), f.addParty("bob")

	var done waited
	f.call("POST", "/v2/commands/submit-and-wait", f.install("alice", alice, "c1", `"userId":"ann"`, `"submissionId":"s1"`, `"workflowId":"w1"`), &done)
	u := f.streamed(done.Offset)
	if u.Value.UpdateID != done.UpdateID || u.Value.CommandID == nil || *u.Value.CommandID != "c1" || u.Value.WorkflowID != "w1" || f.ledgerEnd() < done.Offset {
		t.Errorf("waited for %+v, streamed is %+v", done, u.Value)
	}
	if len(u.Events) == 0 || u.Events[0].Kind != "CreatedEvent" || !strings.HasSuffix(u.Events[0].TemplateID, ":Splice.Wallet.Install:WalletAppInstall") {
		t.Fatalf("events are %+v", u.Events)
	}

	var transaction wireTransaction
	body := `{"commands":` + f.install("bob", bob, "c2", `"userId":"ann"`) + `}`
	f.call("POST", "/v2/commands/submit-and-wait-for-transaction", body, &transaction)
	if v := transaction.Transaction; v.CommandID == nil || *v.CommandID != "c2" || len(v.Events) == 0 || v.UpdateID != f.streamed(v.Offset).Value.UpdateID {
		t.Errorf("transaction is %+v", v)
	}
	carol := f.addParty("carol")
	f.call("POST", "/v2/commands/submit-and-wait-for-transaction", fmt.Sprintf(`{"commands":%s,"transactionFormat":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":{"filtersByParty":{%q:{}}}}}`,
		f.install("carol", carol, "c3", `"userId":"ann"`), alice), &transaction)
	if v := transaction.Transaction; v.UpdateID == "" || len(v.Events) != 0 {
		t.Errorf("a format without the event gives %+v", v)
	}

	got := f.completionsSince("ann", f.operator, begin)
	ids := []string{}
	for _, c := range got {
		ids = append(ids, c.CommandID)
	}
	if !slices.Equal(ids, []string{"c1", "c2", "c3"}) || got[0].UpdateID != done.UpdateID || got[0].Offset != done.Offset || got[0].SubmissionID != "s1" || got[0].Status.Code != 0 {
		t.Errorf("completions are %+v", got)
	}
	if after := f.completionsSince("ann", f.operator, done.Offset); len(after) != 2 || after[0].CommandID != "c2" {
		t.Errorf("after the first: %+v", after)
	}
	if others := f.completionsSince("bea", f.operator, 0); len(others) != 0 {
		t.Errorf("another user is told of %+v", others)
	}
	if mine := f.completionsSince("ann", alice, 0); len(mine) != 1 {
		t.Errorf("alice is told of %+v", mine)
	}
	for _, want := range ids {
		frame, err := f.frame(conn)
		for err == nil && strings.Contains(string(frame), "OffsetCheckpoint") {
			frame, err = f.frame(conn)
		}
		if err != nil || !strings.Contains(string(frame), `"commandId":"`+want+`"`) {
			t.Fatalf("the websocket gives %s, %v, want %s", frame, err, want)
		}
	}
}

func TestNodeExecutesACommandOnce(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	alice := f.addParty("alice")
	var none struct{}
	f.call("POST", "/v2/commands/async/submit", f.install("alice", alice, "c", `"submissionId":"first"`), &none)
	completions := f.completionsSince(nodeapi.AdminUser, alice, 0)
	if len(completions) != 1 {
		t.Fatalf("completions are %+v", completions)
	}
	end := f.ledgerEnd()
	for _, path := range []string{"submit-and-wait", "async/submit"} {
		status, _, answer := f.do("POST", "/v2/commands/"+path, f.install("alice", alice, "c", `"submissionId":"second"`))
		e := f.decodeError(answer)
		if status != http.StatusConflict || e.Code != "DUPLICATE_COMMAND" || e.Context["existing_submission_id"] != "first" || e.Context["completion_offset"] != strconv.FormatInt(completions[0].Offset, 10) {
			t.Errorf("%s again: status %d, %+v", path, status, e)
		}
	}
	if f.ledgerEnd() != end {
		t.Error("a duplicate has moved the ledger")
	}
	// The same id means another thing for another user, other parties, or since a later offset.
	bob := f.addParty("bob")
	var done waited
	f.call("POST", "/v2/commands/submit-and-wait", f.install("x", bob, "c"), &done)
	f.call("POST", "/v2/commands/submit-and-wait", f.install("y", bob, "c", `"userId":"other"`), &done)
	f.call("POST", "/v2/commands/submit-and-wait", f.install("z", bob, "c", fmt.Sprintf(`"deduplicationPeriod":{"DeduplicationOffset":{"value":%d}}`, done.Offset)), &done)
	f.call("POST", "/devnet/advance-time", `{"duration":{"seconds":3600}}`, &struct{}{})
	f.call("POST", "/v2/commands/submit-and-wait", f.install("q", bob, "c", `"deduplicationPeriod":{"DeduplicationDuration":{"value":{"seconds":600}}}`), &done)
	f.refuses(refusal{"within a longer time", "POST", "/v2/commands/submit-and-wait", f.install("q", bob, "c", `"deduplicationPeriod":{"DeduplicationDuration":{"value":{"seconds":7200}}}`), 409, "DUPLICATE_COMMAND"})
}

// TestNodeTellsWhatTheLedgerRefuses has commands that the ledger does not execute.
func TestNodeTellsWhatTheLedgerRefuses(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	alice := f.addParty("alice")
	end := f.ledgerEnd()
	exercise := func(contractID, choice, argument string) string {
		return fmt.Sprintf(`{"commandId":"c","actAs":[%q],"commands":[{"ExerciseCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferOffer:TransferOffer","contractId":%q,"choice":%q,"choiceArgument":%s}}]}`, alice, contractID, choice, argument)
	}
	for _, tc := range []refusal{
		{"a contract that is not there", "", "", exercise(strings.Repeat("00", 69), "TransferOffer_Accept", `{}`), 404, "CONTRACT_NOT_FOUND"},
		{"not all who must authorize", "", "", strings.Replace(f.install("alice", alice, "c"), fmt.Sprintf(`%q,%q],"commands"`, alice, f.operator), fmt.Sprintf(`%q],"commands"`, alice), 1), 400, ""},
		{"arguments of another type", "", "", strings.Replace(f.install("alice", alice, "c"), `"endUserName":"alice"`, `"endUserName":7`, 1), 400, "COMMAND_PREPROCESSING_FAILED"},
	} {
		for _, path := range []string{"submit-and-wait", "async/submit"} {
			status, _, answer := f.do("POST", "/v2/commands/"+path, tc.body)
			e := f.decodeError(answer)
			if status != tc.status || tc.code != "" && e.Code != tc.code || e.Definite == nil || !*e.Definite {
				t.Errorf("%s: status %d, %s, want %d and %s", tc.name, status, answer, tc.status, tc.code)
			}
		}
	}
	if got := f.completionsSince(nodeapi.AdminUser, alice, 0); len(got) != 0 || f.ledgerEnd() != end {
		t.Errorf("refused commands have completions %+v and move the ledger from %d to %d", got, end, f.ledgerEnd())
	}
	// A refused command may come again.
	var done waited
	f.call("POST", "/v2/commands/submit-and-wait", f.install("alice", alice, "c"), &done)
}

func TestNodeAllocatesParties(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	var created userAnswer
	f.call("POST", "/v2/users", `{"user":{"id":"alice"}}`, &created)
	before := f.ledgerEnd()
	var answer struct {
		Details nodeapi.PartyDetails `json:"partyDetails"`
	}
	f.call("POST", "/v2/parties", `{"partyIdHint":"alice","userId":"alice","localMetadata":{"annotations":{"k":"v"}}}`, &answer)
	alice := answer.Details.Party
	if answer.Details.Metadata.Annotations["k"] != "v" {
		t.Errorf("allocated %+v", answer)
	}
	var rights rightsAnswer
	f.call("GET", "/v2/users/alice/rights", "", &rights)
	if len(rights.Rights) != 1 || rights.Rights[0].Kind["CanActAs"].Value.Party != alice {
		t.Errorf("rights are %+v", rights)
	}
	topology := decodeNodeUpdates(t, f.frames("/v2/updates", updatesBody(before, f.ledgerEnd(), everything)))
	if !slices.ContainsFunc(topology, func(u nodeUpdate) bool {
		return u.Kind == "TopologyTransaction" && strings.Contains(string(u.frame), alice)
	}) {
		t.Errorf("the stream does not tell of the party: %+v", topology)
	}
	f.refuses(refusal{"a party again", "POST", "/v2/parties", `{"partyIdHint":"alice"}`, 400, "INVALID_ARGUMENT"})
	f.refuses(refusal{"for an unknown user", "POST", "/v2/parties", `{"partyIdHint":"eve","userId":"eve"}`, 404, "USER_NOT_FOUND"})
	f.refuses(refusal{"a hint with a slash", "POST", "/v2/parties", `{"partyIdHint":"a/b"}`, 400, "INVALID_FIELD"})
	f.refuses(refusal{"an unknown synchronizer", "POST", "/v2/parties", `{"partyIdHint":"eve","synchronizerId":"x::y"}`, 400, "INVALID_ARGUMENT"})
	f.refuses(refusal{"with a version", "POST", "/v2/parties", `{"partyIdHint":"eve","localMetadata":{"resourceVersion":"1"}}`, 400, "INVALID_FIELD"})
	f.refuses(refusal{"annotating nobody", "PATCH", "/v2/parties/eve::1220", `{"partyDetails":{},"updateMask":{"paths":["local_metadata"]}}`, 404, "PARTY_NOT_FOUND"})
	f.refuses(refusal{"changing the id", "PATCH", "/v2/parties/" + alice, `{"partyDetails":{},"updateMask":{"paths":["party"]}}`, 400, "INVALID_FIELD"})
	f.refuses(refusal{"a stale version", "PATCH", "/v2/parties/" + alice, `{"partyDetails":{"localMetadata":{"resourceVersion":"7"}},"updateMask":{"paths":["local_metadata"]}}`, 409, "CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED"})
	f.call("PATCH", "/v2/parties/"+alice, `{"partyDetails":{"localMetadata":{"annotations":{"k":"","l":"w"}}},"updateMask":{"paths":["local_metadata.annotations"]}}`, &answer)

	var list struct {
		Details []nodeapi.PartyDetails `json:"partyDetails"`
		Next    string                 `json:"nextPageToken"`
	}
	f.call("GET", "/v2/parties/"+alice+"?parties=eve::1220&parties="+f.dso, "", &list)
	if len(list.Details) != 2 || fmt.Sprint(list.Details[0].Metadata.Annotations) != "map[l:w]" || list.Details[1].Local {
		t.Errorf("details are %+v", list)
	}
	var all []string
	for token, more := "", true; more; token, more = list.Next, list.Next != "" {
		list.Next, list.Details = "", nil
		f.call("GET", "/v2/parties?pageSize=7&pageToken="+token, "", &list)
		for _, d := range list.Details {
			all = append(all, d.Party)
		}
	}
	if want := slices.Sorted(slices.Values(allNames(f.ledger))); !slices.Equal(all, want) {
		t.Errorf("%d parties in pages, want %d", len(all), len(want))
	}
	f.call("GET", "/v2/parties?filter-party=ali", "", &list)
	if len(list.Details) != 1 || list.Details[0].Party != alice {
		t.Errorf("parties that begin with ali: %+v", list)
	}
}

// prepareBody asks for a proposal of a transfer preapproval by an external party.
func (f flow) prepareBody(party, commandID string, members ...string) string {
	arguments := fmt.Sprintf(`{"receiver":%q,"provider":%q,"expectedDso":%q}`, party, f.operator, f.dso)
	return fmt.Sprintf(`{"commandId":%q,"actAs":[%q],"commands":[{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal","createArguments":%s}}]%s}`,
		commandID, party, arguments, strings.Join(append([]string{""}, members...), ","))
}

func executeBody(prepared []byte, party, signature string, members ...string) string {
	return fmt.Sprintf(`{"preparedTransaction":%q,"partySignatures":{"signatures":[{"party":%q,"signatures":[%s]}]},"submissionId":"s","hashingSchemeVersion":"HASHING_SCHEME_VERSION_V2"%s}`,
		base64.StdEncoding.EncodeToString(prepared), party, signature, strings.Join(append([]string{""}, members...), ","))
}

func decodePrepared(t *testing.T, message []byte) *prepared.Transaction {
	t.Helper()
	p, err := prepared.Decode(message)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNodeExecutesWhatIsSigned takes an external party from its key to a transaction.
func TestNodeExecutesWhatIsSigned(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	key, other := testKey(7), testKey(8)
	var topology topologyAnswer
	f.call("POST", "/v2/parties/external/generate-topology", generateBody(f.ledger, "ada", publicOf(key)), &topology)
	each := func(transaction []byte) string { return signatureBy(key, nodeapi.TopologyHash(transaction)) }
	onboard := onboardBody(f.ledger, topology.Transactions, each, "")
	var allocated struct {
		Party string `json:"partyId"`
	}
	f.call("POST", "/v2/parties/external/allocate", onboard, &allocated)
	ada := allocated.Party
	if ada != topology.PartyID {
		t.Fatalf("allocated %s, announced %s", ada, topology.PartyID)
	}
	f.refuses(refusal{"a party again", "POST", "/v2/parties/external/allocate", onboard, 400, "INVALID_ARGUMENT"})
	f.refuses(refusal{"without a signature", "POST", "/v2/commands/submit-and-wait", f.prepareBody(ada, "c"), 404, "NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT"})

	const prepare, execute = "/v2/interactive-submission/prepare", "/v2/interactive-submission/executeAndWait"
	end := f.ledgerEnd()
	var first nodeapi.WirePrepared
	f.call("POST", prepare, f.prepareBody(ada, "c", `"verboseHashing":true`), &first)
	hash := first.Hash
	if first.Scheme != "HASHING_SCHEME_VERSION_V2" || first.Details == nil || first.Cost == nil || first.Cost.Total <= 0 {
		t.Fatalf("prepared is %+v", first)
	}
	if f.ledgerEnd() != end {
		t.Error("preparing has moved the ledger")
	}
	var v3, cheap nodeapi.WirePrepared
	f.call("POST", prepare, f.prepareBody(ada, "c3", `"hashingSchemeVersion":"HASHING_SCHEME_VERSION_V3"`), &v3)
	f.call("POST", prepare, f.prepareBody(ada, "c4", `"estimateTrafficCost":{"disabled":true}`), &cheap)
	if cheap.Cost != nil || cheap.Details != nil || v3.Scheme != "HASHING_SCHEME_VERSION_V3" {
		t.Errorf("%+v and %+v", v3, cheap)
	}
	signature := signatureBy(key, hash)
	good := executeBody(first.Transaction, ada, signature)
	twisted := slices.Clone(first.Transaction)
	at := bytes.Index(twisted, []byte(f.operator))
	twisted[at]++
	for _, tc := range []refusal{
		{"nothing prepared", "POST", execute, executeBody(nil, ada, signature), 400, "MISSING_FIELD"},
		{"something else prepared", "POST", execute, executeBody([]byte{1, 2}, ada, signature), 400, "INVALID_ARGUMENT"},
		{"a changed transaction", "POST", execute, executeBody(twisted, ada, signature), 400, "INVALID_ARGUMENT"},
		{"signed by another", "POST", execute, executeBody(first.Transaction, ada, signatureBy(other, hash)), 400, "INVALID_ARGUMENT"},
		{"the text of the hash signed", "POST", execute, executeBody(first.Transaction, ada, signatureBy(key, []byte(fmt.Sprintf("%x", hash)))), 400, "INVALID_ARGUMENT"},
		{"the hash of another transaction signed", "POST", execute, executeBody(first.Transaction, ada, signatureBy(key, cheap.Hash)), 400, "INVALID_ARGUMENT"},
		{"hashed by another scheme", "POST", execute, strings.Replace(good, "VERSION_V2", "VERSION_V3", 1), 400, "INVALID_ARGUMENT"},
		{"an unknown scheme", "POST", execute, strings.Replace(good, "VERSION_V2", "VERSION_V1", 1), 400, "INVALID_FIELD"},
		{"no signature", "POST", execute, executeBody(first.Transaction, ada, ""), 400, "MISSING_FIELD"},
		{"no parties", "POST", execute, strings.Replace(good, `"partySignatures"`, `"x"`, 1), 400, "MISSING_FIELD"},
		{"signed for another party", "POST", execute, executeBody(first.Transaction, f.operator, signature), 400, "INVALID_ARGUMENT"},
		{"no submission id", "POST", execute, strings.Replace(good, `"submissionId":"s"`, `"submissionId":""`, 1), 400, "MISSING_FIELD"},
	} {
		f.refuses(tc)
	}
	if f.ledgerEnd() != end {
		t.Error("a refused transaction has moved the ledger")
	}
	var done waited
	f.call("POST", execute, good, &done)
	u := f.streamed(done.Offset)
	if u.Value.UpdateID != done.UpdateID || len(u.Events) != 1 || !bytes.Contains(first.Transaction, []byte(u.Events[0].ContractID)) {
		t.Errorf("executed %+v, streamed %+v", done, u.Value)
	}
	f.refuses(refusal{"again", "POST", execute, good, 409, "DUPLICATE_COMMAND"})
	again := executeBody(first.Transaction, ada, signature, fmt.Sprintf(`"deduplicationPeriod":{"DeduplicationOffset":{"value":%d}}`, f.ledgerEnd()))
	_, _, answer := f.do("POST", execute, strings.Replace(again, `"submissionId":"s"`, `"submissionId":"s2"`, 1))
	if e := f.decodeError(answer); e.Code != "DUPLICATE_COMMAND" || e.Context["existing_submission_id"] != "s" || e.Context["completion_offset"] != strconv.FormatInt(done.Offset, 10) {
		t.Errorf("since a later offset: %+v", e)
	}
	f.refuses(refusal{"again, as if it were another command", "POST", execute,
		executeBody(first.Transaction, ada, signature, `"deduplicationPeriod":{"DeduplicationDuration":{"value":{"seconds":0}}}`), 409, "DUPLICATE_COMMAND"})

	var none struct{}
	f.call("POST", "/v2/interactive-submission/execute", strings.Replace(executeBody(v3.Transaction, ada, signatureBy(key, v3.Hash)), "VERSION_V2", "VERSION_V3", 1), &none)
	if got := f.completionsSince(nodeapi.AdminUser, ada, done.Offset); len(got) != 1 || got[0].CommandID != "c3" {
		t.Errorf("completions are %+v", got)
	}
	var last wireTransaction
	f.call("POST", "/v2/interactive-submission/executeAndWaitForTransaction", executeBody(cheap.Transaction, ada, signatureBy(key, cheap.Hash)), &last)
	if len(last.Transaction.Events) != 1 {
		t.Errorf("transaction is %+v", last)
	}

	var late nodeapi.WirePrepared
	f.call("POST", prepare, f.prepareBody(ada, "late"), &late)
	s, err := decodePrepared(t, late.Transaction).Submission(f.ledger.Names)
	if err != nil {
		t.Fatal(err)
	}
	uuid := func(n uint64) string { return f.ledger.Names.IDs.UUID(n).String() }
	for _, tc := range []struct{ name, old, new, code string }{
		{"what the node has not prepared", uuid(s.Reserved), uuid(ledger.PreparedNumbers + 3), "INVALID_ARGUMENT"},
		{"what another network has prepared", uuid(s.Reserved), strings.Repeat("0", 36), "INVALID_ARGUMENT"},
		{"what commands do not bring about", "splice-wallet", "splice-purse_", "FAILED_TO_EXECUTE_TRANSACTION"},
	} {
		forged := bytes.Replace(late.Transaction, []byte(tc.old), []byte(tc.new), 1)
		hash := decodePrepared(t, forged).Hash(prepared.V2).Signed
		f.refuses(refusal{tc.name, "POST", execute, executeBody(forged, ada, signatureBy(key, hash)), 400, tc.code})
	}
	f.call("POST", "/devnet/advance-time", fmt.Sprintf(`{"duration":{"seconds":%d}}`, int(nodeapi.PreparedLife/time.Second)+1), &none)
	f.refuses(refusal{"too late", "POST", execute, executeBody(late.Transaction, ada, signatureBy(key, late.Hash)), 400, "FAILED_TO_EXECUTE_TRANSACTION"})
}

// TestNodeTimeIsAdvanced moves the ledger's time.
func TestNodeTimeIsAdvanced(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	now := func() time.Time {
		var answer struct{ Now time.Time }
		f.call("GET", "/devnet/time", "", &answer)
		return answer.Now
	}
	before, end := now(), f.ledgerEnd()
	var answer struct{ Now time.Time }
	f.call("POST", "/devnet/advance-time", `{"duration":{"seconds":7200}}`, &answer)
	if d := now().Sub(before); d < 2*time.Hour || d > 2*time.Hour+time.Minute || f.ledgerEnd() <= end {
		t.Errorf("time moved by %s, the ledger from %d to %d", d, end, f.ledgerEnd())
	}
	for _, body := range []string{`{`, `{}`} {
		f.refuses(refusal{"no duration", "POST", "/devnet/advance-time", body, 400, ""})
	}
	for _, body := range []string{`{"duration":{"seconds":-1}}`, `{"duration":{"seconds":99999999999}}`} {
		f.refuses(refusal{"no such duration", "POST", "/devnet/advance-time", body, 400, "INVALID_FIELD"})
	}
}
