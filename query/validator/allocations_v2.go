package validator

import (
	"context"
	"encoding/json"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// maxSides is the most sides of a settlement, and maxExecutors the most executors: the registry of the
// token standard allows as many.
const (
	maxSides     = 100
	maxExecutors = 100
)

func (a *allocations) allocateSides(ctx context.Context, c *caller) error {
	now, err := a.network.Time(ctx)
	if err != nil {
		return err
	}
	p := c.Body()
	settlement := p.RequiredObject("settlement")
	if err := p.Err(); err != nil {
		return err
	}
	r := wallet.SidesRequest{Executors: executorsOf(settlement), Reference: referenceOf(settlement), SettlementMeta: metaOf(settlement)}
	if settlement.Has("settlement_deadline") {
		r.Deadline = expiryOf(settlement, "settlement_deadline", now)
	}
	for _, side := range p.Objects("transfer_leg_sides", 0, maxSides) {
		r.Sides = append(r.Sides, sideOf(side))
	}
	r.Next, r.Committed, r.Meta = fundingOf(p, "next_iteration_funding"), requiredBool(p, "committed"), metaOf(p)
	if err := p.Err(); err != nil {
		return err
	}
	result, err := c.commands.Allocations.AllocateSides(ctx, c.actor(), r)
	return allocationAnswer(c, result, err)
}

func executorsOf(settlement *query.Params) []string {
	executors := settlement.RequiredTexts("executors")
	if settlement.Err() == nil && (len(executors) == 0 || len(executors) > maxExecutors) {
		settlement.Fail("Member executors must have from 1 to %d parties.", maxExecutors)
	}
	for _, party := range executors {
		if settlement.Err() == nil {
			checkIdentity(settlement, "executors", party)
		}
	}
	return executors
}

func sideOf(p *query.Params) wallet.LegSide {
	return wallet.LegSide{
		LegID: textOf(p, "transfer_leg_id", 0, maxTrackingID), Sends: p.OneOf("side", "SENDERSIDE", "RECEIVERSIDE") == "SENDERSIDE",
		Other: partyOf(p, "otherside"), Amount: amountOf(p, "amount"), Meta: metaOf(p),
	}
}

// fundingOf reads amounts by instrument; nil without the member.
func fundingOf(p *query.Params, name string) map[string]decimal.Decimal {
	if p.Err() != nil || !p.Has(name) {
		return nil
	}
	var texts map[string]string
	if err := json.Unmarshal(p.Raw(name), &texts); err != nil || len(texts) > maxMeta {
		p.Fail("Member %s must be an object of decimal texts.", name)
		return nil
	}
	amounts := map[string]decimal.Decimal{}
	for instrument, text := range texts {
		amounts[instrument] = parseAmount(p, name, text)
	}
	return amounts
}

// requiredBool reads a member that must be there.
func requiredBool(p *query.Params, name string) bool {
	if p.Err() == nil && !p.Has(name) {
		p.Fail("Member %s is required.", name)
	}
	return p.Bool(name)
}

func withdrawSides(ctx context.Context, c *caller, contractID string) error {
	result, err := c.commands.Allocations.WithdrawSides(ctx, c.actor(), contractID)
	if err != nil {
		return refused(err)
	}
	changed(c, result.Done)
	return c.JSON(struct {
		Holdings map[string][]string `json:"authorizer_holding_cids"`
		Meta     map[string]string   `json:"meta"`
	}{result.Holdings, orEmpty(result.Meta)})
}
