package engine

import (
	"context"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// The tests in this file pin what the rest of the product relies on in the engine, so
// that a change of the engine's version shows here and not in wrong data.

// A repeated insert with the same token is dropped, also one of many blocks, on a table
// that is not replicated.
func TestFactInsertDeduplication(t *testing.T) {
	t.Parallel()
	conn := open(t, start(t, Config{DataDir: t.TempDir()}).DSN())
	run(t, conn, `CREATE TABLE updates (id UInt64) ENGINE = MergeTree ORDER BY id
		SETTINGS non_replicated_deduplication_window = 100`)
	const rows = 10_000
	for _, c := range []struct {
		name, token string
		want        uint64
	}{
		{"first", "scan/1/updates", rows},
		{"repeated", "scan/1/updates", rows},
		{"another token, equal rows", "scan/2/updates", 2 * rows},
	} {
		insertBlocks(t, conn, c.token, rows)
		if got := value[uint64](t, conn, "SELECT count() FROM updates"); got != c.want {
			t.Errorf("%s: rows = %d, want %d", c.name, got, c.want)
		}
	}
}

// insertBlocks inserts 0..rows-1 over the native protocol, in several blocks.
func insertBlocks(t *testing.T, conn driver.Conn, token string, rows int) {
	t.Helper()
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplication_token": token,
		"max_insert_block_size":      1000, "min_insert_block_size_rows": 1000, "min_insert_block_size_bytes": 1,
	}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO updates")
	if err != nil {
		t.Fatal(err)
	}
	for id := range rows {
		if err := batch.Append(uint64(id)); err != nil {
			t.Fatal(err)
		}
		if id%2500 == 2499 {
			if err := batch.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// The deduplication window outlives the process.
func TestFactDeduplicationSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, Config{DataDir: dir})
	conn := open(t, first.DSN())
	run(t, conn, `CREATE TABLE updates (id UInt64) ENGINE = MergeTree ORDER BY id
		SETTINGS non_replicated_deduplication_window = 100`)
	insertBlocks(t, conn, "scan/1/updates", 5000)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	stop(t, first)
	conn = open(t, start(t, Config{DataDir: dir}).DSN())
	insertBlocks(t, conn, "scan/1/updates", 5000)
	if got := value[uint64](t, conn, "SELECT count() FROM updates"); got != 5000 {
		t.Errorf("rows after a repeat in the next process = %d, want 5000", got)
	}
}

// An archive of live contracts is a lightweight update that takes its values from a
// Join table; readers see it at once, and it leaves no mutation behind.
func TestFactLightweightUpdateFromJoinTable(t *testing.T) {
	t.Parallel()
	conn := open(t, start(t, Config{DataDir: t.TempDir()}).DSN())
	run(t, conn,
		`CREATE TABLE live (created_at DateTime64(6), contract_id String, archived_at DateTime64(6))
			ENGINE = MergeTree ORDER BY (created_at, contract_id)
			SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1`,
		`INSERT INTO live SELECT toDateTime64('2026-07-01 00:00:00', 6) + number, '00' || toString(number), toDateTime64('2299-12-31 00:00:00', 6)
			FROM numbers(10000)`,
		"CREATE TABLE archives (contract_id String, archived_at DateTime64(6)) ENGINE = Join(ANY, LEFT, contract_id)",
		"INSERT INTO archives SELECT '00' || toString(number * 10), toDateTime64('2026-08-01 00:00:00', 6) + number FROM numbers(1000)",
		`UPDATE live SET archived_at = joinGet(archives, 'archived_at', contract_id)
			WHERE contract_id IN (SELECT contract_id FROM archives)`)
	for query, want := range map[string]uint64{
		"SELECT count() FROM live":                                                                       10000,
		"SELECT count() FROM live WHERE archived_at < '2027-01-01'":                                      1000,
		"SELECT count() FROM live WHERE archived_at = '2026-08-01 00:00:07'":                             1,
		"SELECT toUInt64(substring(contract_id, 3)) FROM live WHERE archived_at = '2026-08-01 00:00:07'": 70,
		"SELECT count() FROM system.mutations WHERE table = 'live'":                                      0,
		"SELECT count() FROM system.parts WHERE active AND name LIKE 'patch-%'":                          1,
	} {
		if got := value[uint64](t, conn, query); got != want {
			t.Errorf("%s = %d, want %d", query, got, want)
		}
	}
}

// A Join table keeps its rows over a SIGKILL, and so do unmerged patch parts.
func TestFactPatchPartsAndJoinTablesSurviveKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, Config{DataDir: dir, maxDeaths: 1})
	conn := open(t, first.DSN())
	run(t, conn,
		`CREATE TABLE live (contract_id String, archived UInt8) ENGINE = MergeTree ORDER BY contract_id
			SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1`,
		"INSERT INTO live SELECT toString(number), 0 FROM numbers(1000)",
		"UPDATE live SET archived = 1 WHERE contract_id IN ('7', '8')",
		"CREATE TABLE archives (contract_id String, archived UInt8) ENGINE = Join(ANY, LEFT, contract_id)",
		"INSERT INTO archives VALUES ('7', 1)")
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	conn = open(t, start(t, Config{DataDir: dir}).DSN())
	if got := value[uint64](t, conn, "SELECT sum(archived) FROM live"); got != 2 {
		t.Errorf("archived after kill = %d, want 2", got)
	}
	if got := value[uint8](t, conn, "SELECT joinGet(archives, 'archived', '7')"); got != 1 {
		t.Errorf("Join table after kill gives %d, want 1", got)
	}
}

// There is no query log in the embedded engine: nothing may depend on it.
func TestFactNoQueryLog(t *testing.T) {
	t.Parallel()
	conn := open(t, start(t, Config{DataDir: t.TempDir()}).DSN())
	run(t, conn, "SYSTEM FLUSH LOGS")
	if err := conn.Exec(context.Background(), "SELECT count() FROM system.query_log"); err == nil {
		t.Error("system.query_log exists")
	}
}
