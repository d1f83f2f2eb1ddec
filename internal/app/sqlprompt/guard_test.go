package sqlprompt

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

// sqlLab is an engine with a table, an insert of somebody else under way, and a place that
// no query may write to or connect to.
type sqlLab struct {
	dsn      string      // of a user who may do everything, as a given ClickHouse may have
	reader   string      // of the engine's reader
	owner    driver.Conn // as the insert's user
	outside  string      // a folder
	secret   string      // a file in it
	listener net.Listener
	asked    atomic.Int64 // connections that the listener saw
	insert   chan error   // the end of the insert
	tenths   int          // how many rows that writes
}

// newSQLLab starts one; the insert takes tenths of a second, and writes a row in each.
func newSQLLab(t *testing.T, tenths int) *sqlLab {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{DataDir: t.TempDir(), StopGrace: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		enginetest.Unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	l := &sqlLab{dsn: e.OwnerDSN(), reader: e.ReaderDSN(), outside: t.TempDir(), insert: make(chan error, 1), tenths: tenths}
	l.secret = filepath.Join(l.outside, "secret.txt")
	if err := os.WriteFile(l.secret, []byte("seed words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.listen(t)
	l.owner = l.connect(t, e.DSN())
	for _, statement := range []string{
		"CREATE TABLE updates (id UInt64, text String) ENGINE = MergeTree ORDER BY id",
		"INSERT INTO updates SELECT number, 'x' FROM numbers(10)",
		"CREATE TABLE filled (id UInt64) ENGINE = MergeTree ORDER BY id",
	} {
		if err := l.owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		l.insert <- l.owner.Exec(context.Background(), fmt.Sprintf(
			"INSERT INTO filled SELECT number FROM numbers(%d) WHERE sleepEachRow(0.1) = 0 SETTINGS max_block_size = 1", tenths))
	}()
	return l
}

func (l *sqlLab) listen(t *testing.T) {
	t.Helper()
	var err error
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.listener.Close() })
	go func() {
		for {
			conn, err := l.listener.Accept()
			if err != nil {
				return
			}
			l.asked.Add(1)
			_ = conn.Close()
		}
	}()
}

func (l *sqlLab) connect(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// hostile are statements that do more than read the store. HOST is the address of the
// listener, OUT a folder, SECRET a file in it.
var hostile = []string{
	"INSERT INTO FUNCTION file('OUT/a.csv', CSV, 'a Int64') SELECT 1",
	"INSERT INTO FUNCTION url('http://HOST/', CSV, 'a Int64') SELECT 1",
	"INSERT INTO FUNCTION s3('http://HOST/bucket/a.csv', 'k', 's', CSV, 'a Int64') SELECT 1",
	"INSERT INTO FUNCTION remote('HOST', default.updates) SELECT 1, 'x'",
	"INSERT INTO TABLE FUNCTION file('OUT/a.csv', CSV, 'a Int64') VALUES (1)",
	"INSERT INTO updates VALUES (11, 'y')",
	"INSERT INTO updates SELECT 11, 'y'",
	"EXPLAIN PIPELINE INSERT INTO FUNCTION file('OUT/a.csv', CSV, 'a Int64') SELECT 1",
	"SELECT * FROM file('SECRET', LineAsString)",
	"SELECT * FROM fileCluster('default', 'SECRET', LineAsString)",
	"SELECT file('SECRET')",
	"SELECT FILE('SECRET')",
	"SELECT `file`('SECRET')",
	"SELECT /* a comment */ file ( 'SECRET' )",
	"-- a comment\nSELECT file('SECRET')",
	"SELECT arrayMap(x -> file(x), ['SECRET'])",
	"WITH file('SECRET') AS f SELECT f",
	"SELECT * FROM (SELECT * FROM (SELECT file('SECRET')))",
	"SELECT 1 WHERE file('SECRET') != ''",
	"SELECT 1 UNION ALL SELECT length(file('SECRET'))",
	"SELECT 1 IN (SELECT length(file('SECRET')))",
	"SELECT COLUMNS('a') APPLY(file) FROM (SELECT 'SECRET' AS a)",
	"SELECT * APPLY file FROM (SELECT 'SECRET' AS a)",
	"SHOW TABLES WHERE name = file('SECRET') OR 1",
	"SHOW COLUMNS FROM updates WHERE field = file('SECRET') OR 1",
	"EXPLAIN SELECT file('SECRET')",
	"DESCRIBE (SELECT file('SECRET') AS a)",
	"SELECT * FROM view(SELECT file('SECRET'))",
	"SELECT * FROM url('http://HOST/', CSV, 'a Int64')",
	"DESCRIBE TABLE url('http://HOST/a.csv')",
	"SELECT 'a' IN url('http://HOST/', LineAsString)",
	"SELECT * FROM urlCluster('default', 'http://HOST/', CSV, 'a Int64')",
	"SELECT * FROM s3('http://HOST/bucket/a.csv', 'k', 's', CSV, 'a Int64')",
	"SELECT * FROM gcs('http://HOST/bucket/a.csv', 'k', 's', CSV, 'a Int64')",
	"SELECT * FROM azureBlobStorage('http://HOST/', 'c', 'p', CSV, 'auto', 'a Int64')",
	"SELECT * FROM icebergS3('http://HOST/bucket/t/', 'k', 's')",
	"SELECT * FROM icebergLocal('OUT')",
	"SELECT * FROM deltaLake('http://HOST/bucket/t/', 'k', 's')",
	"SELECT * FROM remote('HOST', default.updates)",
	"SELECT * FROM remoteSecure('HOST', default.updates)",
	"SELECT * FROM mysql('HOST', 'd', 't', 'u', 'p')",
	"SELECT * FROM postgresql('HOST', 'd', 't', 'u', 'p')",
	"SELECT * FROM mongodb('HOST', 'd', 't', 'u', 'p', 'a Int64')",
	"SELECT * FROM redis('HOST', 'a', 'a Int64')",
	"SELECT * FROM sqlite('OUT/a.db', 't')",
	"SELECT * FROM hdfs('hdfs://HOST/a', CSV, 'a Int64')",
	"SELECT * FROM odbc('DSN=x', 'd', 't')",
	"SELECT * FROM jdbc('jdbc:x', 'd', 't')",
	"SELECT * FROM executable('touch OUT/x', CSV, 'a Int64')",
	"SELECT * FROM filesystem('OUT')",
	"SELECT * FROM loop(file('SECRET', LineAsString)) LIMIT 1",
	"SELECT * FROM cluster('default', file('SECRET', LineAsString))",
	"SELECT 1 INTO OUTFILE 'OUT/a.csv' FORMAT CSV",
	"SELECT aiGenerate('x')",
	"SELECT catboostEvaluate('SECRET', 1)",
	"SELECT 1 SETTINGS readonly = 0",
	"SET readonly = 0",
	"KILL QUERY WHERE 1",
	"KILL QUERY WHERE user != 'nobody' ASYNC",
	"KILL MUTATION WHERE 1",
	"SYSTEM STOP MERGES",
	"SYSTEM STOP LISTEN TCP",
	"SYSTEM SHUTDOWN",
	"SYSTEM DROP MARK CACHE",
	"CREATE TABLE made (n Int64) ENGINE = Memory",
	"CREATE TEMPORARY TABLE made (n Int64)",
	"CREATE TABLE made (n String) ENGINE = File(CSV, 'SECRET')",
	"CREATE TABLE made ENGINE = URL('http://HOST/', CSV) AS SELECT 1 AS n",
	"CREATE VIEW made AS SELECT file('SECRET')",
	"CREATE DATABASE made",
	"CREATE FUNCTION made AS x -> file(x)",
	"CREATE USER made",
	"CREATE DICTIONARY made (a UInt64) PRIMARY KEY a SOURCE(HTTP(URL 'http://HOST/' FORMAT CSV)) LAYOUT(FLAT()) LIFETIME(1)",
	"GRANT ALL ON *.* TO reader",
	"ALTER TABLE updates DELETE WHERE 1",
	"ALTER TABLE updates DROP PARTITION ID 'all'",
	"DELETE FROM updates WHERE 1",
	"UPDATE updates SET text = 'y' WHERE 1",
	"TRUNCATE TABLE updates",
	"DROP TABLE updates",
	"RENAME TABLE updates TO gone",
	"OPTIMIZE TABLE updates FINAL",
	"DETACH TABLE updates",
	"ATTACH TABLE made (n Int64) ENGINE = File(CSV, 'SECRET')",
	"BACKUP TABLE updates TO File('OUT/backup')",
	"RESTORE TABLE updates FROM File('OUT/backup')",
	"EXECUTE AS ledgerlake SELECT 1",
	"BEGIN TRANSACTION",
	"SELECT 1; DROP TABLE updates",
	"",
}

// Nothing but reading comes through, as the reader of the embedded engine and as a user who
// may do everything: each hostile statement is one line of an error, nothing is written,
// nobody is asked, and an insert under way is done in full.
func TestSQLOnlyReads(t *testing.T) {
	l := newSQLLab(t, 30)
	fill := strings.NewReplacer("HOST", l.listener.Addr().String(), "OUT", l.outside, "SECRET", l.secret)
	for user, dsn := range map[string]string{"reader": l.reader, "owner": l.dsn} {
		conn := l.connect(t, dsn)
		for _, statement := range hostile {
			var out bytes.Buffer
			err := New(Config{Conn: conn, Out: &out, Format: "tsv"}).RunAll(t.Context(), strings.NewReader(fill.Replace(statement)))
			if err == nil {
				t.Errorf("%s: %s: answered %q", user, statement, out.String())
			} else if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "seed words") {
				t.Errorf("%s: %s: the error is %q", user, statement, err)
			}
		}
	}
	l.unharmed(t)
}

// unharmed checks that nothing happened.
func (l *sqlLab) unharmed(t *testing.T) {
	t.Helper()
	if n := l.asked.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	if entries, err := os.ReadDir(l.outside); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	select {
	case err := <-l.insert:
		if err != nil {
			t.Errorf("the insert ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the insert does not end")
	}
	var filled, updates, tables uint64
	row := l.owner.QueryRow(t.Context(), "SELECT (SELECT count() FROM filled), (SELECT count() FROM updates), (SELECT count() FROM system.tables WHERE database = 'default')")
	if err := row.Scan(&filled, &updates, &tables); err != nil || filled != uint64(l.tenths) || updates != 10 || tables != 2 {
		t.Errorf("%d rows filled, %d updates, %d tables, %v", filled, updates, tables, err)
	}
}

// What the grants of the reader alone refuse, for clients that are not ours: the address in
// engine.dsn is for any ClickHouse client.
func TestReaderOnlyReads(t *testing.T) {
	l := newSQLLab(t, 10)
	fill := strings.NewReplacer("HOST", l.listener.Addr().String(), "OUT", l.outside, "SECRET", l.secret)
	conn := l.connect(t, l.reader)
	for _, statement := range hostile {
		if strings.Contains(statement, "sqlite(") {
			continue // the engine makes an empty file before it asks whether it may
		}
		// Answers of any kind are fine as long as nothing happens. The engine has no right for
		// function file, which reads what the owner of the file with the address may read.
		_ = conn.Exec(t.Context(), fill.Replace(statement))
	}
	l.unharmed(t)
	for _, statement := range []string{
		"SELECT * FROM system.users", "SELECT * FROM system.stack_trace", "SELECT * FROM system.query_cache", "SET readonly = 0",
	} {
		if err := conn.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
}

// Reading is not in the way of anybody.
func TestSQLReads(t *testing.T) {
	l := newSQLLab(t, 10)
	queries := []string{
		"SELECT 1", "SELECT count() FROM updates", "SELECT * FROM default.updates ORDER BY id LIMIT 3;",
		"SELECT text, count() AS n FROM updates GROUP BY text HAVING n > 0 ORDER BY n SETTINGS max_threads = 1",
		"WITH (SELECT max(id) FROM updates) AS last SELECT last, number FROM numbers(3)",
		"SELECT u.id FROM updates AS u INNER JOIN filled AS f USING (id)",
		"SELECT id, row_number() OVER (ORDER BY id) FROM updates", "SELECT arrayMap(x -> x * 2, [1, 2])",
		"SELECT * FROM values('a Int64, b String', (1, 'x'), (2, 'file(''y'')'))", "SELECT * FROM generateRandom('a Int64') LIMIT 1",
		"SELECT name FROM system.tables WHERE database = currentDatabase()", "SELECT sum(rows) FROM system.parts WHERE active",
		"SELECT name, value FROM system.settings WHERE changed", "SELECT elapsed, query FROM system.processes",
		"SELECT * FROM system.merges", "SHOW TABLES", "SHOW TABLES LIKE 'up%'", "SHOW CREATE TABLE updates", "SHOW DATABASES",
		"SHOW COLUMNS FROM updates", "DESCRIBE TABLE updates", "DESCRIBE (SELECT 1 AS one)", "EXISTS TABLE updates",
		"EXPLAIN SELECT * FROM updates WHERE id = 1", "EXPLAIN AST SELECT 1", "EXPLAIN indexes = 1 SELECT * FROM updates WHERE id = 1",
		"SELECT 'INSERT INTO FUNCTION file', 'KILL QUERY' AS where", "-- first\nSELECT 2 -- last",
		"(SELECT 1) UNION DISTINCT (SELECT 2)", "SELECT 1 INTERSECT SELECT 1", "SELECT * EXCEPT (text) FROM updates LIMIT 1",
		"SELECT domain('http://x.example/y'), path('http://x.example/y'), format('{} {}', 'a', 'b')", "FROM updates SELECT id LIMIT 1",
	}
	for user, dsn := range map[string]string{"reader": l.reader, "owner": l.dsn} {
		q := New(Config{Conn: l.connect(t, dsn), Out: io.Discard, Format: "tsv"})
		for _, query := range queries {
			if err := q.RunAll(t.Context(), strings.NewReader(query)); err != nil {
				t.Errorf("%s: %s: %v", user, query, err)
			}
		}
	}
	if err := <-l.insert; err != nil {
		t.Error(err)
	}
}
