package app

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// scanSource is the public history.
type scanSource struct{ *scan.Ingester }

func (d *database) newScanSource(urls []string) (source, error) {
	cfg := d.p.cfg
	from := scan.Source(cfg.ScanSource)
	if cfg.ScanSource == "auto" {
		from = scan.Auto
	}
	ingester, err := scan.New(scan.Config{
		BaseURL: urls[0], Peers: urls[1:], Agree: cfg.ScanAgree, AgreeOn: scan.AgreeOn(cfg.ScanAgreeOn),
		Disagreements: disagreements{d.db}, Gaps: gaps{d.reader}, Settings: d.ingestSettings(), Source: from,
		Workers: cfg.ScanWorkers, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes, Poll: cfg.FollowInterval,
	})
	if err != nil {
		return nil, err
	}
	return scanSource{ingester}, nil
}

func (scanSource) stream() string { return schemas.ScanStream }

func (from scanSource) live() LiveStream {
	st := from.Status()
	l := LiveStream{
		Phase: string(st.Phase), Detail: st.Detail, Source: string(st.Source), Position: st.Position.String(),
		Updates: st.Updates, Imports: st.Imports, Events: st.Events, Verdicts: st.Verdicts, Batches: st.Batches, Bytes: st.Bytes,
		Rate: st.Rate, Retries: st.Retries, LastError: st.LastError, LastErrorAt: timeOrNil(st.LastErrorAt),
		fraction: st.Fraction, LagSeconds: st.Lag.Seconds(), ETASeconds: max(0, st.ETA.Seconds()), following: st.Phase == stream.PhaseFollowing,
		Disagreements: len(st.Disagreements),
	}
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

// gaps finds what was stored without verdicts.
type gaps struct{ reader *history.Reader }

// NextGap finds the next stretch of a stream after a position.
func (from gaps) NextGap(ctx context.Context, stream string, after schemas.Position) (*scan.Gap, error) {
	if stream != from.reader.Stream() {
		return nil, fmt.Errorf("gaps of stream %s asked of the reader of %s", stream, from.reader.Stream())
	}
	start, end, ok, err := from.reader.NextGap(ctx, after)
	if err != nil || !ok {
		return nil, err
	}
	return &scan.Gap{After: start, Through: end}, nil
}
