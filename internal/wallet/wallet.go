package wallet

import (
	"cmp"
	"errors"
	"log/slog"
	"time"
)

// Config says for whom a wallet acts, and through what. Zero values stand for the defaults.
type Config struct {
	Ledger Ledger       // required
	Reader Reader       // required
	Public Public       // required
	Log    *slog.Logger // required
	// Operator is the party of the validator. Required.
	Operator string
	// Wait is how long an action waits for the store to show what it did. Default 5s.
	Wait time.Duration
	// Timeout ends an action, however long its client waits. Default 1m.
	Timeout time.Duration
	// QueueSize is how many batches of one wallet may wait for those before them. Default 20.
	QueueSize int
	// PreapprovalLifetime is how long a new preapproval is good. Default 90 days.
	PreapprovalLifetime time.Duration
	// TransferCommands allows the transfers of external parties by transfer commands, which
	// the network has given up in 0.8.0.
	TransferCommands bool
}

// Wallet does the actions of the users of one validator. Its parts are safe for concurrent use.
type Wallet struct {
	Network       *Network
	Users         *Users
	Coins         *Coins
	Offers        *Offers
	Tokens        *Tokens
	TokensV2      *Tokens
	Preapprovals  *Preapprovals
	Traffic       *Traffic
	Subscriptions *Subscriptions
	AppPayments   *AppPayments
	Fund          *Fund
	Allocations   *Allocations
	Minting       *Minting
	Merging       *Merging
	Rewards       *Rewards
	External      *External

	operator string
}

// New returns a wallet.
func New(cfg Config) (*Wallet, error) {
	switch {
	case cfg.Ledger == nil || cfg.Reader == nil || cfg.Public == nil || cfg.Log == nil:
		return nil, errors.New("a wallet needs a ledger, a reader, public contracts and a logger")
	case cfg.Operator == "":
		return nil, errors.New("a wallet needs the party of its operator")
	case cfg.Wait < 0 || cfg.Timeout < 0 || cfg.QueueSize < 0 || cfg.PreapprovalLifetime < 0:
		return nil, errors.New("limits of a wallet must not be negative")
	}
	cfg.Wait = cmp.Or(cfg.Wait, 5*time.Second)
	cfg.Timeout = cmp.Or(cfg.Timeout, time.Minute)
	cfg.QueueSize = cmp.Or(cfg.QueueSize, 20)
	cfg.PreapprovalLifetime = cmp.Or(cfg.PreapprovalLifetime, 90*24*time.Hour)
	s := &submitter{ledger: cfg.Ledger, reader: cfg.Reader, log: cfg.Log, operator: cfg.Operator, wait: cfg.Wait, timeout: cfg.Timeout}
	tracking := newTracker(cfg.Reader)
	network := &Network{public: cfg.Public, reader: cfg.Reader}
	users := &Users{submitter: s, tracking: tracking, network: network}
	coins := &Coins{submitter: s, tracking: tracking, network: network, users: users, treasury: newTreasury(cfg.QueueSize)}
	return &Wallet{
		Network: network, Users: users, Coins: coins,
		Offers:        &Offers{submitter: s, tracking: tracking, network: network, coins: coins},
		Tokens:        &Tokens{submitter: s, tracking: tracking, network: network, coins: coins},
		TokensV2:      &Tokens{submitter: s, tracking: tracking, network: network, coins: coins, v2: true},
		Preapprovals:  &Preapprovals{submitter: s, tracking: tracking, network: network, coins: coins, lifetime: cfg.PreapprovalLifetime},
		Traffic:       &Traffic{submitter: s, tracking: tracking, network: network, coins: coins},
		Subscriptions: &Subscriptions{submitter: s, network: network, coins: coins},
		AppPayments:   &AppPayments{submitter: s, coins: coins},
		Fund:          &Fund{submitter: s, tracking: tracking, network: network},
		Allocations:   &Allocations{submitter: s, tracking: tracking, network: network, coins: coins},
		Minting:       &Minting{submitter: s},
		Merging:       &Merging{submitter: s, network: network},
		Rewards:       &Rewards{submitter: s, network: network},
		External: &External{
			submitter: s, tracking: tracking, network: network, coins: coins,
			lifetime: cfg.PreapprovalLifetime, transferCommands: cfg.TransferCommands,
		},
		operator: cfg.Operator,
	}, nil
}

// Operator is the party of the validator.
func (w *Wallet) Operator() string { return w.operator }
