package scan

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// exercised is an exercise with its children, in compact JSON.
func exercised(node int32, contract, choice, argument, result string, children ...int32) schemas.Event {
	return schemas.Event{
		Node: node, Kind: schemas.Exercised, ContractID: contract, TemplateID: "6a3b:Splice.AmuletRules:AmuletRules", PackageName: coinPackage,
		Choice: choice, ActingParties: []string{alice}, Argument: canonical(argument), Result: canonical(result), Children: append([]int32{}, children...),
	}
}

func canonical(text string) []byte {
	value, err := jsonscan.AppendCanonical(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return value
}

const (
	transferSummary = `{"inputAppRewardAmount":"1.5","inputValidatorRewardAmount":"0.0","inputSvRewardAmount":"0.0","inputAmuletAmount":"10.0","balanceChanges":[["` + bob + `",{"changeToInitialAmountAsOfRoundZero":"4.1","changeToHoldingFeesRate":"0.1"}],["` + alice + `",{"changeToInitialAmountAsOfRoundZero":"-4.5","changeToHoldingFeesRate":"0.0"}]],` +
		`"holdingFees":"0.0","outputFees":["0.4","0.2"],"senderChangeFee":"0.1","senderChangeAmount":"5.0","amuletPrice":"0.005","inputValidatorFaucetAmount":null}`
	transferResult   = `{"round":{"number":"7"},"summary":` + transferSummary + `,"createdAmulets":[],"senderChangeAmulet":null}`
	transferArgument = `{"transfer":{"sender":"` + alice + `","provider":"app::1220","inputs":[],"outputs":[{"receiver":"` + bob + `","receiverFeeRatio":"0.5","amount":"4.0","lock":null},{"receiver":"` + bob + `","receiverFeeRatio":"0.0","amount":"1.0","lock":null}]},"context":{}}`
)

// activityWorld is a world that ends with updates of each kind.
func activityWorld() *memory {
	m := world()
	token := func(output string) (argument, result string) {
		return `{"expectedAdmin":"` + dso + `","transfer":{"sender":"` + alice + `","receiver":"` + bob + `","amount":"3.0","instrumentId":{"admin":"` + dso + `","id":"Amulet"},"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"rent"}}}}`,
			`{"output":` + output + `,"senderChangeCids":[],"meta":{"values":{}}}`
	}
	pending, pendingResult := token(`{"tag":"TransferInstructionResult_Pending","value":{"transferInstructionCid":"00pending"}}`)
	done, doneResult := token(`{"tag":"TransferInstructionResult_Completed","value":{"receiverHoldingCids":[]}}`)
	tap := `{"receiver":"` + bob + `","amount":"100.0","openRound":"00r"}`
	for i, events := range [][]schemas.Event{
		{exercised(0, "00rules", "AmuletRules_Transfer", transferArgument, transferResult, 1), exercised(1, "00coin", "Archive", `{}`, `{}`)},
		{exercised(0, "00rules", "AmuletRules_DevNet_Tap", tap, `{"amuletSum":{"amulet":"00c","amuletPrice":"0.005","round":{"number":"8"}}}`, 1), exercised(1, "00rules", "AmuletRules_Mint", tap, `{}`)},
		{exercised(0, "00x", "Settle", `{}`, `{}`, 1, 2), exercised(1, "00rules", "AmuletRules_Mint", tap, `{}`), exercised(2, "00instruction", "TransferInstruction_Reject", `{}`, `{}`)},
		{exercised(0, "00rules", "AmuletRules_BuyMemberTraffic", `{}`, `{}`, 1), exercised(1, "00rules", "AmuletRules_Transfer", transferArgument, transferResult)},
		{exercised(0, "00factory", "TransferFactory_Transfer", pending, pendingResult, 1), exercised(1, "00rules", "AmuletRules_Transfer", transferArgument, transferResult)},
		{exercised(0, "00factory", "TransferFactory_Transfer", pending, pendingResult)},
		{exercised(0, "00factory", "TransferFactory_Transfer", done, doneResult)},
		{exercised(0, "00instruction", "TransferInstruction_Accept", `{}`, `{}`, 1), exercised(1, "00rules", "AmuletRules_Transfer", transferArgument, transferResult)},
		{exercised(0, "00approval", "TransferPreapproval_SendV2", `{"sender":"`+alice+`","amount":"4.0","description":"tea","meta":null}`, `{"result":`+transferResult+`,"meta":{"values":{}}}`)},
	} {
		id := fmt.Sprintf("1220ac%02d", i)
		u := transaction(int64(i/5), at([]string{"2026-07-02T01:10:00Z", "2026-07-02T04:41:00Z"}[i/5])+schemas.Micros(i)*1e6, id, schemas.CompactJSON)
		u.Events, u.RootEvents = events, []int32{0}
		m.items = append(m.items, schemas.Item{Update: u, Verdict: verdict(u.MigrationID, u.RecordTime, id)})
	}
	slices.SortStableFunc(m.items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	m.mark = m.items[len(m.items)-1].Position()
	return m
}

type activityAnswer struct {
	ID       string `json:"event_id"`
	Kind     string `json:"activity_type"`
	Type     string `json:"transaction_type"`
	Round    *int64 `json:"round"`
	Transfer map[string]any
}

func TestActivities(t *testing.T) {
	s := serve(t, activityWorld())
	want := []string{
		"#1220ac00:0 transfer", "#1220ac01:0 devnet_tap", "#1220ac02:1 mint", "#1220ac02:2 abort_transfer_instruction", "#1220ac04:1 transfer",
		"#1220ac05:0 transfer", "#1220ac06:0 transfer", "#1220ac07:1 transfer", "#1220ac08:0 transfer",
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	for size := 1; size <= 10; size++ {
		for _, c := range []struct {
			path, member, after, rest string
			want                      []string
		}{
			{"/v0/activities", "activities", "begin_after_id", "", back},
			{"/v0/transactions", "transactions", "page_end_event_id", "", want},
			{"/v0/transactions", "transactions", "page_end_event_id", `,"sort_order":"desc"`, back},
		} {
			var got []string
			for after := ""; ; {
				var page map[string][]activityAnswer
				s.ok("POST", c.path, fmt.Sprintf(`{"page_size":%d,"%s":"%s"%s}`, size, c.after, after, c.rest), &page)
				for _, one := range page[c.member] {
					got, after = append(got, one.ID+" "+one.Kind+one.Type), one.ID
				}
				if len(page[c.member]) > size {
					t.Fatalf("%s: a page of %d has %d activities", c.path, size, len(page[c.member]))
				}
				if len(page[c.member]) == 0 {
					break
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s%s in pages of %d gives %q, want %q", c.path, c.rest, size, got, c.want)
			}
		}
	}
}

func TestActivitiesInFull(t *testing.T) {
	s := serve(t, activityWorld())
	body := func(naming query.Naming) []string {
		r := serve(t, activityWorld(), func(c *Config) { c.Naming = naming }).do("POST", "/v0/transactions", `{"page_size":100}`)
		return strings.Split(strings.TrimSuffix(strings.TrimPrefix(r.body, `{"transactions":[`), `]}`), `,{"abort`)
	}
	sender := decimals(`"sender":{"holding_fees":~0~,"input_app_reward_amount":~1.5~,"input_coin_amount":~10~,"input_sv_reward_amount":~0~,"input_validator_reward_amount":~0~,"party":"` + alice + `","sender_change_amount":~5~,"sender_change_fee":~0.1~,"sender_fee":~0.4~}`)
	changes := decimals(`"balance_changes":[{"change_to_holding_fees_rate":~0~,"change_to_initial_amount_as_of_round_zero":~-4.5~,"party":"` + alice + `"},{"change_to_holding_fees_rate":~0.1~,"change_to_initial_amount_as_of_round_zero":~4.1~,"party":"` + bob + `"}]`)
	receivers := decimals(`"receivers":[{"amount":~5~,"party":"` + bob + `","receiver_fee":~0.2~}]`)
	whole := body(query.Neutral)
	all := strings.Join(whole, "\n")
	for what, text := range map[string]string{
		"a transfer":           `{"date":"2026-07-02T01:10:00Z","domain_id":"` + sync1 + `","event_id":"#1220ac00:0","round":7,"transaction_type":"transfer","transfer":{` + changes + decimals(`,"coin_price":~0.005~,"provider":"app::1220",`) + receivers + `,` + sender + `}}`,
		"a tap":                decimals(`"event_id":"#1220ac01:0","round":8,"tap":{"coin_amount":~100~,"coin_owner":"` + bob + `"},"transaction_type":"devnet_tap"}`),
		"a mint":               decimals(`"event_id":"#1220ac02:1","mint":{"coin_amount":~100~,"coin_owner":"` + bob + `"},"transaction_type":"mint"}`),
		"a refusal":            `_transfer_instruction":{"abort_kind":"reject","transfer_instruction_cid":"00instruction"}`,
		"an instruction":       `"description":"rent",` + decimals(`"provider":"app::1220",`) + receivers + `,` + sender + decimals(`,"transferInstructionAmount":~3~,"transferInstructionCid":"00pending","transferInstructionReceiver":"`+bob+`","transfer_kind":"create_transfer_instruction"}`),
		"an instruction alone": decimals(`"event_id":"#1220ac05:0","transaction_type":"transfer","transfer":{"balance_changes":[],"description":"rent","receivers":[{"amount":~3~,"party":"` + alice + `","receiver_fee":~0~}],"sender":{"holding_fees":~0~,"input_coin_amount":~0~,"party":"` + alice + `"`),
		"a direct transfer":    decimals(`"event_id":"#1220ac06:0","transaction_type":"transfer","transfer":{"balance_changes":[],"description":"rent","receivers":[{"amount":~3~,"party":"` + bob + `"`),
		"an acceptance":        sender + `,"transferInstructionCid":"00instruction","transfer_kind":"transfer_instruction_accept"}`,
		"a preapproved one":    decimals(`"description":"tea","receivers":[{"amount":~4~,"party":"` + bob + `","receiver_fee":~0~}],`),
	} {
		if !strings.Contains(all, text) {
			t.Errorf("%s is not among the activities, as\n%s\nin\n%s", what, text, all)
		}
	}
	if network := strings.Join(body(query.Network), "\n"); !strings.Contains(network, `"amulet_owner":`) || !strings.Contains(network, `"input_amulet_amount":`) || strings.Contains(network, "coin_") {
		t.Errorf("in the network's spelling activities are\n%s", network)
	}
	for _, id := range []string{"x", "#1220ac00", "#1220ac00:x", "#nobody:0", ":1"} {
		for _, c := range [][2]string{{"/v0/activities", "begin_after_id"}, {"/v0/transactions", "page_end_event_id"}} {
			if r := s.do("POST", c[0], fmt.Sprintf(`{"page_size":5,"%s":"%s"}`, c[1], id)); r.status != http.StatusBadRequest || !strings.Contains(r.body, "No event with the id") {
				t.Errorf("%s after %s = %d %s", c[0], id, r.status, r.body)
			}
		}
	}
}
