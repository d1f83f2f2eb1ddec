package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// loadMemory is the --memory-limit of a server under load, its default.
const loadMemory = 700 << 20

// loadLab is a server over a history, and what to ask it.
type loadLab struct {
	t            *testing.T
	scan, ledger string // URLs
	client       *http.Client
	end          int64    // of the node's stream
	first, last  int64    // record times of the history, in microseconds
	ids          []string // of some updates
	format       string   // of the ledger interface's updates
}

// loadOperation is one kind of request.
type loadOperation struct {
	name string
	// request makes one of them.
	request func(*loadLab, *rand.Rand) (method, url, body string)
	// whole reports whether the body of an answer is all of it.
	whole func(end []byte) bool
}

// endsLike reports whether the last bytes of an answer are those of a complete one.
func endsLike(text string) func([]byte) bool {
	return func(end []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(end), []byte(text)) }
}

// The operations whose callers must not wait for each other.
var (
	loadDump = loadOperation{"dump", func(l *loadLab, _ *rand.Rand) (string, string, string) {
		return "GET", l.scan + "/v0/state/acs/dump?migration_id=1&record_time_match=at_or_before&record_time=2100-01-01T00:00:00Z", ""
	}, func(end []byte) bool { return bytes.Contains(end, []byte("\n"+`{"contracts":`)) }}
	loadPage = loadOperation{"scan page", func(l *loadLab, r *rand.Rand) (string, string, string) {
		at := time.UnixMicro(l.first + r.Int64N(l.last-l.first)).UTC().Format("2006-01-02T15:04:05.000000Z")
		return "POST", l.scan + "/v2/updates", fmt.Sprintf(`{"page_size":1000,"after":{"after_migration_id":1,"after_record_time":%q}}`, at)
	}, endsLike("]}")}
	loadSet = loadOperation{"set page", func(l *loadLab, _ *rand.Rand) (string, string, string) {
		return "POST", l.scan + "/v2/state/acs", `{"page_size":1000,"migration_id":1,"record_time_match":"at_or_before","record_time":"2100-01-01T00:00:00Z"}`
	}, endsLike("}")}
	loadLedgerPage = loadOperation{"ledger page", func(l *loadLab, r *rand.Rand) (string, string, string) {
		return "POST", l.ledger + "/v2/updates/get-updates-page", fmt.Sprintf(`{"beginOffsetExclusive":%d,"maxPageSize":1000,"updateFormat":%s}`, r.Int64N(l.end), l.format)
	}, endsLike("}")}
	loadLedgerSet = loadOperation{"ledger set page", func(l *loadLab, r *rand.Rand) (string, string, string) {
		return "POST", l.ledger + "/v2/state/active-contracts-page", fmt.Sprintf(`{"activeAtOffset":%d,"maxPageSize":1000,"eventFormat":%s}`, r.Int64N(l.end)+1, anyPartyFormat)
	}, endsLike("}")}
	loadLookup = loadOperation{"lookup", func(l *loadLab, r *rand.Rand) (string, string, string) {
		return "GET", l.scan + "/v2/updates/" + l.ids[r.IntN(len(l.ids))], ""
	}, endsLike("}")}
	loadProgress = loadOperation{"progress", func(l *loadLab, _ *rand.Rand) (string, string, string) {
		return "GET", l.scan + "/v0/history/bulk/progress", ""
	}, endsLike("]}")}
)

// loadData is a data folder with the public history, and a node's stream, of so many updates.
func loadData(t *testing.T, updates int) string {
	t.Helper()
	data := t.TempDir()
	ledger := nodeLedger(t, updates)
	upstream := httptest.NewServer(ledger.Handler())
	t.Cleanup(upstream.Close)
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", upstream.URL, "--node-url", servedNode(t, ledger, devnet.NodeOptions{}))
	return data
}

// newLoadLab starts a server over a data folder, with a limit of memory in bytes.
func newLoadLab(t *testing.T, data string, memory int) (*loadLab, *ledgerlake) {
	t.Helper()
	server := start(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--memory-limit", strconv.Itoa(memory), "--profiling")
	l := &loadLab{t: t, scan: waitForURL(t, server), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}}
	l.ledger = ledgerURL(t, server)
	t.Cleanup(l.client.CloseIdleConnections)
	l.format = fmt.Sprintf(`{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":%s},"includeReassignments":%s}`, anyPartyFormat, anyPartyFormat)
	l.survey()
	return l, server
}

