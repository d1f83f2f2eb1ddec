package wallet

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/contracts.sql
	contractsQuery string
	//go:embed sql/contract_by_id.sql
	contractByIDQuery string
	//go:embed sql/blobs.sql
	blobsQuery string
)

// Contract is an active contract as a wallet sees it: Event holds its create, Offset is
// where it became active. See store.WalletContract. Signatories, observers, CreatedIn, Party and
// LookupKey are told by Reader.Contract only.
type Contract = store.WalletContract

// Query selects active contracts of parties of the node.
type Query struct {
	// Parties are those of which one is a stakeholder; a contract of several is given once.
	Parties []string
	// Templates are those of which a contract has one, "package-name:Module:Entity".
	Templates []string
	// Key keeps contracts with that lookup key, unless it is "": of WalletAppInstall the user's
	// name, of TransferPreapproval and its proposal the receiver, of TransferCommand sender and
	// nonce ("alice::1220.. 7"), of TransferCommandCounter the sender, of offers and traffic
	// requests the tracking id, of a minting delegation and its proposal the beneficiary, of
	// ValidatorTopUpState the member, of AnsEntry the name, of ValidatorRight the user.
	Key string
	// After is the key of the last contract of the page before, exclusive.
	After history.ContractKey
	// Limit caps the number of contracts and must be positive.
	Limit int
}

// Contracts returns a page of active contracts, ascending by creation time and contract id.
func (r *Reader) Contracts(ctx context.Context, q Query) ([]Contract, error) {
	at, err := r.End(ctx)
	if err != nil || at == 0 {
		return nil, err
	}
	after := store.BeforeHistory
	if q.After.ContractID != "" {
		after = q.After.CreatedAt
	}
	contracts, err := store.SelectAll(ctx, r.db, contractsQuery, store.Params{
		"stream": store.Text(r.stream), "at": store.Int(at), "parties": store.Texts(q.Parties), "templates": store.Texts(q.Templates),
		"key": store.Text(q.Key), "after_created": store.Time(store.Clamp(after)), "after_id": store.Text(q.After.ContractID),
		"limit": store.Int(int64(q.Limit)),
	}, store.NewActiveWalletContracts())
	if err != nil {
		return nil, fmt.Errorf("reading contracts of %d templates of %d parties: %w", len(q.Templates), len(q.Parties), err)
	}
	return contracts, nil
}

// Contract returns one active contract of which any of the parties is a stakeholder. Without
// it the error is schemas.ErrNotFound.
func (r *Reader) Contract(ctx context.Context, contractID string, parties ...string) (Contract, error) {
	at, err := r.End(ctx)
	if err != nil {
		return Contract{}, err
	}
	contract, ok, err := store.SelectOne(ctx, r.db, contractByIDQuery, store.Params{
		"stream": store.Text(r.stream), "at": store.Int(at), "parties": store.Texts(parties), "contract": store.Text(contractID),
	}, store.NewWalletContracts())
	switch {
	case err != nil:
		return Contract{}, fmt.Errorf("reading contract %.80q: %w", contractID, err)
	case !ok:
		return Contract{}, fmt.Errorf("contract %.80q of the wallet: %w", contractID, schemas.ErrNotFound)
	}
	return contract, nil
}

// Blobs returns the blobs of contracts, by contract id. Those that no party of the node has ever seen
// are left out, and so may be those that have ended.
func (r *Reader) Blobs(ctx context.Context, contractIDs []string) (map[string]string, error) {
	at, err := r.End(ctx)
	if err != nil || at == 0 {
		return nil, err
	}
	type row struct {
		ContractID string `column:"contract_id"`
		Blob       string `column:"blob"`
	}
	rows, err := store.SelectAll(ctx, r.db, blobsQuery, store.Params{
		"stream": store.Text(r.stream), "at": store.Int(at), "contracts": store.Texts(contractIDs),
	}, store.NewRecords[row]())
	if err != nil {
		return nil, fmt.Errorf("reading the blobs of %d contracts: %w", len(contractIDs), err)
	}
	blobs := make(map[string]string, len(rows))
	for _, r := range rows {
		blobs[r.ContractID] = r.Blob
	}
	return blobs, nil
}
