package walletlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Parties of the trees below. The validator acts for its users.
const alice, bob, app, dso, operator = "alice::1220", "bob::1220", "app::1220", "DSO::1220", "validator::1220"

// treeOf makes an update out of lines, a node each, indented by its depth:
//
//	create TEMPLATE ID ARGUMENT @ PARTY,..
//	CHOICE ID ARGUMENT -> RESULT @ PARTY,..
//
// The parties are those of the node that see it, and all above it.
func treeOf(t *testing.T, text string) *schemas.Update {
	t.Helper()
	u := &schemas.Update{
		Kind: schemas.Transaction, UpdateID: "1220aa", RecordTime: 1e15, EffectiveAt: 1e15, Encoding: schemas.CompactJSON,
		Local: &schemas.LocalUpdate{Offset: 7},
	}
	var open []int // nodes above, by depth
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		depth := len(line) - len(strings.TrimLeft(line, "\t"))
		body, seen, ok := strings.Cut(strings.TrimSpace(line), " @ ")
		if !ok {
			t.Fatalf("nobody sees %q", line)
		}
		e := eventOf(t, body)
		e.Node = int32(len(u.Events))
		e.Local = &schemas.LocalEvent{Witnesses: strings.Split(seen, ","), LastDescendant: e.Node, ACSDelta: true}
		u.Events = append(u.Events, e)
		for _, above := range open[:depth] {
			u.Events[above].Local.LastDescendant = e.Node
		}
		open = append(open[:depth], int(e.Node))
	}
	return u
}

// entities are the templates by the name before a choice's underscore, or after "create".
var entities = map[string]string{
	"Amulet": template.Coin, "LockedAmulet": template.LockedCoin, "AmuletRules": template.CoinRules,
	"TransferPreapproval": template.TransferPreapproval, "MemberTraffic": template.MemberTraffic,
	"TransferFactory": template.ExternalPartyCoinRules, "TransferInstruction": template.CoinTransferInstruction,
	"AllocationFactory": template.ExternalPartyCoinRules, "Allocation": template.CoinAllocation, "SettlementFactory": template.ExternalPartyCoinRules,
	"WalletAppInstall": template.WalletAppInstall, "TransferOffer": template.TransferOffer,
	"AcceptedTransferOffer": template.AcceptedTransferOffer, "BuyTrafficRequest": template.BuyTrafficRequest,
	"AppPaymentRequest": template.AppPaymentRequest, "AcceptedAppPayment": template.AcceptedAppPayment,
	"SubscriptionRequest": template.SubscriptionRequest, "SubscriptionIdleState": template.SubscriptionIdleState,
	"SubscriptionInitialPayment": template.SubscriptionInitialPayment, "SubscriptionPayment": template.SubscriptionPayment,
	"AnsRules": template.NameRules, "Other": "other:Other:Other",
}

func eventOf(t *testing.T, body string) schemas.Event {
	t.Helper()
	e := schemas.Event{Kind: schemas.Exercised}
	head, argument, ok := strings.Cut(body, " {")
	words := strings.Fields(head)
	if !ok || len(words) < 2 {
		t.Fatalf("%q is no node", body)
	}
	argument, result, _ := strings.Cut("{"+argument, " -> ")
	e.Argument, e.Result = []byte(argument), []byte(result)
	name := words[0]
	if name == "create" {
		e.Kind, e.ContractID = schemas.Created, words[2]
		name = words[1]
	} else {
		e.Choice, e.ContractID = words[0], words[1]
		if entity, ok := strings.CutSuffix(e.Choice, ".Archive"); ok {
			e.Choice, name, e.Consuming = archiveChoice, entity, true
		} else {
			name, _, _ = strings.Cut(e.Choice, "_")
			e.Consuming = true
		}
		if name == "WalletAppInstall" {
			e.ActingParties = []string{operator}
		}
		if strings.HasPrefix(name, "Transfer") && (name == "TransferFactory" || name == "TransferInstruction") {
			e.InterfaceID = "ab:Splice.Api.Token.TransferInstructionV1:" + name
		}
		if strings.HasPrefix(name, "Allocation") || name == "SettlementFactory" {
			e.InterfaceID = "ab:Splice.Api.Token.AllocationV1:" + name
		}
	}
	full, ok := entities[name]
	if !ok {
		t.Fatalf("no template %q", name)
	}
	packageName, entity, _ := strings.Cut(full, ":")
	e.PackageName, e.TemplateID = packageName, "p1:"+entity
	return e
}