// survey finds out what the history spans.
func (l *loadLab) survey() {
	l.t.Helper()
	var end struct{ Offset int64 }
	l.ask("GET", l.ledger+"/v2/state/ledger-end", "", &end)
	var info struct {
		RecordTimeRange []struct{ Min, Max time.Time } `json:"record_time_range"`
	}
	l.ask("POST", l.scan+"/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if end.Offset == 0 || len(info.RecordTimeRange) == 0 {
		l.t.Fatalf("the history has no end: %+v %+v", end, info)
	}
	var page struct {
		Transactions []struct {
			ID string `json:"update_id"`
		}
	}
	l.ask("POST", l.scan+"/v2/updates", `{"page_size":20}`, &page)
	for _, u := range page.Transactions {
		l.ids = append(l.ids, u.ID)
	}
	l.end, l.first, l.last = end.Offset, info.RecordTimeRange[0].Min.UnixMicro(), info.RecordTimeRange[0].Max.UnixMicro()
}

func (l *loadLab) ask(method, url, body string, v any) {
	l.t.Helper()
	status, text, err := l.send(method, url, body)
	if err == nil && status == 200 {
		err = json.Unmarshal(text, v)
	}
	if err != nil || status != 200 {
		l.t.Fatalf("%s %s: %d %v %.300s", method, url, status, err, text)
	}
}

// send returns the last bytes of the answer, up to 1 MiB, or all of it if that is less.
func (l *loadLab) send(method, url, body string) (status int, end []byte, err error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	piece := make([]byte, 32<<10)
	for {
		n, err := response.Body.Read(piece)
		end = append(end, piece[:n]...)
		end = end[max(0, len(end)-1<<20):]
		if err == io.EOF {
			return response.StatusCode, end, nil
		}
		if err != nil {
			return response.StatusCode, end, err
		}
	}
}

// loadResult is what became of the requests of one kind.
type loadResult struct {
	statuses map[string]int
	times    []time.Duration
}

// loadResults are those of all kinds. It is safe for concurrent use.
type loadResults struct {
	mu     sync.Mutex
	byName map[string]*loadResult
}

// one sends a request and notes what became of it.
func (rs *loadResults) one(l *loadLab, o loadOperation, r *rand.Rand) {
	method, url, body := o.request(l, r)
	begin := time.Now()
	status, end, err := l.send(method, url, body)
	elapsed := time.Since(begin)
	what := strconv.Itoa(status)
	switch {
	case err != nil:
		what = "cut: " + err.Error()
	case status == 200 && !o.whole(end):
		what = "not whole"
	case status >= 500 && status != 503:
		what += " " + string(end[:min(len(end), 40)])
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	result := rs.byName[o.name]
	if result == nil {
		result = &loadResult{statuses: map[string]int{}}
		rs.byName[o.name] = result
	}
	result.statuses[what]++
	result.times = append(result.times, elapsed)
}

func newLoadResults() *loadResults { return &loadResults{byName: map[string]*loadResult{}} }

// once sends so many requests of each kind at the same time.
func (l *loadLab) once(count int, operations ...loadOperation) *loadResults {
	rs := newLoadResults()
	var all sync.WaitGroup
	for i := range count {
		for j, o := range operations {
			all.Go(func() { rs.one(l, o, rand.New(rand.NewPCG(uint64(i), uint64(j)))) })
		}
	}
	all.Wait()
	return rs
}

// mixed has so many clients of each kind send one request after another.
func (l *loadLab) mixed(clients int, span time.Duration, operations ...loadOperation) *loadResults {
	rs := newLoadResults()
	stop := time.Now().Add(span)
	var all sync.WaitGroup
	for i := range clients {
		for j, o := range operations {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				for time.Now().Before(stop) {
					rs.one(l, o, r)
				}
			})
		}
	}
	all.Wait()
	return rs
}

// print logs a line for each kind of request.
func (rs *loadResults) print(t *testing.T, title string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(rs.byName)) {
		r := rs.byName[name]
		slices.Sort(r.times)
		at := func(part float64) time.Duration {
			return r.times[int(part*float64(len(r.times)-1))].Round(time.Millisecond)
		}
		t.Logf("%s: %-15s %5d requests, p50 %v p99 %v, %v", title, name, len(r.times), at(0.5), at(0.99), r.statuses)
	}
}

// unexpected are the outcomes that are none of the wanted ones.
func (rs *loadResults) unexpected(wanted ...string) (list []string) {
	for name, r := range rs.byName {
		for what, n := range r.statuses {
			if !slices.Contains(wanted, what) {
				list = append(list, fmt.Sprintf("%d times %s: %s", n, name, what))
			}
		}
	}
	return list
}

