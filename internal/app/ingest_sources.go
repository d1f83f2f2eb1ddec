package app

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
)

// scanSource is the public history.
type scanSource struct{ *scan.Ingester }

func (d *database) newScanSource(urls []string, into *store.DB) (source, error) {
	return d.newScanSourceInto(urls, into, indexer.NewSinks(into, d.p.log), 0)
}

// newScanSourceInto is newScanSource for a sink of one's own. giveUp is for how long what fails is tried
// again, 0 for ever.
func (d *database) newScanSourceInto(urls []string, into *store.DB, sink stream.Sink, giveUp time.Duration) (source, error) {
	cfg := d.p.cfg
	from := scan.Source(cfg.ScanSource)
	if cfg.ScanSource == "auto" {
		from = scan.Auto
	}
	ingester, err := scan.New(scan.Config{
		BaseURL: urls[0], Peers: urls[1:], Agree: cfg.ScanAgree, AgreeOn: scan.AgreeOn(cfg.ScanAgreeOn),
		Disagreements: disagreements{into}, Gaps: d.reader, Settings: d.ingestSettings(sink, giveUp), Source: from,
		Workers: cfg.ScanWorkers, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes, Values: d.packages.Catalog, Poll: cfg.FollowInterval,
	})
	if err != nil {
		return nil, err
	}
	return scanSource{ingester}, nil
}

func (scanSource) identify(context.Context) error { return nil }

func (scanSource) stream() string { return schemas.ScanStream }

func (from scanSource) live() LiveStream {
	st := from.Status()
	l := liveOf(&st.Status, string(st.Source))
	l.LagSeconds, l.Disagreements = st.Lag.Seconds(), len(st.Disagreements)
	for _, u := range st.Upstreams {
		l.Upstreams = append(l.Upstreams, LiveUpstream{
			URL: u.URL, State: string(u.State), End: u.End.String(), LagSeconds: u.Lag.Seconds(), LatencySeconds: u.Latency.Seconds(),
			Requests: u.Requests, Retries: u.Retries, Disagreements: u.Disagreements,
			LastError: u.LastError, LastErrorAt: timeOrNil(u.LastErrorAt),
		})
	}
	return l
}

// disagreements keeps in the store what upstreams did not agree on.
type disagreements struct{ db *store.DB }

// Disagreed records one range with all its answers.
func (to disagreements) Disagreed(ctx context.Context, d scan.Disagreement) error {
	rows := make([]store.DisagreementRow, 0, len(d.Answers))
	for _, a := range d.Answers {
		rows = append(rows, store.DisagreementRow{
			Stream: d.Stream, FoundAt: schemas.MicrosOf(d.At), Compared: string(d.On), After: d.After, Through: d.Through,
			Resolved: d.Resolved, Agreed: a.Agreed, Upstream: a.Upstream, Items: uint64(a.Items), Digest: a.Digest,
		})
	}
	return indexer.RecordDisagreement(ctx, to.db, rows)
}

// nodeSource is what the parties of one node see.
type nodeSource struct {
	*node.Ingester
	url string
}

func (d *database) newNodeSource(url string, into *store.DB) (source, error) {
	return d.newNodeSourceInto(url, indexer.NewSinks(into, d.p.log), 0)
}

// newNodeSourceInto is newNodeSource for a sink of one's own, see newScanSourceInto.
func (d *database) newNodeSourceInto(url string, sink stream.Sink, giveUp time.Duration) (source, error) {
	cfg := d.p.cfg
	from := node.Source(cfg.NodeSource)
	if cfg.NodeSource == "auto" {
		from = node.Auto
	}
	config := node.Config{
		BaseURL: url, Settings: d.ingestSettings(sink, giveUp), Source: from, Parties: cfg.NodeParties, TokenFile: cfg.NodeTokenFile,
		IdleTimeout: d.p.timeouts.socket, PingInterval: d.p.timeouts.ping,
		Interfaces: func() []string { return views.Given(d.packages.Catalog) }, Computed: views.Computes,
	}
	if token := cfg.NodeToken; token != "" {
		config.Token = func(context.Context) (string, error) { return token, nil }
	}
	ingester, err := node.New(config)
	if err != nil {
		return nil, err
	}
	return nodeSource{ingester, settings.MaskURL(url)}, nil
}

// ingestSettings are those of all ingesters, of one that writes into a sink.
func (d *database) ingestSettings(sink stream.Sink, giveUp time.Duration) stream.Settings {
	return stream.Settings{
		Sink: sink, GiveUpAfter: giveUp, Log: d.p.log, Ahead: d.p.timeAhead(), Version: d.p.build.Version,
		MaxWait: d.p.cfg.FollowInterval, Hurried: func(stream string) <-chan struct{} { return d.db.Hurried(stream) },
		RequestTimeout: d.p.timeouts.request, Backoff: d.p.timeouts.backoff, MaxRetryAfter: d.p.timeouts.rest,
	}
}

func (from nodeSource) identify(ctx context.Context) error { return from.Identify(ctx) }

func (from nodeSource) stream() string { return from.Status().Stream }

func (from nodeSource) live() LiveStream {
	st := from.Status()
	l := liveOf(&st.Status, string(st.Source))
	l.LagOffsets, l.Upstreams = max(0, st.LedgerEnd-st.Position.Offset), []LiveUpstream{{URL: from.url, State: string(st.Phase)}}
	return l
}

// liveOf is what the status of any ingester tells.
func liveOf(st *stream.Status, source string) LiveStream {
	return LiveStream{
		Phase: string(st.Phase), Detail: st.Detail, Source: source, Position: st.Position.String(),
		Updates: st.Updates, Imports: st.Imports, Events: st.Events, Verdicts: st.Verdicts, Batches: st.Batches, Bytes: st.Bytes,
		Rate: st.Rate, Retries: st.Retries, LastError: st.LastError, LastErrorAt: timeOrNil(st.LastErrorAt),
		fraction: st.Fraction, ETASeconds: max(0, st.ETA.Seconds()), following: st.Phase == stream.PhaseFollowing,
	}
}
