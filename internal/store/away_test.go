package store_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

func open(t *testing.T, dsn string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// TestSeveralHosts names a host at which nobody listens, and one that says nothing, before the one that
// answers.
func TestSeveralHosts(t *testing.T) {
	s := enginetest.Start(t)
	dsn, err := url.Parse(s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for conn, err := mute.Accept(); err == nil; conn, err = mute.Accept() {
			_ = conn.Close()
		}
	}()
	dsn.Host = "127.0.0.1:1," + mute.Addr().String() + "," + dsn.Host
	if _, found, err := store.SelectOne(t.Context(), open(t, dsn.String()), "SELECT toUInt64(1) AS n", nil, store.NewRecords[store.Count]()); err != nil || !found {
		t.Errorf("by the third host: %v, %v", found, err)
	}
	conn, err := engine.Open(t.Context(), dsn.String())
	if err != nil {
		t.Fatalf("by the other client: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// An engine that was killed and started again left connections in the pool: queries do not
// fail by them.
func TestQueriesAfterTheEngineWasStartedAgain(t *testing.T) {
	e, err := engine.Start(t.Context(), engine.Config{DataDir: t.TempDir(), StopGrace: time.Minute, StartTimeout: time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		enginetest.Unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	db := open(t, e.DSN())
	for range 3 {
		// Slow enough that each has a connection of its own.
		askAtOnce(t.Context(), db, "SELECT 1 WHERE sleep(0.2) = 1")
		pid := e.PID()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); e.PID() == pid; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatal("the engine is not started again")
			}
		}
		// The relay passes on that the connections have ended; a query sent before that fails.
		time.Sleep(500 * time.Millisecond)
		if failures := askAtOnce(t.Context(), db, "SELECT 1 WHERE 0"); len(failures) > 2 {
			t.Errorf("after the engine was started again %d of 12 queries fail: %v", len(failures), failures)
		}
	}
}

// An insert that the server refuses spoils its connection: what comes next does not fail by it.
func TestQueriesAfterARefusedInsert(t *testing.T) {
	db := open(t, enginetest.Start(t).DSN)
	block := store.NewBatches()
	block.Append(store.BatchRow{Stream: "s", Hash: "h", State: store.Commit})
	for range 300 {
		refusal := db.Insert(t.Context(), "no_such_table", "", block)
		if refusal == nil || errors.Is(refusal, schemas.ErrUnavailable) {
			t.Fatalf("an insert into a table that is not there: %v", refusal)
		}
		if err := db.Exec(t.Context(), "SELECT 1 WHERE 0", "", nil); err != nil {
			t.Fatalf("after %v: %v", refusal, err)
		}
	}
}

// What is left of an answer that the caller did not want is not taken for the next one.
func TestQueriesAfterARefusedBlock(t *testing.T) {
	db := open(t, enginetest.Start(t).DSN)
	const query = "SELECT toLowCardinality({name:String}) AS name FROM numbers({rows:UInt32}) SETTINGS max_block_size = 10"
	enough := errors.New("enough")
	for i := range 500 {
		names := store.NewRecords[store.Name]()
		err := db.Select(t.Context(), query, store.Params{"name": store.Text("before"), "rows": store.Int(1000)}, names, func() error { return enough })
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		var got []string
		err = db.Select(t.Context(), query, store.Params{"name": store.Text("after"), "rows": store.Int(1)}, names, func() error {
			for _, row := range names.AppendTo(nil) {
				got = append(got, row.Name)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, []string{"after"}) {
			t.Fatalf("query %d has %d rows, %q, want one: %v", i, len(got), slices.Compact(got), err)
		}
	}
}

// askAtOnce runs a statement many times at once and returns the errors.
func askAtOnce(ctx context.Context, db *store.DB, statement string) (failures []error) {
	errs := make([]error, 12)
	var asking sync.WaitGroup
	for i := range errs {
		asking.Go(func() { errs[i] = db.Exec(ctx, statement, "", nil) })
	}
	asking.Wait()
	for _, err := range errs {
		if err != nil {
			failures = append(failures, err)
		}
	}
	return failures
}

// What is wrong with a query, and a caller who gives up, are not taken for a server that is away.
func TestOtherErrorsAreNotUnavailable(t *testing.T) {
	db := open(t, enginetest.Start(t).DSN)
	if err := db.Exec(t.Context(), "SELECT no_such_column", "", nil); err == nil || errors.Is(err, schemas.ErrUnavailable) {
		t.Errorf("an error of a query: %v, want one that is not said to be unavailable", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Exec(ctx, "SELECT 1 WHERE 0", "", nil); err == nil || errors.Is(err, schemas.ErrUnavailable) {
		t.Errorf("a caller who gave up: %v", err)
	}
}
