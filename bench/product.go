package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// product is a running ledgerlake.
type product struct {
	cmd *exec.Cmd
	url string
}

// build builds the product from this module, unless the settings name a binary.
func (l *lab) build(ctx context.Context) error {
	if l.binary != "" {
		return nil
	}
	l.say("building ledgerlake")
	path := l.folder("ledgerlake")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/ledgerlake/ledgerlake/cmd/ledgerlake")
	build.Stderr = l.stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building ledgerlake: %w", err)
	}
	l.binary = path
	return nil
}

// command is a subcommand of the product, which logs errors only.
func (l *lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.binary, append(args, "--log-level", "error")...)
	cmd.Stderr = l.stderr
	return cmd
}

// run runs a subcommand to its end.
func (l *lab) run(ctx context.Context, args ...string) error {
	if err := l.command(ctx, args...).Run(); err != nil {
		return fmt.Errorf("running ledgerlake %s: %w", args[0], err)
	}
	return nil
}

// fill ingests a history into a data folder, or what is new of it.
func (l *lab) fill(ctx context.Context, upstream, dir string, options ...string) error {
	l.say("ingesting into %s", dir)
	return l.run(ctx, append([]string{"ingest", "--once", "--data", dir, "--scan-url", upstream}, options...)...)
}

// serve starts the query tier over a data folder.
func (l *lab) serve(ctx context.Context, dir string, options ...string) (*product, error) {
	return l.start(ctx, "scan interface", append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, options...)...)
}

// start starts a subcommand that serves, and waits until it has printed a line that begins with
// prefix and holds its URL.
func (l *lab) start(ctx context.Context, prefix string, args ...string) (*product, error) {
	cmd := l.command(ctx, args...)
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
		return &product{cmd: cmd, url: "http://" + host}, nil
	}
	return nil, fmt.Errorf("ledgerlake ended before it served: %w", errors.Join(lines.Err(), cmd.Wait()))
}

// peakMiB is the largest resident set that the product has had.
func (p *product) peakMiB() (float64, error) {
	peak, err := peakBytes(p.cmd.Process.Pid)
	return float64(peak) / mebibyte, err
}

// stop asks the product to end and waits for it.
func (p *product) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the product: %w", err)
	}
	return p.cmd.Wait()
}

// kill ends the product as a power cut would.
func (p *product) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("killing the product: %w", err)
	}
	_ = p.cmd.Wait() // says that it was killed
	return nil
}

// stream is the part of a stream's report that is of interest here.
type stream struct {
	Stream  string `json:"stream"`
	Batches int64  `json:"batches"`
	Items   int64  `json:"items"`
	Live    struct {
		Phase   string `json:"phase"`
		Batches int64  `json:"batches"`
		Updates int64  `json:"updates"`
		Events  int64  `json:"events"`
	} `json:"live"`
}

// stream asks for the report on the stream whose name begins with prefix. It is without
// content as long as there is none.
func (p *product) stream(ctx context.Context, prefix string) (found stream, err error) {
	var all []stream
	if err := getJSON(ctx, p.url+"/streams?format=json", &all); err != nil {
		return found, err
	}
	for _, s := range all {
		if strings.HasPrefix(s.Stream, prefix) && !strings.HasSuffix(s.Stream, "/contracts") && !strings.HasSuffix(s.Stream, "/wallet") {
			return s, nil
		}
	}
	return found, nil
}
