package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

const adminPreapprovalsPath = "/v0/admin/transfer-preapprovals"

func (a *API) administrationOperations() []operation {
	byParty := adminPreapprovalsPath + "/by-party/{receiver-party}"
	ops := []operation{
		{method: "GET", path: adminPreapprovalsPath, name: "preapprovals", handle: a.preapprovals},
		{method: "GET", path: byParty, name: "preapproval", handle: a.preapproval},
		{method: "DELETE", path: byParty, name: "cancel_preapproval", write: true, handle: a.cancelPreapproval},
	}
	for i := range ops {
		ops[i].access = operatorOnly
	}
	return ops
}

// provided are the preapprovals that the operator provides, of a receiver or of all if that is "".
// Those that have expired are left out.
func (a *API) provided(ctx context.Context, receiver string) ([]contract, error) {
	operator, err := a.operator(ctx)
	if err != nil {
		return nil, err
	}
	now, err := a.cfg.Network.Time(ctx)
	if err != nil {
		return nil, err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{preapprovalTemplate}, Key: receiver}
	return a.contracts(ctx, q, maxListed, func(c *contract) (bool, error) {
		var p struct{ Provider, Receiver, ExpiresAt string }
		if err := c.decode(&p); err != nil {
			return false, err
		}
		expires, err := schemas.ParseTime(p.ExpiresAt)
		return p.Provider == operator.Party && (receiver == "" || p.Receiver == receiver) && expires.Time().After(now), err
	})
}

func (a *API) preapprovals(ctx context.Context, c *caller) error {
	list, err := a.provided(ctx, "")
	if err != nil {
		return err
	}
	return c.JSON(map[string][]withState{"contracts": statesOf(list)})
}

func (a *API) preapproval(ctx context.Context, c *caller) error {
	receiver, err := c.Path("receiver-party")
	if err != nil {
		return err
	}
	list, err := a.provided(ctx, receiver)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return query.Errorf(query.NotFound, "No transfer preapproval found for party: %s.", receiver)
	}
	return c.JSON(map[string]withState{"transfer_preapproval": list[len(list)-1].withState()})
}

func (a *API) cancelPreapproval(ctx context.Context, c *caller) error {
	receiver, err := c.Path("receiver-party")
	if err != nil {
		return err
	}
	done, err := c.commands.CancelPreapproval(ctx, receiver)
	return empty(c, done, err)
}

// setupProposals lists the proposals to external parties that are open.
func (a *API) setupProposals(ctx context.Context, c *caller) error {
	operator, err := a.operator(ctx)
	if err != nil {
		return err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{setupProposalTemplate}}
	list, err := a.contracts(ctx, q, maxListed, has(operator.Party, "validator"))
	if err != nil {
		return err
	}
	return c.JSON(map[string][]withState{"contracts": statesOf(list)})
}

// externalBalance sums up what an external party owns that was set up here. Unlike that of a
// wallet it is as of the earliest open round, and what is available is without fees.
func (a *API) externalBalance(ctx context.Context, c *caller) error {
	p := c.Query()
	party := p.Text("party_id")
	if p.Err() == nil {
		checkIdentity(p, "Query parameter party_id", party)
	}
	if err := p.Err(); err != nil {
		return err
	}
	known, err := a.isHosted(ctx, party)
	if err != nil {
		return err
	}
	if !known {
		return query.Errorf(query.NotFound, "Party %s was not set up here.", party)
	}
	rounds, err := a.openRounds(ctx)
	if err != nil {
		return err
	}
	views, err := a.views(ctx)
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
