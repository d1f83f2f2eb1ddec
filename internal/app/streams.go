package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// StreamReport is how one stream stands: in the store and, when this process ingests it,
// on its way there.
type StreamReport struct {
	Stream string `json:"stream"`
	// Watermark is up to where the stream is complete, and WatermarkTime its record time,
	// nil where it has none.
	Watermark     string     `json:"watermark"`
	WatermarkTime *time.Time `json:"watermark_record_time,omitempty"`
	// Batches, Items and Events are all that were ever committed.
	Batches    int64       `json:"batches"`
	Items      uint64      `json:"items"`
	Events     uint64      `json:"events"`
	LastCommit *time.Time  `json:"last_commit,omitempty"`
	Live       *LiveStream `json:"live,omitempty"`
	// StoreDamage says what the store has lost, whatever the stream.
	StoreDamage string `json:"store_damage,omitempty"`
}

// LiveStream is what this process knows of a stream that it ingests. Counts are those of
// the process.
type LiveStream struct {
	Phase    string `json:"phase"`
	Detail   string `json:"detail,omitempty"`
	Source   string `json:"source,omitempty"`
	Position string `json:"position"`
	// LagSeconds is record time behind the upstream, LagOffsets offsets behind a node.
	LagSeconds float64 `json:"lag_seconds"`
	LagOffsets int64   `json:"lag_offsets,omitempty"`
	Rate       float64 `json:"updates_per_second"`
	// ETASeconds is 0 while nothing is known.
	ETASeconds    float64        `json:"eta_seconds,omitempty"`
	Updates       int64          `json:"updates"`
	Imports       int64          `json:"imports"`
	Events        int64          `json:"events"`
	Verdicts      int64          `json:"verdicts"`
	Batches       int64          `json:"batches"`
	Bytes         int64          `json:"bytes"`
	Retries       int64          `json:"retries"`
	LastError     string         `json:"last_error,omitempty"`
	LastErrorAt   *time.Time     `json:"last_error_at,omitempty"`
	Disagreements int            `json:"disagreements,omitempty"`
	Upstreams     []LiveUpstream `json:"upstreams,omitempty"`

	fraction  float64
	following bool
}

// lag is LagSeconds for people.
func (l *LiveStream) lag() time.Duration {
	return time.Duration(l.LagSeconds * float64(time.Second)).Round(time.Millisecond)
}

// eta is ETASeconds for people.
func (l *LiveStream) eta() time.Duration {
	return time.Duration(l.ETASeconds * float64(time.Second)).Round(time.Second)
}

