// Package wallet derives what the wallets of a node's parties show, from the committed rows of
// the node's stream, and checks it against history. The tables have the rows of an undisturbed
// run after any crash.
package wallet

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/indexer/walletlog"
	"github.com/ledgerlake/ledgerlake/internal/history"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/wallet_payloads.sql
	selectPayloads string
	//go:embed sql/drop_ended_of_wallets.sql
	dropEndedOfWallets string
	//go:embed sql/drop_ends_of_wallets.sql
	dropEndsOfWallets string
	//go:embed sql/drop_partition.sql
	dropPartition string
)

const (
	// pageSize is how many updates are read, and held as they are read, at a time.
	pageSize = 1000
	// tidyAfter contracts that have ended may have rows in wallet_contracts: readers
	// of a party's contracts read those of it, too.
	tidyAfter = 50_000
)

// Wallets derives, from the committed rows of a node's own stream, what the wallets of its
// parties show: their contracts, transaction logs, and what became of offers and traffic
// requests. It follows the stream's watermark as lifetimes do; wallethistory.Reader reads what it
// writes. Only one Wallets may work on a stream at a time.
type Wallets struct {
	db       *store.DB
	stream   string
	follower *journal.Follower
	history  *history.Reader
	node     *nodehistory.Reader
	parser   *walletlog.Parser
	ended    int // contracts that ended since the last tidy

	// Kept from step to step for their memory.
	contracts *store.WalletContracts
	entries   *store.WalletLog
	statuses  *store.StreamRecords[store.WalletStatus]
	known     map[templateVersion]*templateFields
}

