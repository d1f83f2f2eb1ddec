package devnet

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// TestCommandRefusals has commands that the ledger must not execute. None of them changes anything.
func TestCommandRefusals(t *testing.T) {
	d := newDesk(t, Config{Seed: 61})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(alice)
	coin := d.tap(alice, 10)
	spent := d.tap(alice, 1)
	d.must([]string{alice, bob}, d.transfer(alice, []string{spent}, bob, "0.5"))
	offer := d.offer(wallet, alice, bob, "1", "t")
	self, both := []string{alice}, []string{alice, bob}
	transfer := func(amount any) Command { return d.transfer(alice, []string{coin}, bob, amount) }
	tap := func(amount any) Command {
		return exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap", "receiver", alice, "amount", amount, "openRound", d.openRound())
	}
	future := d.newest(OpenRoundTemplate, nil)
	many := make([]string, 101)
	for i := range many {
		many[i] = coin
	}
	offering := func(member string, v any) Command {
		m := map[string]any{"receiver": bob, "amount": map[string]any{"amount": "1", "unit": "AmuletUnit"}, "description": "",
			"expiresAt": d.expiry(), "trackingId": "x"}
		m[member] = v
		var list []any
		for k, v := range m {
			list = append(list, k, v)
		}
		return exercise(WalletInstallTemplate, wallet, "WalletAppInstall_CreateTransferOffer", list...)
	}
	amount := func(v any) map[string]any { return map[string]any{"amount": v, "unit": "AmuletUnit"} }
	before := d.l.Digests()
	for _, tc := range []struct {
		name     string
		actAs    []string
		commands []Command
		code, id string
		message  string
	}{
		{"no commands", self, nil, CodeMissingField, "", "commands"},
		{"nobody acts", nil, []Command{transfer(1)}, CodeMissingField, "", "act_as"},
		{"unknown actor", []string{"carol::1220ab"}, []Command{transfer(1)}, CodeInvalidArgument, "", "carol"},
		{"11 fraction digits", both, []Command{transfer("0.12345678901")}, CodePreprocessing, "", "fraction digits"},
		{"29 digits", both, []Command{transfer("10000000000000000000000000000")}, CodePreprocessing, "", "digits before the point"},
		{"beyond the devnet", both, []Command{transfer("10000000000")}, CodePreprocessing, "", "count"},
		{"negative", both, []Command{transfer("-1")}, CodeFailed, "amount-not-positive", ""},
		{"zero", both, []Command{transfer(0)}, CodeFailed, "amount-not-positive", ""},
		{"no number", both, []Command{transfer("ten")}, CodePreprocessing, "", "no decimal"},
		{"exponent", self, []Command{tap("1e3")}, CodePreprocessing, "", "no decimal"},
		{"insufficient funds", both, []Command{transfer("10.5")}, CodeFailed, ErrorInsufficientFunds, "0.5000000000"},
		{"two outputs beyond all numbers", both, []Command{d.transfer(alice, []string{coin}, bob, "922337203", "922337203")}, CodeFailed, "", ""},
		{"spent coin", both, []Command{d.transfer(alice, []string{spent}, bob, 1)}, CodeContractNotFound, "", spent},
		{"one coin twice", both, []Command{d.transfer(alice, []string{coin, coin}, bob, 1)}, CodeContractNotFound, "", coin},
		{"101 inputs", both, []Command{d.transfer(alice, many, bob, 1)}, CodeFailed, ErrorTooManyInputs, ""},
		{"somebody else's coin", []string{bob}, []Command{d.transfer(bob, []string{coin}, bob, 1)}, CodeContractNotFound, "", coin},
		{"a transfer that the receiver does not agree to", self, []Command{transfer(1)}, CodeInvalidArgument, "missing-authorization", "bob"},
		{"not the sender", []string{bob}, []Command{transfer(1)}, CodeInvalidArgument, "missing-authorization", "alice"},
		{"two commands, one wrong", both, []Command{tap(5), transfer(100)}, CodeFailed, ErrorInsufficientFunds, ""},
		{"unknown receiver", both, []Command{d.transfer(alice, []string{coin}, "carol::1220ab", 1)}, CodeInvalidArgument, "", "carol"},
		{"receiver is no party", both, []Command{d.transfer(alice, []string{coin}, "carol", 1)}, CodePreprocessing, "", "no party"},
		{"contract of nowhere", both, []Command{d.transfer(alice, []string{"00" + strings.Repeat("ab", 68)}, bob, 1)}, CodeContractNotFound, "", ""},
		{"no contract id", both, []Command{d.transfer(alice, []string{"xyz"}, bob, 1)}, CodePreprocessing, "", "contract id"},
		{"tap too much", self, []Command{tap("100000001")}, CodeFailed, "", "at most"},
		{"tap in a round that is not open", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap",
			"receiver", alice, "amount", 1, "openRound", future)}, CodeFailed, "", "opens at"},
		{"tap for somebody else", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap",
			"receiver", bob, "amount", 1, "openRound", d.openRound())}, CodeInvalidArgument, "missing-authorization", "bob"},
		{"mint without the DSO", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_Mint",
			"receiver", alice, "amount", 1, "openRound", d.openRound())}, CodeInvalidArgument, "missing-authorization", "DSO"},
		{"missing field", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_DevNet_Tap", "receiver", alice, "openRound", d.openRound())},
			CodeMissingField, "", "amount"},
		{"no such choice", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_GiveMe")}, CodePreprocessing, "", "AmuletRules_GiveMe"},
		{"a choice of the governance party", self, []Command{exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_MiningRound_Close",
			"issuingRoundCid", coin)}, CodePreprocessing, "", "MiningRound_Close"},
		{"wrong template", self, []Command{exercise(LockedAmuletTemplate, coin, "LockedAmulet_UnlockV2")}, CodeInvalidArgument, "", "not Splice.Amulet:LockedAmulet"},
		{"unknown template", self, []Command{{TemplateID: "#splice-amulet:Splice.Amulet:Gold", ContractID: coin, Choice: "x"}}, CodeTemplateNotFound, "", ""},
		{"unknown package", self, []Command{{TemplateID: "#gold:Splice.Amulet:Amulet", ContractID: coin, Choice: "x"}}, CodePackageNotFound, "", ""},
		{"no template id", self, []Command{{TemplateID: "gold", ContractID: coin, Choice: "x"}}, CodeInvalidArgument, "", ""},
		{"creating a coin", self, []Command{create(AmuletTemplate, "dso", d.l.GovernanceParty())}, CodeFailed, "", "not created by commands"},
		{"creating for somebody else", self, []Command{create(ValidatorRightTemplate, "dso", d.l.GovernanceParty(), "user", alice, "validator", bob)},
			CodeInvalidArgument, "missing-authorization", "bob"},
		{"creating with another DSO", []string{alice, bob}, []Command{create(ValidatorRightTemplate, "dso", bob, "user", alice, "validator", bob)}, CodeFailed, "", "DSO"},
		{"arguments that are no JSON", self, []Command{{TemplateID: templateID(ValidatorRightTemplate), CreateArguments: []byte("{")}}, CodePreprocessing, "", "JSON"},
		{"offer of nothing", []string{d.operator, alice}, []Command{offering("amount", amount("0"))}, CodeFailed, "amount-not-positive", ""},
		{"offer with 11 digits", []string{d.operator, alice}, []Command{offering("amount", amount("0.00000000001"))}, CodePreprocessing, "", ""},
		{"offer that has expired", []string{d.operator, alice}, []Command{offering("expiresAt", d.l.Now().Format(time.RFC3339Nano))}, CodeFailed, "", "expiry"},
		{"offer without tracking id", []string{d.operator, alice}, []Command{offering("trackingId", "")}, CodeFailed, "", "trackingId"},
		{"offer by bob's wallet", []string{bob}, []Command{offering("description", "")}, CodeContractNotFound, "", wallet},
		{"accepting one's own offer", self, []Command{exercise(TransferOfferTemplate, offer, "TransferOffer_Accept")}, CodeInvalidArgument, "missing-authorization", "bob"},
		{"archiving a coin alone", self, []Command{exercise(AmuletTemplate, coin, "Archive")}, CodeInvalidArgument, "missing-authorization", "DSO"},
		{"token transfer of another instrument", self, []Command{d.otherInstrument(alice, bob)}, CodeFailed, "", "instrument"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := d.refused(d.submission(tc.actAs, tc.commands...))
			if r.Code != tc.code || r.Context["error_id"] != tc.id || !strings.Contains(r.Message, tc.message) {
				t.Errorf("refused as %v %v, want %s %q with %q", r, r.Context, tc.code, tc.id, tc.message)
			}
			if code, category := RefusalClass(r); code == 0 || category == 0 {
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
	for _, s := range []Submission{late, early, elsewhere} {
		if r := d.refused(s); r.Code != CodeNotExecutable {
			t.Errorf("%+v: %v", s, r)
		}
	}
	undisclosed := d.submission(both, transfer(1))
	undisclosed.Disclosed = []DisclosedContract{{ContractID: coin, Blob: "AAAA"}}
	if r := d.refused(undisclosed); r.Code != CodeInvalidArgument {
		t.Errorf("a blob of another contract: %v", r)
	}
	if after := d.l.Digests(); after.Tables["active_contracts"] != before.Tables["active_contracts"] || after.Supply != before.Supply || after.Counts != before.Counts {
		t.Errorf("refused commands changed %+v to %+v", before, after)
	}
	d.must(both, transfer("9.5")) // what was refused left the coin alone
	d.finish()
	for _, hint := range []string{"a b", strings.Repeat("x", 200), "a::b"} {
		if _, err := d.l.AllocateParty(t.Context(), hint, nil); !errors.As(err, new(*Refusal)) {
			t.Errorf("hint %q: %v", hint, err)
		}
	}
	if _, err := d.l.AllocateParty(t.Context(), "k", []byte("short")); !errors.As(err, new(*Refusal)) {
		t.Errorf("short key: %v", err)
	}
}

// transfer moves coins from a sender to a receiver.
func (d *desk) transfer(sender string, inputs []string, receiver string, amounts ...any) Command {
	in, out := []any{}, []any{}
	for _, id := range inputs {
		in = append(in, map[string]any{"tag": "InputAmulet", "value": id})
	}
	for _, amount := range amounts {
		out = append(out, map[string]any{"receiver": receiver, "receiverFeeRatio": 0, "amount": amount, "lock": nil})
	}
	return exercise(AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer", "transfer", map[string]any{"sender": sender, "provider": sender,
		"inputs": in, "outputs": out}, "context", d.context(), "expectedDso", d.l.GovernanceParty())
}

func (d *desk) otherInstrument(sender, receiver string) Command {
	c := d.tokenCommand(sender, receiver, "1")
	c.Argument = []byte(strings.Replace(string(c.Argument), `"id":"Amulet"`, `"id":"Gold"`, 1))
	return c
}
