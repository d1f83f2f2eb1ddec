package blobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/blobs"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// network is a scan service and a node's stream, whose answers tests change.
type network struct {
	mu       sync.Mutex
	requests []string
	streamed [][]string
	status   int
	answer   string
	stream   map[string]string
	now      time.Time
}

func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests = append(n.requests, r.Method+" "+r.URL.EscapedPath())
	w.WriteHeader(n.status)
	fmt.Fprint(w, n.answer)
}

func newFinder(t *testing.T, scan bool) (*blobs.Finder, *network) {
	t.Helper()
	n := &network{status: 200, answer: `{}`, stream: map[string]string{}, now: time.Unix(1, 0)}
	cfg := blobs.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: func() time.Time { return n.now }}
	if scan {
		server := httptest.NewServer(n)
		t.Cleanup(server.Close)
		cfg.ScanURL = server.URL + "/api/scan/"
	}
	cfg.Stream = func(_ context.Context, ids []string) (map[string]string, error) {
		n.streamed = append(n.streamed, ids)
		if slices.Contains(ids, "00broken") {
			return nil, errors.New("the store is broken")
		}
		found := maps.Clone(n.stream)
		maps.DeleteFunc(found, func(id, _ string) bool { return !slices.Contains(ids, id) })
		return found, nil
	}
	f, err := blobs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f, n
}

func want(t *testing.T, found map[string]string, err error, ids ...string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(found)); err != nil || !slices.Equal(got, ids) {
		t.Errorf("found %q, %v; want %q", got, err, ids)
	}
}

// What a stream has is asked for once, and what it does not have again after a while.
func TestBlobsOfAStream(t *testing.T) {
	f, n := newFinder(t, false)
	n.stream["00a"] = "AAAA"
	for range 3 {
		found, err := f.Find(t.Context(), template.CoinRules, "", "00a", "00b")
		want(t, found, err, "00a")
	}
	if len(n.streamed) != 1 {
		t.Errorf("the stream was asked for %q", n.streamed)
	}
	n.stream["00b"] = "BBBB"
	n.now = n.now.Add(time.Minute)
	found, err := f.Known(t.Context(), "00a", "00b")
	want(t, found, err, "00a", "00b")
	if last := n.streamed[len(n.streamed)-1]; !slices.Equal(last, []string{"00b"}) {
		t.Errorf("the stream was asked for %q again", last)
	}
	if _, err := f.Known(t.Context(), "00broken"); err == nil {
		t.Error("a store that fails is no error")
	}
	if _, _, ok, err := f.Registry(t.Context(), "/registry/x", nil); ok || err != nil {
		t.Errorf("without a scan the registry answers %v, %v", ok, err)
	}
}

// A scan is asked for what the stream lacks, by the operation that has the template, and not for
// everybody who asks.
func TestBlobsOfAScan(t *testing.T) {
	f, n := newFinder(t, true)
	n.answer = `{"open_mining_rounds":{"00r":{"contract":{"contract_id":"00r","created_event_blob":"RRRR"}}},"other":[{"contract_id":"00x","created_event_blob":""}]}`
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			found, err := f.Find(t.Context(), template.OpenMiningRound, "", "00r")
			want(t, found, err, "00r")
		})
	}
	group.Wait()
	if !slices.Equal(n.requests, []string{"POST /api/scan/v0/open-and-issuing-mining-rounds"}) {
		t.Errorf("the scan was asked for %q", n.requests)
	}
	n.requests, n.answer = nil, `{"transfer_preapproval":{"contract":{"contract_id":"00p","created_event_blob":"PPPP"}}}`
	found, err := f.Find(t.Context(), template.TransferPreapproval, "bob::1220", "00p")
	want(t, found, err, "00p")
	found, err = f.Find(t.Context(), template.TransferPreapproval, "..", "00q")
	want(t, found, err)
	found, err = f.Find(t.Context(), template.LockedCoin, "", "00l") // which no operation has
	want(t, found, err)
	if !slices.Equal(n.requests, []string{"GET /api/scan/v0/transfer-preapprovals/by-party/bob::1220"}) {
		t.Errorf("the scan was asked for %q", n.requests)
	}
}

// A scan that fails is as one that has nothing, until it is asked again.
func TestScansThatFail(t *testing.T) {
	for _, c := range []struct {
		status int
		answer string
	}{{500, `{}`}, {404, `{}`}, {403, `{}`}, {200, `<html>`}, {204, ``}, {429, `{}`}} {
		f, n := newFinder(t, true)
		n.status, n.answer = c.status, c.answer
		for range 2 {
			found, err := f.Find(t.Context(), template.CoinRules, "", "00a")
			want(t, found, err)
		}
		if len(n.requests) != 1 {
			t.Errorf("%d: the scan was asked for %q", c.status, n.requests)
		}
		n.status, n.answer, n.now = 200, `{"amulet_rules_update":{"contract":{"contract_id":"00a","created_event_blob":"AAAA"}}}`, n.now.Add(time.Minute)
		found, err := f.Find(t.Context(), template.CoinRules, "", "00a")
		want(t, found, err, "00a")
	}
}

// The registry is at the root of a scan; its refusals are answers, and its blobs are kept.
func TestRegistryOfAScan(t *testing.T) {
	f, n := newFinder(t, true)
	n.answer = `{"choiceContext":{"disclosedContracts":[{"contractId":"00l","createdEventBlob":"LLLL"}]}}`
	status, answer, ok, err := f.Registry(t.Context(), "/registry/transfer-instruction/v1/transfer-factory", []byte(`{}`))
	if status != 200 || string(answer) != n.answer || !ok || err != nil {
		t.Errorf("%d %s, %v, %v", status, answer, ok, err)
	}
	found, err := f.Known(t.Context(), "00l")
	want(t, found, err, "00l")
	n.status, n.answer = 404, `{"error":"none"}`
	if status, answer, ok, err = f.Registry(t.Context(), "/registry/x", []byte(`{}`)); status != 404 || string(answer) != n.answer || !ok || err != nil {
		t.Errorf("a refusal is %d %s, %v, %v", status, answer, ok, err)
	}
	n.status = 502
	if _, _, ok, err = f.Registry(t.Context(), "/registry/x", []byte(`{}`)); !ok || err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("a broken scan is %v, %v", ok, err)
	}
	if got := []string{"POST /registry/transfer-instruction/v1/transfer-factory", "POST /registry/x", "POST /registry/x"}; !slices.Equal(n.requests, got) {
		t.Errorf("the scan was asked for %q", n.requests)
	}
}
