package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// DemoSummary says what a demo came to, and is the last line of demo --json.
type DemoSummary struct {
	Updates         uint64 `json:"updates"`
	Events          uint64 `json:"events"`
	Contracts       uint64 `json:"contracts"`
	ActiveContracts uint64 `json:"active_contracts"`
	Objects         int    `json:"objects"`
	ParquetBytes    int64  `json:"parquet_bytes"`
	// JSONZstdBytes is the size of the network's own objects, in the encoding that is listed,
	// and NetworkObjects their number if they are published.
	JSONZstdBytes  int64              `json:"json_zstd_bytes"`
	NetworkObjects int                `json:"network_objects"`
	StoreBytes     uint64             `json:"store_bytes"`
	UpdatesPerSec  float64            `json:"updates_per_second"`
	Seconds        map[string]float64 `json:"seconds"`
	Verify         Verification       `json:"verify"`
}

// DemoConfig says what a demo runs on, beside what the settings say.
type DemoConfig struct {
	Network  simulated.Network
	Progress *console.Progress
	Report   io.Writer // what a person reads
}

// demoRun is one demo under way.
type demoRun struct {
	*App
	DemoConfig
	node    *simulated.Node
	summary DemoSummary
}

// Demo runs the whole path on a simulated network: backfill, export, verify, query. What differed
// is in the summary.
func (a *App) Demo(ctx context.Context, d DemoConfig) (*DemoSummary, error) {
	start := time.Now()
	run := &demoRun{App: a, DemoConfig: d}
	run.summary.Seconds = make(map[string]float64)
	if err := run.prepare(ctx); err != nil {
		return nil, err
	}
	network := func(ctx context.Context) error { return run.node.Serve(ctx, 0) }
	if err := run.p.guard(ctx, run.steps, network); err != nil {
		return nil, err
	}
	run.summary.Seconds["total"] = time.Since(start).Seconds()
	return &run.summary, nil
}

// prepare starts the services while the network executes its history.
func (run *demoRun) prepare(ctx context.Context) error {
	run.db.makes = true
	if err := run.db.checkLocal(ctx); err != nil {
		return err
	}
	network := simulated.Folder{Settings: run.p.cfg}
	if err := network.Continue(&run.Network); err != nil {
		return err
	}
	if err := run.listeners.bindQuery(); err != nil {
		return err
	}
	if err := probe.MakeFolder(run.p.cfg.Data); err != nil {
		return err
	}
	ready := make(chan error, 1)
	guard.Go(func() error { return run.open(ctx) }, func(err error) { ready <- err })
	start := time.Now()
	node, err := network.Start(ctx, run.Network, "127.0.0.1:0", run.Progress)
	if err := errors.Join(err, <-ready); err != nil {
		if node != nil {
			err = errors.Join(err, node.Close())
		}
		return err
	}
	run.summary.Seconds["devnet"] = time.Since(start).Seconds()
	run.node, run.p.simulated = node, true
	run.p.onClose(node.Close)
	return nil
}

func (run *demoRun) steps(ctx context.Context) error {
	if err := run.mustBeEmpty(ctx); err != nil {
		return err
	}
	if err := (simulated.Folder{Settings: run.p.cfg}).NoteIngested(run.node); err != nil {
		return err
	}
	in, err := run.db.newStreams([]string{run.node.URL}, "")
	if err != nil {
		return err
	}
	start := time.Now()
	if err := in.backfill(ctx, run.Progress); err != nil {
		return err
	}
	run.summary.Seconds["ingest"] = time.Since(start).Seconds()
	start = time.Now()
	if err := run.worker.exportAll(ctx, run.Progress); err != nil {
		return err
	}
	run.summary.Seconds["export"] = time.Since(start).Seconds()
	start = time.Now()
	if err := run.verifyAll(ctx); err != nil {
		return err
	}
	run.summary.Seconds["verify"] = time.Since(start).Seconds()
	if err := run.measure(ctx); err != nil {
		return err
	}
	return run.ask(ctx)
}

// mustBeEmpty refuses a store that holds history, which would be compared with the
// simulated network's in vain.
func (run *demoRun) mustBeEmpty(ctx context.Context) error {
	mark, err := run.db.reader.Watermark(ctx)
	if err != nil {
		return err
	}
	if mark != schemas.Start {
		return fmt.Errorf("the store already holds history up to %s; demo needs an empty one: give another --data or --clickhouse-dsn", mark)
	}
	return nil
}

// verifyAll compares the store with the objects, and with what the network served.
func (run *demoRun) verifyAll(ctx context.Context) error {
	if err := run.db.setMerges(ctx, "STOP"); err != nil {
		return err
	}
	v, err := run.verifier().verify(ctx, run.Progress)
	if err := errors.Join(err, run.db.setMerges(ctx, "START")); err != nil {
		return err
	}
	served, err := TablesOf(run.node.Ledger.Digests().Tables)
	if err != nil {
		return err
	}
	v.Findings = append(v.Findings, verify.Differences("the network", served, "the store", v.Tables)...)
	v.OK = len(v.Findings) == 0
	run.summary.Verify = *v
	return nil
}

