package app

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

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
