package reshard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

var quiet = slog.New(slog.DiscardHandler)

// lab is a store of one server, and shards to copy it to.
type lab struct {
	shards *enginetest.Cluster
	single string // DSN of the store
	source *store.DB
	rest   []*schemas.Batch // public history that is not written yet
}

func newLab(t *testing.T) *lab {
	l := &lab{shards: enginetest.StartCluster(t, 3)}
	l.exec(t, l.shards.DSN(t, 0, "default"), "CREATE DATABASE single")
	l.single = l.shards.DSN(t, 0, "single")
	if err := indexer.Migrate(t.Context(), l.single); err != nil {
		t.Fatal(err)
	}
	l.source = opened(t, l.single, "")
	h := schematest.New(schematest.Config{Seed: 7, Items: 240, Step: 3 * 3600 * 1e6})
	list := indexertest.ScanBatches(h.Items, 60)
	l.rest = list[len(list)-2:]
	write(t, l.source, schemas.ScanStream, list[:len(list)-2])
	for range 2 { // of which a merge keeps one
		l.exec(t, l.single, "INSERT INTO export_disagreements (stream, unit) VALUES ('scan', 'day')")
	}
	l.exec(t, l.single, "INSERT INTO batches (stream, sequence, state) VALUES ('scan/lookups', 1, 'commit')") // of no use on a cluster
	stream, items := indexertest.NodeItems(t, devnet.Config{Updates: 400, Seed: 6, Days: 2, Node: &devnet.NodeConfig{}}, false)
	write(t, l.source, stream, indexertest.NodeBatches(stream, items, 8192))
	if err := wallet.New(l.source, stream, time.Millisecond, quiet).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func opened(t *testing.T, dsn, cluster string) *store.DB {
	t.Helper()
	db, err := store.OpenOn(t.Context(), dsn, cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func (l *lab) exec(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(t.Context(), statement), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, db *store.DB, stream string, list []*schemas.Batch) {
	t.Helper()
	w := indexer.NewWriter(db, stream, quiet)
	for _, b := range list {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := indexer.NewLifetimes(db, stream, time.Millisecond, quiet).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// target makes a store without rows on the shards.
func (l *lab) target(t *testing.T, database string) *store.DB {
	t.Helper()
	l.exec(t, l.shards.DSN(t, 0, "default"), "CREATE DATABASE IF NOT EXISTS "+database)
	if err := migrate(t, l.shards.DSN(t, 0, database)); err != nil {
		t.Fatal(err)
	}
	return opened(t, l.shards.DSN(t, 1, database), enginetest.ClusterName)
}

// migrate is what every process does first that uses a store.
func migrate(t *testing.T, dsn string) error {
	return indexer.MigrateCluster(t.Context(), dsn, enginetest.ClusterName, func(indexer.Migration) {})
}

// small is a copy in pieces of few rows.
func small(source, target *store.DB) *Reshard {
	return New(Config{Source: source, Target: target, Log: quiet, Report: func(Progress) {}, PieceRows: 150})
}

// run is what the command does.
func (l *lab) run(t *testing.T, r *Reshard, database string) (result *Result, err error) {
	err = indexer.FillCluster(t.Context(), l.shards.DSN(t, 0, database), enginetest.ClusterName, quiet, func(indexer.Migration) {}, func(ctx context.Context, begin func(context.Context) error) (err error) {
		r.cfg.Begin = begin
		result, err = r.Run(ctx)
		return err
	})
	return result, err
}

// contents are the rows of each table and the sum of their hashes, as readers see them. committed chooses
// those of the journal.
func contents(t *testing.T, dsn, committed string) map[string]string {
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
	for _, table := range []string{
		"updates", "events", "imports", "verdicts", "places", "contracts_live", "contracts_archived", "ended_contracts",
		"wallet_contracts", "wallet_log", "wallet_status", "batches " + committed, "milestones", "network_facts", "export_disagreements FINAL",
	} {
		var rows, sum uint64
		if err := conn.QueryRow(t.Context(), "SELECT count(), sumWithOverflow(sipHash64(*)) FROM "+table).Scan(&rows, &sum); err != nil {
			t.Fatal(err)
		}
		table, _, _ = strings.Cut(table, " ")
		found[table] = fmt.Sprintf("%d rows, %d", rows, sum)
	}
	return found
}

func compare(t *testing.T, source, target string) {
	t.Helper()
	want, got := contents(t, source, "WHERE stream != 'scan/lookups'"), contents(t, target, "")
	if !maps.Equal(got, want) {
		t.Fatalf("the target has\n%v\nand the source\n%v", got, want)
	}
	for table, rows := range want {
		if strings.HasPrefix(rows, "0 ") && store.IsSharded(table) && table != "wallet_status" {
			t.Errorf("the source has no rows of %s to copy", table)
		}
	}
}

// TestReshard copies a store to three shards and is killed at every kind of moment, and then from there
// to other databases of the shards.
func TestReshard(t *testing.T) {
	l := newLab(t)
	target := l.target(t, "default")
	t.Run("killed again and again", func(t *testing.T) {
		l.killed(t, target)
		compare(t, l.single, l.shards.DSN(t, 2, "default"))
	})
	t.Run("again", func(t *testing.T) {
		result, err := l.run(t, small(l.source, target), "default")
		if err != nil || !result.Nothing {
			t.Fatalf("a copy of what is copied: %+v, %v", result, err)
		}
		l.exec(t, l.shards.DSN(t, 0, "default"), "TRUNCATE TABLE goose_db_version")
		if err := migrate(t, l.shards.DSN(t, 0, "default")); err != nil {
			t.Errorf("migrated after a copy: %v", err)
		}
	})
	other := l.target(t, "other")
	t.Run("from a cluster", func(t *testing.T) {
		l.lossy(t, target, other, func() { write(t, target, schemas.ScanStream, l.rest) })
		compare(t, l.shards.DSN(t, 0, "default"), l.shards.DSN(t, 2, "other"))
	})
	t.Run("to a store that is there", func(t *testing.T) {
		if _, err := l.run(t, small(l.source, other), "other"); err == nil || !strings.Contains(err.Error(), "another source") {
			t.Errorf("a store that was copied from elsewhere: %v", err)
		}
		if err := target.First().Exec(t.Context(), "DROP TABLE reshard", "", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := l.run(t, small(l.source, target), "default"); err == nil || !strings.Contains(err.Error(), "has a store already") {
			t.Errorf("a store that was not copied: %v", err)
		}
	})
}

var errKilled = errors.New("killed")

// killed copies a store; each life of the process ends after some more steps than the one before, and
// when it comes to a point for the first time.
func (l *lab) killed(t *testing.T, target *store.DB) {
	points := make(map[string]bool)
	for lives := 1; ; lives++ {
		r, left := small(l.source, target), lives
		r.at = func(point string) error {
			if left--; left < 0 || !points[point] {
				points[point] = true
				return errKilled
			}
			return nil
		}
		result, err := l.run(t, r, "default")
		if err == nil {
			if result.Nothing || result.Partitions == 0 || len(points) < 4 || lives < 8 {
				t.Errorf("life %d reports %+v; others ended %v", lives, result, points)
			}
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if err := migrate(t, l.shards.DSN(t, 0, "default")); err == nil || !strings.Contains(err.Error(), "ledgerlake reshard") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("a store that is not complete is opened: %v", err)
		}
	}
}

// lossy copies a store while a server is killed, which is waited for, the target loses rows, which is
// noticed and mended, and the source is written, which is refused. What has changed is copied again, and
// nothing else.
func (l *lab) lossy(t *testing.T, source, target *store.DB, goOn func()) {
	t.Helper()
	r, kill, lost := small(source, target), true, false
	r.at = func(point string) error {
		switch n := r.notes.last[[2]string{"places", "all"}]; {
		case kill:
			kill = false
			return syscall.Kill(l.shards.PID(0), syscall.SIGKILL)
		case n.Copied > 0 && !lost:
			lost = true
			return target.Shards()[1].Exec(t.Context(), "TRUNCATE TABLE places", "", nil)
		case point == atJournal:
			goOn()
		}
		return nil
	}
	if _, err := l.run(t, r, "other"); err == nil || !strings.Contains(err.Error(), "the source was written") {
		t.Fatalf("a source that goes on: %v", err)
	}
	if !lost {
		t.Error("no rows were lost")
	}
	result, err := l.run(t, small(source, target), "other")
	if err != nil || result.Copied == 0 || result.Copied == result.Partitions {
		t.Fatalf("%+v, %v", result, err)
	}
}

// TestSourceIsOnlyRead has the source refuse what writes to it.
func TestSourceIsOnlyRead(t *testing.T) {
	s := enginetest.Start(t)
	db := opened(t, s.DSN, "")
	r := small(db, db)
	if err := r.cfg.Source.Exec(context.Background(), "CREATE TABLE t (n Int8) ENGINE = Memory", "", nil); err == nil {
		t.Error("a table was made in the source")
	}
}
