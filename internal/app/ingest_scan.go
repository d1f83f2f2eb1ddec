package app

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
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
		Workers: cfg.ScanWorkers, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes, Poll: cfg.FollowInterval,
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