// TablesOf reads the digests that the simulated network computed for itself.
func TablesOf(digests map[string]devnet.TableDigest) (verify.Tables, error) {
	raw, err := json.Marshal(digests)
	if err != nil {
		return nil, fmt.Errorf("reading the network's digests: %w", err)
	}
	var tables verify.Tables
	if err := json.Unmarshal(raw, &tables); err != nil {
		return nil, fmt.Errorf("reading the network's digests: %w", err)
	}
	return tables, nil
}

// measure fills in the sizes.
func (run *demoRun) measure(ctx context.Context) error {
	exporter, err := run.objects.newExporter()
	if err != nil {
		return err
	}
	segments, err := exporter.Catalog().PublishedSegments(ctx, schemas.MinMicros, schemas.MaxMicros)
	if err != nil {
		return err
	}
	for i := range segments {
		run.summary.ParquetBytes += segments[i].Bytes
		run.summary.Objects += int(segments[i].Objects)
	}
	if err := run.networkLayout(ctx, exporter); err != nil {
		return err
	}
	if run.summary.StoreBytes, err = run.db.db.Size(ctx); err != nil {
		return err
	}
	counts := run.node.Ledger.Digests().Counts
	run.summary.Updates = run.summary.Verify.Tables["updates"].Rows
	run.summary.Events = run.summary.Verify.Tables["events"].Rows
	run.summary.ActiveContracts = run.summary.Verify.Tables["active_contracts"].Rows
	run.summary.Contracts = counts.ContractsCreated
	run.summary.UpdatesPerSec = float64(run.summary.Updates) / run.summary.Seconds["ingest"]
	return nil
}

// networkLayout fills in the size of the objects that the network lists: that of those that
// are published, or of those that would be.
func (run *demoRun) networkLayout(ctx context.Context, exporter *export.Exporter) (err error) {
	if run.p.cfg.Publishes(settings.LayoutNetwork) {
		run.summary.NetworkObjects, run.summary.JSONZstdBytes, err = exporter.Catalog().FolderSize(ctx, listedEncoding)
		return err
	}
	run.Progress.Begin("measure network layout", "bytes", 0)
	sizes, err := exporter.Network().Measure(ctx, listedEncoding)
	if err != nil {
		return err
	}
	run.Progress.End(fmt.Sprintf("%s of updates, %s of active contracts", Megabytes(sizes.Updates.ZstdBytes), Megabytes(sizes.ACS.ZstdBytes)))
	run.summary.JSONZstdBytes = sizes.Updates.ZstdBytes + sizes.ACS.ZstdBytes
	return nil
}

// Megabytes is a number of bytes for people.
func Megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// ask puts a few questions to the query tier, as a client would.
func (run *demoRun) ask(ctx context.Context) error {
	server, err := run.servers.newServer(nil, nil)
	if err != nil {
		return err
	}
	questions := func(ctx context.Context) error { return run.questions(ctx, "http://"+server.Addr()) }
	if err := run.p.guard(ctx, questions, server.Serve); err != nil {
		return fmt.Errorf("sending requests to the query tier: %w", err)
	}
	return nil
}

func (run *demoRun) questions(ctx context.Context, base string) error {
	c := client{base: base, out: run.Report}
	mark, err := run.db.reader.Watermark(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(run.Report, "\nA few requests to the query tier:")
	var page struct {
		Transactions []struct {
			UpdateID string `json:"update_id"`
		} `json:"transactions"`
	}
	if err := c.ask(ctx, "POST", "/v2/updates", `{"page_size": 1000}`, &page); err != nil {
		return err
	}
	if len(page.Transactions) == 0 {
		return errors.New("/v2/updates returned no updates")
	}
	if err := c.ask(ctx, "GET", "/v0/events/"+page.Transactions[len(page.Transactions)-1].UpdateID, "", nil); err != nil {
		return err
	}
	acs := fmt.Sprintf(`{"migration_id": %d, "record_time": %q, "record_time_match": "at_or_before", "page_size": 1000}`, mark.MigrationID, mark.RecordTime)
	if err := c.ask(ctx, "POST", "/v2/state/acs", acs, nil); err != nil {
		return err
	}
	if err := c.ask(ctx, "POST", "/v0/backfilling/migration-info", fmt.Sprintf(`{"migration_id": %d}`, mark.MigrationID), nil); err != nil {
		return err
	}
	bulk := fmt.Sprintf(`{"start_record_time": "2000-01-01T00:00:00Z", "end_record_time": %q, "page_size": 1000, "format": "parquet"}`, mark.RecordTime)
	var refs struct {
		Objects []struct {
			URL string `json:"url"`
		} `json:"object_refs"`
	}
	if err := c.ask(ctx, "POST", "/v0/history/bulk/updates", bulk, &refs); err != nil {
		return err
	}
	if len(refs.Objects) == 0 {
		return nil // a history of less than a day has no closed segment
	}
	c.base = ""
	return c.ask(ctx, "GET", refs.Objects[0].URL, "", nil)
}

// client asks and shows what it asked, how long it took and how much came back.
type client struct {
	base string
	out  io.Writer
}

func (c client) ask(ctx context.Context, method, path, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	start := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	fmt.Fprintf(c.out, "  %-4s %-40s %d  %8d bytes  %6.1f ms\n", method, shorten(path, 40), response.StatusCode, len(answer), float64(time.Since(start).Microseconds())/1000)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s answered %d: %s", method, path, response.StatusCode, shorten(string(answer), 300))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "…"
}
