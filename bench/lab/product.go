package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
)

// Product is a running ledgerlake, or a server that it is compared with.
type Product struct {
	Cmd *exec.Cmd
	URL string
}

// build builds the product from this module as it is shipped, unless the settings name a binary.
func (l *Lab) build(ctx context.Context) error {
	if l.Binary != "" {
		return nil
	}
	l.Say("building ledgerlake")
	path := l.Folder("ledgerlake")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/ledgerlake/ledgerlake/cmd/ledgerlake")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), l.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building ledgerlake: %w", err)
	}
	l.Binary = path
	return nil
}

// Command is a subcommand of the product, which logs errors only.
func (l *Lab) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.Binary, append(args, "--log-level", "error")...)
	cmd.Stderr = l.Stderr
	return cmd
}

// Run runs a subcommand to its end.
func (l *Lab) Run(ctx context.Context, args ...string) error {
	if err := l.Command(ctx, args...).Run(); err != nil {
		return fmt.Errorf("running ledgerlake %s: %w", args[0], err)
	}
	return nil
}

// Fill ingests a history into a data folder, or what is new of it.
func (l *Lab) Fill(ctx context.Context, upstream, dir string, options ...string) error {
	l.Say("ingesting into %s", dir)
	return l.Run(ctx, append([]string{"ingest", "--once", "--data", dir, "--scan-url", upstream}, options...)...)
}

// Serve starts the query tier over a data folder.
func (l *Lab) Serve(ctx context.Context, dir string, options ...string) (*Product, error) {
	return l.Start(ctx, "scan interface", append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, options...)...)
}

// Start starts a subcommand that serves, and waits until it has printed a line that begins with
// prefix and holds its URL.
func (l *Lab) Start(ctx context.Context, prefix string, args ...string) (*Product, error) {
	cmd := l.Command(ctx, args...)
	cmd.WaitDelay = childGrace
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the stdout of ledgerlake: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ledgerlake: %w", err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		_, rest, ok := strings.Cut(lines.Text(), "http://")
		if !ok || !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		go func() { _, _ = io.Copy(io.Discard, stdout) }() // or the product would wait for a reader
		return &Product{Cmd: cmd, URL: "http://" + host}, nil
	}
	return nil, fmt.Errorf("ledgerlake ended before it served: %w", errors.Join(lines.Err(), cmd.Wait()))
}

// PeakMiB is the largest resident set that the product has had.
func (p *Product) PeakMiB() (float64, error) {
	peak, err := PeakBytes(p.Cmd.Process.Pid)
	return float64(peak) / Mebibyte, err
}

// Stop asks the product to end and waits for it.
func (p *Product) Stop() error {
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the product: %w", err)
	}
	return p.Cmd.Wait()
}

// Kill ends the product as a power cut would.
func (p *Product) Kill() error {
	if err := p.Cmd.Process.Kill(); err != nil {
		return fmt.Errorf("killing the product: %w", err)
	}
	_ = p.Cmd.Wait() // says that it was killed
	return nil
}

// Stream is the part of a stream's report that is of interest here.
type Stream struct {
	Stream  string `json:"stream"`
	Batches int64  `json:"batches"`
	Items   int64  `json:"items"`
	// WatermarkTime is the record time of its watermark.
	WatermarkTime time.Time `json:"watermark_record_time"`
	Live          struct {
		Phase   string `json:"phase"`
		Batches int64  `json:"batches"`
		Updates int64  `json:"updates"`
		Events  int64  `json:"events"`
	} `json:"live"`
}

// Stream asks for the report on the stream whose name begins with prefix. It is without
// content as long as there is none.
func (p *Product) Stream(ctx context.Context, prefix string) (found Stream, err error) {
	all, err := p.Streams(ctx)
	if err != nil {
		return found, err
	}
	for _, s := range all {
		if strings.HasPrefix(s.Stream, prefix) && !journal.IsDerived(s.Stream) {
			return s, nil
		}
	}
	return found, nil
}

// Streams returns all of its streams, with those that are derived from others.
func (p *Product) Streams(ctx context.Context) (all []Stream, err error) {
	return all, GetJSON(ctx, p.URL+"/streams?format=json", &all)
}
