package app

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// RebuildWallets derives the wallets of one stream, or of those of all nodes, again. rebuilt is
// called after each.
func (a *App) RebuildWallets(ctx context.Context, only string, rebuilt func(stream string)) error {
	if err := a.db.open(ctx); err != nil {
		return err
	}
	if only == schemas.ScanStream {
		return fmt.Errorf("--stream %s: wallets are of the own streams of nodes, such as %s", only, schemas.NodeStream("PARTICIPANT"))
	}
	streams, err := a.db.nodeStreams(ctx, only)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		wallets := wallet.New(a.db.db, stream, 0, a.p.log)
		if err := wallets.Rebuild(ctx); err != nil {
			return err
		}
		if err := wallets.CatchUp(ctx); err != nil {
			return fmt.Errorf("deriving the wallets of %s: %w", stream, err)
		}
		rebuilt(stream)
	}
	return nil
}
