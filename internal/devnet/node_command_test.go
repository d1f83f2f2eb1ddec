package devnet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// commandBody is a request with one command that creates a transfer preapproval proposal.
func commandBody(actAs, commandID string, members ...string) string {
	return fmt.Sprintf(`{"commandId":%q,"actAs":[%q],"commands":[%s]%s}`, commandID, actAs,
		`{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferOffer:TransferOffer","createArguments":{}}}`,
		strings.Join(append([]string{""}, members...), ","))
}

// TestNodeCommandRefusals has what is wrong with a request before any contract is looked at.
func TestNodeCommandRefusals(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	end := c.ledgerEnd()
	mine := localParty(l)
	other := l.Names.Name(l.Names.SuperValidators.First)
	with := func(members ...string) string { return commandBody(mine, "c", members...) }
	command := func(text string) string {
		return fmt.Sprintf(`{"commandId":"c","actAs":[%q],"commands":[%s]}`, mine, text)
	}
	const id = `"templateId":"#splice-amulet:Splice.Amulet:Amulet"`
	for _, tc := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"no JSON", `{`, 400, ""},
		{"no commands", `{"commandId":"c","actAs":["a::b"]}`, 400, ""},
		{"no command id", `{"commands":[],"actAs":["a::b"]}`, 400, ""},
		{"no parties", `{"commandId":"c","commands":[]}`, 400, ""},
		{"an empty command id", commandBody(mine, ""), 400, "MISSING_FIELD"},
		{"a command id with a quote", commandBody(mine, `a"b`), 400, "INVALID_FIELD"},
		{"a long command id", commandBody(mine, strings.Repeat("x", 256)), 400, "INVALID_FIELD"},
		{"a long workflow id", with(`"workflowId":"` + strings.Repeat("x", 256) + `"`), 400, "INVALID_FIELD"},
		{"an empty list of parties", `{"commandId":"c","actAs":[],"commands":[{}]}`, 400, "MISSING_FIELD"},
		{"a party that is none", commandBody("alice", "c"), 400, "INVALID_FIELD"},
		{"a party of another participant", commandBody(other, "c"), 404, "NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT"},
		{"a party that is not there", commandBody("alice::1220ab", "c"), 404, "NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT"},
		{"an empty list of commands", command(``), 400, "MISSING_FIELD"},
		{"a command of no kind", command(`{}`), 400, ""},
		{"a command of two kinds", command(`{"CreateCommand":{},"ExerciseCommand":{}}`), 400, ""},
		{"an unknown command", command(`{"DeleteCommand":{}}`), 400, ""},
		{"a command by key", command(`{"ExerciseByKeyCommand":{` + id + `,"choice":"Archive"}}`), 400, "COMMAND_PREPROCESSING_FAILED"},
		{"no template", command(`{"CreateCommand":{"createArguments":{}}}`), 400, "MISSING_FIELD"},
		{"no arguments", command(`{"CreateCommand":{` + id + `}}`), 400, "MISSING_FIELD"},
		{"null for arguments", command(`{"CreateCommand":{` + id + `,"createArguments":null}}`), 400, "MISSING_FIELD"},
		{"no contract", command(`{"ExerciseCommand":{` + id + `,"choice":"Archive","choiceArgument":{}}}`), 400, "MISSING_FIELD"},
		{"no choice", command(`{"ExerciseCommand":{` + id + `,"contractId":"00","choiceArgument":{}}}`), 400, "MISSING_FIELD"},
		{"no choice argument", command(`{"CreateAndExerciseCommand":{` + id + `,"createArguments":{},"choice":"Archive"}}`), 400, "MISSING_FIELD"},
		{"a template that is no identifier", command(`{"CreateCommand":{"templateId":"Amulet","createArguments":{}}}`), 400, "INVALID_ARGUMENT"},
		{"an unknown package", command(`{"CreateCommand":{"templateId":"#nothing:A:B","createArguments":{}}}`), 404, "PACKAGE_NAMES_NOT_FOUND"},
		{"an unknown template", command(`{"CreateCommand":{"templateId":"#splice-amulet:Splice.Amulet:Gold","createArguments":{}}}`), 404, "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"},
		{"an unknown synchronizer", with(`"synchronizerId":"x::y"`), 400, "INVALID_ARGUMENT"},
		{"a disclosed contract without blob", with(`"disclosedContracts":[{"contractId":"00"}]`), 400, "MISSING_FIELD"},
		{"an unknown package preference", with(`"packageIdSelectionPreference":["ab"]`), 400, "JSON_API_PACKAGE_SELECTION_FAILED"},
		{"two least times", with(`"minLedgerTimeAbs":"2026-07-01T00:00:00Z"`, `"minLedgerTimeRel":{"seconds":1}`), 400, "INVALID_ARGUMENT"},
		{"a least time that is none", with(`"minLedgerTimeAbs":"soon"`), 400, ""},
		{"a negative least time", with(`"minLedgerTimeRel":{"seconds":-1}`), 400, "INVALID_FIELD"},
		{"two periods", with(`"deduplicationPeriod":{"Empty":{},"DeduplicationOffset":{"value":1}}`), 400, ""},
		{"an unknown period", with(`"deduplicationPeriod":{"Forever":{}}`), 400, ""},
		{"a period of letters", with(`"deduplicationPeriod":{"DeduplicationOffset":{"value":"x"}}`), 400, ""},
		{"a negative period", with(`"deduplicationPeriod":{"DeduplicationDuration":{"value":{"seconds":-1}}}`), 400, "INVALID_FIELD"},
		{"a period too long", with(`"deduplicationPeriod":{"DeduplicationDuration":{"value":{"seconds":604801}}}`), 400, "INVALID_DEDUPLICATION_PERIOD"},
		{"a negative offset", with(`"deduplicationPeriod":{"DeduplicationOffset":{"value":-1}}`), 400, "INVALID_FIELD"},
		{"an offset after the end", with(fmt.Sprintf(`"deduplicationPeriod":{"DeduplicationOffset":{"value":%d}}`, end+1)), 400, "INVALID_DEDUPLICATION_PERIOD"},
	} {
		for _, path := range []string{"submit-and-wait", "async/submit"} {
			c.refuses(refusal{path + ": " + tc.name, "POST", "/v2/commands/" + path, tc.body, tc.status, tc.code})
		}
		c.refuses(refusal{"for transaction: " + tc.name, "POST", "/v2/commands/submit-and-wait-for-transaction", `{"commands":` + tc.body + `}`, tc.status, tc.code})
		if !strings.Contains(tc.name, "least time") {
			c.refuses(refusal{"prepare: " + tc.name, "POST", "/v2/interactive-submission/prepare", tc.body, tc.status, tc.code})
		}
	}
	c.refuses(refusal{"no shape", "POST", "/v2/commands/submit-and-wait-for-transaction",
		`{"commands":` + with() + `,"transactionFormat":{"eventFormat":` + anyParty + `}}`, 400, "INVALID_ARGUMENT"})
	c.refuses(refusal{"nothing to submit", "POST", "/v2/commands/submit-and-wait-for-transaction", `{}`, 400, ""})
	if c.ledgerEnd() != end {
		t.Error("a refused command has moved the ledger")
	}
}