// New returns what derives wallets from a node's stream; pace is the least time
// from one step to the next, 100 ms if zero: users wait for what they have just done.
func New(db *store.DB, stream string, pace time.Duration, log *slog.Logger) *Wallets {
	pace = cmp.Or(pace, 100*time.Millisecond)
	return &Wallets{
		db: db, stream: stream, follower: journal.NewFollower(db, stream, journals.WalletStream(stream), pace, log),
		history: history.NewReader(db, stream), node: nodehistory.NewReader(db, stream), parser: walletlog.NewParser(values.Default()),
		contracts: store.NewWalletContracts(), entries: store.NewWalletLog(), statuses: store.NewStreamRecords[store.WalletStatus](),
		known: make(map[templateVersion]*templateFields),
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that
// needs a person.
func (w *Wallets) Run(ctx context.Context) error { return w.follower.Run(ctx, w.Step) }

// CatchUp steps until wallets have reached the stream's watermark. A failure is tried again a
// few times.
func (w *Wallets) CatchUp(ctx context.Context) error { return w.follower.CatchUp(ctx, w.Step) }

// Step takes the next range of committed batches. It returns journal.ErrCaughtUp when wallets have
// reached the watermark.
func (w *Wallets) Step(ctx context.Context) error {
	loaded, err := w.follower.Load(ctx)
	if err != nil {
		return err
	}
	if loaded {
		w.ended = tidyAfter // unknown after a start: tidy soon
	}
	ended := 0
	err = w.follower.Take(ctx, "deriving wallets", func(ctx context.Context, row *store.BatchRow) (err error) {
		ended, err = w.apply(ctx, *row)
		return err
	})
	if err != nil {
		return err
	}
	if w.ended += ended; w.ended >= tidyAfter {
		return w.Tidy(ctx)
	}
	return nil
}

// Rebuild makes wallets derive everything again from the start of the stream, in the steps
// that follow. Until they have caught up readers see an earlier state.
func (w *Wallets) Rebuild(ctx context.Context) error { return w.follower.BackToStart(ctx) }

// apply derives one range and returns how many contracts of earlier ones it ended.
func (w *Wallets) apply(ctx context.Context, row store.BatchRow) (ended int, err error) {
	token, err := journal.Begin(ctx, w.db, &row, w.clear)
	if err != nil {
		return 0, err
	}
	store.Reset(w.entries)
	store.Reset(w.statuses)
	set := w.newSet()
	if err := w.readImports(ctx, row, set); err != nil {
		return 0, err
	}
	if row.Through.RecordTime != schemas.MinMicros {
		if err := w.readUpdates(ctx, row, set); err != nil {
			return 0, err
		}
	}
	store.Reset(w.contracts)
	ended = set.write(w.stream, w.contracts)
	if err := w.db.Insert(ctx, "wallet_contracts", token+"/contracts", w.contracts); err != nil {
		return 0, err
	}
	if err := w.db.Insert(ctx, "wallet_log", token+"/log", w.entries); err != nil {
		return 0, err
	}
	return ended, w.db.Insert(ctx, "wallet_status", token+"/status", w.statuses)
}

// clear drops all rows of the stream.
func (w *Wallets) clear(ctx context.Context) error {
	for _, table := range []string{"wallet_contracts", "wallet_log", "wallet_status"} {
		if err := w.db.Change(ctx, table, dropPartition, "", store.Params{"table": store.Text(table), "stream": store.Text(w.stream)}); err != nil {
			return fmt.Errorf("emptying the tables of wallets of %s: %w", w.stream, err)
		}
	}
	return nil
}

// readImports adds the contracts that the stream began with. Its first ranges have them, and
// the one in which those end may continue with history.
func (w *Wallets) readImports(ctx context.Context, row store.BatchRow, set *contractSet) error {
	if row.After != schemas.Start && row.After.RecordTime != schemas.MinMicros {
		return nil
	}
	for after := row.After.UpdateID; ; {
		imports, err := w.history.Imports(ctx, 0, after, pageSize)
		if err != nil {
			return err
		}
		for i := range imports {
			u := &imports[i]
			if row.Through.RecordTime == schemas.MinMicros && u.UpdateID > row.Through.UpdateID {
				return nil
			}
			set.update(u)
		}
		if len(imports) < pageSize {
			return nil
		}
		after = imports[len(imports)-1].UpdateID
	}
}

// readUpdates adds the history of a range.
func (w *Wallets) readUpdates(ctx context.Context, row store.BatchRow, set *contractSet) error {
	return w.node.EachUpdatePage(ctx, row.After.Offset, row.Through.Offset, pageSize, func(updates []schemas.Update) error {
		for i := range updates {
			set.update(&updates[i])
		}
		return w.addLog(ctx, updates, set)
	})
}

// addLog adds what updates mean for the logs of wallets.
func (w *Wallets) addLog(ctx context.Context, updates []schemas.Update, set *contractSet) error {
	var needs []string
	for i := range updates {
		needs = w.parser.Needs(needs, &updates[i])
	}
	if err := w.loadPayloads(ctx, needs, set); err != nil {
		return err
	}
	for i := range updates {
		result := w.parser.Update(&updates[i], set.payload)
		for j := range result.Entries {
			w.entries.Append(w.stream, &result.Entries[j])
		}
		for j := range result.Statuses {
			w.statuses.Append(w.stream, result.Statuses[j])
		}
	}
	return nil
}

// loadPayloads reads payloads of contracts that were created before the range.
func (w *Wallets) loadPayloads(ctx context.Context, ids []string, set *contractSet) error {
	var missing []string
	for _, id := range ids {
		if _, known := set.payloads[id]; !known {
			set.payloads[id] = nil
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	block := store.NewContracts()
	err := w.db.Select(ctx, selectPayloads, store.Params{"stream": store.Text(w.stream), "ids": store.Texts(missing)}, block, func() error {
		for _, c := range block.AppendTo(nil) {
			set.payloads[c.Event.ContractID] = c.Event.Argument
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading %d contracts that choices were exercised on: %w", len(missing), err)
	}
	return nil
}

// Tidy drops the rows of contracts that have ended. Readers are right before, during and after
// it: what says that a contract has ended goes last.
func (w *Wallets) Tidy(ctx context.Context) error {
	params := store.Params{"stream": store.Text(w.stream), "at": store.Int(w.follower.Committed().Offset)}
	lightweight := ch.Setting{Key: "lightweight_delete_mode", Value: "lightweight_update", Important: true}
	if err := w.db.Change(ctx, "wallet_contracts", dropEndedOfWallets, "", params, lightweight); err != nil {
		return fmt.Errorf("dropping contracts of wallets that have ended: %w", err)
	}
	if err := w.db.Change(ctx, "wallet_contracts", dropEndsOfWallets, "", params, lightweight); err != nil {
		return fmt.Errorf("dropping the ends of contracts of wallets: %w", err)
	}
	w.ended = 0
	return nil
}
