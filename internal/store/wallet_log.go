package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Kinds of wallet log entries, as clients of the wallet see them.
const (
	WalletTransfer      = "transfer"
	WalletBalanceChange = "balance_change"
	WalletNotification  = "notification"
	WalletUnknown       = "unknown"
)

// PartyAmount is what an entry did to the coins of a party: negative for what it paid.
type PartyAmount struct {
	Party  string
	Amount decimal.Decimal
}

// WalletEntry is an entry of the transaction log of a party.
type WalletEntry struct {
	Party string
	// Offset and Entry order a party's log; Entry counts from 0 within an update.
	Offset int64
	Entry  int32
	// EventID is unique in a party's log: that of the event that the entry tells of, with an
	// addition where one event has several.
	EventID string
	Kind    string
	// TemplateID, Choice, AmuletOperation and InterfaceID are the subtype, the last two ""
	// for none. Of WalletUnknown the first two are "unknown".
	TemplateID, Choice, AmuletOperation, InterfaceID string
	EffectiveAt                                      schemas.Micros
	// Sender is that of a transfer, else empty. Receivers are those of a transfer, in the order
	// in which they first appear, or the one of a balance change.
	Sender    PartyAmount
	Receivers []PartyAmount
	// HoldingFees and the rewards and coupons that were turned into coins are of transfers.
	HoldingFees, AppRewards, ValidatorRewards, SvRewards, DevelopmentFund decimal.Decimal
	// InstructionID is the transfer instruction, "" for none. InstructionReceiver, if not "",
	// is to get InstructionAmount of it.
	InstructionID, InstructionReceiver string
	InstructionAmount                  decimal.Decimal
	Description                        string // "" for none
	// Details say what a notification is about.
	Details string
}

// WalletLog are rows of table wallet_log.
type WalletLog struct {
	stream, party, kind, template, choice, operation, iface, sender, instructionReceiver *lowCardinality
	offset                                                                               proto.ColInt64
	entry                                                                                proto.ColInt32
	eventID, instructionID, description, details                                         texts
	effectiveAt                                                                          *proto.ColDateTime64
	receivers                                                                            *proto.ColArr[string]
	receiverAmounts                                                                      *proto.ColArr[proto.Decimal128]
	amounts                                                                              *proto.ColDecimal128 // the elements of receiverAmounts
	senderAmount, holdingFees, appRewards, validatorRewards, svRewards, developmentFund  proto.ColDecimal128
	instructionAmount                                                                    proto.ColDecimal128
}

// NewWalletLog returns a block without rows.
func NewWalletLog() *WalletLog {
	b := &WalletLog{
		stream: newLowCardinality(), party: newLowCardinality(), kind: newLowCardinality(), template: newLowCardinality(),
		choice: newLowCardinality(), operation: newLowCardinality(), iface: newLowCardinality(), sender: newLowCardinality(),
		instructionReceiver: newLowCardinality(), effectiveAt: newTime(), receivers: newParties(), amounts: new(proto.ColDecimal128),
	}
	b.receiverAmounts = b.amounts.Array()
	return b
}

func (b *WalletLog) columns() []column {
	return []column{
		{"stream", b.stream}, {"party", b.party}, {"node_offset", &b.offset}, {"entry", &b.entry}, {"event_id", &b.eventID},
		{"kind", b.kind}, {"template_id", b.template}, {"choice", b.choice}, {"amulet_operation", b.operation}, {"interface_id", b.iface},
		{"effective_at", b.effectiveAt}, {"sender", b.sender}, {"sender_amount", decimals(&b.senderAmount)}, {"receivers", b.receivers},
		{"receiver_amounts", alias{b.receiverAmounts, "Array(Decimal(38, 10))"}}, {"holding_fees", decimals(&b.holdingFees)},
		{"app_rewards", decimals(&b.appRewards)}, {"validator_rewards", decimals(&b.validatorRewards)}, {"sv_rewards", decimals(&b.svRewards)},
		{"development_fund", decimals(&b.developmentFund)}, {"instruction_receiver", b.instructionReceiver},
		{"instruction_amount", decimals(&b.instructionAmount)}, {"instruction_id", &b.instructionID},
		{"description", &b.description}, {"details", &b.details},
	}
}

