package network

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Holding is a coin of a party, locked or not.
type Holding struct {
	Owner, Amount string
	// Round is that in which it was created, and Rate the part of it that is due for each round: its holding fee.
	Round int64
	Rate  string
	// Lock is nil of coins that can be spent at once.
	Lock     *Lock
	Contract Contract
}

// Lock says who holds a coin, until when, and what for.
type Lock struct {
	Holders   []string
	ExpiresAt schemas.Micros
	Context   string
}

// coinJSON is a coin in compact JSON.
type coinJSON struct {
	Owner  string `json:"owner"`
	Amount struct {
		Initial string   `json:"initialAmount"`
		Created roundRef `json:"createdAt"`
		Rate    struct {
			Rate string `json:"rate"`
		} `json:"ratePerRound"`
	} `json:"amount"`
}

func holdingOf(c *Contract) (Holding, error) {
	var payload struct {
		coinJSON
		Coin *coinJSON `json:"amulet"`
		Lock *struct {
			Holders   []string `json:"holders"`
			ExpiresAt string   `json:"expiresAt"`
			Context   any      `json:"optContext"`
		} `json:"lock"`
	}
	if err := c.decode(&payload); err != nil {
		return Holding{}, err
	}
	coin := payload.coinJSON
	if payload.Coin != nil {
		coin = *payload.Coin
	}
	h := Holding{Owner: coin.Owner, Amount: coin.Amount.Initial, Round: coin.Amount.Created.number(), Rate: coin.Amount.Rate.Rate, Contract: *c}
	if l := payload.Lock; l != nil {
		h.Lock = &Lock{l.Holders, timeOrNone(l.ExpiresAt), textOf(l.Context)}
	}
	return h, nil
}

// textOf is a value as text: a text as it is, "" for none, anything else in JSON.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "" // it was JSON
	}
	return string(text)
}

// Holdings returns coins that a party has at an instant, before a key, the newest first, and where the next ones begin,
// nil if there are none.
func (r *Reader) Holdings(ctx context.Context, at Instant, owner string, before Key, limit int) ([]Holding, *Key, error) {
	q := query(at, limit+1, template.Coin, template.LockedCoin)
	q.Signatory = owner
	list, err := r.newest(ctx, q, before)
	if err != nil {
		return nil, nil, err
	}
	var next *Key
	if len(list) > limit {
		list = list[:limit]
		key := KeyOf(&list[limit-1])
		next = &key
	}
	held, err := decoded(list, holdingOf)
	// The governance party signs all coins, and has none.
	return slices.DeleteFunc(held, func(h Holding) bool { return h.Owner != owner }), next, err
}
