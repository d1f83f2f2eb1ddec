// Package indexertest has what the tests of the indexer's packages share.
package indexertest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// memory is a sink that keeps the items.
type memory struct{ items []schemas.Item }

func (m *memory) Resume(context.Context, string) (schemas.Resume, error) {
	return schemas.Resume{Committed: schemas.Start}, nil
}

func (m *memory) Write(_ context.Context, b *schemas.Batch) error {
	m.items = append(m.items, b.Items...)
	return nil
}

// NodeItems returns the history of a simulated participant as its node returns it, after do has
// changed the network. That of a pruned node begins with imports.
func NodeItems(t *testing.T, cfg devnet.Config, pruned bool, do ...func(*devnet.Ledger)) (name string, items []schemas.Item) {
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
	sink := &memory{}
	ingester, err := node.New(node.Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ingester.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return schemas.NodeStream(ledger.NodeDigests().ParticipantID), sink.items
}

// ScanItems returns the public history of a simulated network as its scan returns it.
func ScanItems(t *testing.T, ledger *devnet.Ledger) []schemas.Item {
	t.Helper()
	server := httptest.NewServer(ledger.Handler())
	t.Cleanup(server.Close)
	sink := &memory{}
	ingester, err := scan.New(scan.Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ingester.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sink.items
}

// ScanBatches cuts items of public history into batches of about size that mix neither migrations nor
// imports.
func ScanBatches(items []schemas.Item, size int) (list []*schemas.Batch) {
	after := schemas.Start
	for len(items) > 0 {
		n := 1
		for n < min(size, len(items)) && journal.SameKind(items[0].Position(), items[n].Position()) {
			n++
		}
		through := items[n-1].Position()
		list = append(list, &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through, Items: items[:n]})
		after, items = through, items[n:]
	}
	return list
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
