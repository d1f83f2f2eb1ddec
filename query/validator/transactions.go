package validator

import (
	"context"
	"errors"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// maxEventID is the longest event id that is looked for, in bytes.
const maxEventID = 1000

// transactions serves the history of a wallet, newest first.
func (b *balances) transactions(ctx context.Context, c *caller) error {
	p := c.Body()
	size, after := p.Limit("page_size", b.maxPageSize), optionalTextOf(p, "begin_after_id", maxEventID)
	if err := p.Err(); err != nil {
		return err
	}
	views, err := b.reader.views(ctx)
	if err != nil {
		return err
	}
	entries, err := views.Log(ctx, c.party, after, size)
	if errors.Is(err, schemas.ErrNotFound) {
		return query.Errorf(query.Invalid, "Member begin_after_id is not the event id of a transaction of this wallet.")
	}
	if err != nil {
		return err
	}
	items := make([]any, len(entries))
	for i := range entries {
		items[i] = b.itemOf(&entries[i])
	}
	return c.JSON(map[string][]any{"items": items})
}

type partyAmount struct {
	Party  string          `json:"party"`
	Amount decimal.Decimal `json:"amount"`
}

func partyAmounts(list []wallethistory.PartyAmount) []partyAmount {
	amounts := make([]partyAmount, len(list))
	for i, p := range list {
		amounts[i] = partyAmount(p)
	}
	return amounts
}

// item is what all kinds of items have.
type item struct {
	Type    string            `json:"transaction_type"`
	Subtype map[string]string `json:"transaction_subtype"`
	EventID string            `json:"event_id"`
	Date    string            `json:"date"`
}

type transferItem struct {
	item
	Sender          partyAmount      `json:"sender"`
	Receivers       []partyAmount    `json:"receivers"`
	HoldingFees     decimal.Decimal  `json:"holding_fees"`
	AppRewards      decimal.Decimal  `json:"app_rewards_used"`
	ValidatorReward decimal.Decimal  `json:"validator_rewards_used"`
	SvRewards       decimal.Decimal  `json:"sv_rewards_used"`
	DevelopmentFund decimal.Decimal  `json:"development_fund_coupons_used"`
	Receiver        string           `json:"transfer_instruction_receiver,omitempty"`
	Amount          *decimal.Decimal `json:"transfer_instruction_amount,omitempty"`
	Instruction     string           `json:"transfer_instruction_cid,omitempty"`
	Description     string           `json:"description,omitempty"`
}

type changeItem struct {
	item
	Receivers   []partyAmount `json:"receivers"`
	Instruction string        `json:"transfer_instruction_cid,omitempty"`
}

type notificationItem struct {
	item
	Details string `json:"details"`
}

// itemOf writes an entry of the log of a party. Template ids and choices are as the ledger has
// them.
func (b *balances) itemOf(e *wallethistory.Entry) any {
	base := item{e.Kind, map[string]string{"template_id": e.TemplateID, "choice": e.Choice}, e.EventID, string(schemas.AppendShortTime(nil, e.EffectiveAt))}
	if e.AmuletOperation != "" {
		base.Subtype[b.naming.Member("coin_operation")] = e.AmuletOperation
	}
	if e.InterfaceID != "" {
		base.Subtype["interface_id"] = e.InterfaceID
	}
	switch e.Kind {
	case wallethistory.Transfer:
		t := transferItem{
			item: base, Sender: partyAmount(e.Sender), Receivers: partyAmounts(e.Receivers), HoldingFees: e.HoldingFees, AppRewards: e.AppRewards,
			ValidatorReward: e.ValidatorRewards, SvRewards: e.SvRewards, DevelopmentFund: e.DevelopmentFund,
			Receiver: e.InstructionReceiver, Instruction: e.InstructionID, Description: e.Description,
		}
		if e.InstructionReceiver != "" {
			t.Amount = &e.InstructionAmount
		}
		return t
	case wallethistory.BalanceChange:
		return changeItem{base, partyAmounts(e.Receivers), e.InstructionID}
	case wallethistory.Notification:
		return notificationItem{base, e.Details}
	}
	base.Type = wallethistory.Unknown
	return base
}
