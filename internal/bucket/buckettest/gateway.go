// Package buckettest runs embedded gateways for tests.
package buckettest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/faults"
)

// ServeIfChild runs the gateway if this test program was started as its process, and
// does not return then. A package whose tests use Gateway calls it first in TestMain:
//
//	func TestMain(m *testing.M) {
//		buckettest.ServeIfChild()
//		os.Exit(m.Run())
//	}
func ServeIfChild() {
	if len(os.Args) > 1 && os.Args[1] == bucket.GatewayCommand {
		os.Exit(bucket.GatewayMain(os.Args[2:]))
	}
}

// shared is the gateway of NewBucket. Package state, because TestMain has no other way to reach
// what a test started.
var shared struct {
	sync.Mutex
	gateway *bucket.Gateway
	dir     string
	buckets int
}

// Main is TestMain's work in a package whose tests use NewBucket: it runs the tests and ends the
// gateway, or runs the gateway in the process that is to be that. The result is the exit code.
func Main(run func() int) int {
	ServeIfChild()
	code := run()
	shared.Lock()
	defer shared.Unlock()
	if shared.gateway == nil {
		return code
	}
	if err := errors.Join(shared.gateway.Close(), os.RemoveAll(shared.dir)); err != nil {
		fmt.Fprintln(os.Stderr, "closing the tests' gateway:", err)
		code = max(code, 1)
	}
	return code
}

// NewBucket returns how to reach a bucket that nobody else uses, and that is not there yet, on a
// gateway that all tests of the binary share. It needs Main as TestMain.
func NewBucket(t testing.TB) bucket.Config {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.gateway == nil {
		var err error
		if shared.dir, err = os.MkdirTemp("", "buckettest-"); err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		if shared.gateway, err = bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: shared.dir, Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	shared.buckets++
	return shared.gateway.Config(fmt.Sprintf("lake-%d", shared.buckets))
}

// Gateway runs an embedded gateway on an empty folder until the test ends.
func Gateway(t testing.TB) *bucket.Gateway {
	t.Helper()
	return GatewayIn(t, t.TempDir())
}

// GatewayIn runs an embedded gateway on the data folder until the test ends.
func GatewayIn(t testing.TB, dir string) *bucket.Gateway {
	t.Helper()
	g, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: dir, Log: Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("closing the gateway: %v", err)
		}
	})
	return g
}

// Open returns a client for the bucket of cfg, which it creates.
func Open(t testing.TB, cfg bucket.Config) *bucket.Client {
	t.Helper()
	c, err := bucket.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// Put stores content as plain bytes.
func Put(t testing.TB, c *bucket.Client, key, content string) {
	t.Helper()
	err := c.Put(t.Context(), key, strings.NewReader(content), int64(len(content)),
		sha256.Sum256([]byte(content)), "application/octet-stream")
	if err != nil {
		t.Fatal(err)
	}
}

// Log returns a logger that writes to the test's log.
func Log(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Flaky is a store at endpoint that misbehaves by chance until the test ends.
func Flaky(t testing.TB, endpoint string, seed faults.Seed, rates faults.Rates) *faults.Flaky {
	t.Helper()
	f, err := faults.NewFlaky(endpoint, seed, rates)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
