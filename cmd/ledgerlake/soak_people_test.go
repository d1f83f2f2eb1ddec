package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

const (
	disconnectsEnv = "LEDGERLAKE_DISCONNECTS"
	// peopleRate is how many updates per second the simulated network adds.
	peopleRate = 20
	// leftAfter is how long after its last client the product may keep anything of clients.
	leftAfter = 10 * time.Second
)

// instance is the product as a process of its own, with all that it serves.
type instance struct {
	process        *os.Process
	scan, ledger   string // URLs
	data           string
	stdout, stderr buffer
	ended          chan error
}

// openInstance starts the product over a simulated network that goes on, which the flags describe, and
// waits until all of its history is there and one day is published. The caller must close it.
func openInstance(ctx context.Context, data string, network ...string) (*instance, error) {
	h := &instance{data: data, ended: make(chan error, 1)}
	cmd, err := productCommand(ctx, append([]string{"up", "--data", data, "--listen", "127.0.0.1:0"}, network...)...)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = &h.stdout, &h.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	h.process = cmd.Process
	go func() { h.ended <- cmd.Wait() }()
	if err := h.awaitOpen(ctx); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *instance) awaitOpen(ctx context.Context) error {
	deadline := time.Now().Add(lifeTimeout)
	var last error
	for time.Now().Before(deadline) {
		if err := h.alive(); err != nil {
			return err
		}
		if h.findURLs() {
			if _, last = publishedObject(ctx, h.scan); last == nil {
				if _, last = fetch(ctx, http.MethodPost, h.scan+"/v2/updates", `{"page_size":1}`); last == nil {
					return nil
				}
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the product is not ready: %w\n%s", last, tail(h.stderr.String()))
}

func (h *instance) findURLs() bool {
	text := h.stdout.String()
	_, rest, _ := strings.Cut(text, "scan interface")
	_, rest, _ = strings.Cut(rest, "http://")
	address, _, _ := strings.Cut(rest, "/")
	found := ledgerLine.FindStringSubmatch(text)
	if address == "" || found == nil {
		return false
	}
	h.scan, h.ledger = "http://"+address, found[1]
	return true
}

// alive returns an error once the process has ended.
func (h *instance) alive() error {
	select {
	case err := <-h.ended:
		h.ended <- err
		return fmt.Errorf("the product has ended: %v\n%s", err, tail(h.stderr.String()))
	default:
		return nil
	}
}

// close stops the product like ctrl-C does.
func (h *instance) close() error {
	_ = h.process.Signal(os.Interrupt)
	select {
	case err := <-h.ended:
		if err != nil {
			return fmt.Errorf("the product ended with %w\n%s", err, tail(h.stderr.String()))
		}
		return nil
	case <-time.After(lifeTimeout):
		_ = h.process.Kill()
		return errors.New("the product does not end")
	}
}

// holding is what the process has at a time.
type holding struct {
	goroutines, files float64
	items             float64 // of the public history that were ever committed
	panics            float64
	at                time.Time
}

func (h *instance) holding(ctx context.Context) (holding, error) {
	raw, err := fetch(ctx, http.MethodGet, h.scan+"/metrics", "")
	if err != nil {
		return holding{}, err
	}
	now := holding{at: time.Now()}
	for name, to := range map[string]*float64{
		"go_goroutines": &now.goroutines, "process_open_fds": &now.files, "ledgerlake_panics_recovered_total": &now.panics,
		`ledgerlake_stream_items_total{stream="scan"}`: &now.items,
	} {
		if *to, err = metric(raw, name); err != nil {
			return holding{}, err
		}
	}
	return now, nil
}

// metric is the value of a metric in a page of them.
func metric(page []byte, name string) (float64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(page)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// least is the least that the process has of each within a time. What ingest and jobs have comes
// and goes; what is kept for clients that are gone does not.
func (h *instance) least(ctx context.Context, within time.Duration) (holding, error) {
	least, err := h.holding(ctx)
	for until := time.Now().Add(within); err == nil && time.Now().Before(until); {
		time.Sleep(200 * time.Millisecond)
		var now holding
		if now, err = h.holding(ctx); err == nil {
			now.goroutines, now.files = min(now.goroutines, least.goroutines), min(now.files, least.files)
			least = now
		}
	}
	return least, err
}

// longQueries are the queries that the engine has been working on for longer than a time.
func (h *instance) longQueries(ctx context.Context, longer time.Duration) (list []string, err error) {
	dsn, err := os.ReadFile(filepath.Join(h.data, "engine", "engine.dsn"))
	if err != nil {
		return nil, err
	}
	conn, err := engine.Open(ctx, strings.TrimSpace(string(dsn)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	rows, err := conn.Query(ctx, "SELECT query FROM system.processes WHERE elapsed > ?", longer.Seconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read to its end below
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if !strings.Contains(text, "/dev/stdin") { // that keeps the engine alive
			list = append(list, text)
		}
	}
	return list, rows.Err()
}

// slack is how many goroutines and files more than before there may be: connections to the store
// are opened as they are needed, and kept.
const slack = 40

// visited has clients come to the instance and says what is wrong after it.
func (h *instance) visited(ctx context.Context, c *leavingClients, seed uint64, n int) (findings []string, err error) {
	c.come(ctx, seed, max(visitors, n/10)) // connections to the store that are opened once
	before, err := h.least(ctx, 3*time.Second)
	if err != nil {
		return nil, err
	}
	c.come(ctx, seed+1, n)
	if err := h.alive(); err != nil {
		return []string{err.Error()}, nil
	}
	during, err := h.holding(ctx)
	if err != nil {
		return nil, err
	}
	left, err := h.least(ctx, leftAfter)
	if err != nil {
		return nil, err
	}
	finding := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	if left.goroutines > before.goroutines+slack {
		finding("%.0f goroutines, %.0f before", left.goroutines, before.goroutines)
	}
	if left.files > before.files+slack {
		finding("%.0f open files, %.0f before", left.files, before.files)
	}
	if left.panics > 0 {
		finding("%.0f panics\n%s", left.panics, tail(h.stderr.String()))
	}
	if refused := c.refused.Load(); refused > 0 {
		finding("%d connections were refused", refused)
	}
	// The network goes on at its rate: a stream that keeps up commits as many items.
	span := during.at.Sub(before.at).Seconds()
	if rate := (during.items - before.items) / span; span > 5 && rate < peopleRate/2 {
		finding("%.1f updates per second were ingested beside the clients, of %d", rate, peopleRate)
	}
	if long, err := h.longQueries(ctx, leftAfter); err != nil {
		return nil, err
	} else if len(long) > 0 {
		finding("queries that go on: %q", long)
	}
	return findings, nil
}

// TestPeopleHangUp has clients leave in all ways that there are while the product ingests:
//
//	LEDGERLAKE_DISCONNECTS=10000 go test -run '^TestPeopleHangUp$' -v -timeout 0 ./cmd/ledgerlake
func TestPeopleHangUp(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(disconnectsEnv))
	if err != nil || n < 1 {
		t.Skipf("episodes of TestSoak do that; set %s to a number of clients for more", disconnectsEnv)
	}
	needEngine(t)
	h, err := openInstance(t.Context(), filepath.Join(t.TempDir(), "data"), "--updates", "2000", "--live", strconv.Itoa(peopleRate))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.process.Kill() })
	c, err := newLeavingClients(t.Context(), h.scan, h.ledger)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	findings, err := h.visited(t.Context(), c, 1, n)
	if err != nil {
		t.Fatal(err, tail(h.stderr.String()))
	}
	t.Logf("%s in %s", c, time.Since(began).Round(time.Second))
	for _, f := range findings {
		t.Error(f)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
}
