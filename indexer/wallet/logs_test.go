package wallet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// TestLogsAddUp compares, update by update, what the logs of wallets say of a party's coins
// with what became of them.
func TestLogsAddUp(t *testing.T) {
	_, items := indexertest.NodeItems(t, devnet.Config{Updates: 2500, Seed: 21, Days: 4, Node: &devnet.NodeConfig{}}, false)
	logsAddUp(t, items, "transfer AmuletRules_Transfer", "transfer TransferPreapproval_Send", "transfer TransferFactory_Transfer",
		"transfer TransferInstruction_Accept", "balance_change TransferInstruction_Withdraw", "balance_change LockedAmulet_Unlock",
		"balance_change AmuletRules_DevNet_Tap", "transfer AmuletRules_BuyMemberTraffic", "transfer SubscriptionRequest_AcceptAndMakePayment",
		"transfer SubscriptionInitialPayment_Collect", "transfer SubscriptionPayment_Collect")
}

// TestLogsOfSuperValidatorsAddUp is the same where the governance party is at home, which sees
// all coins.
func TestLogsOfSuperValidatorsAddUp(t *testing.T) {
	cfg := devnet.Config{Updates: 2500, Seed: 23, Days: 4, TrafficRewards: true, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}}
	_, items := indexertest.NodeItems(t, cfg, false)
	logsAddUp(t, items, "transfer AmuletRules_Transfer", "transfer AnsRules_CollectInitialEntryPayment", "transfer AnsRules_CollectEntryRenewalPayment")
}

// TestLogsOfCommandsAddUp is the same for what wallets do by commands.
func TestLogsOfCommandsAddUp(t *testing.T) {
	_, items := indexertest.NodeItems(t, devnet.Config{Updates: 600, Seed: 22, Node: &devnet.NodeConfig{}}, false, func(l *devnet.Ledger) {
		devnettest.New(t, l).Live()
	})
	logsAddUp(t, items, "transfer AcceptedTransferOffer_Complete", "transfer AppPaymentRequest_Accept", "transfer AcceptedAppPayment_Collect",
		"balance_change AcceptedAppPayment_Reject", "balance_change AcceptedAppPayment_Expire", "balance_change SubscriptionInitialPayment_Reject",
		"transfer SubscriptionInitialPayment_Collect", "transfer AmuletRules_CreateTransferPreapproval", "transfer TransferPreapproval_Renew",
		"transfer TransferPreapproval_Send", "transfer TransferInstruction_Accept", "balance_change TransferInstruction_Reject",
		"balance_change LockedAmulet_OwnerExpireLock", "balance_change LockedAmulet_Unlock")
}

// logsAddUp compares logs with coins, and wants entries of some kinds.
func logsAddUp(t *testing.T, items []schemas.Item, wanted ...string) {
	t.Helper()
	model := newWalletModel()
	kinds := map[string]int{}
	newest := rulesOf(items)
	for _, it := range items {
		u := it.Update
		before := map[string]int{}
		for party, entries := range model.entries {
			before[party] = len(entries)
		}
		changes := model.take(u)
		for party := range model.entries {
			if _, ok := changes[party]; !ok && len(model.entries[party]) > before[party] {
				changes[party] = decimal.Decimal{}
			}
		}
		for party, change := range changes {
			if !slices.ContainsFunc(u.Events, func(e schemas.Event) bool { return slices.Contains(e.Local.Witnesses, party) }) {
				continue // the party of another node, whose coins a party of this one sees
			}
			var sum decimal.Decimal
			entries := model.entries[party][before[party]:]
			for _, e := range entries {
				kinds[e.Kind+" "+e.Choice]++
				if e.Sender.Party == party {
					sum = sum.Plus(e.Sender.Amount)
				}
				for _, r := range e.Receivers {
					if r.Party == party {
						sum = sum.Plus(r.Amount)
					}
				}
			}
			if len(entries) == 1 && entries[0].Kind == wallethistory.Unknown {
				t.Errorf("update at offset %d makes no sense for %s: %s", u.Local.Offset, party, choicesOf(u))
				continue
			}
			want := change.Minus(ownFees(u, party, entries)).Plus(expired(u, party, model))
			if olderThan(u, newest) && len(entries) == 1 && entries[0].Choice == "TransferFactory_Transfer" && want.Less(sum) {
				continue // there were fees, of which its result does not tell
			}
			if sum.Cmp(want) != 0 {
				t.Errorf("update at offset %d: the log of %s says %s, its coins changed by %s:\n%s", u.Local.Offset, party, sum, want, entryText(store.WalletEntry{Details: fmt.Sprint(entries)}))
			}
		}
	}
	for _, kind := range wanted {
		if kinds[kind] == 0 {
			t.Errorf("no entry is of kind %s; there are %v", kind, kinds)
		}
	}
	t.Logf("entries are %v", kinds)
}

// choicesOf lists what an update creates and exercises.
func choicesOf(u *schemas.Update) (list []string) {
	for i := range u.Events {
		e := &u.Events[i]
		list = append(list, fmt.Sprintf("%s %s seen by %d", cmp.Or(e.Choice, "create"), e.TemplateID[65:], len(e.Local.Witnesses)))
	}
	return list
}

// ownFees are the fees on outputs that a sender sends itself: the log takes them off what the
// sender has received, although the change shows them already.
func ownFees(u *schemas.Update, party string, entries []store.WalletEntry) (sum decimal.Decimal) {
	if len(entries) != 1 || entries[0].Choice != "AmuletRules_Transfer" && entries[0].Choice != "TransferPreapproval_Send" {
		return sum
	}
	for i := range u.Events {
		e := &u.Events[i]
		if e.Choice != "AmuletRules_Transfer" {
			continue
		}
		transfer := jsonscan.Value(e.Argument).At("transfer")
		fees := jsonscan.Value(e.Result).At("summary", "outputFees").Elements()
		for j, o := range transfer.At("outputs").Elements() {
			if transfer.At("sender").Text() == party && o.At("receiver").Text() == party && o.At("lock") == nil {
				sum = sum.Plus(decimal.Must(fees[j].Text()))
			}
		}
	}
	return sum
}

// expired are the coins of a party that the governance party burns, which logs show as 0.
func expired(u *schemas.Update, party string, m *walletModel) (sum decimal.Decimal) {
	for i := range u.Events {
		if e := &u.Events[i]; e.Choice == "Amulet_Expire" || e.Choice == "Amulet_ExpireV2" {
			v := jsonscan.Value(m.payloads[e.ContractID])
			if v.At("owner").Text() == party {
				sum = sum.Plus(decimal.Must(v.At("amount", "initialAmount").Text()))
			}
		}
	}
	return sum
}

// rulesOf is the template id of the rules in their newest version.
func rulesOf(items []schemas.Item) (id string) {
	for _, it := range items {
		for _, e := range it.Update.Events {
			if strings.HasPrefix(e.Choice, "AmuletRules_") {
				id = e.TemplateID
			}
		}
	}
	return id
}

// olderThan reports whether an update was of an older version of the package than a template.
func olderThan(u *schemas.Update, template string) bool {
	return u.Events[0].TemplateID[:64] != template[:64]
}
