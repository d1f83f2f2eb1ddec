package console_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	terminal "github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
	"github.com/ledgerlake/ledgerlake/internal/browser"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// axeFile is where scripts/setup.sh browser puts axe-core.
var axeFile = filepath.Join("..", "..", "scripts", "browser", "node_modules", "axe-core", "axe.min.js")

// shared is what the tests of this package look at together: to start it takes longer than most of them.
// Package state, because TestMain has no other way to reach what a test started.
var shared struct {
	once  sync.Once
	err   error
	stage stage
	stop  []func() error
}

// stage is a product that runs with a simulated network, and a browser to look at it with.
type stage struct {
	url     string // without a slash at its end
	browser *browser.Browser
	axe     *browser.Axe
}

// desk is how people look at pages most.
var desk = browser.Look{Width: 1280, Height: 900}

func TestMain(m *testing.M) {
	if status, ok := app.Child(os.Args[1:]); ok {
		os.Exit(status)
	}
	code := m.Run()
	for i := len(shared.stop) - 1; i >= 0; i-- {
		if err := shared.stop[i](); err != nil {
			fmt.Fprintln(os.Stderr, "ending what the tests have shared:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// needed skips a test without what it needs, and fails it in CI.
func needed(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// onStage returns the product and the browser, which the first use starts.
func onStage(t *testing.T) *stage {
	t.Helper()
	_, err := browser.Find()
	needed(t, err)
	axe, err := browser.LoadAxe(axeFile)
	needed(t, err)
	_, err = engine.Locate("", nil)
	needed(t, err)
	shared.once.Do(func() {
		shared.stage.axe = axe
		if shared.err = startProduct(); shared.err == nil {
			shared.stage.browser, shared.err = browser.Start(context.Background())
		}
		if shared.err == nil {
			shared.stop = append(shared.stop, shared.stage.browser.Close)
		}
	})
	if shared.err != nil {
		t.Fatal("starting what the tests look at: ", shared.err)
	}
	return &shared.stage
}

// open opens a tab of its own for a test.
func open(t *testing.T, s *stage) *browser.Tab {
	t.Helper()
	tab, err := s.browser.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tab.Close)
	return tab
}

// lines are the last lines of a log, for what went wrong. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text.Bytes()[max(0, l.text.Len()-4000):])
}

// runningURL is the variable of the address of a product that runs already, such as one with more history:
// its pages are looked at instead.
const runningURL = "LEDGERLAKE_CONSOLE_URL"

// startProduct runs ledgerlake up in this process, with its network on the wall clock so that there are
// wallets, until the tests are over.
func startProduct() error {
	if shared.stage.url = os.Getenv(runningURL); shared.stage.url != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "ledgerlake-console-test-")
	if err != nil {
		return err
	}
	shared.stop = append(shared.stop, func() error { return os.RemoveAll(dir) })
	cfg := new(settings.Config)
	args := []string{"--data", dir, "--listen", "127.0.0.1:0", "--ledger-listen", "127.0.0.1:0", "--follow-interval", "100ms", "--wallet-wait", "20s", "--wallet-transfer-commands"}
	if err := cfg.Flags().All().Parse(args); err != nil {
		return err
	}
	log := new(lines)
	a := app.New(cfg, app.Build{Version: "test"}, slog.New(slog.NewTextHandler(log, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan app.Addresses, 1), make(chan error, 1)
	go func() {
		err := a.Up(ctx, app.UpConfig{
			Network:  simulated.Network{Updates: 400, Seed: 42, Days: 2, LiveClock: true, Given: func(string) bool { return false }},
			Progress: terminal.NewProgress(terminal.New(io.Discard, io.Discard)), Out: io.Discard, Ready: func(at app.Addresses) { ready <- at },
		})
		a.CloseInto(&err)
		ended <- err
	}()
	shared.stop = append(shared.stop, func() error {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	select {
	case at := <-ready:
		shared.stage.url = "http://" + at.Scan
	case err := <-ended:
		ended <- nil // for the end of the tests
		return fmt.Errorf("up has ended: %w\n%s", err, log)
	}
	return awaitHistory(shared.stage.url, log)
}

// awaitHistory waits until all history is there, and wallets are served.
func awaitHistory(url string, log fmt.Stringer) error {
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		missing := ""
		for _, path := range []string{"/readyz", "/api/validator/readyz"} {
			if status, _ := get(url + path); status != http.StatusOK {
				missing = path
			}
		}
		if missing == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready after 3 minutes\n%s", missing, log)
		}
	}
}

// get returns the status and the body of an answer, 0 without one.
func get(url string) (int, string) {
	response, err := http.Get(url)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(body)
}