// peakMemory is the most memory that a process ever had in RAM, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		t.Fatalf("there is no VmHWM in %s", text)
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// slowest is the longest time of a kind of request.
func (rs *loadResults) slowest(o loadOperation) time.Duration {
	return slices.Max(rs.byName[o.name].times)
}

// watchMemory reads the metrics of admission until stop is closed. It fails the test when more
// memory is reserved than may be.
func (l *loadLab) watchMemory(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		status, text, err := l.send("GET", l.scan+"/metrics", "")
		if status != 200 || err != nil {
			l.t.Errorf("metrics: %d %v", status, err)
			return
		}
		held, limits := map[string]float64{}, map[string]float64{}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, _ := strconv.ParseFloat(value, 64)
			if class, ok := strings.CutPrefix(name, "ledgerlake_admission_bytes{"); ok {
				held[class] = n
			}
			if class, ok := strings.CutPrefix(name, "ledgerlake_admission_bytes_limit{"); ok {
				limits[class] = n
			}
		}
		if len(held) != 3 || len(limits) != 3 {
			l.t.Errorf("there are no metrics of memory: %v %v", held, limits)
			return
		}
		for class, n := range held {
			if n > limits[class] {
				l.t.Errorf("%s have %f bytes reserved, of %f", class, n, limits[class])
			}
		}
	}
}

// TestOverloadIsServed has many times as many requests at once as a server with little memory can
// work on. All are answered whole, those that take little before those that take much, and no more
// memory is reserved than there is.
func TestOverloadIsServed(t *testing.T) {
	t.Parallel()
	needEngine(t)
	l, server := newLoadLab(t, loadData(t, 150), 64<<20)
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() { defer close(watched); l.watchMemory(stop) }()
	rs := l.once(64, loadDump, loadLookup)
	rs.print(t, "dumps and lookups")
	if lookup, dump := rs.slowest(loadLookup), rs.slowest(loadDump); lookup > dump {
		t.Errorf("a lookup took %v, longer than all of the dumps: %v", lookup, dump)
	}
	mixed := l.once(16, loadDump, loadPage, loadSet, loadLedgerPage, loadLedgerSet, loadLookup, loadProgress)
	mixed.print(t, "mixed")
	close(stop)
	<-watched
	for _, list := range [][]string{rs.unexpected("200"), mixed.unexpected("200")} {
		if len(list) > 0 {
			t.Errorf("%s\n%s", strings.Join(list, "\n"), tail(server.stderr.String()))
		}
	}
}

// TestLoad overloads a server as a process: dumps and pages at once, dumps by the hundred, and
// everything mixed. It takes minutes: make load.
func TestLoad(t *testing.T) {
	span, err := time.ParseDuration(cmp.Or(os.Getenv("LEDGERLAKE_LOAD"), "0s"))
	if err != nil {
		t.Fatal(err)
	}
	if span == 0 {
		t.Skip("LEDGERLAKE_LOAD says for how long, such as 30s")
	}
	needEngine(t)
	data := os.Getenv("LEDGERLAKE_LOAD_DATA")
	if data == "" {
		data = loadData(t, 20_000)
	}
	l, server := newLoadLab(t, data, loadMemory)
	memory := func(title string) {
		peak := peakMemory(t, server.Process.Pid)
		t.Logf("%s: peak memory %d MiB of %d", title, peak>>20, loadMemory>>20)
		if peak > loadMemory*12/10 {
			t.Errorf("%s: the server had %d MiB in memory, want at most %d and 20 %%", title, peak>>20, loadMemory>>20)
		}
	}
	check := func(title string, rs *loadResults, wanted ...string) {
		rs.print(t, title)
		if list := rs.unexpected(wanted...); len(list) > 0 {
			t.Errorf("%s: %s", title, strings.Join(list, "; "))
		}
	}
	check("64 dumps and pages", l.once(64, loadDump, loadPage, loadSet, loadLedgerPage, loadLedgerSet), "200")
	memory("64 dumps and pages")
	dumps := l.once(256, loadDump)
	check("256 dumps", dumps, "200", "503")
	if dumps.byName["dump"].statuses["200"] == 0 {
		t.Error("of 256 dumps none was served")
	}
	memory("256 dumps")
	check("mixed", l.mixed(16, span, loadDump, loadPage, loadSet, loadLedgerPage, loadLedgerSet, loadLookup, loadProgress), "200")
	memory("mixed")
	for line := range strings.Lines(server.stderr.String()) {
		if strings.Contains(line, "status=500") || strings.Contains(line, "engine") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
