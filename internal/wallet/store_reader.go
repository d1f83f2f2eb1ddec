package wallet

import (
	"context"
	"errors"
	"fmt"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// StoreReader is the Reader of what the store has of a node.
type StoreReader struct {
	wallets *wallethistory.Reader
	node    *nodehistory.Reader
	catalog *values.Catalog
}

// NewStoreReader reads wallets, and what is not derived for them from the node's stream itself. The
// catalogue says which templates implement which interfaces.
func NewStoreReader(wallets *wallethistory.Reader, node *nodehistory.Reader, catalog *values.Catalog) *StoreReader {
	return &StoreReader{wallets, node, catalog}
}

// Contracts returns active contracts, oldest first.
func (s *StoreReader) Contracts(ctx context.Context, q ContractQuery) ([]Contract, error) {
	rows, err := s.wallets.Contracts(ctx, wallethistory.Query{Parties: q.Parties, Templates: q.Templates, Key: q.Key, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	return contractsFrom(rows)
}

// Contract returns one active contract, or ErrNotFound.
func (s *StoreReader) Contract(ctx context.Context, party, contractID string) (Contract, error) {
	row, err := s.wallets.Contract(ctx, contractID, party)
	if errors.Is(err, schemas.ErrNotFound) {
		return Contract{}, notFound("No such contract: %.80s", contractID)
	}
	if err != nil {
		return Contract{}, err
	}
	return contractFrom(&row)
}

// Coins returns the largest coins of an owner, largest first.
func (s *StoreReader) Coins(ctx context.Context, owner string, limit int) ([]Contract, error) {
	rows, err := s.wallets.LargestCoins(ctx, owner, limit)
	if err != nil {
		return nil, err
	}
	return contractsFrom(rows)
}

// OfferTracked reports whether party has ever made an offer with a tracking id.
func (s *StoreReader) OfferTracked(ctx context.Context, party, trackingID string) (bool, error) {
	_, err := s.wallets.OfferStatus(ctx, party, trackingID)
	return found(err)
}

// TrafficTracked is the same of traffic requests.
func (s *StoreReader) TrafficTracked(ctx context.Context, party, trackingID string) (bool, error) {
	_, err := s.wallets.TrafficStatus(ctx, party, trackingID)
	return found(err)
}

func found(err error) (bool, error) {
	if errors.Is(err, schemas.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// End returns the offset of the watermark.
func (s *StoreReader) End(ctx context.Context) (int64, error) { return s.wallets.End(ctx) }

// WaitFor returns once the watermark has reached an offset.
func (s *StoreReader) WaitFor(ctx context.Context, offset int64) error {
	return s.wallets.WaitFor(ctx, offset)
}

func contractsFrom(rows []wallethistory.Contract) ([]Contract, error) {
	list := make([]Contract, len(rows))
	for i := range rows {
		var err error
		if list[i], err = contractFrom(&rows[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func contractFrom(row *wallethistory.Contract) (Contract, error) {
	c, err := contractOf(&row.Event, row.Encoding)
	c.SynchronizerID, c.Blob = row.SynchronizerID, row.Blob
	return c, err
}

// contractOf is a contract as its creation tells it, the payload in compact JSON.
func contractOf(e *schemas.Event, encoding schemas.Encoding) (Contract, error) {
	c := Contract{ID: e.ContractID, TemplateID: e.TemplateID, Payload: e.Argument, CreatedAt: e.CreatedAt.Time()}
	if encoding == schemas.CompactJSON {
		return c, nil
	}
	compact, err := values.AppendCompact(nil, e.Argument, values.Default().Template(e.PackageName, e.TemplateID))
	if err != nil {
		return c, fmt.Errorf("reading contract %s of %s: %w", e.ContractID, e.TemplateID, err)
	}
	c.Payload = compact
	return c, nil
}
