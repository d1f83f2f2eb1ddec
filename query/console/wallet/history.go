package wallet

import (
	"context"
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// entryRow is an entry of a history as one party sees it.
type entryRow struct {
	at     schemas.Micros
	what   string
	update string
	// change is what it did to the party's coins that are not locked, "" for nothing.
	change string
	plus   bool
	others []string
	memo   string
	fees   string
	// rewards are those that were used, "" for none.
	rewards string
}

// whats are the choices that make entries, in words.
var whats = map[string]string{
	template.AcceptedTransferOfferComplete: "Offer paid", "TransferPreapproval_Send": "Sent in one step", "TransferFactory_Transfer": "Transfer begun",
	"TransferInstruction_Accept": "Transfer accepted", "TransferInstruction_Reject": "Transfer rejected", "TransferInstruction_Withdraw": "Transfer withdrawn",
	"WalletAppInstall_ExecuteBatch": "Rewards collected, coins merged", "AppPaymentRequest_Accept": "App payment made", "AcceptedAppPayment_Collect": "App payment collected",
	"AcceptedAppPayment_Reject": "App payment returned", "AcceptedAppPayment_Expire": "App payment expired", "TransferPreapproval_Renew": "Preapproval renewed",
	"SubscriptionRequest_AcceptAndMakePayment": "Subscription begun", "SubscriptionInitialPayment_Collect": "First payment collected", "SubscriptionIdleState_MakePayment": "Subscription paid",
	"SubscriptionPayment_Collect": "Subscription payment collected", template.SubscriptionIdleStateExpireSubscription: "Subscription ended",
	"SubscriptionInitialPayment_Reject": "First payment returned", "SubscriptionInitialPayment_Expire": "First payment expired", "SubscriptionPayment_Reject": "Subscription payment returned", "SubscriptionPayment_Expire": "Subscription payment expired",
	"AnsRules_CollectInitialEntryPayment": "Name paid", "AnsRules_CollectEntryRenewalPayment": "Name renewed",
	"AmuletRules_DevNet_Tap": "Tap", "AmuletRules_Mint": "Minted", "AmuletRules_Transfer": "Transfer", "AmuletRules_BuyMemberTraffic": "Traffic bought",
	template.CoinRulesCreateTransferPreapproval: "Preapproval paid", "LockedAmulet_Unlock": "Coins unlocked", "LockedAmulet_OwnerExpireLock": "Lock expired",
	"LockedAmulet_ExpireAmulet": "Coin expired", "Amulet_Expire": "Coin expired",
}

// what is an entry in words.
func what(e *walletapi.Entry) string {
	// Choices of the coin have either of its names.
	choice := strings.NewReplacer("CoinRules", "AmuletRules", "LockedCoin", "LockedAmulet", "ExpireCoin", "ExpireAmulet", "Coin_", "Amulet_").Replace(e.Subtype.Choice)
	text := whats[choice]
	switch {
	case text == "" && choice != "":
		text = choice
	case text == "":
		text = "Unknown"
	}
	if e.Type == "notification" {
		text += ", failed"
	}
	return text
}

// change is what an entry did to the coins of a party.
func change(party string, e *walletapi.Entry) (decimal.Decimal, error) {
	sum := decimal.Decimal{}
	for _, a := range append([]walletapi.PartyAmount{e.Sender}, e.Receivers...) {
		if a.Party != party {
			continue
		}
		d, err := decimal.Parse(a.Amount)
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(d)
	}
	return sum, nil
}

// others are the parties of an entry beside one.
func others(party string, e *walletapi.Entry) (list []string) {
	for _, a := range append([]walletapi.PartyAmount{e.Sender, {Party: e.InstructionReceiver}}, e.Receivers...) {
		if a.Party != party && a.Party != "" {
			list = append(list, a.Party)
		}
	}
	return list
}

// used adds up the rewards that an entry used.
func used(e *walletapi.Entry) (decimal.Decimal, error) {
	sum := decimal.Decimal{}
	for _, text := range []string{e.AppRewards, e.Validator, e.SV, e.Fund} {
		if text == "" {
			continue
		}
		d, err := decimal.Parse(text)
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(d)
	}
	return sum, nil
}

// rowsOf makes rows of entries.
func rowsOf(party string, entries []walletapi.Entry) ([]entryRow, error) {
	rows := make([]entryRow, len(entries))
	for i := range entries {
		e := &entries[i]
		sum, err := change(party, e)
		if err != nil {
			return nil, err
		}
		rewards, err := used(e)
		if err != nil {
			return nil, err
		}
		rows[i] = entryRow{at: e.At(), what: what(e), update: e.Update(), others: others(party, e), memo: e.Description, plus: sum.Sign() > 0}
		if e.Details != "" {
			rows[i].memo = e.Details
		}
		if sum.Sign() != 0 {
			rows[i].change = sum.String()
		}
		if rewards.Sign() != 0 {
			rows[i].rewards = rewards.String()
		}
		if strings.Trim(e.HoldingFees, "0.") != "" {
			rows[i].fees = e.HoldingFees
		}
	}
	return rows, nil
}

// The filters of a history.
const (
	received = "received"
	paid     = "paid"
	noted    = "other"
)

// historyView is a page of a history.
type historyView struct {
	rows   []entryRow
	filter string
	// first says that the page is the newest, more is the address of the next one.
	first bool
	more  string
}

// entriesPage is how many entries a page has, scanned how many are looked through for those of a filter.
const (
	entriesPage = 50
	scanned     = 500
)

// matches reports whether an entry is of a filter.
func matches(filter string, r *entryRow) bool {
	switch filter {
	case received:
		return r.change != "" && r.plus
	case paid:
		return r.change != "" && !r.plus
	case noted:
		return r.change == ""
	}
	return true
}

// history is a page of the user's history, the newest first.
func (w *Wallet) history(ctx context.Context, v *visit) (page.Page, error) {
	view := historyView{filter: v.Param("show"), first: v.Param("after") == ""}
	size := entriesPage
	if view.filter != "" {
		size = scanned
	}
	entries, err := v.user.History(ctx, v.Param("after"), size)
	if err != nil {
		return page.Page{}, err
	}
	rows, err := rowsOf(v.party, entries)
	if err != nil {
		return page.Page{}, err
	}
	last := len(rows) - 1
	for i := range rows {
		if matches(view.filter, &rows[i]) {
			view.rows = append(view.rows, rows[i])
		}
		if len(view.rows) == entriesPage {
			last = i
			break
		}
	}
	if last >= 0 && (last < len(entries)-1 || len(entries) == size) {
		view.more = "/wallet/history?after=" + url.QueryEscape(entries[last].ID) + "&show=" + url.QueryEscape(view.filter)
	}
	return made(v, "History", historyPage(v, view))
}
