package enginetest_test

import (
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

func TestDatabasesAreSeparate(t *testing.T) {
	one, two := enginetest.Start(t), enginetest.Start(t)
	if one.Name == two.Name {
		t.Fatalf("both databases are named %s", one.Name)
	}
	if err := one.Conn.Exec(t.Context(), "CREATE TABLE rounds (n UInt8) ENGINE = MergeTree ORDER BY n"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		store *enginetest.Store
		want  uint64
	}{{one, 1}, {two, 0}} {
		var got uint64
		row := c.store.Conn.QueryRow(t.Context(), "SELECT count() FROM system.tables WHERE database = currentDatabase()")
		if err := row.Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("tables in %s = %d, want %d", c.store.Name, got, c.want)
		}
	}
}
