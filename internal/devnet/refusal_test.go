package devnet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// TestCommandRefusals has commands that the ledger must not execute. None of them changes anything.
func TestCommandRefusals(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 61})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(alice)
	coin := d.tap(alice, 10)
	spent := d.tap(alice, 1)
	d.must([]string{alice, bob}, d.transfer(alice, []string{spent}, bob, "0.5"))
	offer := d.offer(wallet, alice, bob, "1", "t")
	self, both := []string{alice}, []string{alice, bob}
	transfer := func(amount any) choices.Command { return d.transfer(alice, []string{coin}, bob, amount) }
	tap := func(amount any) choices.Command {
		return exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap", "receiver", alice, "amount", amount, "openRound", d.openRound())
	}
	future := d.newest(model.OpenRoundTemplate, nil)
	many := make([]string, 101)
	for i := range many {
		many[i] = coin
	}
	offering := func(member string, v any) choices.Command {
		m := map[string]any{"receiver": bob, "amount": map[string]any{"amount": "1", "unit": "AmuletUnit"}, "description": "",
			"expiresAt": d.expiry(), "trackingId": "x"}
		m[member] = v
		var list []any
		for k, v := range m {
			list = append(list, k, v)
		}
		return exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_CreateTransferOffer", list...)
	}
	amount := func(v any) map[string]any { return map[string]any{"amount": v, "unit": "AmuletUnit"} }
	before := d.l.Digests()
	for _, tc := range []struct {
		name     string
		actAs    []string
		commands []choices.Command
		code, id string
		message  string
	}{
		{"no commands", self, nil, choices.CodeMissingField, "", "commands"},
		{"nobody acts", nil, []choices.Command{transfer(1)}, choices.CodeMissingField, "", "act_as"},
		{"unknown actor", []string{"carol::1220ab"}, []choices.Command{transfer(1)}, choices.CodeInvalidArgument, "", "carol"},
		{"11 fraction digits", both, []choices.Command{transfer("0.12345678901")}, choices.CodePreprocessing, "", "fraction digits"},
		{"29 digits", both, []choices.Command{transfer("10000000000000000000000000000")}, choices.CodePreprocessing, "", "digits before the point"},
		{"beyond the devnet", both, []choices.Command{transfer("10000000000")}, choices.CodePreprocessing, "", "count"},
		{"negative", both, []choices.Command{transfer("-1")}, choices.CodeFailed, "amount-not-positive", ""},
		{"zero", both, []choices.Command{transfer(0)}, choices.CodeFailed, "amount-not-positive", ""},
		{"no number", both, []choices.Command{transfer("ten")}, choices.CodePreprocessing, "", "not a decimal"},
		{"exponent", self, []choices.Command{tap("1e3")}, choices.CodePreprocessing, "", "not a decimal"},
		{"insufficient funds", both, []choices.Command{transfer("10.5")}, choices.CodeFailed, choices.ErrorInsufficientFunds, "0.5000000000"},
		{"two outputs beyond all numbers", both, []choices.Command{d.transfer(alice, []string{coin}, bob, "922337203", "922337203")}, choices.CodeFailed, "", ""},
		{"spent coin", both, []choices.Command{d.transfer(alice, []string{spent}, bob, 1)}, choices.CodeContractNotFound, "", spent},
		{"one coin twice", both, []choices.Command{d.transfer(alice, []string{coin, coin}, bob, 1)}, choices.CodeContractNotFound, "", coin},
		{"101 inputs", both, []choices.Command{d.transfer(alice, many, bob, 1)}, choices.CodeFailed, choices.ErrorTooManyInputs, ""},
		{"somebody else's coin", []string{bob}, []choices.Command{d.transfer(bob, []string{coin}, bob, 1)}, choices.CodeContractNotFound, "", coin},
		{"a transfer that the receiver does not agree to", self, []choices.Command{transfer(1)}, choices.CodeInvalidArgument, "missing-authorization", "bob"},
		{"not the sender", []string{bob}, []choices.Command{transfer(1)}, choices.CodeInvalidArgument, "missing-authorization", "alice"},
		{"two commands, one wrong", both, []choices.Command{tap(5), transfer(100)}, choices.CodeFailed, choices.ErrorInsufficientFunds, ""},
		{"unknown receiver", both, []choices.Command{d.transfer(alice, []string{coin}, "carol::1220ab", 1)}, choices.CodeInvalidArgument, "", "carol"},
		{"receiver is not a party", both, []choices.Command{d.transfer(alice, []string{coin}, "carol", 1)}, choices.CodePreprocessing, "", "not a party"},
		{"contract of nowhere", both, []choices.Command{d.transfer(alice, []string{"00" + strings.Repeat("ab", 68)}, bob, 1)}, choices.CodeContractNotFound, "", ""},
		{"no contract id", both, []choices.Command{d.transfer(alice, []string{"xyz"}, bob, 1)}, choices.CodePreprocessing, "", "contract id"},
		{"tap too much", self, []choices.Command{tap("100000001")}, choices.CodeFailed, "", "at most"},
		{"tap in a round that is not open", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap",
			"receiver", alice, "amount", 1, "openRound", future)}, choices.CodeFailed, "", "does not open until"},
		{"tap for somebody else", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap",
			"receiver", bob, "amount", 1, "openRound", d.openRound())}, choices.CodeInvalidArgument, "missing-authorization", "bob"},
		{"mint without the DSO", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Mint",
			"receiver", alice, "amount", 1, "openRound", d.openRound())}, choices.CodeInvalidArgument, "missing-authorization", "DSO"},
		{"missing field", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap", "receiver", alice, "openRound", d.openRound())},
			choices.CodeMissingField, "", "amount"},
		{"no such choice", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_GiveMe")}, choices.CodePreprocessing, "", "AmuletRules_GiveMe"},
		{"a choice of the governance party", self, []choices.Command{exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_MiningRound_Close",
			"issuingRoundCid", coin)}, choices.CodePreprocessing, "", "MiningRound_Close"},
		{"wrong template", self, []choices.Command{exercise(model.LockedAmuletTemplate, coin, "LockedAmulet_UnlockV2")}, choices.CodeInvalidArgument, "", "not Splice.Amulet:LockedAmulet"},
		{"unknown template", self, []choices.Command{{TemplateID: "#splice-amulet:Splice.Amulet:Gold", ContractID: coin, Choice: "x"}}, choices.CodeTemplateNotFound, "", ""},
		{"unknown package", self, []choices.Command{{TemplateID: "#gold:Splice.Amulet:Amulet", ContractID: coin, Choice: "x"}}, choices.CodePackageNotFound, "", ""},
		{"no template id", self, []choices.Command{{TemplateID: "gold", ContractID: coin, Choice: "x"}}, choices.CodeInvalidArgument, "", ""},
		{"creating a coin", self, []choices.Command{create(model.AmuletTemplate, "dso", d.l.GovernanceParty())}, choices.CodeFailed, "", "commands cannot create"},
		{"creating for somebody else", self, []choices.Command{create(model.ValidatorRightTemplate, "dso", d.l.GovernanceParty(), "user", alice, "validator", bob)},
			choices.CodeInvalidArgument, "missing-authorization", "bob"},
		{"creating with another DSO", []string{alice, bob}, []choices.Command{create(model.ValidatorRightTemplate, "dso", bob, "user", alice, "validator", bob)}, choices.CodeFailed, "", "DSO"},
		{"arguments that are no JSON", self, []choices.Command{{TemplateID: templateID(model.ValidatorRightTemplate), CreateArguments: []byte("{")}}, choices.CodePreprocessing, "", "JSON"},
		{"offer of nothing", []string{d.operator, alice}, []choices.Command{offering("amount", amount("0"))}, choices.CodeFailed, "amount-not-positive", ""},
		{"offer with 11 digits", []string{d.operator, alice}, []choices.Command{offering("amount", amount("0.00000000001"))}, choices.CodePreprocessing, "", ""},
		{"offer that has expired", []string{d.operator, alice}, []choices.Command{offering("expiresAt", d.l.Now().Format(time.RFC3339Nano))}, choices.CodeFailed, "", "expiry"},
		{"offer without tracking id", []string{d.operator, alice}, []choices.Command{offering("trackingId", "")}, choices.CodeFailed, "", "trackingId"},
		{"offer by bob's wallet", []string{bob}, []choices.Command{offering("description", "")}, choices.CodeContractNotFound, "", wallet},
		{"accepting one's own offer", self, []choices.Command{exercise(model.TransferOfferTemplate, offer, "TransferOffer_Accept")}, choices.CodeInvalidArgument, "missing-authorization", "bob"},
		{"archiving a coin alone", self, []choices.Command{exercise(model.AmuletTemplate, coin, "Archive")}, choices.CodeInvalidArgument, "missing-authorization", "DSO"},
		{"token transfer of another instrument", self, []choices.Command{d.otherInstrument(alice, bob)}, choices.CodeFailed, "", "instrument"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := d.refused(d.submission(tc.actAs, tc.commands...))
			if r.Code != tc.code || r.Context["error_id"] != tc.id || !strings.Contains(r.Message, tc.message) {
				t.Errorf("refused as %v %v, want %s %q with %q", r, r.Context, tc.code, tc.id, tc.message)
			}
			if code, category := nodeapi.RefusalClass(r); code == 0 || category == 0 {
				t.Errorf("%s has no gRPC code", r.Code)
			}
		})
	}
	late := d.submission(both, transfer(1))
	late.MaxRecordTime = d.l.Now().Add(-time.Second)
	early := d.submission(both, transfer(1))
	early.MinLedgerTime = d.l.Now().Add(time.Hour)
	elsewhere := d.submission(both, transfer(1))
	elsewhere.SynchronizerID = d.l.Names.Synchronizers[1]
	for _, s := range []choices.Submission{late, early, elsewhere} {
		if r := d.refused(s); r.Code != choices.CodeNotExecutable {
			t.Errorf("%+v: %v", s, r)
		}
	}
	undisclosed := d.submission(both, transfer(1))
	undisclosed.Disclosed = []choices.DisclosedContract{{ContractID: coin, Blob: "AAAA"}}
	if r := d.refused(undisclosed); r.Code != choices.CodeInvalidArgument {
		t.Errorf("a blob of another contract: %v", r)
	}
	if after := d.l.Digests(); after.Tables["active_contracts"] != before.Tables["active_contracts"] || after.Supply != before.Supply || after.Counts != before.Counts {
		t.Errorf("refused commands changed %+v to %+v", before, after)
	}
	d.must(both, transfer("9.5")) // what was refused left the coin alone
	d.finish()
	for _, hint := range []string{"a b", strings.Repeat("x", 200), "a::b"} {
		if _, err := d.l.AllocateParty(t.Context(), hint, nil); !errors.As(err, new(*choices.Refusal)) {
			t.Errorf("hint %q: %v", hint, err)
		}
	}
	if _, err := d.l.AllocateParty(t.Context(), "k", []byte("short")); !errors.As(err, new(*choices.Refusal)) {
		t.Errorf("short key: %v", err)
	}
}

// transfer moves coins from a sender to a receiver.
func (d *desk) transfer(sender string, inputs []string, receiver string, amounts ...any) choices.Command {
	in, out := []any{}, []any{}
	for _, id := range inputs {
		in = append(in, map[string]any{"tag": "InputAmulet", "value": id})
	}
	for _, amount := range amounts {
		out = append(out, map[string]any{"receiver": receiver, "receiverFeeRatio": 0, "amount": amount, "lock": nil})
	}
	return exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer", "transfer", map[string]any{"sender": sender, "provider": sender,
		"inputs": in, "outputs": out}, "context", d.context(), "expectedDso", d.l.GovernanceParty())
}

func (d *desk) otherInstrument(sender, receiver string) choices.Command {
	c := d.tokenCommand(sender, receiver, "1")
	c.Argument = []byte(strings.Replace(string(c.Argument), `"id":"Amulet"`, `"id":"Gold"`, 1))
	return c
}