// localParty is a user of the node that does not sign for itself.
func localParty(l *ledger.Ledger) string {
	for _, p := range l.View.Parties {
		if l.Names.Users.Has(p) && !l.Names.IsExternal(p) {
			return l.Names.Name(p)
		}
	}
	return ""
}

func TestNodeCommandRights(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	mine := localParty(l)
	auth := &nodeapi.NodeAuth{Secret: []byte("secret"), Users: map[string][]ledger.Right{
		"reader": {{Kind: "CanReadAs", Party: mine}}, "executor": {{Kind: "CanExecuteAs", Party: mine}}, "actor": {{Kind: "CanActAs", Party: mine}}, "all": {{Kind: "CanReadAsAnyParty"}},
	}}
	c := serveNode(t, l, nodeapi.NodeOptions{Auth: auth})
	as := func(user string) nodeClient { return c.as(auth, user) }
	other := l.Names.Name(l.View.Parties[0])
	completions := fmt.Sprintf(`{"parties":[%q]}`, mine)
	for _, tc := range []struct{ user, path, body string }{
		{"reader", "/v2/commands/submit-and-wait", commandBody(mine, "c")},
		{"executor", "/v2/commands/submit-and-wait", commandBody(mine, "c")},
		{"all", "/v2/commands/async/submit", commandBody(mine, "c")},
		{nodeapi.AdminUser, "/v2/commands/submit-and-wait", commandBody(mine, "c")},
		{"actor", "/v2/commands/submit-and-wait", commandBody(mine, "c", fmt.Sprintf(`"readAs":[%q]`, other))},
		{"actor", "/v2/commands/submit-and-wait", commandBody(mine, "c", `"userId":"reader"`)},
		{"actor", "/v2/commands/submit-and-wait-for-transaction", fmt.Sprintf(`{"commands":%s,"transactionFormat":{"transactionShape":"TRANSACTION_SHAPE_ACS_DELTA","eventFormat":%s}}`, commandBody(mine, "c"), anyParty)},
		{"executor", "/v2/interactive-submission/prepare", commandBody(mine, "c")},
		{"executor", "/v2/commands/completions", completions},
		{"actor", "/v2/commands/completions", fmt.Sprintf(`{"parties":[%q,%q]}`, mine, other)},
		{"actor", "/v2/commands/completions", fmt.Sprintf(`{"userId":"reader","parties":[%q]}`, mine)},
		{"actor", "/v2/commands/command-completions", `{}`},
		{"actor", "/v2/commands/submit-and-wait-for-transaction-tree", commandBody(other, "c")},
		{"actor", "/v2/updates/get-updates-page", fmt.Sprintf(`{"updateFormat":%s}`, everything)},
		{"actor", "/v2/state/active-contracts-page", fmt.Sprintf(`{"eventFormat":%s}`, anyParty)},
		{"actor", "/v2/package-vetting/update", `{}`},
		{"actor", "/v2/idps", `{}`},
		{"actor", "/v2/events/events-by-contract-id", fmt.Sprintf(`{"contractId":"00","eventFormat":%s}`, anyParty)},
		{"actor", "/v2/updates/update-by-offset", fmt.Sprintf(`{"offset":1,"updateFormat":%s}`, everything)},
	} {
		as(tc.user).refuses(refusal{tc.user + " at " + tc.path, "POST", tc.path, tc.body, 403, "PERMISSION_DENIED"})
	}
	for _, user := range []string{"reader", "actor", "all"} {
		if list := as(user).list("/v2/commands/completions?stream_idle_timeout_ms=1", completions); len(list) > 1 {
			t.Errorf("%s is told of %d completions", user, len(list))
		}
	}
}