// Rows returns the number of rows.
func (b *WalletLog) Rows() int { return b.offset.Rows() }

// Append adds e.
func (b *WalletLog) Append(stream string, e *WalletEntry) {
	b.stream.Append(stream)
	b.party.Append(e.Party)
	b.offset.Append(e.Offset)
	b.entry.Append(e.Entry)
	b.eventID.Append(e.EventID)
	b.kind.Append(e.Kind)
	b.template.Append(e.TemplateID)
	b.choice.Append(e.Choice)
	b.operation.Append(e.AmuletOperation)
	b.iface.Append(e.InterfaceID)
	appendTime(b.effectiveAt, e.EffectiveAt)
	b.sender.Append(e.Sender.Party)
	b.senderAmount.Append(decimal128(e.Sender.Amount))
	parties, amounts := make([]string, len(e.Receivers)), make([]proto.Decimal128, len(e.Receivers))
	for i, r := range e.Receivers {
		parties[i], amounts[i] = r.Party, decimal128(r.Amount)
	}
	b.receivers.Append(parties)
	b.receiverAmounts.Append(amounts)
	b.holdingFees.Append(decimal128(e.HoldingFees))
	b.appRewards.Append(decimal128(e.AppRewards))
	b.validatorRewards.Append(decimal128(e.ValidatorRewards))
	b.svRewards.Append(decimal128(e.SvRewards))
	b.developmentFund.Append(decimal128(e.DevelopmentFund))
	b.instructionReceiver.Append(e.InstructionReceiver)
	b.instructionAmount.Append(decimal128(e.InstructionAmount))
	b.instructionID.Append(e.InstructionID)
	b.description.Append(e.Description)
	b.details.Append(e.Details)
}

// AppendTo appends the block's rows to list.
func (b *WalletLog) AppendTo(list []WalletEntry) []WalletEntry {
	eventID, instructionID := stringsOf(&b.eventID), stringsOf(&b.instructionID)
	description, details := stringsOf(&b.description), stringsOf(&b.details)
	for i := range b.Rows() {
		e := WalletEntry{
			Party: b.party.Row(i), Offset: b.offset.Row(i), Entry: b.entry.Row(i), EventID: eventID(i), Kind: b.kind.Row(i),
			TemplateID: b.template.Row(i), Choice: b.choice.Row(i), AmuletOperation: b.operation.Row(i), InterfaceID: b.iface.Row(i),
			EffectiveAt: timeAt(b.effectiveAt, i), Sender: PartyAmount{b.sender.Row(i), decimalOf(b.senderAmount[i])},
			HoldingFees: decimalOf(b.holdingFees[i]), AppRewards: decimalOf(b.appRewards[i]), ValidatorRewards: decimalOf(b.validatorRewards[i]),
			SvRewards: decimalOf(b.svRewards[i]), DevelopmentFund: decimalOf(b.developmentFund[i]), InstructionID: instructionID(i),
			InstructionReceiver: b.instructionReceiver.Row(i), InstructionAmount: decimalOf(b.instructionAmount[i]),
			Description: description(i), Details: details(i),
		}
		amounts := rowOf(*b.amounts, b.receiverAmounts.Offsets, i)
		for j, party := range b.receivers.Row(i) {
			e.Receivers = append(e.Receivers, PartyAmount{party, decimalOf(amounts[j])})
		}
		list = append(list, e)
	}
	return list
}

// WalletPlace is where an entry stands in the log of a party.
type WalletPlace struct {
	Offset int64 `column:"node_offset"`
	Entry  int32 `column:"entry"`
}
