package views_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const (
	coin       = `{"dso":"DSO::12","owner":"alice::12","amount":{"initialAmount":"12.5000000000","createdAt":{"number":"7"},"ratePerRound":{"rate":"0.0000475600"}}}`
	lockedCoin = `{"amulet":` + coin + `,"lock":{"holders":["DSO::12"],"expiresAt":"2026-08-01T00:00:00Z","optContext":"for bob"}}`
	// The metadata say that both sides have accounts.
	instruction = `{"lockedAmulet":"00cc","transfer":{"sender":"alice::12","receiver":"bob::12","amount":"3.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},` +
		`"requestedAt":"2026-07-01T00:00:00Z","executeBefore":"2026-07-02T00:00:00Z","inputHoldingCids":["00aa","00bb"],` +
		`"meta":{"values":{"a/note":"1 \"coin\"","cip-112/receiver.id":"savings","cip-112/sender.provider":"bank::12","z":""}}}}`
	allocation = `{"lockedAmulet":"00cc","allocation":{"settlement":{"executor":"venue::12","settlementRef":{"id":"s1","cid":null},"requestedAt":"2026-07-01T00:00:00Z",` +
		`"allocateBefore":"2026-07-02T00:00:00Z","settleBefore":"2026-07-03T00:00:00Z","meta":{"values":{"cip-112/extra-executors":"x::12,y::12","k":"v"}}},` +
		`"transferLegId":"leg0","transferLeg":{"sender":"alice::12","receiver":"bob::12","amount":"3.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},"meta":{"values":{}}}}}`
	settlementV2 = `{"executors":["venue::12","a::12"],"id":"s2","cid":"00ee","meta":{"values":{}}}`
	specV2       = `{"admin":"DSO::12","authorizer":{"owner":"alice::12","provider":null,"id":""},"transferLegSides":[],"settlementDeadline":null,"nextIterationFunding":{"Amulet":"1.0000000000"},"committed":false,"meta":{"values":{}}}`
	allocationV2 = `{"lockedAmulet":"00cc","settlement":` + settlementV2 + `,"allocation":` + specV2 + `,"expiresAt":"2026-09-01T00:00:00Z","numIterations":"2","createdAt":"2026-07-01T00:00:00Z"}`
)

