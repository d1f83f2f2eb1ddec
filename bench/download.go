package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// minDownloadRatio is the least that downloads may reach of a static file server's.
	minDownloadRatio = 0.8
	downloadBytes    = 4 << 30
	downloadClients  = 4
	nginxStart       = 10 * time.Second
)

// measureDownload fetches the largest published object over and over from the query tier, and
// the same file from nginx.
func measureDownload(ctx context.Context, l *lab, r *report) error {
	binary, err := l.productBinary(ctx)
	if err != nil {
		return err
	}
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	dir := l.folder("download-lake")
	if err := l.fill(ctx, binary, n.URL, dir); err != nil {
		return err
	}
	if err := l.runProduct(ctx, binary, "export", "--data", dir, "--bulk-layouts", "parquet"); err != nil {
		return err
	}
	objects := filepath.Join(dir, "bucket", "objects", "ledgerlake")
	key, size, err := largestObject(objects)
	if err != nil {
		return err
	}
	s, err := r.section("download")
	if err != nil {
		return err
	}
	l.say("downloading %s", key)
	ours, err := l.downloadOurs(ctx, binary, dir, key, size)
	if err != nil {
		return err
	}
	l.say("downloading it from nginx")
	static, err := l.downloadStatic(ctx, objects, key, size)
	if err != nil {
		return err
	}
	s.add("size of the object", float64(size)/megabyte, "MB")
	s.add("download from the query tier", ours.rate/megabyte, "MB/s")
	s.add("download from nginx", static.rate/megabyte, "MB/s")
	s.atLeast(minDownloadRatio, "query tier / nginx", ours.rate/static.rate, "")
	s.add("processor time of the query tier and the gateway, for each GB", ours.cpu, "s")
	s.add("processor time of nginx, for each GB", static.cpu, "s")
	// What counts on a machine that does other things as well.
	s.add("bytes for each second of processor time, query tier / nginx", static.cpu/ours.cpu, "")
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

func (l *lab) downloadOurs(ctx context.Context, binary, dir, key string, size int64) (got downloaded, err error) {
	p, err := l.serve(ctx, binary, dir)
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	return downloadMany(ctx, p.url+"/api/scan/v0/history/bulk/download/"+url.PathEscape(key), size, func() (float64, error) {
		return familyCPU(p.cmd.Process.Pid)
	})
}

// downloadStatic serves the folder by nginx with its usual settings for files.
func (l *lab) downloadStatic(ctx context.Context, objects, key string, size int64) (got downloaded, err error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return got, fmt.Errorf("there is no nginx to compare with (apt install nginx-light): %w", err)
	}
	dir := l.folder("nginx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return got, fmt.Errorf("making a folder for nginx: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return got, err
	}
	account := ""
	if os.Getuid() == 0 {
		account = "user root;" // the objects are ours alone
	}
	conf := fmt.Sprintf(`%s
worker_processes auto;
daemon off;
pid %[2]s/nginx.pid;
error_log %[2]s/error.log;
events { worker_connections 512; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	client_body_temp_path %[2]s/body;
	proxy_temp_path %[2]s/proxy;
	fastcgi_temp_path %[2]s/fastcgi;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	server { listen 127.0.0.1:%[3]d; root %[4]s; }
}
`, account, dir, port, objects)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		return got, fmt.Errorf("configuring nginx: %w", err)
	}
	server := exec.CommandContext(ctx, program, "-c", file, "-e", filepath.Join(dir, "error.log"))
	server.Stderr = l.stderr
	if err := server.Start(); err != nil {
		return got, fmt.Errorf("starting nginx: %w", err)
	}
	defer func() {
		err = errors.Join(err, server.Process.Signal(syscall.SIGTERM), server.Wait())
	}()
	target := "http://127.0.0.1:" + strconv.Itoa(port) + "/" + key
	err = until(ctx, 50*time.Millisecond, nginxStart, "starting nginx", func() (bool, error) {
		response, err := http.Head(target)
		if err != nil {
			return false, ctx.Err()
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		return got, err
	}
	return downloadMany(ctx, target, size, func() (float64, error) { return familyCPU(server.Process.Pid) })
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

func downloadOnce(ctx context.Context, target string, size int64) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", target, response.Status)
	}
	if n, err := io.Copy(io.Discard, response.Body); err != nil || n != size {
		return fmt.Errorf("%s gave %d of %d bytes: %w", target, n, size, errors.Join(io.ErrUnexpectedEOF, err))
	}
	return nil
}

// familyCPU is the processor time of a process and of its children that are running.
func familyCPU(pid int) (float64, error) {
	total, err := cpuSeconds(pid)
	if err != nil {
		return 0, err
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	for _, path := range tasks {
		children, err := os.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("looking for the children of process %d: %w", pid, err)
		}
		for _, text := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(text)
			if err != nil {
				return 0, err
			}
			more, err := familyCPU(child)
			if err != nil {
				return 0, err
			}
			total += more
		}
	}
	return total, nil
}