// LiveUpstream is one upstream of a stream.
type LiveUpstream struct {
	URL            string     `json:"url"`
	State          string     `json:"state"`
	End            string     `json:"end,omitempty"`
	LagSeconds     float64    `json:"lag_seconds"`
	LatencySeconds float64    `json:"latency_seconds"`
	Requests       int64      `json:"requests"`
	Retries        int64      `json:"retries"`
	Disagreements  int64      `json:"disagreements,omitempty"`
	LastError      string     `json:"last_error,omitempty"`
	LastErrorAt    *time.Time `json:"last_error_at,omitempty"`
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// statusPage tells how the streams stand, as text, as JSON and as metrics. streams may be
// nil, when another process ingests.
type statusPage struct {
	db      *store.DB
	streams *streams
	damage  *damageWatch
}

func (p *statusPage) mount() query.Mount {
	return query.Mount{Prefixes: []string{""}, Routes: []query.Route{
		{Method: "GET", Path: "/streams", Name: "streams", Probe: true, Handle: p.serve},
	}}
}

// serve answers text, or JSON when asked for it by ?format=json or the Accept header.
func (p *statusPage) serve(ctx context.Context, r *query.Request) error {
	params := r.Query()
	format, given := params.OptionalText("format")
	if given && format != "json" && format != "text" {
		params.Fail("format must be json or text")
	}
	if err := params.Err(); err != nil {
		return err
	}
	reports, err := p.reports(ctx)
	if err != nil {
		return err
	}
	if format == "json" || !given && strings.Contains(r.Header("Accept"), "application/json") {
		return r.JSON(reports)
	}
	var b bytes.Buffer
	for _, report := range reports {
		report.writeTo(&b, time.Now())
	}
	return r.Send(200, "text/plain; charset=utf-8", int64(b.Len()), io.NopCloser(&b))
}

// reports joins the journal with what this process does. Streams without a commit yet
// are there too.
func (p *statusPage) reports(ctx context.Context) ([]StreamReport, error) {
	rows, err := journal.Streams(ctx, p.db)
	if err != nil {
		return nil, err
	}
	live := make(map[string]*LiveStream)
	if p.streams != nil {
		for _, from := range p.streams.sources {
			st := from.live()
			live[cmp.Or(from.stream(), "node")] = &st
		}
	}
	var reports []StreamReport
	for _, row := range rows {
		reports = append(reports, reportOf(row, live[row.Stream]))
		delete(live, row.Stream)
	}
	for name, st := range live {
		reports = append(reports, StreamReport{Stream: name, Watermark: schemas.Start.String(), Live: st})
	}
	if err := p.damage.err(); err != nil {
		for i := range reports {
			reports[i].StoreDamage = err.Error()
		}
	}
	return reports, nil
}

func reportOf(row store.StreamRow, live *LiveStream) StreamReport {
	r := StreamReport{
		Stream: row.Stream, Watermark: row.Watermark.String(), Batches: row.Batches, Items: row.Items, Events: row.Events,
		LastCommit: timeOrNil(row.WrittenAt.Time()), Live: live,
	}
	if row.Watermark.Offset == 0 && row.Watermark.RecordTime != schemas.MinMicros {
		r.WatermarkTime = timeOrNil(row.Watermark.RecordTime.Time())
	}
	return r
}

// writeTo writes a paragraph for people.
func (r *StreamReport) writeTo(b *bytes.Buffer, now time.Time) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(b, "%s\n", r.Stream)
	line("watermark", "%s", r.Watermark)
	line("committed", "%d batches, %d items, %d events", r.Batches, r.Items, r.Events)
	if r.LastCommit != nil {
		line("last", "commit %s ago", now.Sub(*r.LastCommit).Round(100*time.Millisecond))
	}
	if r.StoreDamage != "" {
		line("DAMAGED", "%s", r.StoreDamage)
	}
	if l := r.Live; l != nil {
		l.writeTo(line, now)
	}
	b.WriteByte('\n')
}

func (l *LiveStream) writeTo(line func(name, format string, args ...any), now time.Time) {
	line("phase", "%s", strings.TrimSpace(l.Phase+" "+l.Detail))
	lag := l.lag().String()
	if l.LagOffsets > 0 {
		lag = fmt.Sprintf("%d offsets", l.LagOffsets)
	}
	line("lag", "%s", lag)
	rate := fmt.Sprintf("%.0f updates/s", l.Rate)
	if l.ETASeconds > 0 {
		rate += fmt.Sprintf(", %s left", l.eta())
	}
	line("rate", "%s", rate)
	line("this run", "%d updates, %d imported contracts, %d events, %d verdicts in %d batches, %.1f MB", l.Updates, l.Imports, l.Events, l.Verdicts, l.Batches, float64(l.Bytes)/1e6)
	line("retries", "%d%s", l.Retries, lastError(l.LastError, l.LastErrorAt, now))
	for _, u := range l.Upstreams {
		line("upstream", "%s %s, end %s, lag %.3gs, latency %.3gs, %d requests, %d retries, %d disagreements%s", u.URL, u.State, cmp.Or(u.End, "unknown"),
			u.LagSeconds, u.LatencySeconds, u.Requests, u.Retries, u.Disagreements, lastError(u.LastError, u.LastErrorAt, now))
	}
}

func lastError(text string, at *time.Time, now time.Time) string {
	if text == "" || at == nil {
		return ""
	}
	return fmt.Sprintf(", last error %s ago: %s", now.Sub(*at).Round(time.Second), text)
}

// newRegistry returns the metrics of a process with the streams of a page.
func newRegistry(page *statusPage) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	panics := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "ledgerlake_panics_recovered_total", Help: "Requests, websockets, jobs and steps that a bug ended, without ending anything else.",
	}, func() float64 { return float64(guard.Recovered()) })
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), panics, streamMetrics{page})
	return registry
}

// streamMetrics gives the page's numbers as metrics.
type streamMetrics struct{ page *statusPage }