func TestNodeCompletionRefusals(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	mine := localParty(l)
	for _, tc := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"no JSON", `{`, 400, ""},
		{"no parties", `{}`, 400, "MISSING_FIELD"},
		{"a party that is none", `{"parties":["alice"]}`, 400, "INVALID_FIELD"},
		{"a negative begin", fmt.Sprintf(`{"parties":[%q],"beginExclusive":-1}`, mine), 400, "INVALID_ARGUMENT"},
		{"a begin after the end", fmt.Sprintf(`{"parties":[%q],"beginExclusive":%d}`, mine, c.ledgerEnd()+1), 400, "OFFSET_AFTER_LEDGER_END"},
	} {
		c.refuses(refusal{tc.name, "POST", "/v2/commands/completions", tc.body, tc.status, tc.code})
		want := tc.code
		if want == "" {
			want = "INVALID_ARGUMENT"
		}
		for _, path := range []string{"/v2/commands/completions", "/v2/commands/command-completions"} {
			if tc.name == "no parties" && path != "/v2/commands/completions" {
				continue // that is all of them
			}
			if e := c.failure(path, tc.body); e.Code != want {
				t.Errorf("%s: websocket ends with %+v, want %s", tc.name, e, want)
			}
		}
	}
}

// TestCommandsAreExecutedOnce has what the periods say about a command that comes again.
func TestCommandsAreExecutedOnce(t *testing.T) {
	const second = int64(1e6)
	c := nodeapi.NewChange("u", []string{"b", "a", "b"}, "c")
	if c != nodeapi.NewChange("u", []string{"a", "b"}, "c") {
		t.Fatal("the order of parties makes another change")
	}
	if c == nodeapi.NewChange("v", []string{"a", "b"}, "c") || c == nodeapi.NewChange("u", []string{"a"}, "c") || c == nodeapi.NewChange("u", []string{"a", "b"}, "d") {
		t.Fatal("another user, party or command id is the same change")
	}
	byDuration := func(d time.Duration) nodeapi.DeduplicationPeriod {
		return nodeapi.DeduplicationPeriod{Kind: ledger.PeriodByDuration, Duration: d}
	}
	for _, tc := range []struct {
		name   string
		period nodeapi.DeduplicationPeriod
		now    int64
		twice  bool
	}{
		{"at once", nodeapi.DeduplicationPeriod{}, 10 * second, true},
		{"within the longest period", nodeapi.DeduplicationPeriod{}, 10*second + nodeapi.MaxDeduplication.Microseconds() - 1, true},
		{"behind the longest period", nodeapi.DeduplicationPeriod{}, 10*second + nodeapi.MaxDeduplication.Microseconds(), false},
		{"within a duration", byDuration(5 * time.Second), 14 * second, true},
		{"behind a duration", byDuration(5 * time.Second), 15 * second, false},
		{"no duration", byDuration(0), 10 * second, false},
		{"since an offset before", nodeapi.DeduplicationPeriod{Kind: ledger.PeriodByOffset, Offset: 99}, 1000 * second, true},
		{"since its offset", nodeapi.DeduplicationPeriod{Kind: ledger.PeriodByOffset, Offset: 100}, 10 * second, false},
	} {
		log := nodeapi.NewCompletionLog(10)
		if err := log.Begin(c, tc.period, 90, 9*second); err != nil {
			t.Fatalf("%s: the first time: %v", tc.name, err)
		}
		if err := log.Begin(c, tc.period, 90, 9*second); err == nil || nodeapi.AsLedgerError(err).Code != "SUBMISSION_ALREADY_IN_FLIGHT" {
			t.Errorf("%s: while in execution: %v", tc.name, err)
		}
		log.Finish(c, &nodeapi.Completion{Change: c, Offset: 100, RecordTime: 10 * second, SubmissionID: "s"})
		switch err := log.Begin(c, tc.period, 100, tc.now); {
		case (err != nil) != tc.twice:
			t.Errorf("%s: the second time: %v", tc.name, err)
		case err != nil:
			if e := nodeapi.AsLedgerError(err); e.Code != "DUPLICATE_COMMAND" || e.Status() != 409 || e.Context["completion_offset"] != "100" || e.Context["existing_submission_id"] != "s" {
				t.Errorf("%s: %+v", tc.name, e)
			}
		}
	}
	log := nodeapi.NewCompletionLog(10)
	if err := log.Begin(c, nodeapi.DeduplicationPeriod{}, 1, 1); err != nil {
		t.Fatal(err)
	}
	log.Finish(c, nil)
	if err := log.Begin(c, nodeapi.DeduplicationPeriod{}, 1, 1); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

// TestCompletionsWaitForEarlierOnes has two commands that end in another order than they
// have in history.
func TestCompletionsWaitForEarlierOnes(t *testing.T) {
	log := nodeapi.NewCompletionLog(8)
	change := func(i int) nodeapi.Change { return nodeapi.NewChange("u", []string{"a"}, fmt.Sprint(i)) }
	begin := func(i int, end int64) {
		if err := log.Begin(change(i), nodeapi.DeduplicationPeriod{}, end, 0); err != nil {
			t.Fatal(err)
		}
	}
	finish := func(i int, offset int64) {
		log.Finish(change(i), &nodeapi.Completion{Change: change(i), Offset: offset})
	}
	begin(1, 10)
	begin(2, 10)
	finish(2, 14)
	if got := log.Settled(14); got != 10 {
		t.Errorf("while a command runs, all up to %d is said to be settled", got)
	}
	finish(1, 12)
	if got := log.Settled(14); got != 14 || log.Entries[0].Offset != 12 || log.Entries[1].Offset != 14 {
		t.Errorf("settled up to %d, entries %+v", got, log.Entries)
	}
	for i := 3; i < 40; i++ {
		begin(i, int64(10*i))
		finish(i, int64(10*i+2))
	}
	if n := len(log.Entries); n > 8 || len(log.Last) != n || log.Dropped >= log.Entries[0].Offset || log.Dropped == 0 {
		t.Errorf("%d completions and %d changes are kept, dropped up to %d", n, len(log.Last), log.Dropped)
	}
}
