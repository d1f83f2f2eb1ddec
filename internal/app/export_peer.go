package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
)

// exportPeer is the bulk storage of another operator.
type exportPeer struct{ client *scan.Client }

// exportPeerGiveUp ends the retries of one question: the export asks again later.
const exportPeerGiveUp = 20 * time.Second

// exportPeers are those of setting export-peer.
func (o *objects) exportPeers() ([]export.Peer, error) {
	cfg := o.p.cfg
	var peers []export.Peer
	for _, address := range cfg.ExportPeers {
		client, err := scan.NewClient(scan.ClientConfig{
			BaseURL: address, GiveUpAfter: exportPeerGiveUp, Version: o.p.build.Version, Log: o.p.log,
		})
		if err != nil {
			return nil, fmt.Errorf("--export-peer: %w", err)
		}
		peers = append(peers, exportPeer{client})
	}
	return peers, nil
}

// Name names the peer without credentials.
func (p exportPeer) Name() string { return p.client.Upstream() }

// Checksums asks for digests.
func (p exportPeer) Checksums(ctx context.Context, keys []string) ([]string, error) {
	return p.client.BulkChecksums(ctx, keys)
}
