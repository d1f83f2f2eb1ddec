package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"golang.org/x/sync/errgroup"
)

const (
	// minDownloadRatio is the least that downloads may reach of a static file server's.
	minDownloadRatio = 0.8
	downloadBytes    = 4 << 30
	downloadClients  = 4
)

// measureDownload fetches the largest published object over and over from the query tier, and
// the same file from nginx.
func measureDownload(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	dir := l.Folder("download-lake")
	if err := l.Fill(ctx, n.URL, dir); err != nil {
		return err
	}
	if err := l.Run(ctx, "export", "--data", dir, "--bulk-layouts", "parquet"); err != nil {
		return err
	}
	objects := filepath.Join(dir, "bucket", "objects", "ledgerlake")
	key, size, err := largestObject(objects)
	if err != nil {
		return err
	}
	l.Say("downloading %s", key)
	ours, err := downloadOurs(ctx, l, dir, key, size)
	if err != nil {
		return err
	}
	var static downloaded
	if l.Has(lab.Nginx) {
		l.Say("downloading it from nginx")
		if static, err = downloadStatic(ctx, l, objects, key, size); err != nil {
			return err
		}
	}
	beside := l.Beside(s, lab.Nginx)
	s.Add("size of the object", float64(size)/lab.Megabyte, "MB")
	s.Add("download from the query tier", ours.rate/lab.Megabyte, "MB/s")
	beside.Add("download from nginx", static.rate/lab.Megabyte, "MB/s")
	beside.AtLeast(minDownloadRatio, "query tier / nginx", ours.rate/static.rate, "")
	s.Add("processor time of the query tier and the gateway, for each GB", ours.cpu, "s")
	beside.Add("processor time of nginx, for each GB", static.cpu, "s")
	// What counts on a machine that does other things as well.
	beside.Add("bytes for each second of processor time, query tier / nginx", static.cpu/ours.cpu, "")
	return nil
}

// downloaded is what fetching an object many times took.
type downloaded struct {
	rate float64 // bytes a second
	cpu  float64 // seconds of the servers' processors for each GB
}

// largestObject returns the key of the largest Parquet object below a folder.
func largestObject(dir string) (key string, size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".parquet") {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() > size {
			key, size = path, info.Size()
		}
		return err
	})
	if err != nil {
		return "", 0, fmt.Errorf("looking for objects: %w", err)
	}
	if size == 0 {
		return "", 0, fmt.Errorf("there are no objects in %s", dir)
	}
	key, err = filepath.Rel(dir, key)
	return filepath.ToSlash(key), size, err
}

func downloadOurs(ctx context.Context, l *lab.Lab, dir, key string, size int64) (got downloaded, err error) {
	p, err := l.Serve(ctx, dir)
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	return downloadMany(ctx, p.URL+"/api/scan/v0/history/bulk/download/"+url.PathEscape(key), size, func() (float64, error) {
		return lab.FamilyCPU(p.Cmd.Process.Pid)
	})
}

// downloadStatic fetches the object from nginx.
func downloadStatic(ctx context.Context, l *lab.Lab, objects, key string, size int64) (got downloaded, err error) {
	server, err := l.StartNginx(ctx, objects)
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return downloadMany(ctx, server.URL+"/"+key, size, func() (float64, error) { return lab.FamilyCPU(server.Cmd.Process.Pid) })
}

// downloadMany fetches an object from several clients at once until downloadBytes have come.
func downloadMany(ctx context.Context, target string, size int64, cpu func() (float64, error)) (got downloaded, err error) {
	before, err := cpu()
	if err != nil {
		return got, err
	}
	var left atomic.Int64
	left.Store((downloadBytes + size - 1) / size)
	total := left.Load() * size
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range downloadClients {
		group.Go(func() error {
			for left.Add(-1) >= 0 {
				if err := downloadOnce(ctx, target, size); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return got, err
	}
	got.rate = float64(total) / time.Since(began).Seconds()
	after, err := cpu()
	got.cpu = (after - before) / (float64(total) / 1e9)
	return got, err
}

func downloadOnce(ctx context.Context, target string, size int64) error {
	body, err := lab.Get(ctx, target, "identity")
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, body)
	if err := errors.Join(err, body.Close()); err != nil || n != size {
		return fmt.Errorf("%s gave %d of %d bytes: %w", target, n, size, errors.Join(io.ErrUnexpectedEOF, err))
	}
	return nil
}
