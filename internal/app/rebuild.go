package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newRebuild(a *app) *cobra.Command {
	var stream string
	cmd := &cobra.Command{
		Use:   "rebuild wallets",
		Short: "derive tables again from the history in the store",
		Long: `rebuild empties tables that are derived from history and fills them again, which nobody
needs unless verify has found them wrong. An ingest that is running on the store gives way
and has to be started again.

What can be rebuilt are wallets: the contracts, transaction logs and tracked offers of the
parties of a node, from the node's own stream. Until it has finished they are missing from
the validator interface.`,
		Example:   "  ledgerlake rebuild wallets --data /srv/ledgerlake",
		ValidArgs: []string{"wallets"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != "wallets" {
				return fmt.Errorf("rebuild needs one argument, wallets, not %q: ledgerlake rebuild wallets", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.quiet()
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.openStore(cmd.Context()); err != nil {
				return err
			}
			return s.rebuildWallets(cmd.Context(), stream)
		},
	}
	cmd.Flags().StringVar(&stream, "stream", "", "the stream to rebuild for, node:PARTICIPANT; all of nodes when empty")
	return cmd
}

// rebuildWallets derives the wallets of one stream, or of those of all nodes, again.
func (s *stack) rebuildWallets(ctx context.Context, only string) error {
	if only == schemas.ScanStream {
		return fmt.Errorf("--stream %s: wallets are of the own streams of nodes, such as %s", only, schemas.NodeStream("PARTICIPANT"))
	}
	streams, err := s.nodeStreams(ctx, only)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		wallets := indexer.NewWallets(s.db, stream, 0, s.app.log)
		if err := wallets.Rebuild(ctx); err != nil {
			return err
		}
		if err := wallets.CatchUp(ctx); err != nil {
			return fmt.Errorf("deriving the wallets of %s: %w", stream, err)
		}
		fmt.Fprintf(s.app.stdout, "%s: wallets are derived again\n", stream)
	}
	if len(streams) == 0 {
		fmt.Fprintln(s.app.stdout, "the store has no stream of a node")
	}
	return nil
}
