package walletapi

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Status says whether a user has a wallet.
type Status struct {
	Party     string `json:"party_id"`
	Onboarded bool   `json:"user_onboarded"`
	Installed bool   `json:"user_wallet_installed"`
	Featured  bool   `json:"has_featured_app_right"`
}

// Status asks for the user's own.
func (u *User) Status(ctx context.Context) (s Status, err error) {
	return s, u.call(ctx, "GET", "/v0/wallet/user-status", nil, &s)
}

// Register gives the user a wallet.
func (u *User) Register(ctx context.Context) error {
	return u.call(ctx, "POST", "/v0/register", nil, nil)
}

// Balance is what a user owns, as of a round.
type Balance struct {
	Round    int64  `json:"round"`
	Unlocked string `json:"effective_unlocked_qty"`
	Locked   string `json:"effective_locked_qty"`
	Fees     string `json:"total_holding_fees"`
}

// Balance asks for it.
func (u *User) Balance(ctx context.Context) (b Balance, err error) {
	return b, u.call(ctx, "GET", "/v0/wallet/balance", nil, &b)
}

// Coin is a coin of the user.
type Coin struct {
	ID      string
	Created schemas.Micros
	// Amount is what it began with in round Since, Fee what has accrued by round Round at Rate a round.
	Amount, Fee, Rate string
	Since             string
	Round             int64
	// Lock is nil for a coin that can be used.
	Lock *Lock
}

// Lock is why a coin cannot be used.
type Lock struct {
	Holders []string       `json:"holders"`
	Until   schemas.Micros `json:"-"`
	Why     string         `json:"optContext"`
}

type coinPayload struct {
	Amount struct {
		Initial string `json:"initialAmount"`
		Created struct {
			Number string `json:"number"`
		} `json:"createdAt"`
		Rate struct {
			Rate string `json:"rate"`
		} `json:"ratePerRound"`
	} `json:"amount"`
}

type position struct {
	Contract withState `json:"contract"`
	Round    int64     `json:"round"`
	Fee      string    `json:"accrued_holding_fee"`
}

// Coins lists the user's, those that can be used first.
func (u *User) Coins(ctx context.Context) (coins []Coin, synchronizer string, err error) {
	var answer struct { // either spelling of the interface
		Coins        []position `json:"coins"`
		Amulets      []position `json:"amulets"`
		LockedCoins  []position `json:"locked_coins"`
		LockedAmulet []position `json:"locked_amulets"`
	}
	if err := u.call(ctx, "GET", "/v0/wallet/coins", nil, &answer); err != nil {
		return nil, "", err
	}
	for _, p := range append(answer.Coins, answer.Amulets...) {
		var payload coinPayload
		if err := p.Contract.Contract.decode(&payload); err != nil {
			return nil, "", err
		}
		coins, synchronizer = append(coins, p.coin(payload)), p.Contract.Synchronizer
	}
	for _, p := range append(answer.LockedCoins, answer.LockedAmulet...) {
		var payload struct {
			Coin coinPayload `json:"amulet"`
			Lock struct {
				Lock
				Until string `json:"expiresAt"`
			} `json:"lock"`
		}
		if err := p.Contract.Contract.decode(&payload); err != nil {
			return nil, "", err
		}
		coin := p.coin(payload.Coin)
		coin.Lock = &payload.Lock.Lock
		coin.Lock.Until = instant(payload.Lock.Until)
		coins, synchronizer = append(coins, coin), p.Contract.Synchronizer
	}
	return coins, synchronizer, nil
}

func (p *position) coin(payload coinPayload) Coin {
	return Coin{
		ID: p.Contract.Contract.ID, Created: instant(p.Contract.Contract.Created), Amount: payload.Amount.Initial, Fee: p.Fee,
		Rate: payload.Amount.Rate.Rate, Since: payload.Amount.Created.Number, Round: p.Round,
	}
}

// Entry is an item of the user's history.
type Entry struct {
	ID      string `json:"event_id"`
	Type    string `json:"transaction_type"`
	Date    string `json:"date"`
	Subtype struct {
		Choice    string `json:"choice"`
		Operation string `json:"coin_operation"`
		Network   string `json:"amulet_operation"` // Operation in the network's own spelling
	} `json:"transaction_subtype"`
	Sender      PartyAmount   `json:"sender"`
	Receivers   []PartyAmount `json:"receivers"`
	HoldingFees string        `json:"holding_fees"`
	AppRewards  string        `json:"app_rewards_used"`
	Validator   string        `json:"validator_rewards_used"`
	SV          string        `json:"sv_rewards_used"`
	Fund        string        `json:"development_fund_coupons_used"`
	// Instruction is that of a transfer by the token standard.
	Instruction         string `json:"transfer_instruction_cid"`
	InstructionReceiver string `json:"transfer_instruction_receiver"`
	InstructionAmount   string `json:"transfer_instruction_amount"`
	Description         string `json:"description"`
	Details             string `json:"details"`
}

// PartyAmount is what a party got, or paid if it is negative.
type PartyAmount struct {
	Party  string `json:"party"`
	Amount string `json:"amount"`
}

// At is when it happened.
func (e *Entry) At() schemas.Micros { return instant(e.Date) }

// Update is the id of the update that it is of.
func (e *Entry) Update() string { return updateOf(e.ID) }

// History lists up to n items after one that is known, "" for the newest.
func (u *User) History(ctx context.Context, after string, n int) ([]Entry, error) {
	var answer struct {
		Items []Entry `json:"items"`
	}
	err := u.call(ctx, "POST", "/v0/wallet/transactions", map[string]any{"page_size": n, "begin_after_id": after}, &answer)
	return answer.Items, err
}

// Tap asks a development network for coins worth some dollars. With an id that was used, nothing more comes.
func (u *User) Tap(ctx context.Context, dollars, id string) error {
	return u.call(ctx, "POST", "/v0/wallet/tap", map[string]any{"amount": dollars, "command_id": id}, nil)
}

// Users are those who have wallets. Only the operator is told.
func (u *User) Users(ctx context.Context) ([]string, error) {
	var answer struct {
		Names []string `json:"usernames"`
	}
	err := u.call(ctx, "GET", "/v0/admin/users", nil, &answer)
	return answer.Names, err
}
