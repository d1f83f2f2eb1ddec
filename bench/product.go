package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// product is a running ledgerlake.
type product struct {
	cmd *exec.Cmd
	url string
}

// startProduct starts the binary and waits until it has printed a line that begins with
// prefix and holds its URL.
func startProduct(ctx context.Context, stderr io.Writer, prefix, binary string, args ...string) (*product, error) {
	cmd := exec.CommandContext(ctx, binary, append(args, "--log-level", "error")...)
	cmd.Stderr, cmd.WaitDelay = stderr, childGrace
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("opening the stdout of %s: %w", binary, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
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
	return nil, fmt.Errorf("%s ended before it served: %w", binary, errors.Join(lines.Err(), cmd.Wait()))
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

func getJSON(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return doJSON(request, into)
}

func doJSON(request *http.Request, into any) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// until calls so at an interval until it says true, an error, or timeout has passed.
func until(ctx context.Context, interval, timeout time.Duration, what string, so func() (bool, error)) error {
	deadline := time.Now().Add(timeout)
	for {
		ok, err := so()
		if err != nil || ok {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s took more than %s", what, timeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}
