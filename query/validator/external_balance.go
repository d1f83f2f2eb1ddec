package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// setupProposals lists the proposals to external parties that are open.
func (e *externalParties) setupProposals(ctx context.Context, c *caller) error {
	operator, err := e.accounts.operator.Get(ctx)
	if err != nil {
		return err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{template.ExternalPartySetupProposal}}
	list, err := e.reader.contracts(ctx, q, maxListed, has(operator.Party, "validator"))
	if err != nil {
		return err
	}
	return c.JSON(map[string][]query.ContractState{"contracts": statesOf(list)})
}

// balance sums up what an external party owns that was set up here. Unlike that of a
// wallet it is as of the earliest open round, and what is available is without fees.
func (e *externalParties) balance(ctx context.Context, c *caller) error {
	p := c.Query()
	party := p.Text("party_id")
	if p.Err() == nil {
		checkIdentity(p, "Query parameter party_id", party)
	}
	if err := p.Err(); err != nil {
		return err
	}
	known, err := e.accounts.isHosted(ctx, party)
	if err != nil {
		return err
	}
	if !known {
		return query.Errorf(query.NotFound, "Party %s was not set up here.", party)
	}
	rounds, err := e.rounds.open(ctx)
	if err != nil {
		return err
	}
	views, err := e.reader.views(ctx)
	if err != nil {
		return err
	}
	b, err := views.Balance(ctx, party, rounds[0].Number)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Party        string          `json:"party_id"`
		Unlocked     decimal.Decimal `json:"total_unlocked_coin"`
		Locked       decimal.Decimal `json:"total_locked_coin"`
		Total        decimal.Decimal `json:"total_coin_holdings"`
		UnlockedFees decimal.Decimal `json:"accumulated_holding_fees_unlocked"`
		LockedFees   decimal.Decimal `json:"accumulated_holding_fees_locked"`
		Fees         decimal.Decimal `json:"accumulated_holding_fees_total"`
		Available    decimal.Decimal `json:"total_available_coin"`
		Round        int64           `json:"computed_as_of_round"`
	}{
		party, b.Unlocked, b.Locked, b.Unlocked.Plus(b.Locked), b.UnlockedFees, b.LockedFees, b.UnlockedFees.Plus(b.LockedFees),
		b.Unlocked.Minus(b.UnlockedFees), rounds[0].Number,
	})
}