// written is an entry as the tables below write it: kind, choice, what parties have more, and
// what else there is.
func written(e store.WalletEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", e.EventID[len("1220aa"):], e.Kind, e.Choice)
	amount := func(p store.PartyAmount) {
		name, _, _ := strings.Cut(p.Party, "::")
		text := strings.TrimRight(strings.TrimRight(p.Amount.String(), "0"), ".")
		fmt.Fprintf(&b, " %s:%s", name, text)
	}
	if e.Sender.Party != "" {
		amount(e.Sender)
	}
	if len(e.Receivers) > 0 {
		b.WriteString(" ->")
		for _, r := range e.Receivers {
			amount(r)
		}
	}
	add := func(name, text string) {
		if text != "" && text != decimal.Decimal.String(decimal.Decimal{}) {
			fmt.Fprintf(&b, " %s=%s", name, text)
		}
	}
	add("op", e.AmuletOperation)
	add("fees", e.HoldingFees.String())
	add("app", e.AppRewards.String())
	add("validator", e.ValidatorRewards.String())
	add("sv", e.SvRewards.String())
	add("fund", e.DevelopmentFund.String())
	add("instruction", e.InstructionID)
	add("for", e.InstructionReceiver)
	add("of", e.InstructionAmount.String())
	add("description", e.Description)
	add("details", e.Details)
	return b.String()
}

// Parts of the trees.
const (
	price = `"amuletPrice":"0.005"`
	// spend is the summary of a transfer of one coin of 10 with change of 4.
	spend = `"summary":{` + price + `,"holdingFees":"0.0","inputAmuletAmount":"10.0","inputAppRewardAmount":"0.0","inputSvRewardAmount":"0.0","inputValidatorRewardAmount":"0.0","outputFees":["0.0"],"senderChangeAmount":"4.0","senderChangeFee":"0.0"}`
	// exact is one of a coin of 6 without change.
	exact = `"summary":{"holdingFees":"0.0","inputAmuletAmount":"6.0","inputAppRewardAmount":"0.0","inputSvRewardAmount":"0.0","inputValidatorRewardAmount":"0.0","outputFees":["0.0"],"senderChangeAmount":"0E-10"}`
	toBob = `{"transfer":{"outputs":[{"amount":"6.0","lock":null,"receiver":"` + bob + `","receiverFeeRatio":"0.0"}],"sender":"` + alice + `"}}`
	// payBob is a transfer of 6 from alice to bob, as both see it.
	payBob = `AmuletRules_Transfer r ` + toBob + ` -> {` + spend + `} @ alice::1220,bob::1220`
	// toLock is one that locks 6 of alice.
	toLock = `AmuletRules_Transfer r {"transfer":{"outputs":[{"amount":"6.0","lock":{"holders":["` + bob + `"]},"receiver":"` + alice + `","receiverFeeRatio":"0.0"}],"sender":"` + alice + `"}} -> {` + spend + `} @ alice::1220`
)

// spendOf is spend with balance changes.
func spendOf(changes string) string {
	return strings.Replace(spend, `"holdingFees"`, `"balanceChanges":`+changes+`,"holdingFees"`, 1)
}

func coinNode(id, owner, amount, seen string) string {
	return `create Amulet ` + id + ` {"amount":{"initialAmount":"` + amount + `"},"owner":"` + owner + `"} @ ` + seen
}

func below(lines ...string) string { return "\n\t" + strings.Join(lines, "\n\t") }

func instruction(sender, receiver string) string {
	return `{"lockedAmulet":"l","transfer":{"amount":"6.0","executeBefore":"2026-07-01T00:00:00Z","meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"rent"}},"receiver":"` + receiver + `","sender":"` + sender + `"}}`
}

const (
	batchOf = `WalletAppInstall_ExecuteBatch w {"operations":[%s]} -> {"outcomes":[%s]} @ alice::1220,validator::1220`
	factory = `TransferFactory_Transfer f {"transfer":{"amount":"6.0","meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"rent"}},"receiver":"%s","sender":"alice::1220"}} -> {"output":{"tag":"TransferInstructionResult_%s","value":%s}} @ alice::1220`
)

