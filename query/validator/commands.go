package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Commands are what the interface does on the ledger; *wallet.Wallet does it. Errors are of type
// wallet.Error but for those that nobody foresees.
type Commands interface {
	CreateTransferOffer(ctx context.Context, actor wallet.Actor, r wallet.OfferRequest) (wallet.Done, error)
	AcceptTransferOffer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	RejectTransferOffer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	WithdrawTransferOffer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)

	RequestTraffic(ctx context.Context, actor wallet.Actor, r wallet.TrafficRequest) (wallet.Done, error)

	Tap(ctx context.Context, actor wallet.Actor, dollars decimal.Decimal, commandID string) (wallet.Done, error)
	GrantFeaturedRight(ctx context.Context, actor wallet.Actor) (wallet.Done, error)
	CancelFeaturedRights(ctx context.Context, actor wallet.Actor) (wallet.Done, error)

	RequestPreapproval(ctx context.Context, actor wallet.Actor) (wallet.Done, error)
	SendByPreapproval(ctx context.Context, actor wallet.Actor, r wallet.SendRequest) (wallet.Done, error)
	CancelPreapproval(ctx context.Context, receiver string) (wallet.Done, error)

	CreateTokenTransfer(ctx context.Context, actor wallet.Actor, r wallet.OfferRequest) (wallet.InstructionResult, error)
	AcceptTokenTransfer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)
	RejectTokenTransfer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)
	WithdrawTokenTransfer(ctx context.Context, actor wallet.Actor, contractID string) (wallet.InstructionResult, error)

	AcceptMintingProposal(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	RejectMintingProposal(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	RejectMintingDelegation(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)

	RequestName(ctx context.Context, actor wallet.Actor, r wallet.NameRequest) (wallet.NameRequested, error)
	AcceptSubscription(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)
	RejectSubscription(ctx context.Context, actor wallet.Actor, contractID string) (wallet.Done, error)

	Onboard(ctx context.Context, r wallet.OnboardRequest) (party string, err error)
	Offboard(ctx context.Context, user string) error

	ExternalParties
}

// ExternalParties are the steps by which a party with keys of its own is set up and sends coins.
type ExternalParties interface {
	GenerateTopology(ctx context.Context, hint string, publicKey []byte) (party string, txs []wallet.TopologyTransaction, err error)
	SubmitTopology(ctx context.Context, publicKey []byte, signed []wallet.SignedTopology) (party string, err error)
	ProposeSetup(ctx context.Context, party string) (wallet.Done, error)
	PrepareAcceptSetup(ctx context.Context, party, contractID string, verbose bool) (wallet.PreparedSubmission, error)
	SubmitAcceptSetup(ctx context.Context, s wallet.ExternalSubmission) (wallet.Done, error)
	PrepareSend(ctx context.Context, r wallet.ExternalSend) (wallet.PreparedSubmission, error)
	SubmitSend(ctx context.Context, s wallet.ExternalSubmission) (wallet.Done, error)
}
