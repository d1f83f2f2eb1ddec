// Package indexertest has what the tests of the indexer's packages share.
package indexertest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// NodeItems is the history of a simulated participant, as its node tells it, and of what do does
// to the network. sink writes the history to db.
func NodeItems(t *testing.T, db *store.DB, sink stream.Sink, cfg devnet.Config, pruned bool, do ...func(*devnet.Ledger)) (name string, items []schemas.Item) {
	t.Helper()
	cfg.Dir = t.TempDir()
	ledger, err := devnet.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := devnet.NodeOptions{}
	if pruned {
		options.PrunedOffset = ledger.NodeDigests().LedgerEnd / 2
	}
	handler, err := ledger.NodeHandler(options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	if pruned { // something must follow the set of contracts
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		if err := ledger.Run(ctx, 3000); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	for _, some := range do {
		some(ledger)
	}
	ingester, err := node.New(node.Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ingester.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	name = schemas.NodeStream(ledger.NodeDigests().ParticipantID)
	reader := history.NewReader(db, name)
	imports, err := reader.Imports(t.Context(), 0, "", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	updates, err := nodehistory.NewReader(db, name).UpdatesByOffset(t.Context(), 0, 1<<40, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range append(imports, updates...) {
		items = append(items, schemas.Item{Update: &u})
	}
	return name, items
}

// NodeBatches cuts items of a node's stream into batches of a size.
func NodeBatches(stream string, items []schemas.Item, size int) (list []*schemas.Batch) {
	after := schemas.Start
	for len(items) > 0 {
		n := 1
		for n < min(size, len(items)) && items[n].Update.IsImport() == items[0].Update.IsImport() {
			n++
		}
		through := items[n-1].Position()
		if items[0].Update.IsImport() && (n == len(items) || !items[n].Update.IsImport()) {
			through = schemas.AtOffset(through.Offset) // the set is complete
		}
		list = append(list, &schemas.Batch{Stream: stream, After: after, Through: through, Items: items[:n]})
		after, items = through, items[n:]
	}
	return list
}

// Texts runs a query of one text column.
func Texts(t *testing.T, dsn, query string) []string {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
