package scan

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// dragging is a source whose later pieces take a minute in a real engine.
type dragging struct {
	*memory
	db   *store.DB
	fast int // pieces that take no time
}

func (d *dragging) ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error) {
	rows, err := d.memory.ActiveContracts(ctx, q)
	if err != nil || q.AfterContractID < d.memory.contracts[d.fast].Event.ContractID {
		return rows, err
	}
	return rows, d.db.Exec(ctx, "SELECT sleepEachRow(0.1) FROM numbers(600) SETTINGS max_block_size = 1, log_comment = 'dragging' FORMAT Null", "", nil)
}

// running counts queries of dragging that the engine works on.
func running(t *testing.T, s *enginetest.Store) uint64 {
	t.Helper()
	var n uint64
	if err := s.Conn.QueryRow(context.Background(), "SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleepEachRow%'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for stop := time.Now().Add(30 * time.Second); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatalf("%s did not come to pass", what)
		}
	}
}

// A client that hangs up in the middle of a dump ends what the engine does for it.
func TestHangUpCancelsInTheEngine(t *testing.T) {
	s := enginetest.Start(t)
	db, err := store.Open(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	source := &dragging{memory: large(100_000), db: db, fast: 15_000}
	served := serve(t, source.memory, func(c *Config) { c.Source = source })
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, "GET", served.url+dumpPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	await(t, "a query in the engine", func() bool { return running(t, s) > 0 })
	hangUp()
	await(t, "the end of all queries", func() bool { return running(t, s) == 0 })
}
