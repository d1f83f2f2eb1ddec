package wallet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
)

// Ledger is the node's command interface; *node.Client implements it and documents what its
// methods guarantee.
type Ledger interface {
	Submit(ctx context.Context, s node.Submission) (*node.Transaction, error)
	Prepare(ctx context.Context, s node.Submission, verbose bool) (node.Prepared, error)
	Execute(ctx context.Context, x node.Execution) (*node.Transaction, error)

	ActiveViews(ctx context.Context, party, interfaceID string, limit int) ([]node.ActiveContract, error)

	Synchronizers(ctx context.Context) ([]node.Synchronizer, error)
	ParticipantID(ctx context.Context) (string, error)
	Party(ctx context.Context, id string) (p node.Party, ok bool, err error)
	AllocateParty(ctx context.Context, hint string) (string, error)
	GenerateTopology(ctx context.Context, synchronizer, hint string, publicKey []byte) (node.Topology, error)
	AllocateExternal(ctx context.Context, synchronizer, fingerprint string, signed []node.SignedTransaction) (party string, err error)

	User(ctx context.Context, id string) (u node.User, ok bool, err error)
	CreateUser(ctx context.Context, u node.User, rights []node.Right) error
	SetPrimaryParty(ctx context.Context, id, party string) error
	GrantRights(ctx context.Context, user string, rights ...node.Right) error
	RevokeRights(ctx context.Context, user string, rights ...node.Right) error
	// SubmittingUser is the ledger user in whose name commands are submitted.
	SubmittingUser(ctx context.Context) (string, error)
}

// ContractQuery selects active contracts.
type ContractQuery struct {
	// Parties are those of which one is a stakeholder of the contract.
	Parties []string
	// Templates are those of which it has one, in the network's spelling,
	// "package-name:Module:Entity".
	Templates []string
	// Key, if it is not "", is the text by which contracts of the template are looked up: of
	// WalletAppInstall the user's name, of TransferPreapproval and its proposal the receiver,
	// of TransferCommandCounter the sender, of offers and traffic requests the tracking id,
	// of a minting delegation and its proposal the beneficiary, of ValidatorTopUpState the
	// member, of ValidatorRight the user.
	Key string
	// Limit caps the number of contracts.
	Limit int
}

// ShownContract is a contract as an interface shows it.
type ShownContract struct {
	ID string
	// InterfaceID is "package-id:Module:Entity", and View what it shows.
	InterfaceID string
	View        json.RawMessage
	CreatedAt   time.Time
	Blob        string
}

// Reader reads what the store has of the node's parties, at its watermark.
type Reader interface {
	// Contracts returns active contracts, oldest first.
	Contracts(ctx context.Context, q ContractQuery) ([]Contract, error)
	// Contract returns the active contract with an id of which party is a stakeholder; the
	// error is ErrNotFound if there is none.
	Contract(ctx context.Context, party, contractID string) (Contract, error)
	// Shown returns the active contracts of a party that some interfaces, "package-name:Module:Entity", show,
	// oldest first, one of several interfaces several times. known is false if the node has to be asked,
	// because it may show more.
	Shown(ctx context.Context, party string, interfaces ...string) (list []ShownContract, known bool, err error)
	// Coins returns the unlocked coins of an owner, largest first, at most limit.
	Coins(ctx context.Context, owner string, limit int) ([]Contract, error)
	// OfferTracked and TrafficTracked report whether party has ever made an offer, or a
	// traffic request, with a tracking id.
	OfferTracked(ctx context.Context, party, trackingID string) (bool, error)
	TrafficTracked(ctx context.Context, party, trackingID string) (bool, error)
	// End returns the offset of the watermark.
	End(ctx context.Context) (int64, error)
	// WaitFor returns once the watermark has reached an offset, or the cause of ctx if that ends first.
	WaitFor(ctx context.Context, offset int64) error
}

// Public reads the public contracts of the network, those of the governance party, of which
// the node's parties may see none.
type Public interface {
	// Public returns active contracts of some templates, oldest first. key, if it is not "", is
	// as in ContractQuery, or the party that observes contracts without such a text.
	Public(ctx context.Context, key string, templates ...string) ([]Contract, error)
	// Now is the time of the network.
	Now(ctx context.Context) (time.Time, error)
	// Hosts returns the participants that host a party, by member id on a synchronizer.
	Hosts(ctx context.Context, synchronizer, party string) ([]string, error)
	// MigrationID is the present migration of the network.
	MigrationID(ctx context.Context) (int64, error)
}
