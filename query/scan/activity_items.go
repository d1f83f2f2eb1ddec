package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// activity is what one choice did to coins.
type activity struct {
	node   int32
	answer map[string]any
}

// activityWalk makes the activities of an update.
type activityWalk struct {
	u      *schemas.Update
	writer schemas.ValueWriter
	naming query.Naming
	kind   string // the member for the type
	list   []activity
}

// activityFrame is what choices around a transfer say of it.
type activityFrame map[string]any

// itemsOf are the activities of an update, in the order of its nodes.
func (a *activities) itemsOf(u *schemas.Update, kind string) []activity {
	w := activityWalk{u: u, naming: a.naming, kind: kind, writer: values.Writer{Catalog: a.catalog, Want: schemas.CompactJSON}.For(u.Encoding)}
	if u.Kind == schemas.Transaction {
		for _, root := range u.RootEvents {
			w.walk(root, nil)
		}
	}
	return w.list
}

func (w *activityWalk) argument(e *schemas.Event) jsonscan.Value {
	return w.writer.AppendChoiceArgument(nil, e)
}

func (w *activityWalk) result(e *schemas.Event) jsonscan.Value {
	return w.writer.AppendExerciseResult(nil, e)
}

// walk goes down from a node. A choice that makes an activity ends the descent, and so does one whose payment is none.
func (w *activityWalk) walk(node int32, frame activityFrame) {
	e := &w.u.Events[node]
	if e.Kind != schemas.Exercised {
		return
	}
	switch e.Choice {
	case template.CoinRulesTransfer:
		w.coins(e, frame)
		return
	case template.TransferPreapprovalSendV2:
		w.send(e, frame)
		return
	case template.CoinRulesTap, template.CoinRulesMint:
		w.mint(e)
		return
	case template.TransferInstructionReject, template.TransferInstructionWithdraw:
		abort := map[string]any{"abort_kind": "withdraw", "transfer_instruction_cid": e.ContractID}
		if e.Choice == template.TransferInstructionReject {
			abort["abort_kind"] = "reject"
		}
		w.add(e, "abort_transfer_instruction", "abort_transfer_instruction", "", abort)
		return
	case template.CoinRulesBuyMemberTraffic, template.CoinRulesCreateTransferPreapproval, template.CoinRulesCreateExternalPartySetupProposal,
		template.TransferPreapprovalRenew:
		return
	case template.TransferPreapprovalSend:
		frame = activityFrame{"transfer_kind": "preapproval_send"}
		frame.describe(w.argument(e).At("description").Text())
	case template.TransferInstructionAccept:
		frame = activityFrame{"transfer_kind": "transfer_instruction_accept", "transferInstructionCid": e.ContractID}
	case template.TransferFactoryTransfer:
		frame = w.instruction(e)
	}
	before := len(w.list)
	for _, child := range e.Children {
		w.walk(child, frame)
	}
	if e.Choice == template.TransferFactoryTransfer && len(w.list) == before {
		w.direct(e, frame)
	}
}

// describe adds a description unless there is none.
func (f activityFrame) describe(text string) {
	if text != "" {
		f["description"] = text
	}
}

// instruction is what a transfer of the token standard says of itself.
func (w *activityWalk) instruction(e *schemas.Event) activityFrame {
	transfer, frame := w.argument(e).At("transfer"), activityFrame{}
	frame.describe(transfer.At("meta", "values", template.ReasonKey).Text())
	if tag, output := w.result(e).At("output").Variant(); tag == template.TransferInstructionPending {
		frame["transfer_kind"] = "create_transfer_instruction"
		frame["transferInstructionCid"] = output.At("transferInstructionCid").Text()
		frame["transferInstructionReceiver"], frame["transferInstructionAmount"] = partyIn(transfer.At("receiver")), amountIn(transfer.At("amount"))
	}
	return frame
}

// partyIn is a party, or the owner of an account.
func partyIn(v jsonscan.Value) string {
	if v.IsText() {
		return v.Text()
	}
	return v.At("owner").Text()
}

// amountIn is an amount, 0 where there is none.
func amountIn(v jsonscan.Value) decimal.Decimal {
	amount, err := decimal.Parse(v.Text())
	if err != nil {
		return decimal.Decimal{}
	}
	return amount
}

// add adds an activity; round is "" for none.
func (w *activityWalk) add(e *schemas.Event, kind, member, round string, what map[string]any) {
	answer := map[string]any{
		w.kind: kind, "event_id": fmt.Sprintf("#%s:%d", w.u.UpdateID, e.Node), "date": string(schemas.AppendShortTime(nil, w.u.EffectiveAt)),
		"domain_id": w.u.SynchronizerID, member: what,
	}
	if number, err := strconv.ParseInt(round, 10, 64); err == nil {
		answer["round"] = number
	}
	w.list = append(w.list, activity{e.Node, answer})
}

func (w *activityWalk) mint(e *schemas.Event) {
	argument := w.argument(e)
	what := map[string]any{w.naming.Member("coin_owner"): argument.At("receiver").Text(), w.naming.Member("coin_amount"): amountIn(argument.At("amount"))}
	if e.Choice == template.CoinRulesMint {
		w.add(e, "mint", "mint", "", what)
		return
	}
	w.add(e, "devnet_tap", "tap", w.result(e).At("amuletSum", "round", "number").Text(), what)
}