// TestRules has the rows of the table of choices that wallets know.
func TestRules(t *testing.T) {
	both := alice + "," + bob
	for name, c := range map[string]struct {
		tree string
		want map[string][]string // by party
	}{
		"a transfer to somebody": {payBob, map[string][]string{
			alice: {":0 transfer AmuletRules_Transfer alice:-6 -> bob:6"}, bob: {":0 transfer AmuletRules_Transfer alice:-6 -> bob:6"}}},
		"what is below a transfer does not count": {payBob + below(coinNode("c1", bob, "6.0", both), coinNode("c2", alice, "4.0", both), `Amulet.Archive c0 {} -> {} @ alice::1220`), map[string][]string{
			alice: {":0 transfer AmuletRules_Transfer alice:-6 -> bob:6"}, bob: {":0 transfer AmuletRules_Transfer alice:-6 -> bob:6"}}},
		"a transfer with fees, rewards and outputs of all kinds": {
			`AmuletRules_Transfer r {"transfer":{"outputs":[` +
				`{"amount":"1.0","receiver":"bob::1220","receiverFeeRatio":"0.25"},` +
				`{"amount":"2.0","lock":{"holders":[]},"receiver":"bob::1220","receiverFeeRatio":"1.0"},` +
				`{"amount":"3.0","receiver":"alice::1220","receiverFeeRatio":"0.5"},` +
				`{"amount":"4.0","lock":{"holders":[]},"receiver":"alice::1220","receiverFeeRatio":"0.0"},` +
				`{"amount":"5.0","receiver":"app::1220","receiverFeeRatio":"0.0"},` +
				`{"amount":"6.0","receiver":"bob::1220","receiverFeeRatio":"0.0"}],"sender":"alice::1220"}} -> {"summary":{` +
				`"holdingFees":"0.1","inputAmuletAmount":"20.0","inputAppRewardAmount":"1.5","inputDevelopmentFundAmount":"0.5","inputSvRewardAmount":"2.5","inputValidatorFaucetAmount":"0.25","inputValidatorRewardAmount":"3.5",` +
				`"outputFees":["0.0000000002","0.2","0.0000000003","0.4","0.5","0.6"],"senderChangeAmount":"7.0"}} @ alice::1220`,
			map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:-9.9000000002 -> bob:6.8 app:5 fees=0.1000000000 app=1.5000000000 validator=3.5000000000 sv=2.5000000000 fund=0.5000000000"}},
		},
		"rewards become coins": {
			`AmuletRules_Transfer r {"transfer":{"outputs":[],"sender":"alice::1220"}} -> {"summary":{"holdingFees":"0.0","inputAmuletAmount":"1.0","inputAppRewardAmount":"2.0","inputSvRewardAmount":"0.0","inputValidatorRewardAmount":"0.0","outputFees":[],"senderChangeAmount":"3.0"}} @ alice::1220,app::1220`,
			map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:2 app=2.0000000000"}},
		},
		"an accepted offer is paid": {
			`AcceptedTransferOffer_Complete a {} -> {"transferResult":{` + spend + `}} @ alice::1220,bob::1220` + below(payBob),
			map[string][]string{alice: {":0 transfer AcceptedTransferOffer_Complete alice:-6 -> bob:6"}, bob: {":0 transfer AcceptedTransferOffer_Complete alice:-6 -> bob:6"}},
		},
		"a payment without a transfer makes no sense": {
			`AcceptedTransferOffer_Complete a {} -> {} @ alice::1220`, map[string][]string{alice: {":0 unknown unknown"}},
		},
		"an app payment is locked":   {`AppPaymentRequest_Accept a {} -> {} @ alice::1220` + below(toLock), map[string][]string{alice: {":0 transfer AppPaymentRequest_Accept alice:-6"}}},
		"a subscription is begun":    {`SubscriptionRequest_AcceptAndMakePayment a {} -> {} @ alice::1220` + below(toLock), map[string][]string{alice: {":0 transfer SubscriptionRequest_AcceptAndMakePayment alice:-6"}}},
		"a subscription is paid":     {`SubscriptionIdleState_MakePayment a {} -> {} @ alice::1220` + below(toLock), map[string][]string{alice: {":0 transfer SubscriptionIdleState_MakePayment alice:-6"}}},
		"a subscription has expired": {`SubscriptionIdleState_ExpireSubscription a {} -> {} @ alice::1220`, map[string][]string{alice: {":0 notification SubscriptionIdleState_ExpireSubscription details=Subscription expired"}}},
		"a tap":                      {`AmuletRules_DevNet_Tap r {"amount":"5.0","receiver":"alice::1220"} -> {} @ alice::1220` + below(`AmuletRules_Mint r {"amount":"5.0","receiver":"alice::1220"} -> {} @ alice::1220`), map[string][]string{alice: {":0 balance_change AmuletRules_DevNet_Tap -> alice:5"}}},
		"a mint":                     {`AmuletRules_Mint r {"amount":"5.0","receiver":"alice::1220"} -> {} @ alice::1220`, map[string][]string{alice: {":0 balance_change AmuletRules_Mint -> alice:5"}}},
		"a lock is ended":            {`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c1"}} @ alice::1220` + below(coinNode("c1", alice, "6.0", alice)), map[string][]string{alice: {":0 balance_change LockedAmulet_Unlock -> alice:6"}}},
		"a lock is ended, later":     {`LockedAmulet_UnlockV2 l {} -> {"amuletCid":"c1"} @ alice::1220,bob::1220` + below(coinNode("c1", alice, "6.0", both)), map[string][]string{alice: {":0 balance_change LockedAmulet_Unlock -> alice:6"}, bob: nil}},
		"a lock has expired":         {`LockedAmulet_OwnerExpireLockV2 l {} -> {"amuletCid":"c1"} @ alice::1220` + below(coinNode("c1", alice, "6.0", alice)), map[string][]string{alice: {":0 balance_change LockedAmulet_OwnerExpireLock -> alice:6"}}},
		"an unlock of nothing":       {`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c9"}} @ alice::1220`, map[string][]string{alice: {":0 unknown unknown"}}},
		"a coin is used up":          {`Amulet_Expire c {} -> {"expireSum":{"owner":"alice::1220"}} @ alice::1220`, map[string][]string{alice: {":0 balance_change Amulet_Expire -> alice:0"}}},
		"a coin is used up, later":   {`LockedAmulet_ExpireAmuletV2 c {} -> {"expireSum":{"owner":"alice::1220"}} @ alice::1220`, map[string][]string{alice: {":0 balance_change LockedAmulet_ExpireAmulet -> alice:0"}}},
		"traffic is bought": {
			`AmuletRules_BuyMemberTraffic r {"provider":"alice::1220"} -> {` + spend + `} @ alice::1220` + below(`create MemberTraffic t {"dso":"DSO::1220"} @ alice::1220`, coinNode("c1", alice, "4.0", alice)),
			map[string][]string{alice: {":0 transfer AmuletRules_BuyMemberTraffic alice:-6 -> DSO:0"}},
		},
		"traffic is bought with new coins": {
			`AmuletRules_BuyMemberTraffic r {"expectedDso":"DSO::1220","provider":"alice::1220"} -> {` + exact + `} @ alice::1220` + below(`AmuletRules_DevNet_Tap r {"amount":"6.0","receiver":"alice::1220"} -> {} @ alice::1220`),
			map[string][]string{alice: {":1 balance_change AmuletRules_DevNet_Tap -> alice:6", ":0 transfer AmuletRules_BuyMemberTraffic alice:-6 -> DSO:0"}},
		},
		"a traffic request is completed": {
			`BuyTrafficRequest_Complete b {} -> {} @ alice::1220` + below(`AmuletRules_BuyMemberTraffic r {"expectedDso":"DSO::1220","provider":"alice::1220"} -> {`+spend+`} @ alice::1220`),
			map[string][]string{alice: {":1 transfer AmuletRules_BuyMemberTraffic alice:-6 -> DSO:0"}},
		},
		"a preapproval is paid for":        {`AmuletRules_CreateTransferPreapproval r {"provider":"alice::1220"} -> {"transferResult":{` + spend + `}} @ alice::1220,bob::1220` + below(payBob), map[string][]string{alice: {":0 transfer AmuletRules_CreateTransferPreapproval alice:-6"}, bob: nil}},
		"a set-up is paid for":             {`AmuletRules_CreateExternalPartySetupProposal r {"validator":"alice::1220"} -> {"transferResult":{` + spend + `}} @ alice::1220`, map[string][]string{alice: {":0 transfer AmuletRules_CreateTransferPreapproval alice:-6"}}},
		"a preapproval is renewed":         {`TransferPreapproval_Renew p {} -> {"provider":"alice::1220","transferResult":{` + spend + `}} @ alice::1220`, map[string][]string{alice: {":0 transfer TransferPreapproval_Renew alice:-6"}}},
		"sent by preapproval":              {`TransferPreapproval_Send p {"amount":"6.0","description":"rent","sender":"alice::1220"} -> {"result":{` + spendOf(`[["alice::1220",{}],["bob::1220",{}]]`) + `}} @ alice::1220,bob::1220` + below(payBob), map[string][]string{alice: {":0 transfer TransferPreapproval_Send alice:-6 -> bob:6 description=rent"}, bob: {":0 transfer TransferPreapproval_Send alice:-6 -> bob:6 description=rent"}}},
		"sent by preapproval, later":       {`TransferPreapproval_SendV2 p {"amount":"6.0","sender":"alice::1220"} -> {"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"gift"}},"result":{` + spendOf(`[["bob::1220",{}]]`) + `}} @ alice::1220`, map[string][]string{alice: {":0 transfer TransferPreapproval_Send alice:-6 -> bob:6 description=gift"}}},
		"sent by preapproval to oneself":   {`TransferPreapproval_SendV2 p {"amount":"6.0","sender":"alice::1220"} -> {"result":{` + spendOf(`[["alice::1220",{}]]`) + `}} @ alice::1220`, map[string][]string{alice: {":0 transfer TransferPreapproval_Send alice:0"}}},
		"a token transfer waits":           {fmt.Sprintf(factory, bob, "Pending", `{"transferInstructionCid":"i"}`) + below(`create LockedAmulet l {} @ alice::1220`, coinNode("c1", alice, "4.0", alice), `create TransferInstruction i `+instruction(alice, bob)+` @ alice::1220,bob::1220`), map[string][]string{alice: {":0 transfer TransferFactory_Transfer alice:-6 instruction=i for=bob::1220 of=6.0000000000 description=rent"}, bob: {":3 transfer TransferFactory_Transfer alice:0 -> bob:0 instruction=i for=bob::1220 of=6.0000000000 description=rent"}}},
		"a token transfer is done":         {fmt.Sprintf(factory, bob, "Completed", `{"receiverHoldingCids":["c1"]}`) + below(coinNode("c1", bob, "6.0", both)), map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:-6 -> bob:6 description=rent"}, bob: {":1 unknown unknown"}}},
		"coins are merged by a transfer":   {fmt.Sprintf(factory, alice, "Completed", `{"receiverHoldingCids":["c1"]}`), map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:0 description=rent"}}},
		"a token transfer has failed":      {fmt.Sprintf(factory, bob, "Failed", `{}`), map[string][]string{alice: nil}},
		"a coin out of nowhere":            {coinNode("c1", alice, "6.0", alice), map[string][]string{alice: {":0 unknown unknown"}}},
		"a coin goes nowhere":              {`Amulet.Archive c1 {} -> {} @ alice::1220`, map[string][]string{alice: {":0 unknown unknown"}}},
		"a locked coin goes nowhere":       {`LockedAmulet.Archive c1 {} -> {} @ alice::1220`, map[string][]string{alice: nil}},
		"what makes no sense hides others": {`AmuletRules_Mint r {"amount":"5.0","receiver":"alice::1220"} -> {} @ alice::1220` + "\n" + coinNode("c1", alice, "6.0", alice), map[string][]string{alice: {":0 unknown unknown"}}},
		"an amount that is none":           {`AmuletRules_Mint r {"amount":"5.00000000001","receiver":"alice::1220"} -> {} @ alice::1220`, map[string][]string{alice: {":0 unknown unknown"}}},
		"an amount beyond all":             {`AmuletRules_Mint r {"amount":"10000000000000000000000000000.0","receiver":"alice::1220"} -> {} @ alice::1220`, map[string][]string{alice: {":0 unknown unknown"}}},
		"coins within a standard choice": {
			`TransferInstruction_Update i {} -> {} @ alice::1220` + below(coinNode("c1", alice, "6.0", alice), `Amulet.Archive c2 {} -> {} @ alice::1220`), map[string][]string{alice: nil},
		},
		"a batch merges and pays": {
			fmt.Sprintf(batchOf, `{"tag":"CO_MergeTransferInputs","value":{}},{"tag":"CO_CompleteAcceptedTransfer","value":"a"}`, `{"tag":"COO_MergeTransferInputs","value":"c"},{"tag":"COO_AcceptedTransferPayment","value":{}}`) +
				below(`AmuletRules_Transfer r {"transfer":{"outputs":[],"sender":"alice::1220"}} -> {`+exact+`} @ alice::1220`, `AcceptedTransferOffer_Complete a {} -> {} @ alice::1220,bob::1220`, "\t"+payBob),
			map[string][]string{
				alice: {":1 transfer WalletAppInstall_ExecuteBatch alice:-6", ":2 transfer AcceptedTransferOffer_Complete alice:-6 -> bob:6"},
				bob:   {":2 transfer AcceptedTransferOffer_Complete alice:-6 -> bob:6"}, operator: nil,
			},
		},
		"operations of a batch that fail": {
			fmt.Sprintf(batchOf, `{"tag":"CO_CompleteAcceptedTransfer","value":"a"},{"tag":"CO_Tap","value":{}},{"tag":"CO_SubscriptionMakePayment","value":"s"},{"tag":"CO_CompleteAcceptedTransfer","value":"b"},{"tag":"CO_CompleteAcceptedTransfer","value":"b"}`,
				`{"tag":"COO_Error","value":{"tag":"ITR_InsufficientFunds","value":{"missingAmount":"1.5"}}},{"tag":"COO_Error","value":{"tag":"ITR_Other","value":{"description":"x"}}},{"tag":"COO_Error","value":{"tag":"ITR_Other","value":{"description":"no"}}},`+
					`{"tag":"COO_Error","value":{"tag":"ITR_UnknownSynchronizer","value":{"synchronizerId":"s"}}},{"tag":"COO_Error","value":{"tag":"ITR_InsufficientTopupAmount","value":{"minTopupAmount":"7","requestedTopupAmount":"3"}}}`),
			map[string][]string{alice: {
				":0_err_0 notification WalletAppInstall_ExecuteBatch op=CO_CompleteAcceptedTransfer details=ITR_InsufficientFunds: missing 1.5000000000 CC",
				":0_err_2 notification WalletAppInstall_ExecuteBatch op=CO_SubscriptionMakePayment details=ITR_Other: no",
				":0_err_3 notification WalletAppInstall_ExecuteBatch op=CO_CompleteAcceptedTransfer details=ITR_UnknownSynchronizer: synchronizer s",
				":0_err_4 notification WalletAppInstall_ExecuteBatch op=CO_CompleteAcceptedTransfer details=ITR_InsufficientTopupAmount: requested 3, minimum 7",
			}, operator: nil},
		},
		"a payment is collected": {
			`AcceptedAppPayment_Collect a {} -> {} @ alice::1220,bob::1220` + below(`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c1"}} @ alice::1220,bob::1220`, "\t"+coinNode("c1", alice, "6.0", both),
				`AmuletRules_Transfer r `+toBob+` -> {`+exact+`} @ alice::1220,bob::1220`),
			map[string][]string{
				alice: {":0 transfer AcceptedAppPayment_Collect alice:0 -> bob:6"},
				bob:   {":0 transfer AcceptedAppPayment_Collect alice:0 -> bob:6"},
			},
		},
		"a payment is refunded":      {`AcceptedAppPayment_Reject a {} -> {"amulet":{"amulet":"c1"}} @ alice::1220` + below(`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c1"}} @ alice::1220`, "\t"+coinNode("c1", alice, "6.0", alice)), map[string][]string{alice: {":0 balance_change AcceptedAppPayment_Reject -> alice:6"}}},
		"a subscription is refunded": {`SubscriptionInitialPayment_Expire a {} -> {"amuletSum":{"amulet":"c1"}} @ alice::1220` + below(coinNode("c1", alice, "6.0", alice)), map[string][]string{alice: {":0 balance_change SubscriptionInitialPayment_Expire -> alice:6"}}},
		"a name is paid for": {
			`AnsRules_CollectInitialEntryPayment n {} -> {} @ alice::1220,DSO::1220` + below(`SubscriptionInitialPayment_Collect a {} -> {} @ alice::1220`,
				"\t"+`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c1"}} @ alice::1220`, "\t\t"+coinNode("c1", alice, "6.0", alice),
				"\t"+`AmuletRules_Transfer r {"transfer":{"outputs":[{"amount":"6.0","receiver":"DSO::1220","receiverFeeRatio":"0.0"}],"sender":"alice::1220"}} -> {`+exact+`} @ alice::1220`,
				"\t\t"+`Amulet.Archive c1 {} -> {} @ alice::1220`, "\t\t"+coinNode("c2", dso, "6.0", alice), `Amulet.Archive c2 {} -> {} @ alice::1220`),
			map[string][]string{alice: {":0 transfer AnsRules_CollectInitialEntryPayment alice:0 -> DSO:0"}},
		},
		"offers are in a log of their own": {`WalletAppInstall_CreateTransferOffer w {} -> {} @ alice::1220` + below(`create TransferOffer o {} @ alice::1220,bob::1220`), map[string][]string{alice: nil, bob: nil}},
		"funds are allocated":              {`AllocationFactory_Allocate f {"allocation":{"transferLeg":{"amount":"6.0","receiver":"bob::1220","sender":"alice::1220"}}} -> {} @ alice::1220`, map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:-6"}}},
		"funds are allocated, later":       {`AllocationFactory_Allocate f {"allocation":{"authorizer":{"owner":"alice::1220"},"transferLegSides":[{"amount":"6.0","side":"SenderSide"},{"amount":"1.0","side":"ReceiverSide"}]}} -> {} @ alice::1220`, map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:-5"}}},
		"an allocation is executed":        {`Allocation_ExecuteTransfer x {} -> {} @ alice::1220,bob::1220` + below(`LockedAmulet_UnlockV2 l {} -> {"amuletCid":"c1"} @ alice::1220,bob::1220`, "\t"+coinNode("c1", alice, "6.0", both), `Amulet.Archive c1 {} -> {} @ alice::1220,bob::1220`, coinNode("c2", bob, "6.0", both)), map[string][]string{alice: {":0 transfer AmuletRules_Transfer alice:0 -> bob:6"}, bob: {":0 transfer AmuletRules_Transfer alice:0 -> bob:6"}}},
		"a batch is settled": {
			`SettlementFactory_SettleBatch f {"transferLegs":[{"amount":"6.0","receiver":{"owner":"bob::1220"},"sender":{"owner":"alice::1220"},"transferLegId":"l1"},{"amount":"2.0","receiver":{"owner":"alice::1220"},"sender":{"owner":"app::1220"},"transferLegId":"l2"},{"amount":"1.0","receiver":{"id":"cip-112/burn","owner":null},"sender":{"owner":"alice::1220"},"transferLegId":"l3"},{"amount":"4.0","receiver":{"owner":"bob::1220"},"sender":{"owner":"bob::1220"},"transferLegId":"l4"}]} -> {} @ alice::1220,bob::1220` +
				below(`Allocation_Settle a {} -> {} @ alice::1220`, "\t"+`LockedAmulet.Archive l {} -> {} @ alice::1220`, `Allocation_Settle b {} -> {} @ bob::1220`, "\t"+coinNode("c2", bob, "6.0", both)),
			map[string][]string{
				alice: {":0:l1 transfer AmuletRules_Transfer alice:-1 -> bob:6", ":0:l2 transfer AmuletRules_Transfer app:0 -> alice:2", ":0:l3 transfer AmuletRules_Transfer alice:-1"},
				bob:   {":0:l1 transfer AmuletRules_Transfer alice:-1 -> bob:6", ":0:l4 transfer AmuletRules_Transfer bob:0"},
			},
		},
		"an iteration is settled, which locks less": {
			`SettlementFactory_SettleBatch f {"transferLegs":[{"amount":"6.0","receiver":{"owner":"bob::1220"},"sender":{"owner":"alice::1220"},"transferLegId":"l1"}]} -> {} @ alice::1220,bob::1220` +
				below(`Allocation_Settle a {} -> {} @ alice::1220`, "\t"+coinNode("c1", alice, "3.0", both), `Allocation_Settle b {} -> {} @ bob::1220`, "\t"+coinNode("c2", bob, "2.0", both)),
			map[string][]string{
				alice: {":0:l1 transfer AmuletRules_Transfer alice:0 -> bob:6", ":0 transfer AmuletRules_Transfer alice:3"},
				bob:   {":0:l1 transfer AmuletRules_Transfer alice:0 -> bob:6", ":0 transfer AmuletRules_Transfer bob:-4"},
			},
		},
		"a receiver sees the choice that offers": {
			`TransferFactory_Transfer f {"transfer":{"amount":"6.0","meta":{"values":{}},"receiver":{"owner":"bob::1220"},"sender":{"owner":"alice::1220"}}} -> {"output":{"tag":"TransferInstructionResult_Pending","value":{"transferInstructionCid":"i"}}} @ alice::1220,bob::1220` +
				below(fmt.Sprintf(factory, bob, "Pending", `{"transferInstructionCid":"i"}`)+",bob::1220", "\t"+`create TransferInstruction i `+instruction(alice, bob)+` @ alice::1220,bob::1220`),
			map[string][]string{
				alice: {":0 transfer TransferFactory_Transfer alice:-6 instruction=i for=bob::1220 of=6.0000000000"},
				bob:   {":2 transfer TransferFactory_Transfer alice:0 -> bob:0 instruction=i for=bob::1220 of=6.0000000000 description=rent"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := treeOf(t, c.tree)
			r := NewParser(values.Default()).Update(u, nil)
			got := map[string][]string{}
			for i, e := range r.Entries {
				if e.Offset != 7 || e.EffectiveAt != 1e15 || int(e.Entry) != len(got[e.Party]) {
					t.Errorf("entry %d stands at %d, %d", i, e.Offset, e.Entry)
				}
				got[e.Party] = append(got[e.Party], written(e))
			}
			for party, want := range c.want {
				if g, w := strings.Join(got[party], "\n"), strings.Join(want, "\n"); g != w {
					t.Errorf("the log of %s:\n%s\nwant\n%s", party, g, w)
				}
			}
		})
	}
}

// Who is the user of a batch, and what an answer to a transfer instruction is about, stands in
// contracts that are older than the update.
func TestRulesThatNeedPayloads(t *testing.T) {
	both := alice + "," + bob
	payloads := map[string]string{
		"w": `{"endUserParty":"alice::1220"}`, "i": instruction(alice, bob), "self": instruction(alice, alice),
		"x": `{"allocation":{"transferLeg":{"sender":"alice::1220"}}}`, "y": `{"allocation":{"authorizer":{"owner":"alice::1220"}}}`,
	}
	const failed = `{"operations":[{"tag":"CO_CompleteAcceptedTransfer","value":"a"}]} -> {"outcomes":[{"tag":"COO_Error","value":{"tag":"ITR_Other","value":{"description":"no"}}}]} @ alice::1220,validator::1220`
	for name, c := range map[string]struct {
		tree string
		want map[string]string
	}{
		"a batch of alice": {`WalletAppInstall_ExecuteBatch w ` + failed, map[string]string{
			alice: ":0_err_0 notification WalletAppInstall_ExecuteBatch op=CO_CompleteAcceptedTransfer details=ITR_Other: no", operator: ""}},
		"accepted": {`TransferInstruction_Accept i {} -> {} @ ` + both + below(`LockedAmulet.Archive l {} -> {} @ `+both, coinNode("c1", bob, "6.0", both)), map[string]string{
			alice: ":0 transfer TransferInstruction_Accept alice:0 -> bob:6 instruction=i description=rent",
			bob:   ":0 transfer TransferInstruction_Accept alice:0 -> bob:6 instruction=i description=rent"}},
		"accepted, with change": {`TransferInstruction_Accept i {} -> {} @ ` + both + below(coinNode("c1", bob, "5.0", both), coinNode("c2", alice, "1.0", both)), map[string]string{
			alice: ":0 transfer TransferInstruction_Accept alice:1 -> bob:5 instruction=i description=rent"}},
		"accepted by the sender": {`TransferInstruction_Accept self {} -> {} @ ` + alice + below(coinNode("c1", alice, "6.0", alice)), map[string]string{
			alice: ":0 transfer TransferInstruction_Accept alice:6 instruction=self description=rent"}},
		"rejected": {`TransferInstruction_Reject i {} -> {} @ ` + both + "," + dso + below(coinNode("c1", alice, "6.0", both)), map[string]string{
			alice: ":0 balance_change TransferInstruction_Reject -> alice:6 instruction=i",
			bob:   ":0 balance_change TransferInstruction_Reject -> bob:0 instruction=i", dso: ""}},
		"withdrawn": {`TransferInstruction_Withdraw i {} -> {} @ ` + both + below(`LockedAmulet_Unlock l {} -> {"amuletSum":{"amulet":"c1"}} @ `+both, "\t"+coinNode("c1", alice, "6.0", both)), map[string]string{
			alice: ":0 balance_change TransferInstruction_Withdraw -> alice:6 instruction=i",
			bob:   ":0 balance_change TransferInstruction_Withdraw -> bob:0 instruction=i"}},
		"executed": {`Allocation_ExecuteTransfer x {} -> {} @ ` + both + below(coinNode("c1", bob, "6.0", both)), map[string]string{
			alice: ":0 transfer AmuletRules_Transfer alice:0 -> bob:6", bob: ":0 transfer AmuletRules_Transfer alice:0 -> bob:6"}},
		"settled in a batch that is not seen": {`Allocation_Settle y {} -> {} @ alice::1220` + below(coinNode("c1", alice, "6.0", alice)), map[string]string{
			alice: ":0 transfer AmuletRules_Transfer alice:6"}},
		"one of the first version": {`Allocation_Settle x {} -> {} @ alice::1220` + below(`LockedAmulet.Archive l {} -> {} @ alice::1220`), map[string]string{
			alice: ":0 transfer AmuletRules_Transfer alice:0"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := treeOf(t, c.tree)
			p := NewParser(values.Default())
			if needs := p.Needs(nil, u); len(needs) != 1 || payloads[needs[0]] == "" {
				t.Errorf("needs %q", needs)
			}
			got := map[string][]string{}
			for _, e := range p.Update(u, func(id string) []byte { return []byte(payloads[id]) }).Entries {
				got[e.Party] = append(got[e.Party], written(e))
			}
			for party, want := range c.want {
				if g := strings.Join(got[party], "\n"); g != want {
					t.Errorf("the log of %s:\n%s\nwant\n%s", party, g, want)
				}
			}
		})
	}
}

// TestStatuses has the steps of offers and traffic requests.
func TestStatuses(t *testing.T) {
	const (
		offer    = `{"receiver":"bob::1220","sender":"alice::1220","trackingId":"t1"}`
		request  = `{"endUserParty":"alice::1220","trackingId":"t2"}`
		offerEnd = ` -> {"trackingInfo":` + offer + `} @ alice::1220,bob::1220`
		reqEnd   = ` -> {"trackingInfo":` + request + `} @ alice::1220`
	)
	for tree, want := range map[string]string{
		`create TransferOffer o ` + offer + ` @ alice::1220,bob::1220,DSO::1220`:                                                                     "alice offer t1 created o  | bob offer t1 created o ",
		`create TransferOffer o ` + offer + ` @ bob::1220`:                                                                                           "bob offer t1 created o ",
		`TransferOffer_Accept o {} -> {"acceptedTransferOffer":"a"} @ alice::1220` + below(`create AcceptedTransferOffer a `+offer+` @ alice::1220`): "alice offer t1 accepted a ",
		`TransferOffer_Reject o {}` + offerEnd:                                                                                                       "alice offer t1 failed  rejected | bob offer t1 failed  rejected",
		`TransferOffer_Withdraw o {"reason":"late"}` + offerEnd:                                                                                      "alice offer t1 failed  withdrawn late | bob offer t1 failed  withdrawn late",
		`TransferOffer_Expire o {}` + offerEnd:                                                                                                       "alice offer t1 failed  expired | bob offer t1 failed  expired",
		`AcceptedTransferOffer_Abort a {"reason":"poor"}` + offerEnd:                                                                                 "alice offer t1 failed  withdrawn poor | bob offer t1 failed  withdrawn poor",
		`AcceptedTransferOffer_Withdraw a {"reason":"x"}` + offerEnd:                                                                                 "alice offer t1 failed  withdrawn x | bob offer t1 failed  withdrawn x",
		`AcceptedTransferOffer_Expire a {}` + offerEnd:                                                                                               "alice offer t1 failed  expired | bob offer t1 failed  expired",
		`AcceptedTransferOffer_Complete a {} -> {"trackingInfo":` + offer + `,"transferResult":{"createdAmulets":[{"tag":"TransferResultAmulet","value":"c1"}]}} @ alice::1220`: "alice offer t1 completed c1 ",
		`create BuyTrafficRequest b ` + request + ` @ alice::1220`: "alice traffic t2 created b ",
		`BuyTrafficRequest_Complete b {}` + reqEnd:                 "alice traffic t2 completed  ",
		`BuyTrafficRequest_Cancel b {"reason":"poor"}` + reqEnd:    "alice traffic t2 failed  rejected poor",
		`BuyTrafficRequest_Expire b {}` + reqEnd:                   "alice traffic t2 failed  expired",
		`TransferOffer_Reject o {} -> {} @ alice::1220`:            "",
	} {
		var got []string
		for i, s := range NewParser(values.Default()).Update(treeOf(t, tree), nil).Statuses {
			name, _, _ := strings.Cut(s.Party, "::")
			text := strings.Join([]string{name, s.Kind, s.TrackingID, s.Status, s.ContractID, s.Failure}, " ")
			if s.Reason != "" {
				text += " " + s.Reason
			}
			got = append(got, text)
			if s.UpdateID != "1220aa" || s.Offset != 7 || int(s.Step) != i || s.Sender != alice {
				t.Errorf("%s: %+v", tree, s)
			}
		}
		if g := strings.Join(got, " | "); g != want {
			t.Errorf("%s:\n%q\nwant\n%q", tree, g, want)
		}
	}
}