// cases are what the source of each template says of its interfaces.
var cases = []struct{ template, iface, argument, want string }{
	{template.Coin, "Splice.Api.Token.HoldingV1:Holding", coin,
		`{"owner":"alice::12","instrumentId":{"admin":"DSO::12","id":"Amulet"},"amount":"12.5000000000","lock":null,"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"7","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"0.00004756"}}}`},
	{template.Coin, "Splice.Api.Token.HoldingV2:Holding", strings.Replace(coin, "0.0000475600", "2.0000000000", 1),
		`{"account":{"owner":"alice::12","provider":null,"id":""},"instrumentId":{"admin":"DSO::12","id":"Amulet"},"amount":"12.5000000000","lock":null,"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"7","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"2.0"}}}`},
	{template.LockedCoin, "Splice.Api.Token.HoldingV1:Holding", lockedCoin,
		`{"owner":"alice::12","instrumentId":{"admin":"DSO::12","id":"Amulet"},"amount":"12.5000000000","lock":{"holders":["DSO::12"],"expiresAt":"2026-08-01T00:00:00Z","expiresAfter":null,"context":"for bob"},"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"7","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"0.00004756"}}}`},
	{template.LockedCoin, "Splice.Api.Token.HoldingV2:Holding", strings.Replace(lockedCoin, `"for bob"`, `null`, 1),
		`{"account":{"owner":"alice::12","provider":null,"id":""},"instrumentId":{"admin":"DSO::12","id":"Amulet"},"amount":"12.5000000000","lock":{"holders":["DSO::12"],"expiresAt":"2026-08-01T00:00:00Z","expiresAfter":null,"context":null},"meta":{"values":{"amulet.splice.lfdecentralizedtrust.org/created-in-round":"7","amulet.splice.lfdecentralizedtrust.org/rate-per-round":"0.00004756"}}}`},
	{template.CoinTransferInstruction, "Splice.Api.Token.TransferInstructionV1:TransferInstruction", instruction,
		`{"originalInstructionCid":null,"transfer":{"sender":"alice::12","receiver":"bob::12","amount":"3.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},"requestedAt":"2026-07-01T00:00:00Z","executeBefore":"2026-07-02T00:00:00Z","inputHoldingCids":["00aa","00bb"],` +
			`"meta":{"values":{"a/note":"1 \"coin\"","cip-112/receiver.id":"savings","cip-112/sender.provider":"bank::12","z":""}}},"status":{"tag":"TransferPendingReceiverAcceptance","value":{}},"meta":{"values":{}}}`},
	{template.CoinTransferInstruction, "Splice.Api.Token.TransferInstructionV2:TransferInstruction", instruction,
		`{"originalInstructionCid":null,"transfer":{"sender":{"owner":"alice::12","provider":"bank::12","id":""},"receiver":{"owner":"bob::12","provider":null,"id":"savings"},"amount":"3.0000000000","instrumentId":{"admin":"DSO::12","id":"Amulet"},"requestedAt":"2026-07-01T00:00:00Z","executeBefore":"2026-07-02T00:00:00Z","inputHoldingCids":["00aa","00bb"],"meta":{"values":{"a/note":"1 \"coin\"","z":""}}},` +
			`"expiresAt":"2026-07-02T00:00:00Z","availableActions":[[{"tag":"TIA_Accept","value":{}},[["bob::12"]]],[{"tag":"TIA_Reject","value":{}},[["bob::12"]]],[{"tag":"TIA_Withdraw","value":{}},[["alice::12"]]]],"meta":{"values":{}}}`},
	{template.CoinAllocation, "Splice.Api.Token.AllocationV1:Allocation", allocation,
		`{"allocation":` + allocation[len(`{"lockedAmulet":"00cc","allocation":`):len(allocation)-1] + `,"holdingCids":["00cc"],"meta":{"values":{}}}`},
	{template.CoinAllocation, "Splice.Api.Token.AllocationV2:Allocation", allocation,
		`{"originalAllocationCid":null,"settlement":{"executors":["venue::12","x::12","y::12"],"id":"s1","cid":null,"meta":{"values":{"k":"v"}}},"allocation":{"admin":"DSO::12","authorizer":{"owner":"alice::12","provider":null,"id":""},` +
			`"transferLegSides":[{"transferLegId":"leg0","side":"SenderSide","otherside":{"owner":"bob::12","provider":null,"id":""},"amount":"3.0000000000","instrumentId":"Amulet","meta":{"values":{}}}],"settlementDeadline":"2026-07-03T00:00:00Z","nextIterationFunding":null,"committed":false,"meta":{"values":{}}},` +
			`"holdingCids":["00cc"],"createdAt":"2026-07-01T00:00:00Z","numIterations":"0","expiresAt":null,"availableActions":[[{"tag":"AA_Settle","value":{}},[["DSO::12","venue::12","x::12","y::12"]]],[{"tag":"AA_Cancel","value":{}},[["venue::12","x::12","y::12"]]],[{"tag":"AA_Withdraw","value":{}},[["alice::12"]]]],"meta":{"values":{}}}`},
	// One that expires before the deadline.
	{template.CoinAllocation, "Splice.Api.Token.AllocationV1:Allocation", `{"expiresAt":"1970-01-01T00:00:01.5Z",` + allocation[1:],
		`{"allocation":` + allocation[len(`{"lockedAmulet":"00cc","allocation":`):len(allocation)-1] + `,"holdingCids":["00cc"],"meta":{"values":{"cip-112/expiresAt":"1500000"}}}`},
	{template.CoinAllocationV2, "Splice.Api.Token.AllocationV2:Allocation", allocationV2,
		`{"originalAllocationCid":null,"settlement":` + settlementV2 + `,"allocation":` + specV2 + `,"holdingCids":["00cc"],"createdAt":"2026-07-01T00:00:00Z","numIterations":"2","expiresAt":"2026-09-01T00:00:00Z",` +
			`"availableActions":[[{"tag":"AA_Settle","value":{}},[["DSO::12","a::12","venue::12"]]],[{"tag":"AA_Cancel","value":{}},[["a::12","venue::12"]]],[{"tag":"AA_Withdraw","value":{}},[["alice::12"]]]],"meta":{"values":{}}}`},
	// Committed without a deadline: nobody withdraws. Nothing is locked.
	{template.CoinAllocationV2, "Splice.Api.Token.AllocationV2:Allocation", strings.NewReplacer(`"committed":false`, `"committed":true`, `"lockedAmulet":"00cc"`, `"lockedAmulet":null`).Replace(allocationV2),
		`{"originalAllocationCid":null,"settlement":` + settlementV2 + `,"allocation":` + strings.Replace(specV2, `"committed":false`, `"committed":true`, 1) + `,"holdingCids":[],"createdAt":"2026-07-01T00:00:00Z","numIterations":"2","expiresAt":"2026-09-01T00:00:00Z",` +
			`"availableActions":[[{"tag":"AA_Settle","value":{}},[["DSO::12","a::12","venue::12"]]],[{"tag":"AA_Cancel","value":{}},[["a::12","venue::12"]]]],"meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.TransferInstructionV1:TransferFactory", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.TransferInstructionV2:TransferFactory", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.AllocationInstructionV1:AllocationFactory", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.AllocationInstructionV2:AllocationFactory", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.AllocationV2:SettlementFactory", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyCoinRules, "Splice.Api.Token.TransferEventsV2:EventLog", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.CoinRules, "Splice.Api.Token.TransferEventsV2:EventLog", `{"dso":"DSO::12","isDevNet":true}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.ExternalPartyConfigState, "Splice.Api.Token.TransferEventsV2:EventLog", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.CoinEventLog, "Splice.Api.Token.TransferEventsV2:EventLog", `{"dso":"DSO::12"}`, `{"admin":"DSO::12","meta":{"values":{}}}`},
	{template.FeaturedAppRight, "Splice.Api.FeaturedAppRightV1:FeaturedAppRight", `{"dso":"DSO::12","provider":"app::12","activityWeight":"2.0"}`, `{"dso":"DSO::12","provider":"app::12"}`},
	{template.FeaturedAppRight, "Splice.Api.FeaturedAppRightV2:FeaturedAppRight", `{"dso":"DSO::12","provider":"app::12"}`, `{"dso":"DSO::12","provider":"app::12"}`},
	{template.FeaturedAppActivityMarker, "Splice.Api.FeaturedAppRightV1:FeaturedAppActivityMarker", marker, marker},
	{template.FeaturedAppActivityMarker, "Splice.Api.FeaturedAppRightV2:FeaturedAppActivityMarker", marker, marker},
	{template.RewardCouponV2, "Splice.Api.RewardAssignmentV1:RewardCoupon", `{"dso":"DSO::12","provider":"app::12","round":{"number":"3"},"amount":"1.5000000000","expiresAt":"2026-07-02T00:00:00Z","providerIsObserver":true}`,
		`{"dso":"DSO::12","provider":"app::12","beneficiary":null,"amount":"1.5000000000","expiresAt":"2026-07-02T00:00:00Z","meta":{"values":{}},"maxNumNewBeneficiaries":"20"}`},
}