// received is what a party gets in a transfer.
type received struct {
	party       string
	amount, fee decimal.Decimal
}

// coins is a transfer of coins by its outputs.
func (w *activityWalk) coins(e *schemas.Event, frame activityFrame) {
	transfer, result := w.argument(e).At("transfer"), w.result(e)
	summary := result.At("summary")
	fees, senderFee := summary.At("outputFees").Elements(), decimal.Decimal{}
	var receivers []received
	for i, output := range transfer.At("outputs").Elements() {
		party, ratio := output.At("receiver").Text(), amountIn(output.At("receiverFeeRatio"))
		at := slices.IndexFunc(receivers, func(r received) bool { return r.party == party })
		if at < 0 {
			at, receivers = len(receivers), append(receivers, received{party: party})
		}
		r := &receivers[at]
		r.amount = r.amount.Plus(amountIn(output.At("amount")))
		if i < len(fees) {
			fee := amountIn(fees[i])
			r.fee = r.fee.Plus(fee.Times(ratio))
			senderFee = senderFee.Plus(fee.Times(decimal.FromInt(1).Minus(ratio)))
		}
	}
	what := w.transfer(transfer.At("sender").Text(), summary, senderFee, receivers, frame)
	what["provider"] = transfer.At("provider").Text()
	w.add(e, "transfer", "transfer", result.At("round", "number").Text(), what)
}

// send is a transfer by the second version of a preapproval's choice, whose receiver is in its result alone.
func (w *activityWalk) send(e *schemas.Event, _ activityFrame) {
	argument, result := w.argument(e), w.result(e)
	summary, sender := result.At("result", "summary"), argument.At("sender").Text()
	receiver := sender
	for _, pair := range summary.At("balanceChanges").Elements() {
		if kv := pair.Elements(); len(kv) == 2 && kv[0].Text() != sender {
			receiver = kv[0].Text()
			break
		}
	}
	frame := activityFrame{"transfer_kind": "preapproval_send"}
	frame.describe(cmp.Or(argument.At("meta", "values", template.ReasonKey).Text(), argument.At("description").Text()))
	what := w.transfer(sender, summary, decimal.Decimal{}, []received{{party: receiver, amount: amountIn(argument.At("amount"))}}, frame)
	w.add(e, "transfer", "transfer", result.At("result", "round", "number").Text(), what)
}

// direct is a transfer of the token standard without another one below it: of one that waits for its receiver the amount
// stays with the sender.
func (w *activityWalk) direct(e *schemas.Event, frame activityFrame) {
	transfer := w.argument(e).At("transfer")
	sender, receiver := partyIn(transfer.At("sender")), partyIn(transfer.At("receiver"))
	if frame["transfer_kind"] != nil {
		receiver = sender
	}
	if sender == "" || transfer.At("instrumentId", "id").Text() != template.CoinInstrument {
		return
	}
	what := w.transfer(sender, nil, decimal.Decimal{}, []received{{party: receiver, amount: amountIn(transfer.At("amount"))}}, frame)
	w.add(e, "transfer", "transfer", "", what)
}

// inputs are the members of a sender and where they are in the summary of a transfer.
var inputs = []struct{ member, path string }{
	{"input_app_reward_amount", "inputAppRewardAmount"}, {"input_validator_reward_amount", "inputValidatorRewardAmount"},
	{"input_sv_reward_amount", "inputSvRewardAmount"}, {"input_validator_faucet_amount", "inputValidatorFaucetAmount"},
}

// transfer describes a transfer.
func (w *activityWalk) transfer(sender string, summary jsonscan.Value, senderFee decimal.Decimal, receivers []received, frame activityFrame) map[string]any {
	from := map[string]any{
		"party": sender, w.naming.Member("input_coin_amount"): amountIn(summary.At("inputAmuletAmount")), "sender_fee": senderFee,
		"sender_change_fee": amountIn(summary.At("senderChangeFee")), "sender_change_amount": amountIn(summary.At("senderChangeAmount")),
		"holding_fees": amountIn(summary.At("holdingFees")),
	}
	for _, in := range inputs {
		if v := summary.At(in.path); v.IsText() {
			from[in.member] = amountIn(v)
		}
	}
	to := make([]map[string]any, len(receivers))
	for i, r := range receivers {
		to[i] = map[string]any{"party": r.party, "amount": r.amount, "receiver_fee": r.fee}
	}
	changes := []map[string]any{}
	for _, pair := range summary.At("balanceChanges").Elements() {
		if kv := pair.Elements(); len(kv) == 2 {
			changes = append(changes, map[string]any{
				"party": kv[0].Text(), "change_to_initial_amount_as_of_round_zero": amountIn(kv[1].At("changeToInitialAmountAsOfRoundZero")),
				"change_to_holding_fees_rate": amountIn(kv[1].At("changeToHoldingFeesRate")),
			})
		}
	}
	slices.SortFunc(changes, func(a, b map[string]any) int { return cmp.Compare(a["party"].(string), b["party"].(string)) })
	what := map[string]any{"sender": from, "receivers": to, "balance_changes": changes}
	if price := summary.At("amuletPrice"); price.IsText() {
		what[w.naming.Member("coin_price")] = amountIn(price)
	}
	for member, v := range frame {
		what[member] = v
	}
	return what
}
