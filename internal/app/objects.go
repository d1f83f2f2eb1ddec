package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// objects is the object storage of a process, embedded or given, and what is published in it.
type objects struct {
	p  *process
	db *database

	bucket *bucket.Client
	// folder is that of the bucket's files, "" unless the gateway is our own.
	folder   string
	catalog  *published.Catalog // made on first use
	exporter *export.Exporter   // made on first use

	// reads says that the command reads objects and must not make a bucket for them.
	reads bool
}

// open connects to the object storage, embedded or given, and makes the bucket.
func (o *objects) open(ctx context.Context) error {
	cfg := o.p.cfg
	at := bucket.Config{
		Endpoint: cfg.S3Endpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket, Prefix: cfg.S3Prefix,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: true,
	}
	if cfg.S3Endpoint == "" {
		if o.reads {
			if err := probe.CheckFolder(cfg.Data, cfg.BucketFolder(), false); err != nil {
				return err
			}
		}
		gateway, err := bucket.StartGateway(ctx, bucket.GatewayConfig{DataDir: cfg.BucketFolder(), Log: o.p.log})
		if err != nil {
			return err
		}
		o.p.onClose(gateway.Close)
		o.p.deaths = append(o.p.deaths, death{"embedded S3 gateway", gateway.Done(), gateway.Err})
		at, o.folder = gateway.Config(cfg.S3Bucket), gateway.Folder(cfg.S3Bucket)
		at.Prefix = cfg.S3Prefix
	}
	if cfg.S3Endpoint != "" {
		if err := probe.Reach(ctx, "s3-endpoint", cfg.S3Endpoint); err != nil {
			return err
		}
	}
	client, err := bucket.New(ctx, at)
	if err != nil {
		return err
	}
	ready := client.EnsureBucket
	if o.reads {
		ready = client.CheckBucket
	}
	if err := ready(ctx); err != nil {
		return explainBucket(cfg, err)
	}
	o.bucket = client
	return nil
}

// explainBucket says why the object storage can't be used, and what to do.
func explainBucket(c *settings.Config, err error) error {
	switch {
	case errors.Is(err, bucket.ErrDenied):
		return fmt.Errorf("--s3-endpoint %s: the object storage refuses our keys: correct --s3-access-key and --s3-secret-key, or allow them bucket %s", settings.MaskURL(c.S3Endpoint), c.S3Bucket)
	case errors.Is(err, bucket.ErrNoBucket), errors.Is(err, bucket.ErrNotFound):
		return fmt.Errorf("--s3-bucket %s: the object storage has no such bucket: correct the name", c.S3Bucket)
	case c.S3Endpoint == "":
		return err
	}
	return fmt.Errorf("--s3-endpoint %s: the service there is not S3-compatible storage: correct the address: %w", settings.MaskURL(c.S3Endpoint), err)
}

// published returns the catalogue of what is published of the scan stream.
func (o *objects) published() (*published.Catalog, error) {
	if o.catalog != nil {
		return o.catalog, nil
	}
	catalog, err := published.New(published.Config{
		Tables: published.InStore(o.db.db, schemas.ScanStream), History: o.db.reader,
		Segments: schemas.SegmentLength(o.p.cfg.BulkSegments), Lookups: o.p.cfg.BulkLookups, Ahead: o.p.timeAhead(),
	})
	if err != nil {
		return nil, err
	}
	if err := catalog.CheckSegments(context.Background(), o.bucket); err != nil {
		return nil, segmentsHint(err)
	}
	o.catalog = catalog
	return catalog, nil
}

// newExporter returns the exporter of the scan stream over the store and the bucket.
func (o *objects) newExporter() (*export.Exporter, error) {
	if o.exporter != nil {
		return o.exporter, nil
	}
	temp := filepath.Join(o.p.cfg.Data, "tmp")
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, fmt.Errorf("creating a folder for unfinished objects: %w", err)
	}
	catalog, err := o.published()
	if err != nil {
		return nil, err
	}
	values, err := o.p.catalog()
	if err != nil {
		return nil, err
	}
	peers, err := o.exportPeers()
	if err != nil {
		return nil, err
	}
	cfg := export.Config{
		Source: o.db.reader, Catalog: catalog, Objects: o.bucket, TempDir: temp, Values: values, Log: o.p.log,
		Agree: o.p.cfg.ExportAgree, Peers: peers, Whole: o.db.lookForDamage,
	}
	if o.p.cfg.ExportIceberg {
		cfg.Iceberg = o.bucket
	}
	exporter, err := export.New(cfg)
	if err != nil {
		return nil, err
	}
	o.exporter = exporter
	return exporter, nil
}

// segmentsHint says what to do about a bucket with segments of another length.
func segmentsHint(err error) error {
	if errors.Is(err, published.ErrSegmentLength) {
		return fmt.Errorf("--bulk-segments differs from what this bucket was begun with: use that, or start a new bucket: %w", err)
	}
	return err
}

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
		peers = append(peers, client)
	}
	return peers, nil
}