const marker = `{"dso":"DSO::12","provider":"app::12","beneficiary":"bob::12","weight":"0.2500000000"}`

func canonical(t testing.TB, text string) []byte {
	t.Helper()
	out, err := jsonscan.AppendCanonical(nil, []byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func TestViews(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range cases {
		tried[c.template+" "+c.iface] = true
		got, err := views.Of(c.template, c.iface)([]byte("x"), canonical(t, c.argument))
		if want := "x" + string(canonical(t, c.want)); err != nil || string(got) != want {
			t.Errorf("%s of %s: %v\n%s\nwant\n%s", c.iface, c.template, err, got, want)
		}
	}
	// What the catalogue says to be implemented has a rule and a case, and there are no other rules.
	for _, e := range values.Default().Entries() {
		name := e.PackageName + ":" + e.Entity
		if ruled := views.Interfaces(name); !slices.Equal(slices.Sorted(slices.Values(ruled)), slices.Sorted(slices.Values(e.Implements))) {
			t.Errorf("%s implements %v by the catalogue, and there are rules for %v", name, e.Implements, ruled)
		}
		for _, entity := range e.Implements {
			if !tried[name+" "+entity] {
				t.Errorf("%s of %s is not tried", entity, name)
			}
		}
	}
	if views.Of(template.Coin, "Acme.Api:Thing") != nil || views.Of("acme:Acme:Thing", "Splice.Api.Token.HoldingV1:Holding") != nil {
		t.Error("there is a rule for what is unknown")
	}
}

// spoil calls with arguments that have one value of another kind each, or lack it.
func spoil(argument any, so func()) {
	object, _ := argument.(map[string]any) // none in a text
	for label, value := range object {
		spoil(value, so)
		for _, other := range []any{nil, map[string]any{}, []any{[]any{}}, json.Number("1"), "", "x", true} {
			object[label] = other
			so()
		}
		delete(object, label)
		so()
		object[label] = value
	}
}

// TestSpoiltArguments: whatever stands in an argument, there is a view that is JSON or an error that
// names a field, and nothing of a view with it.
func TestSpoiltArguments(t *testing.T) {
	failed, fine := 0, 0
	for _, c := range cases {
		var argument map[string]any
		if err := json.Unmarshal([]byte(c.argument), &argument); err != nil {
			t.Fatal(err)
		}
		rule := views.Of(c.template, c.iface)
		spoil(argument, func() {
			text, err := json.Marshal(argument)
			if err != nil {
				t.Fatal(err)
			}
			out, err := rule([]byte("x"), canonical(t, string(text)))
			switch {
			case err == nil && json.Valid(out[1:]):
				fine++
			case err != nil && string(out) == "x" && strings.Contains(err.Error(), " is no "):
				failed++
			default:
				t.Errorf("%s of %s: %v, %s of %s", c.iface, c.template, err, out, text)
			}
		})
	}
	if failed < 500 || fine < 100 {
		t.Errorf("%d views failed, %d did not", failed, fine)
	}
}

func FuzzViews(f *testing.F) {
	for i, c := range cases {
		f.Add(uint8(i), string(canonical(f, c.argument)))
	}
	f.Fuzz(func(t *testing.T, which uint8, argument string) {
		c := cases[int(which)%len(cases)]
		out, err := views.Of(c.template, c.iface)(nil, []byte(argument))
		if err != nil {
			if len(out) > 0 {
				t.Errorf("%v, and %s", err, out)
			}
			return
		}
		if again, err := jsonscan.AppendCanonical(nil, out); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%s is not canonical: %v", out, err)
		}
	})
}

func BenchmarkViews(b *testing.B) {
	for _, c := range cases[:8] {
		b.Run(fmt.Sprintf("%s of %s", c.iface, template.Entity(c.template)), func(b *testing.B) {
			rule, argument, out := views.Of(c.template, c.iface), canonical(b, c.argument), []byte(nil)
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if out, err = rule(out[:0], argument); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(out)))
		})
	}
}
