package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// spread are the tables that all shards have some of.
var spread = []string{"updates", "events", "imports", "verdicts", "places", "contracts_live", "contracts_archived"}

// clusterFixture is a fixture on three shards.
func clusterFixture(t *testing.T, c *enginetest.Cluster, database string) *fixture {
	t.Helper()
	// Any database of the server will do to make the ones of the store.
	if err := MigrateCluster(t.Context(), c.DSN(t, 0, database), enginetest.ClusterName, func(Migration) {}); err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenOn(t.Context(), c.DSN(t, 1, database), enginetest.ClusterName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &fixture{dsn: c.DSN(t, 1, database), db: db, reader: history.NewReader(db, schemas.ScanStream), log: slog.New(slog.DiscardHandler)}
}

// contents are the rows of each table and the sum of their hashes, as a DSN shows them.
func contents(t *testing.T, dsn string) map[string]string {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	found := make(map[string]string)
	for _, table := range spread {
		columns := "* EXCEPT (archived_at)"
		if !strings.HasPrefix(table, "contracts_") {
			columns = "*"
		}
		var rows, sum uint64
		row := conn.QueryRow(t.Context(), "SELECT count(), sumWithOverflow(sipHash64("+columns+")) FROM "+table)
		if err := row.Scan(&rows, &sum); err != nil {
			t.Fatal(err)
		}
		found[table] = fmt.Sprintf("%d rows, %d", rows, sum)
	}
	return found
}

func (f *fixture) writeAll(t *testing.T, list []*schemas.Batch) {
	t.Helper()
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range list {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	l := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
	if err := l.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestCluster writes one history to a single store and to three shards and compares them, also after
// repeated inserts, after a rewind, and after a shard was away.
func TestCluster(t *testing.T) {
	c := enginetest.StartCluster(t, 3)
	f, single := clusterFixture(t, c, "default"), newFixture(t)
	h := schematest.New(schematest.Config{Seed: 7, Items: 240, Step: 6 * 3600 * 1e6})
	list := batches(h.Items, 60)
	single.writeAll(t, list)
	f.writeAll(t, list)
	want := contents(t, single.dsn)

	compare := func(t *testing.T) {
		t.Helper()
		if got := contents(t, f.dsn); !maps.Equal(got, want) {
			t.Fatalf("three shards have\n%v\nand one store\n%v", got, want)
		}
	}
	compare(t)
	t.Run("each shard has its share", func(t *testing.T) { checkShares(t, c) })
	t.Run("columns have comments", func(t *testing.T) {
		for _, database := range []string{"default", "default_shard"} {
			conn, err := engine.Open(t.Context(), c.DSN(t, 2, database))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if lacking := uncommented(t, conn); len(lacking) > 0 {
				t.Errorf("in database %s columns without the comment of docs/formats/store.md:\n%s", database, strings.Join(lacking, "\n"))
			}
		}
	})
	t.Run("readers", func(t *testing.T) {
		if got, want := f.stored(t), digestItems(h.Items); got != want {
			t.Fatalf("stored %s, want %s", got, want)
		}
		f.checkLookups(t, h)
		f.checkDescending(t, h)
		f.checkMigrations(t, h)
		f.checkActive(t, h, "on three shards")
	})
	t.Run("a repeated insert changes nothing", func(t *testing.T) {
		rows := store.NewBatchRows()
		rows.Fill(list[len(list)-1])
		for table, block := range rows.Blocks() {
			if err := f.db.Insert(t.Context(), table, fmt.Sprintf("%s/%d/%s", schemas.ScanStream, len(list), table), block); err != nil {
				t.Fatal(err)
			}
		}
		compare(t)
	})
	t.Run("rewind", func(t *testing.T) {
		to := list[len(list)/2].Through
		r := NewRewind(f.db, schemas.ScanStream, func(through schemas.Position) bool { return !to.Before(through) }, f.log)
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.writeAll(t, list[len(list)/2+1:])
		compare(t)
	})
	t.Run("a shard is away", func(t *testing.T) { f.checkAway(t, c, compare) })
	t.Run("migrated again", func(t *testing.T) {
		report := func(m Migration) { t.Errorf("step %q of a store that is up to date", m.Name) }
		if err := MigrateCluster(t.Context(), c.DSN(t, 2, "default"), enginetest.ClusterName, report); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("what does not fit is refused", func(t *testing.T) { checkRefused(t, c) })
}

// checkShares fails unless each row is on the shard of its key and no shard is without rows.
func checkShares(t *testing.T, c *enginetest.Cluster) {
	for n := range 3 {
		conn, err := engine.Open(t.Context(), c.DSN(t, n, "default_shard"))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range spread {
			var rows, strays uint64
			query := fmt.Sprintf("SELECT count(), countIf(%s %% 3 != %d) FROM %s", store.ShardingExpression(table), n, table)
			if err := conn.QueryRow(t.Context(), query).Scan(&rows, &strays); err != nil {
				t.Fatal(err)
			}
			if rows == 0 || strays > 0 {
				t.Errorf("shard %d has %d rows of %s, of which %d belong to others", n, rows, table, strays)
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkAway stops a shard, and kills one: what needs it fails as unavailable, and what was not
// written is written once it is back.
func (f *fixture) checkAway(t *testing.T, c *enginetest.Cluster, compare func(*testing.T)) {
	mark, err := f.reader.Watermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := history.Range{After: schemas.Start, Through: mark, Limit: 100}
	c.Stop(t, 2)
	if _, err := f.reader.Items(t.Context(), page); !errors.Is(err, schemas.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a page without a shard: %v, want one line that the store is unavailable", err)
	}
	if _, err := f.reader.Watermark(t.Context()); err != nil {
		t.Errorf("the watermark, which is on another shard: %v", err)
	}
	rows, other := store.NewBatchRows(), batches(schematest.New(schematest.Config{Seed: 8, Items: 60, Migrations: 1}).Items, 60)[0]
	other.Stream = "other"
	rows.Fill(other)
	events := rows.Blocks()["events"]
	err = f.db.Insert(t.Context(), "events", "away", events)
	if !store.Passes(err) || !errors.Is(err, schemas.ErrUnavailable) {
		t.Errorf("an insert without a shard: %v, want an error that passes", err)
	}
	c.Start(t, 2)
	for err = f.db.Insert(t.Context(), "events", "away", events); errors.Is(err, schemas.ErrUnavailable); { // by connections from before
		err = f.db.Insert(t.Context(), "events", "away", events)
	}
	if err != nil {
		t.Fatal(err)
	}
	var count = func() string { return contents(t, f.dsn)["events"] }
	once := count()
	if err := f.db.Insert(t.Context(), "events", "away", events); err != nil || count() != once {
		t.Fatalf("repeated after the shard was away: %v, %s, want %s", err, count(), once)
	}
	if err := syscall.Kill(c.PID(1), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.awaitItems(t, page)
	if err := f.db.Change(t.Context(), "events", clearTable, "", in("events", store.Params{"stream": store.Text("other")})); err != nil {
		t.Fatal(err)
	}
	compare(t)
}

// awaitItems reads a page until the store answers; until then it must be unavailable.
func (f *fixture) awaitItems(t *testing.T, page history.Range) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		_, err := f.reader.Items(ctx, page)
		if err == nil {
			return
		}
		if !errors.Is(err, schemas.ErrUnavailable) {
			t.Fatalf("a page while a shard starts: %v", err)
		}
	}
}

// checkRefused fails unless each mistake is one line that says what to do.
func checkRefused(t *testing.T, c *enginetest.Cluster) {
	dsn := c.DSN(t, 0, "default")
	for name, mistake := range map[string]struct {
		err  error
		says string
	}{
		"another cluster": {MigrateCluster(t.Context(), dsn, "none", func(Migration) {}), "knows no cluster none, it knows shards"},
		"no cluster":      {Migrate(t.Context(), dsn), "--clickhouse-cluster"},
		"a single store":  {singleOn(t, c, dsn), "has a store without a cluster"},
	} {
		if mistake.err == nil || !strings.Contains(mistake.err.Error(), mistake.says) || strings.Contains(mistake.err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, mistake.err, mistake.says)
		}
	}
	c.Stop(t, 2)
	if _, err := store.OpenOn(t.Context(), dsn, enginetest.ClusterName); err == nil || !strings.Contains(err.Error(), "shard 3 of cluster shards") || strings.Contains(err.Error(), "\n") {
		t.Errorf("opened without a shard: %v", err)
	}
}

// singleOn puts a cluster over a database that has a store of its own.
func singleOn(t *testing.T, c *enginetest.Cluster, dsn string) error {
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(t.Context(), "CREATE DATABASE single"), conn.Close()); err != nil {
		t.Fatal(err)
	}
	dsn = c.DSN(t, 0, "single")
	if err := Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return MigrateCluster(t.Context(), dsn, enginetest.ClusterName, func(Migration) {})
}
