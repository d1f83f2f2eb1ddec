package validator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// NodeHistory reads the node's stream; *nodehistory.Reader does.
type NodeHistory interface {
	LedgerEnd(ctx context.Context) (int64, error)
	LedgerUpdates(ctx context.Context, sel nodehistory.Selection, rg nodehistory.Range) (nodehistory.Page, error)
	// ContractEvents are the creation of a contract and its end, each nil if it is not known.
	ContractEvents(ctx context.Context, contractID string) (created, ended *nodehistory.Event, err error)
}

// fundPayload is DevelopmentFundCoupon.
type fundPayload struct {
	Beneficiary string          `json:"beneficiary"`
	Manager     string          `json:"fundManager"`
	Amount      decimal.Decimal `json:"amount"`
	ExpiresAt   string          `json:"expiresAt"`
	Reason      string          `json:"reason"`
}

// fundRow is a coupon that has ended.
type fundRow struct {
	CreatedAt   string          `json:"createdAt"`
	ArchivedAt  string          `json:"archivedAt"`
	Beneficiary string          `json:"beneficiary"`
	Manager     string          `json:"fund_manager"`
	Amount      decimal.Decimal `json:"amount"`
	ExpiresAt   string          `json:"expiresAt"`
	Reason      string          `json:"reason"`
	Status      string          `json:"status"`
	EndReason   *string         `json:"rejection_or_withdrawal_reason,omitempty"`
}

// endedCoupon is where a coupon ended, and how.
type endedCoupon struct {
	place      int64 // grows with history
	contractID string
	row        fundRow
}

// eventsOfUpdate is more events than an update has.
const eventsOfUpdate = 100_000

// past serves coupons that have ended, the newest first. A token is the place of the last row; a
// page that is not empty has one.
func (f *developmentFund) past(ctx context.Context, c *caller) error {
	p := c.Query()
	limit := p.Limit("limit", query.MaxListItems)
	after, continued := p.OptionalInt64("after")
	if err := p.Err(); err != nil {
		return err
	}
	rows, err := f.ended(ctx, c.party)
	if err != nil {
		return err
	}
	page, answer := []fundRow{}, map[string]any{}
	for _, ended := range rows {
		if continued && ended.place >= after {
			continue
		}
		if len(page) == limit {
			break
		}
		page = append(page, ended.row)
		answer["next_page_token"] = ended.place
	}
	answer["development_fund_coupon_history"] = page
	return c.JSON(answer)
}

// ended are the coupons of a party, its manager or beneficiary, that have ended, the newest first.
// A fund gives some hundred coupons away in a year: all are read.
func (f *developmentFund) ended(ctx context.Context, party string) ([]endedCoupon, error) {
	history, err := f.history(ctx)
	if err != nil {
		return nil, err
	}
	end, err := history.LedgerEnd(ctx)
	if err != nil {
		return nil, err
	}
	created, ended := map[string]fundRow{}, []endedCoupon{}
	note := func(u *schemas.Update, at int) (err error) {
		e := &u.Events[at]
		if e.Kind == schemas.Created {
			created[e.ContractID], err = f.givenAway(u.Encoding, e)
		} else if e.Consuming {
			row := fundRow{ArchivedAt: string(schemas.AppendShortTime(nil, u.EffectiveAt))}
			row.Status, row.EndReason, err = f.howItEnded(u.Encoding, e)
			ended = append(ended, endedCoupon{u.Local.Offset*eventsOfUpdate + int64(at), e.ContractID, row})
		}
		return err
	}
	if err := eachFundEvent(ctx, history, party, end, note); err != nil {
		return nil, err
	}
	list := ended[:0]
	for _, coupon := range ended {
		row, known := created[coupon.contractID]
		if !known {
			if row, err = f.createdBefore(ctx, history, coupon.contractID); err != nil {
				return nil, err
			}
		}
		if row.Manager != party && row.Beneficiary != party {
			continue // the party has only seen it
		}
		row.ArchivedAt, row.Status, row.EndReason = coupon.row.ArchivedAt, coupon.row.Status, coupon.row.EndReason
		list = append(list, endedCoupon{coupon.place, coupon.contractID, row})
	}
	slices.Reverse(list)
	return list, nil
}

// eachFundEvent gives the events of coupons that a party may have seen, from the oldest on.
func eachFundEvent(ctx context.Context, history NodeHistory, party string, end int64, each func(u *schemas.Update, at int) error) error {
	sel := nodehistory.Selection{Transactions: &nodehistory.EventSelection{Entries: []nodehistory.SelectionEntry{
		{Parties: []string{party}, Templates: []string{template.DevelopmentFundCoupon}},
	}}}
	for after := int64(0); after < end; {
		page, err := history.LedgerUpdates(ctx, sel, nodehistory.Range{After: after, Through: end, Limit: query.MaxListItems})
		if err != nil {
			return err
		}
		for i := range page.Updates {
			u := &page.Updates[i]
			for at := range u.Events {
				if e := &u.Events[at]; !template.Is(template.DevelopmentFundCoupon, e.PackageName, e.TemplateID) {
					continue
				}
				if err := each(u, at); err != nil {
					return err
				}
			}
		}
		after = page.Covered
	}
	return nil
}

// createdBefore is a coupon that the node's stream began with, or that was reassigned to it.
func (f *developmentFund) createdBefore(ctx context.Context, history NodeHistory, contractID string) (fundRow, error) {
	created, _, err := history.ContractEvents(ctx, contractID)
	if err != nil || created == nil {
		return fundRow{}, err
	}
	return f.givenAway(created.Update.Encoding, created.Event())
}

func (f *developmentFund) givenAway(encoding schemas.Encoding, e *schemas.Event) (fundRow, error) {
	var p fundPayload
	w := values.Writer{Catalog: f.reader.catalog, Want: schemas.CompactJSON}
	if err := json.Unmarshal(w.For(encoding).AppendCreateArguments(nil, e), &p); err != nil {
		return fundRow{}, fmt.Errorf("reading coupon %s of the development fund: %w", e.ContractID, err)
	}
	return fundRow{
		CreatedAt: string(schemas.AppendShortTime(nil, e.CreatedAt)), Beneficiary: p.Beneficiary, Manager: p.Manager, Amount: p.Amount,
		ExpiresAt: p.ExpiresAt, Reason: p.Reason,
	}, nil
}

// howItEnded tells by the choice. What is none of the coupon's own is a transfer that minted it.
func (f *developmentFund) howItEnded(encoding schemas.Encoding, e *schemas.Event) (status string, reason *string, err error) {
	switch e.Choice {
	case "DevelopmentFundCoupon_DsoExpire":
		return "expired", nil, nil
	case template.DevelopmentFundCouponWithdraw:
		status = "withdrawn"
	case "DevelopmentFundCoupon_Reject":
		status = "rejected"
	default:
		return "claimed", nil, nil
	}
	var argument struct {
		Reason string `json:"reason"`
	}
	w := values.Writer{Catalog: f.reader.catalog, Want: schemas.CompactJSON}
	if err := json.Unmarshal(w.For(encoding).AppendChoiceArgument(nil, e), &argument); err != nil {
		return "", nil, fmt.Errorf("reading why coupon %s of the development fund was %s: %w", e.ContractID, status, err)
	}
	return status, &argument.Reason, nil
}