var (
	streamLabels    = []string{"stream"}
	watermarkMetric = prometheus.NewDesc("ledgerlake_stream_watermark_seconds", "Record time up to which the stream is complete, in seconds since 1970.", streamLabels, nil)
	commitMetric    = prometheus.NewDesc("ledgerlake_stream_last_commit_seconds", "When the last batch was committed, in seconds since 1970.", streamLabels, nil)
	batchesMetric   = prometheus.NewDesc("ledgerlake_stream_batches_total", "Batches ever committed.", streamLabels, nil)
	itemsMetric     = prometheus.NewDesc("ledgerlake_stream_items_total", "Items ever committed.", streamLabels, nil)
	lagMetric       = prometheus.NewDesc("ledgerlake_stream_lag_seconds", "Record time between the watermark and the upstream's end.", streamLabels, nil)
	offsetsMetric   = prometheus.NewDesc("ledgerlake_stream_lag_offsets", "Offsets between the watermark and the node's ledger end.", streamLabels, nil)
	rateMetric      = prometheus.NewDesc("ledgerlake_stream_updates_per_second", "Updates ingested per second recently.", streamLabels, nil)
	retriesMetric   = prometheus.NewDesc("ledgerlake_stream_retries_total", "Failures that were retried.", streamLabels, nil)
	phaseMetric     = prometheus.NewDesc("ledgerlake_stream_phase", "1 for the phase that the stream is in.", []string{"stream", "phase"}, nil)
	upstreamMetric  = prometheus.NewDesc("ledgerlake_upstream_state", "1 for the state that the upstream is in.", []string{"stream", "upstream", "state"}, nil)
	damagedMetric   = prometheus.NewDesc("ledgerlake_store_damaged", "1 if the store is known to have lost rows.", nil, nil)
	scrapeMetric    = prometheus.NewDesc("ledgerlake_streams_readable", "1 if the streams could be read from the store.", nil, nil)
)

// Describe names the metrics.
func (m streamMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{watermarkMetric, commitMetric, batchesMetric, itemsMetric, lagMetric, offsetsMetric, rateMetric, retriesMetric, phaseMetric, upstreamMetric, damagedMetric, scrapeMetric} {
		ch <- d
	}
}

// scrapeTimeout bounds the question to the store: a scrape must not hang with it.
const scrapeTimeout = 5 * time.Second

// Collect asks the store and the ingesters.
func (m streamMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	damaged := 0.0
	if m.page.damage.err() != nil {
		damaged = 1
	}
	ch <- prometheus.MustNewConstMetric(damagedMetric, prometheus.GaugeValue, damaged)
	reports, err := m.page.reports(ctx)
	if err != nil {
		ch <- prometheus.MustNewConstMetric(scrapeMetric, prometheus.GaugeValue, 0)
		return
	}
	ch <- prometheus.MustNewConstMetric(scrapeMetric, prometheus.GaugeValue, 1)
	for _, r := range reports {
		r.collect(func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, kind, value, append([]string{r.Stream}, labels...)...)
		})
	}
}

func (r *StreamReport) collect(add func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)) {
	if r.WatermarkTime != nil {
		add(watermarkMetric, prometheus.GaugeValue, float64(r.WatermarkTime.UnixMicro())/1e6)
	}
	if r.LastCommit != nil {
		add(commitMetric, prometheus.GaugeValue, float64(r.LastCommit.UnixMicro())/1e6)
	}
	add(batchesMetric, prometheus.CounterValue, float64(r.Batches))
	add(itemsMetric, prometheus.CounterValue, float64(r.Items))
	l := r.Live
	if l == nil {
		return
	}
	if l.Phase != phaseStandby { // which does not know how far the upstream is
		add(lagMetric, prometheus.GaugeValue, l.LagSeconds)
		if r.Stream != schemas.ScanStream {
			add(offsetsMetric, prometheus.GaugeValue, float64(l.LagOffsets))
		}
	}
	add(rateMetric, prometheus.GaugeValue, l.Rate)
	add(retriesMetric, prometheus.CounterValue, float64(l.Retries))
	add(phaseMetric, prometheus.GaugeValue, 1, l.Phase)
	for _, u := range l.Upstreams {
		add(upstreamMetric, prometheus.GaugeValue, 1, u.URL, u.State)
	}
}

// newStatusServer serves the status page and the metrics of an ingest that has no query
// tier beside it.
func (s *servers) newStatusServer(streams *streams) (*query.Server, error) {
	listener, err := s.listeners.listen(s.p.cfg.StatusListen, "status-listen")
	if err != nil {
		return nil, err
	}
	page := &statusPage{db: s.db.db, streams: streams, damage: &s.db.damage}
	return query.New(query.Config{
		Listener: listener, Mounts: []query.Mount{page.mount()}, Log: s.p.log, Metrics: newRegistry(page), Hosts: s.p.cfg.Hosts(),
	})
}
