package devnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// desk submits commands to a ledger for the parties of its node.
type desk struct {
	t        testing.TB
	l        *ledger.Ledger
	operator string
	commands int
	first    int64 // offset of the node's stream before the first command
}

func newDesk(t testing.TB, c sim.Config) *desk {
	t.Helper()
	if c.Updates == 0 {
		c.Updates = 400
	}
	c.Node = &sim.NodeConfig{}
	c.Dir, c.Keep = t.TempDir(), true
	l, err := ledger.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	first := l.Store.LedgerEnd(l.View)
	return &desk{t: t, l: l, first: first, operator: l.Names.Name(l.Names.SuperValidators.At(l.View.Participant))}
}

func (d *desk) submission(actAs []string, commands ...choices.Command) choices.Submission {
	d.commands++
	return choices.Submission{UserID: "test", CommandID: fmt.Sprint("c-", d.commands), ActAs: actAs, Commands: commands}
}

// must submits what has to succeed and returns the results.
func (d *desk) must(actAs []string, commands ...choices.Command) []json.RawMessage {
	d.t.Helper()
	return d.mustSubmit(d.submission(actAs, commands...)).Results
}

func (d *desk) mustSubmit(s choices.Submission) ledger.Committed {
	d.t.Helper()
	done, err := d.l.Submit(d.t.Context(), s)
	if err != nil {
		var r *choices.Refusal
		if errors.As(err, &r) {
			d.t.Fatalf("%v: %v", r, r.Context)
		}
		d.t.Fatal(err)
	}
	return done
}

// refused submits what has to be refused.
func (d *desk) refused(s choices.Submission) *choices.Refusal {
	d.t.Helper()
	_, err := d.l.Submit(d.t.Context(), s)
	var r *choices.Refusal
	if !errors.As(err, &r) {
		d.t.Fatalf("%+v is not refused: %v", s, err)
	}
	return r
}

func (d *desk) party(hint string, key []byte) string {
	d.t.Helper()
	a, err := d.l.AllocateParty(d.t.Context(), hint, key)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.Party
}

func (d *desk) advance(by time.Duration) {
	d.t.Helper()
	if err := d.l.AdvanceTime(d.t.Context(), by); err != nil {
		d.t.Fatal(err)
	}
}

func object(members ...any) json.RawMessage {
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func templateID(t *model.Template) string { return "#" + t.Pkg.Name + ":" + t.Name }

func create(t *model.Template, members ...any) choices.Command {
	return choices.Command{TemplateID: templateID(t), CreateArguments: object(members...)}
}

func exercise(t *model.Template, id, choice string, members ...any) choices.Command {
	return choices.Command{TemplateID: templateID(t), ContractID: id, Choice: choice, Argument: object(members...)}
}

// in reads a text out of a result.
func in(t testing.TB, raw json.RawMessage, path ...any) string {
	t.Helper()
	for _, at := range path {
		var next json.RawMessage
		var err error
		if key, ok := at.(string); ok {
			var m map[string]json.RawMessage
			err = json.Unmarshal(raw, &m)
			next = m[key]
		} else {
			var list []json.RawMessage
			if err = json.Unmarshal(raw, &list); err == nil && at.(int) < len(list) {
				next = list[at.(int)]
			}
		}
		if err != nil || next == nil {
			t.Fatalf("%s has nothing at %v", raw, path)
		}
		raw = next
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s at %v is no text", raw, path)
	}
	return s
}

// only is the id of the newest contract of a template that keep selects.
func (d *desk) newest(t *model.Template, keep func(*model.Contract) bool) string {
	d.t.Helper()
	all := d.l.OfTemplate(t, keep)
	if len(all) == 0 {
		d.t.Fatalf("there is no %s", t.Name)
	}
	return ledger.ContractIDOf(d.l, all[len(all)-1].Contract)
}

func (d *desk) rules() string { return d.newest(model.AmuletRulesTemplate, nil) }

// openRound is the newest round that is open.
func (d *desk) openRound() string {
	now := d.l.Now().UnixMicro()
	return d.newest(model.OpenRoundTemplate, func(c *model.Contract) bool { return c.Payload.(model.OpenRound).OpensAt <= now })
}

func (d *desk) context(rights ...[2]string) map[string]any {
	issuing, now := [][2]any{}, d.l.Now().UnixMicro()
	for _, c := range d.l.OfTemplate(model.IssuingRoundTemplate, func(c *model.Contract) bool { return c.Payload.(model.IssuingRound).IssuesAt <= now }) {
		issuing = append(issuing, [2]any{map[string]any{"number": c.Payload.(model.IssuingRound).Number}, ledger.ContractIDOf(d.l, c.Contract)})
	}
	if rights == nil {
		rights = [][2]string{}
	}
	return map[string]any{"openMiningRound": d.openRound(), "issuingMiningRounds": issuing, "validatorRights": rights}
}

func (d *desk) payment() map[string]any {
	return map[string]any{"amuletRules": d.rules(), "context": d.context()}
}

// coins are the ids of the unlocked coins of a party, oldest first, and their sum.
func (d *desk) coins(party string) (ids []string, sum model.Decimal) {
	for _, c := range d.l.OfTemplate(model.AmuletTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.Amulet).Owner) == party }) {
		ids, sum = append(ids, ledger.ContractIDOf(d.l, c.Contract)), sum+c.Payload.(model.Amulet).Amount
	}
	return ids, sum
}

func (d *desk) balance(party string) model.Decimal {
	_, sum := d.coins(party)
	return sum
}

