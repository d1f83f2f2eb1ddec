package scan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// holdings serves a page of the coins that some parties own.
func (a *activeSets) holdings(v setVersion) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		return a.acsPage(ctx, r, p, holdingsOf(p), v)
	}
}

// ownedBy keeps holdings of some owners. The store finds those of which they are
// stakeholders: who holds the lock of somebody else's coin is one, too.
func (a *activeSets) ownedBy(owners []string) func(*history.ActiveContract) (bool, error) {
	return func(c *history.ActiveContract) (bool, error) {
		h, err := a.holding(c)
		return slices.Contains(owners, h.owner), err
	}
}

// holding is a coin as its holder sees it.
type holding struct {
	owner         string
	locked        bool
	initialAmount decimal.Decimal
	// createdAt is the round of its creation, and ratePerRound what it loses with each.
	createdAt    int64
	ratePerRound decimal.Decimal
}

// coinPayload is the part of a coin's create arguments that holdings are about. A locked
// coin has the coin in a member.
type coinPayload struct {
	Owner  string `json:"owner"`
	Amount struct {
		InitialAmount decimal.Decimal `json:"initialAmount"`
		CreatedAt     struct {
			Number int64 `json:"number,string"`
		} `json:"createdAt"`
		RatePerRound struct {
			Rate decimal.Decimal `json:"rate"`
		} `json:"ratePerRound"`
	} `json:"amount"`
	Amulet *coinPayload `json:"amulet"`
	Coin   *coinPayload `json:"coin"`
}

// holding reads a contract of one of the templates of holdings.
func (a *activeSets) holding(c *history.ActiveContract) (holding, error) {
	text, err := a.compactArguments(c)
	var p coinPayload
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return holding{}, fmt.Errorf("reading holding %s of template %s: %w", c.Event.ContractID, c.Event.TemplateID, err)
	}
	coin, locked := &p, false
	for _, inner := range []*coinPayload{p.Amulet, p.Coin} {
		if inner != nil {
			coin, locked = inner, true
		}
	}
	return holding{
		owner: coin.Owner, locked: locked, initialAmount: coin.Amount.InitialAmount,
		createdAt: coin.Amount.CreatedAt.Number, ratePerRound: coin.Amount.RatePerRound.Rate,
	}, nil
}

// feesAt returns the holding fees that have accrued up to a round: never more than there is.
func (h *holding) feesAt(round int64) decimal.Decimal {
	return wallethistory.HoldingFee(h.initialAmount, h.ratePerRound, h.createdAt, round)
}
