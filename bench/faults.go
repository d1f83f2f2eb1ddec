package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/faults"
)

// minFaultyShare is the least that export through faults may reach of export without.
const minFaultyShare = 0.7

// exportFaults are those of a store that export goes on beside.
var exportFaults = faults.Rates{Errors: 0.1, Lost: 0.05, Truncated: 0.05}

// measureFaults exports the same store three times through a proxy, which refuses requests, loses
// replies and cuts them the second time and passes everything on the others, the faster of which
// counts. All buckets must hold the same objects in the end.
func measureFaults(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	lake := l.Folder("faults-lake")
	if err := l.Fill(ctx, n.URL, lake); err != nil {
		return err
	}
	gateway, err := bucket.StartGateway(ctx, bucket.GatewayConfig{DataDir: l.Folder("faults-bucket"), Log: lab.NewLogger()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gateway.Close()) }()
	var runs []through
	for _, run := range []struct {
		bucket string
		rates  faults.Rates
	}{{"clean", faults.Rates{}}, {"faulty", exportFaults}, {"clean-again", faults.Rates{}}} {
		got, err := exportThrough(ctx, l, lake, gateway, run.bucket, run.rates)
		if err != nil {
			return err
		}
		if len(got.objects) == 0 || len(runs) > 0 && !maps.Equal(got.objects, runs[0].objects) {
			return fmt.Errorf("%d objects in bucket %s: they differ from those of the first export", len(got.objects), run.bucket)
		}
		runs = append(runs, got)
	}
	faulty, clean := runs[1], min(runs[0].seconds, runs[2].seconds)
	s.Add("objects, the same with and without faults", float64(len(faulty.objects)), "")
	s.Add("requests that met a fault", float64(faulty.faults), "")
	s.Add("of so many requests", float64(faulty.requests), "")
	s.Add("export of all closed days, both layouts", clean, "s")
	s.Add("export through faults", faulty.seconds, "s")
	s.AtLeast(minFaultyShare, "throughput through faults / without", clean/faulty.seconds, "")
	return nil
}

// through is an export through a proxy.
type through struct {
	seconds          float64
	requests, faults int
	objects          map[string][32]byte // their SHA-256 by key
}

// exportThrough exports a copy of a data folder into a bucket behind a proxy.
func exportThrough(ctx context.Context, l *lab.Lab, lake string, g *bucket.Gateway, name string, rates faults.Rates) (t through, err error) {
	to := g.Config(name)
	copied := lake + "-" + name
	if err := os.CopyFS(copied, os.DirFS(lake)); err != nil {
		return t, fmt.Errorf("copying the store: %w", err)
	}
	client, err := bucket.New(ctx, to)
	if err != nil {
		return t, err
	}
	if err := client.EnsureBucket(ctx); err != nil {
		return t, err
	}
	proxy, err := faults.NewFlaky(to.Endpoint, lab.NetworkSeed, rates)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	l.Say("exporting through a proxy into bucket %s", name)
	begin := time.Now()
	if err := l.Run(ctx, "export", "--data", copied, "--s3-endpoint", proxy.URL(), "--s3-bucket", name,
		"--s3-access-key", to.AccessKey, "--s3-secret-key", to.SecretKey); err != nil {
		return t, err
	}
	t.seconds = time.Since(begin).Seconds()
	t.requests, t.faults = proxy.Counts()
	t.objects, err = folderSums(os.DirFS(g.Folder(name)))
	return t, err
}

// folderSums returns the digest of each file of a folder.
func folderSums(folder fs.FS) (sums map[string][32]byte, err error) {
	sums = make(map[string][32]byte)
	err = fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(folder, path)
		sums[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the objects: %w", err)
	}
	return sums, nil
}
