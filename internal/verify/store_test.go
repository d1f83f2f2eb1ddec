package verify_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// fixture is a store in a database of its own.
type fixture struct {
	*enginetest.Store
	db     *store.DB
	stream string // what reader reads
	reader *history.Reader
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Store: enginetest.StartMigrated(t, indexer.MigrateCluster)}
	f.db, f.stream = storetest.Open(t, f.Store), schemas.ScanStream
	f.reader = history.NewReader(f.db, f.stream)
	return f
}

// write stores items in batches of about size, with the lifetimes that follow from them.
func (f *fixture) write(t *testing.T, items []schemas.Item, size int) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	writer := indexer.NewWriter(f.db, schemas.ScanStream, log)
	after := schemas.Start
	for len(items) > 0 {
		n := 1
		for n < min(size, len(items)) && items[n].Position().MigrationID == items[0].Position().MigrationID &&
			(items[n].Position().RecordTime == schemas.MinMicros) == (items[0].Position().RecordTime == schemas.MinMicros) {
			n++
		}
		through := items[n-1].Position()
		if err := writer.Write(t.Context(), &schemas.Batch{Stream: schemas.ScanStream, After: after, Through: through, Items: items[:n]}); err != nil {
			t.Fatal(err)
		}
		after, items = through, items[n:]
	}
	if err := indexer.NewLifetimes(f.db, schemas.ScanStream, 0, log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// exec runs statements that damage the store, and waits until they have.
func (f *fixture) exec(t *testing.T, statements ...string) {
	t.Helper()
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"mutations_sync": 2, "insert_deduplicate": 0, "enable_lightweight_update": 1, "allow_nondeterministic_mutations": 1,
	}))
	for _, statement := range statements {
		for _, shard := range f.Shards {
			if err := shard.Exec(ctx, statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

var tables = []string{"batches", "updates", "events", "imports", "verdicts", "contracts_live", "contracts_archived", "ended_contracts", "places"}

// copyRows replaces the rows of a table by those of another store.
func (f *fixture) copyRows(t *testing.T, from *fixture, table string) {
	t.Helper()
	f.exec(t, "TRUNCATE TABLE "+table, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s.%s", table, from.RowsIn, table))
}

// setReaders sets what is verified to the fixture's stream.
func (f *fixture) setReaders(cfg *verify.Config) {
	cfg.Source, cfg.Public, cfg.Node = audit.NewReader(f.db, f.stream), f.reader, nodehistory.NewReader(f.db, f.stream)
}

func (f *fixture) verify(t *testing.T, cfg verify.Config) *verify.Report {
	t.Helper()
	f.setReaders(&cfg)
	if cfg.Audit == nil {
		cfg.Audit = audit.NewQueries(f.Conn, f.stream)
	}
	report, err := verify.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// withoutIndexes are the checks of a store but Indexes, which sends a hundred queries, one for each
// of its samples: for tests that verify a store repeatedly, or whose subject is another check.
var withoutIndexes = []string{verify.Batches, verify.Hashes, verify.Verdicts, verify.Lifetimes, verify.Coins}

// checkOf is a check of a report by name.
func checkOf(r *verify.Report, name string) *verify.Check {
	return r.Checks[slices.IndexFunc(r.Checks, func(c *verify.Check) bool { return c.Name == name })]
}

// countedAudit counts how often lifetimes are compared one by one.
type countedAudit struct {
	*audit.Queries
	asked int
}

func (a *countedAudit) LifetimeSteps(ctx context.Context, buckets []int, through schemas.Position, each func(audit.LifetimeStep) error) error {
	a.asked++
	return a.Queries.LifetimeSteps(ctx, buckets, through, each)
}

// network executes the history of a simulated network and returns it with its items in
// order, read over HTTP.
func network(t *testing.T, cfg devnet.Config) (*devnet.Ledger, []schemas.Item) {
	t.Helper()
	cfg.Dir = t.TempDir()
	ledger, err := devnet.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger, served(t, ledger)
}

// served reads the history of a simulated network, in order, over HTTP.
func served(t *testing.T, ledger *devnet.Ledger) []schemas.Item {
	t.Helper()
	server := httptest.NewServer(ledger.Handler())
	t.Cleanup(server.Close)
	client, err := scan.NewClient(scan.ClientConfig{BaseURL: server.URL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	items, migration := []schemas.Item(nil), int64(-1)
	for after := schemas.Start; ; {
		page, err := eventsAfter(t.Context(), client, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page {
			for ; migration < it.Position().MigrationID; migration++ {
				items = append(items, imports(t, client, migration+1)...)
			}
			items = append(items, it)
		}
		if len(page) == 0 {
			return items
		}
		after = page[len(page)-1].Position()
	}
}

func eventsAfter(ctx context.Context, client *scan.Client, after schemas.Position) ([]schemas.Item, error) {
	page, err := client.EventsPage(ctx, scan.PageRequest{After: after, Size: scan.MaxPageItems})
	if err != nil {
		return nil, err
	}
	return page.Items()
}

func imports(t *testing.T, client *scan.Client, migration int64) []schemas.Item {
	t.Helper()
	var items []schemas.Item
	for after := ""; ; {
		page, err := client.ImportUpdates(t.Context(), scan.ImportsRequest{MigrationID: migration, AfterUpdateID: after, Limit: scan.MaxPageItems})
		if err != nil {
			t.Fatal(err)
		}
		more, err := page.Items()
		if err != nil {
			t.Fatal(err)
		}
		if len(more) == 0 {
			return items
		}
		items = append(items, more...)
		after = more[len(more)-1].Update.UpdateID
	}
}

// findings lists all findings of a report, by check.
func findings(r *verify.Report) string {
	var b strings.Builder
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "%s: %s\n", c.Name, f)
		}
	}
	return b.String()
}
