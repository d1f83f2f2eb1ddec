package walletapi

import (
	"context"
	"encoding/json"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Market is what things cost on the network now.
type Market struct {
	// Price is that of a coin in USD, "" while no round is open.
	Price string
	// TrafficPrice is in USD for a megabyte, LeastTraffic in bytes.
	TrafficPrice, LeastTraffic string
	// CreateFee and LockFee are in coins, per coin that is made and per holder of a lock;
	// HoldingRate is what a coin costs each round. TransferFee is the share of an amount.
	CreateFee, LockFee, TransferFee, HoldingRate string
	// PreapprovalFee is in USD a day, "" if the network does not say.
	PreapprovalFee string
	Synchronizer   string
}

type rulesPayload struct {
	Schedule struct {
		Now struct {
			Transfer struct {
				Create   fee `json:"createFee"`
				Lock     fee `json:"lockHolderFee"`
				Holding  fee `json:"holdingFee"`
				Transfer struct {
					Rate string `json:"initialRate"`
				} `json:"transferFee"`
			} `json:"transferConfig"`
			Synchronizer struct {
				Active string `json:"activeSynchronizer"`
				Fees   struct {
					Price string `json:"extraTrafficPrice"`
					Least string `json:"minTopupAmount"`
				} `json:"fees"`
			} `json:"decentralizedSynchronizer"`
			Preapproval string `json:"transferPreapprovalFee"`
		} `json:"initialValue"`
	} `json:"configSchedule"`
}

// fee is a fixed one or one by round.
type fee struct {
	Fee  string `json:"fee"`
	Rate string `json:"rate"`
}

// Market asks for it. round is the latest one that has opened, which Balance tells.
func (u *User) Market(ctx context.Context, round int64) (m Market, err error) {
	var rules struct {
		Coin   withState `json:"coin_rules"`
		Amulet withState `json:"amulet_rules"`
	}
	if err := u.call(ctx, "GET", "/v0/scan-proxy/coin-rules", nil, &rules); err != nil {
		return m, err
	}
	contract := rules.Coin.Contract
	if contract.ID == "" {
		contract = rules.Amulet.Contract
	}
	var p rulesPayload
	if err := contract.decode(&p); err != nil {
		return m, err
	}
	now := p.Schedule.Now
	m.CreateFee, m.LockFee, m.HoldingRate, m.TransferFee = now.Transfer.Create.Fee, now.Transfer.Lock.Fee, now.Transfer.Holding.Rate, now.Transfer.Transfer.Rate
	m.TrafficPrice, m.LeastTraffic, m.PreapprovalFee, m.Synchronizer = now.Synchronizer.Fees.Price, now.Synchronizer.Fees.Least, now.Preapproval, now.Synchronizer.Active
	m.Price, err = priceOf(ctx, u, round)
	return m, err
}

// priceOf is the price of a coin in an open round, "" if there is no such round.
func priceOf(ctx context.Context, u *User, round int64) (string, error) {
	var rounds struct {
		Open []withState `json:"open_mining_rounds"`
	}
	if err := u.call(ctx, "GET", "/v0/scan-proxy/open-and-issuing-mining-rounds", nil, &rounds); err != nil {
		return "", err
	}
	for _, r := range rounds.Open {
		var p struct {
			Price string `json:"amuletPrice"`
			Round struct {
				Number json.Number `json:"number"`
			} `json:"round"`
		}
		if err := r.Contract.decode(&p); err != nil {
			return "", err
		}
		if n, err := p.Round.Number.Int64(); err == nil && n == round {
			return p.Price, nil
		}
	}
	return "", nil
}

// Named is the party that has a name; the error is of class NotFound if nobody has.
func (u *User) Named(ctx context.Context, name string) (party string, err error) {
	var answer struct {
		Entry struct {
			User string `json:"user"`
		} `json:"entry"`
	}
	err = u.call(ctx, "GET", "/v0/scan-proxy/ans-entries/by-name/"+segment(name), nil, &answer)
	return answer.Entry.User, err
}

// Traffic is a request to buy traffic.
type Traffic struct {
	Receiver, Synchronizer, ID string
	Bytes                      int64
	Expires                    schemas.Micros
}

// BuyTraffic asks for it to be bought.
func (u *User) BuyTraffic(ctx context.Context, t Traffic) error {
	return u.call(ctx, "POST", "/v0/wallet/buy-traffic-requests", map[string]any{
		"receiving_validator_party_id": t.Receiver, "domain_id": t.Synchronizer, "traffic_amount": t.Bytes, "tracking_id": t.ID, "expires_at": int64(t.Expires),
	}, nil)
}

// TrafficStatus is how a request for traffic stands.
type TrafficStatus struct {
	Status    string `json:"status"`
	Update    string `json:"transaction_id"`
	Failure   string `json:"failure_reason"`
	Rejection string `json:"rejection_reason"`
}

// TrafficStatus asks how a request of a tracking id stands.
func (u *User) TrafficStatus(ctx context.Context, id string) (s TrafficStatus, err error) {
	return s, u.call(ctx, "POST", "/v0/wallet/buy-traffic-requests/"+segment(id)+"/status", nil, &s)
}
