package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Commands are what the interface does on the ledger. Errors are of type wallet.Error but for
// those that nobody foresees.
type Commands struct {
	Offers interface {
		Create(ctx context.Context, actor wallet.Actor, r wallet.OfferRequest) (wallet.Done, error)
		Accept(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Reject(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Withdraw(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	}
	Traffic interface {
		Request(ctx context.Context, actor wallet.Actor, r wallet.TrafficRequest) (wallet.Done, error)
	}
	Coins interface {
		Tap(ctx context.Context, actor wallet.Actor, dollars decimal.Decimal, commandID string) (wallet.Done, error)
	}
	Rewards interface {
		GrantFeaturedRight(ctx context.Context, actor wallet.Actor) (wallet.Done, error)
		CancelFeaturedRights(ctx context.Context, actor wallet.Actor) (wallet.Done, error)
	}
	Preapprovals interface {
		Request(ctx context.Context, actor wallet.Actor) (wallet.Done, error)
		Send(ctx context.Context, actor wallet.Actor, r wallet.SendRequest) (wallet.Done, error)
		Cancel(ctx context.Context, receiver string) (wallet.Done, error)
	}
	// Tokens are by the first version of the token standard, TokensV2 by the second.
	Tokens, TokensV2 Tokens
	Minting          interface {
		Accept(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		RejectProposal(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Reject(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	}
	Subscriptions interface {
		RequestName(ctx context.Context, actor wallet.Actor, r wallet.NameRequest) (wallet.NameRequested, error)
		Accept(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Reject(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Cancel(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	}
	AppPayments interface {
		Accept(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
		Reject(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	}
	Fund interface {
		Allocate(ctx context.Context, actor wallet.Actor, r wallet.FundRequest) (wallet.Allocated, error)
		Withdraw(ctx context.Context, actor wallet.Actor, contractID, reason string) (wallet.Done, error)
	}
	Allocations interface {
		AllocateLeg(ctx context.Context, actor wallet.Actor, r wallet.LegRequest) (wallet.AllocationResult, error)
		WithdrawLeg(ctx context.Context, actor wallet.Actor, contractID string) (wallet.AllocationResult, error)
		AllocateSides(ctx context.Context, actor wallet.Actor, r wallet.SidesRequest) (wallet.AllocationResult, error)
		WithdrawSides(ctx context.Context, actor wallet.Actor, contractID string) (wallet.AllocationResult, error)
		Requests(ctx context.Context, actor wallet.Actor) ([]wallet.ShownContract, error)
		RejectRequest(ctx context.Context, actor wallet.Actor, contractID string) (wallet.AllocationResult, error)
		RejectRequestV2(ctx context.Context, actor wallet.Actor, contractID string) (wallet.AllocationResult, error)
	}
	Users interface {
		Onboard(ctx context.Context, r wallet.OnboardRequest) (party string, err error)
		Offboard(ctx context.Context, user string) error
	}
	// External are the steps by which a party with keys of its own is set up and sends coins.
	External interface {
		GenerateTopology(ctx context.Context, hint string, publicKey []byte) (party string, txs []wallet.TopologyTransaction, err error)
		SubmitTopology(ctx context.Context, publicKey []byte, signed []wallet.SignedTopology) (party string, err error)
		ProposeSetup(ctx context.Context, party string) (wallet.Done, error)
		PrepareAcceptSetup(ctx context.Context, party, contractID string, verbose bool) (wallet.PreparedSubmission, error)
		SubmitAcceptSetup(ctx context.Context, s wallet.ExternalSubmission) (wallet.Done, error)
		PrepareSend(ctx context.Context, r wallet.ExternalSend) (wallet.PreparedSubmission, error)
		SubmitSend(ctx context.Context, s wallet.ExternalSubmission) (wallet.Done, error)
	}
}

// Tokens are transfers by the token standard.
type Tokens interface {
	Create(ctx context.Context, actor wallet.Actor, r wallet.OfferRequest) (wallet.InstructionResult, error)
	Accept(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)
	Reject(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)
	Withdraw(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)
}

// WalletCommands has a wallet do it.
func WalletCommands(w *wallet.Wallet) *Commands {
	return &Commands{
		Offers: w.Offers, Traffic: w.Traffic, Coins: w.Coins, Rewards: w.Rewards, Preapprovals: w.Preapprovals,
		Tokens: w.Tokens, TokensV2: w.TokensV2, Minting: w.Minting, Subscriptions: w.Subscriptions, AppPayments: w.AppPayments, Fund: w.Fund, Allocations: w.Allocations, Users: w.Users, External: w.External,
	}
}