// inputs are all coins of a party as inputs of a transfer.
func (d *desk) inputs(party string) []map[string]any {
	ids, _ := d.coins(party)
	list := []map[string]any{}
	for _, id := range ids {
		list = append(list, map[string]any{"tag": "InputAmulet", "value": id})
	}
	return list
}

func (d *desk) tap(party string, amount any) string {
	d.t.Helper()
	done := d.must([]string{party}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap",
		"receiver", party, "amount", amount, "openRound", d.openRound()))
	return in(d.t, done[0], "amuletSum", "amulet")
}

// onboard gives a party a wallet and returns its contract.
func (d *desk) onboard(party string) string {
	d.t.Helper()
	done := d.must([]string{party, d.operator},
		create(model.WalletInstallTemplate, "dsoParty", d.l.GovernanceParty(), "validatorParty", d.operator, "endUserName", model.Hint(party), "endUserParty", party),
		create(model.ValidatorRightTemplate, "dso", d.l.GovernanceParty(), "user", party, "validator", d.operator))
	return in(d.t, done[0])
}

// batch executes operations in a wallet and returns the outcomes.
func (d *desk) batch(install, party string, operations ...map[string]any) []json.RawMessage {
	d.t.Helper()
	done := d.must([]string{d.operator, party}, exercise(model.WalletInstallTemplate, install, "WalletAppInstall_ExecuteBatch",
		"context", d.payment(), "inputs", d.inputs(party), "operations", operations))
	var result struct {
		Outcomes []json.RawMessage `json:"outcomes"`
	}
	if err := json.Unmarshal(done[0], &result); err != nil || len(result.Outcomes) != len(operations) {
		d.t.Fatalf("%d operations have %s", len(operations), done[0])
	}
	return result.Outcomes
}

func operation(tag string, value any) map[string]any {
	return map[string]any{"tag": tag, "value": value}
}

// check compares what the ledger counts with what it holds.
func (d *desk) check() {
	d.t.Helper()
	if counted, s := countedCoins(d.l).String(), d.l.Supply(); counted != s.Circulating {
		d.t.Fatalf("the ledger holds %s coins but says %s circulate", counted, s.Circulating)
	}
}

// finish checks what must hold after all commands.
func (d *desk) finish() {
	d.t.Helper()
	d.check()
	d.checkPast()
	d.checkKept()
	d.checkTypes()
}

// checkTypes converts all values of the node's stream to protobuf_json and back, by the
// types of the catalogue. Those of third-party apps are in none.
func (d *desk) checkTypes() {
	d.t.Helper()
	c := serveNode(d.t, d.l, nodeapi.NodeOptions{})
	catalog := values.Default()
	typed := func(e *nodeEvent, what string, t *values.Type, raw json.RawMessage) {
		d.t.Helper()
		if t == nil {
			d.t.Errorf("the catalogue does not know the %s of %s %s", what, e.TemplateID, e.Choice)
			return
		}
		protobuf, err := values.AppendProtobuf(nil, raw, t)
		if err != nil {
			d.t.Errorf("%s of %s %s: %v: %s", what, e.TemplateID, e.Choice, err, raw)
			return
		}
		if back, err := values.AppendCompact(nil, protobuf, t); err != nil || string(back) != string(raw) {
			d.t.Errorf("%s of %s %s is %s, comes back as %s: %v", what, e.TemplateID, e.Choice, raw, back, err)
		}
	}
	for _, u := range decodeNodeUpdates(d.t, c.frames("/v2/updates", updatesBody(d.first, c.ledgerEnd(), everything))) {
		for i := range u.Events {
			e := &u.Events[i]
			switch {
			case e.PackageName == model.HarborPackage.Name || e.PackageName == model.ExchangePackage.Name:
			case e.CreateArgument != nil:
				typed(e, "arguments", catalog.Template(e.PackageName, e.TemplateID), e.CreateArgument)
			case e.Choice != "":
				typed(e, "argument", catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice), e.Argument)
				typed(e, "result", catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice), e.Result)
			}
		}
	}
}

// checkPast executes the ledger again and compares what is active.
func (d *desk) checkPast() {
	d.t.Helper()
	d.l.Mu.Lock()
	migration, updates := d.l.Executor.Tx.Migration, d.l.Executor.Tx.Updates
	now := ledger.StatesOf(d.l, d.l.Executor.Tx.Active, func(*model.Contract) bool { return true })
	d.l.Mu.Unlock()
	past, err := d.l.ExecuteAgain(d.t.Context(), migration, updates)
	if err != nil {
		d.t.Fatal(err)
	}
	row := func(c ledger.ContractState) string {
		return string((&history.Renderer{Names: d.l.Names}).ActiveContract(nil, c.Contract))
	}
	if !slices.EqualFunc(past.Active, now, func(a, b ledger.ContractState) bool { return row(a) == row(b) }) {
		d.t.Fatalf("executed again, %d contracts are active, not the same as now: %d", len(past.Active), len(now))
	}
}

// checkKept has another ledger go on from what is on disk, and compares it with this one.
func (d *desk) checkKept() {
	d.t.Helper()
	again := goOn(d.t, d.l, nil)
	sameHistory(d.t, d.l, again)
}

// nodeText is the update at an offset as the node's stream has it.
func (d *desk) nodeText(offset int64) string {
	d.t.Helper()
	h, err := nodeapi.NodeHandler(d.l, nodeapi.NodeOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(post(d.t, h, "/v2/updates", updatesBody(offset-1, offset, everything)))
}

func containsAll(s string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
}
