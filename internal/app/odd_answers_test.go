package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// oddNetwork is a network of which both upstreams stand behind proxies, and an up that
// follows them.
type oddNetwork struct {
	t           *testing.T
	ledger      *devnet.Ledger
	scan, node  *faults.HTTP
	scanBehind  string // URL of the scan without the proxy
	data, url   string
	stop        context.CancelFunc
	ended       chan error
	diary       diary
	cfg         *settings.Config
	resumeIn    time.Duration // the most that reading may take to go on
	toResume    []time.Duration
	slowestKind string
}

// TestOddAnswers follows a scan service and a node of which each answers oddly for a while,
// in every way that there is: the process lives, the query tier answers, and reading goes on
// by itself once the upstreams are well. In the end nothing is missing and nothing is twice.
// Long runs go through all kinds by each way of reading a node, and wait as long between
// attempts as the product does.
func TestOddAnswers(t *testing.T) {
	all := schematest.Long()
	for i, source := range []string{"auto", "lists"} {
		t.Run("node by "+source, func(t *testing.T) {
			n := followOddly(t, source, all)
			for k, odd := range faults.Odds() {
				if all || k%12 == i {
					n.bearOut(odd)
				}
			}
			n.finish(source)
		})
	}
}

// followOddly starts the network and the product.
func followOddly(t *testing.T, source string, slowly bool) *oddNetwork {
	ledger, scanURL, nodeURL := networkWithNode(t, 60)
	n := &oddNetwork{t: t, ledger: ledger, scanBehind: scanURL, data: t.TempDir(), ended: make(chan error, 1), resumeIn: 20 * time.Second}
	proxy := func(name, target string) *faults.HTTP {
		p, err := faults.NewHTTP(faults.HTTPConfig{Name: name, Target: target, Tally: &faults.Tally{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	n.scan, n.node = proxy("scan", scanURL), proxy("node", nodeURL)
	n.cfg = new(settings.Config)
	if err := n.cfg.Flags().All().Parse([]string{"--data", n.data, "--listen", "127.0.0.1:0", "--clickhouse-dsn", enginetest.Start(t).DSN}); err != nil {
		t.Fatal(err)
	}
	n.cfg.ScanURLs, n.cfg.NodeURL = []string{n.scan.URL()}, n.node.URL()
	n.cfg.NodeSource, n.cfg.FollowInterval, n.cfg.FactsInterval, n.cfg.ScanRate = source, 100*time.Millisecond, 0, -1
	a := n.app()
	if slowly {
		n.resumeIn = time.Minute
	} else {
		hurried := func(f int) time.Duration { return min(time.Duration(f)*10*time.Millisecond, 50*time.Millisecond) }
		a.p.timeouts = timeouts{backoff: hurried, request: 400 * time.Millisecond, socket: 800 * time.Millisecond, ping: 100 * time.Millisecond, rest: 300 * time.Millisecond}
		a.p.retrier = retrier{backoff: hurried}
	}
	ctx, stop := context.WithCancel(t.Context())
	n.stop = stop
	listens := make(chan string, 1)
	go func() {
		err := a.Up(ctx, UpConfig{Network: simulated.Network{Updates: 1, Days: 1}, Out: io.Discard, Ready: func(at Addresses) { listens <- at.Scan }})
		a.CloseInto(&err)
		n.ended <- err
	}()
	t.Cleanup(stop)
	select {
	case address := <-listens:
		n.url = "http://" + address
	case err := <-n.ended:
		t.Fatalf("the process ended with %v\n%s", err, n.lastWords())
	}
	n.await("the product to serve", func() bool { return ready(n.url + "/readyz") })
	n.await("the first history", n.caughtUp)
	n.await("the query tier to know that it is there", func() bool {
		return n.updates() > 0
	})
	return n
}

// app is the product with the settings of the test.
func (n *oddNetwork) app() *App {
	return New(n.cfg, Build{Version: "test"}, slog.New(slog.NewTextHandler(&n.diary, nil)))
}

// await waits for something while the product lives.
func (n *oddNetwork) await(what string, so func() bool) {
	n.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); {
		select {
		case err := <-n.ended:
			n.t.Fatalf("the process ended with %v while waiting for %s\n%s", err, what, n.lastWords())
		case <-time.After(100 * time.Millisecond): // each look at the streams costs queries
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("waited in vain for %s\n%s\n%s", what, n.page(), n.lastWords())
		}
	}
}

func (n *oddNetwork) lastWords() string { return n.diary.String()[max(0, len(n.diary.String())-4000):] }

func (n *oddNetwork) page() string {
	response, err := http.Get(n.url + "/streams")
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%s%v", text, err)
}

// streams are the reports of both streams, by name.
func (n *oddNetwork) streams() map[string]StreamReport {
	n.t.Helper()
	response, err := http.Get(n.url + "/streams?format=json")
	if err != nil {
		n.t.Fatalf("the query tier does not answer: %v\n%s", err, n.lastWords())
	}
	defer response.Body.Close()
	var reports []StreamReport
	if err := json.NewDecoder(response.Body).Decode(&reports); err != nil || response.StatusCode != http.StatusOK {
		n.t.Fatalf("the streams are answered with status %d, %v", response.StatusCode, err)
	}
	byName := map[string]StreamReport{}
	for _, r := range reports {
		if !strings.Contains(r.Stream, "/") { // else it is derived
			byName[strings.Split(r.Stream, ":")[0]] = r
		}
	}
	return byName
}

// caughtUp reports whether both streams have all that the network has and follow it.
func (n *oddNetwork) caughtUp() bool {
	reports := n.streams()
	node, scan := reports["node"], reports["scan"]
	if node.Live == nil || scan.Live == nil || node.Live.Phase != "following" || scan.Live.Phase != "following" || scan.WatermarkTime == nil {
		return false
	}
	var info struct {
		Ranges []struct {
			Max time.Time `json:"max"`
		} `json:"record_time_range"`
	}
	for migration := 8; migration >= 0 && len(info.Ranges) == 0; migration-- {
		response, err := http.Post(n.scanBehind+"/v0/backfilling/migration-info", "application/json", strings.NewReader(fmt.Sprintf(`{"migration_id":%d}`, migration)))
		if err != nil {
			n.t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			err = json.NewDecoder(response.Body).Decode(&info)
		}
		_ = response.Body.Close()
		if err != nil {
			n.t.Fatal(err)
		}
	}
	for _, r := range info.Ranges {
		if scan.WatermarkTime.Before(r.Max) {
			return false
		}
	}
	return strings.Contains(node.Watermark, fmt.Sprintf("offset %d", n.ledger.NodeDigests().LedgerEnd))
}

// bearOut lets both upstreams answer oddly for a few requests and then as they should.
func (n *oddNetwork) bearOut(odd faults.Odd) {
	n.t.Helper()
	before := n.streams()
	n.scan.Answer(&odd)
	n.node.Answer(&odd)
	n.advance()
	for _, p := range []*faults.HTTP{n.scan, n.node} {
		heard := p.Oddity(5)
		select {
		case <-heard:
		case <-time.After(2 * time.Second): // a node whose websocket is well is asked nothing else
		case err := <-n.ended:
			n.t.Fatalf("%s: the process ended with %v\n%s", odd.Name, err, n.lastWords())
		}
	}
	n.answers(odd.Name)
	during := n.streams()
	n.scan.Answer(nil)
	n.node.Answer(nil)
	well := time.Now()
	n.advance()
	n.await("reading to go on after "+odd.Name, n.caughtUp)
	took := time.Since(well)
	if n.toResume = append(n.toResume, took); took == slices.Max(n.toResume) {
		n.slowestKind = odd.Name
	}
	if took > n.resumeIn {
		n.t.Errorf("%s: reading went on after %s, want at most %s", odd.Name, took, n.resumeIn)
	}
	for name, r := range during {
		if strings.HasPrefix(odd.Name, "status") && r.Live.Retries == before[name].Live.Retries {
			n.t.Errorf("%s: stream %s has %d retries and last error %q, as before", odd.Name, name, r.Live.Retries, r.Live.LastError)
		}
	}
}

// advance lets the network go on a little.
func (n *oddNetwork) advance() {
	n.t.Helper()
	if err := n.ledger.Advance(n.t.Context(), 6); err != nil {
		n.t.Fatal(err)
	}
}

// answers makes sure that the query tier serves what is stored.
func (n *oddNetwork) answers(kind string) {
	n.t.Helper()
	if !ready(n.url + "/readyz") {
		n.t.Errorf("%s: the query tier is not ready", kind)
	}
	if got := n.updates(); got != 3 {
		n.t.Errorf("%s: the query tier gives %d updates, want 3", kind, got)
	}
}

// updates is how many of three updates the query tier gives.
func (n *oddNetwork) updates() int {
	n.t.Helper()
	response, err := http.Post(n.url+"/v2/updates", "application/json", strings.NewReader(`{"page_size": 3}`))
	if err != nil {
		n.t.Fatal(err)
	}
	defer response.Body.Close()
	var page struct {
		Transactions []json.RawMessage `json:"transactions"`
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil || response.StatusCode != http.StatusOK {
		return 0
	}
	return len(page.Transactions)
}

// finish stops the product and compares what it stored with what the network has.
func (n *oddNetwork) finish(source string) {
	n.t.Helper()
	n.stop()
	select {
	case err := <-n.ended:
		if err != nil {
			n.t.Fatalf("up did not stop cleanly: %v", err)
		}
	case <-time.After(2 * time.Minute):
		n.t.Fatal("up does not stop")
	}
	n.t.Logf("%d kinds, the slowest to go on after was %q with %s", len(n.toResume), n.slowestKind, slices.Max(n.toResume).Round(time.Millisecond))
	progress := console.NewProgress(console.New(io.Discard, io.Discard))
	ingest := n.app()
	err := ingest.Ingest(n.t.Context(), true, progress, nil)
	if ingest.CloseInto(&err); err != nil {
		n.t.Fatalf("ingest: %v\n%s", err, n.lastWords())
	}
	check := n.app()
	v, err := check.Verify(n.t.Context(), VerifyConfig{}, progress)
	if check.CloseInto(&err); err != nil {
		n.t.Fatalf("verify: %v\n%s", err, n.lastWords())
	}
	if !v.OK {
		n.t.Errorf("findings:\n%s\n%s", strings.Join(v.Findings[:min(5, len(v.Findings))], "\n"), grepLines(n.diary.String(), "deriv", "step failed"))
	}
	served, err := TablesOf(n.ledger.Digests().Tables)
	if err != nil {
		n.t.Fatal(err)
	}
	if diff := verify.Differences("the network", served, "the store", v.Tables); len(diff) > 0 {
		n.t.Error(strings.Join(diff, "\n"))
	}
	want, err := TablesOf(n.ledger.NodeDigests().Tables)
	if err != nil {
		n.t.Fatal(err)
	}
	if len(v.Streams) != 1 {
		n.t.Fatalf("%d streams of nodes were verified, want 1", len(v.Streams))
	}
	if diff := verify.Differences("the node", want, "the store", v.Streams[0].Tables); len(diff) > 0 {
		n.t.Error(strings.Join(diff, "\n"))
	}
}

// grepLines are the first lines of a log that have one of the words.
func grepLines(text string, words ...string) string {
	var found []string
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			found = append(found, line[:min(len(line), 500)])
		}
	}
	return strings.Join(found[:min(20, len(found))], "\n")
}

// diary is a log that may be read while it is written.
type diary struct {
	mu sync.Mutex
	b  strings.Builder
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(p)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

// networkWithNode is a simulated network with the ledger API of a participant, which gives
// checkpoints, so that the stream reaches the ledger's end also where our parties see nothing of
// what is there.
func networkWithNode(t *testing.T, updates int) (ledger *devnet.Ledger, scanURL, nodeURL string) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: updates, Seed: 11, Days: 3, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	node, err := ledger.NodeHandler(devnet.NodeOptions{CheckpointDelay: 100 * time.Millisecond, ListLimit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	servers := []*httptest.Server{httptest.NewServer(ledger.Handler()), httptest.NewServer(node)}
	t.Cleanup(func() {
		for _, s := range servers {
			s.Close()
		}
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger, servers[0].URL, servers[1].URL
}

// ready reports whether a request is answered with 200.
func ready(url string) bool {
	response, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
