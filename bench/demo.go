package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"
)

// maxDemoSeconds is the most that the demo may take, downloads not included.
const maxDemoSeconds = 60

// demoOutcome is the part of the last line of `ledgerlake demo --json` that is of
// interest here.
type demoOutcome struct {
	Seconds       map[string]float64 `json:"seconds"`
	ParquetBytes  int64              `json:"parquet_bytes"`
	JSONZstdBytes int64              `json:"json_zstd_bytes"`
	Verify        struct {
		OK bool `json:"ok"`
	} `json:"verify"`
}

// measureDemo runs the demo as a person would.
func measureDemo(ctx context.Context, l *lab, r *report) error {
	binary, err := l.productBinary(ctx)
	if err != nil {
		return err
	}
	s, err := r.section("demo")
	if err != nil {
		return err
	}
	l.say("demo")
	begin := time.Now()
	outcome, err := l.runDemo(ctx, binary)
	if err != nil {
		return err
	}
	s.atMost(maxDemoSeconds, "wall time of ledgerlake demo", time.Since(begin).Seconds(), "s")
	for _, step := range []string{"devnet", "ingest", "export", "verify"} {
		s.add("of that: "+step, outcome.Seconds[step], "s")
	}
	s.add("Parquet objects of closed days", float64(outcome.ParquetBytes)/megabyte, "MB")
	s.add("network's layout of closed days, one encoding", float64(outcome.JSONZstdBytes)/megabyte, "MB")
	return nil
}

// productBinary is the given binary, or one that is built from this module.
func (l *lab) productBinary(ctx context.Context) (string, error) {
	if l.binary != "" {
		return l.binary, nil
	}
	l.say("building ledgerlake")
	path := l.folder("ledgerlake")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/ledgerlake/ledgerlake/cmd/ledgerlake")
	build.Stderr = l.stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building ledgerlake: %w", err)
	}
	return path, nil
}

// runProduct runs a subcommand to its end.
func (l *lab) runProduct(ctx context.Context, binary string, args ...string) error {
	cmd := exec.CommandContext(ctx, binary, append(args, "--log-level", "error")...)
	cmd.Stderr = l.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s %s: %w", binary, args[0], err)
	}
	return nil
}

func (l *lab) runDemo(ctx context.Context, binary string) (*demoOutcome, error) {
	var stdout bytes.Buffer
	demo := exec.CommandContext(ctx, binary, "demo", "--json", "--updates", strconv.Itoa(l.updates), "--data", l.folder("demo"))
	demo.Stdout, demo.Stderr = &stdout, l.stderr
	if err := demo.Run(); err != nil {
		return nil, fmt.Errorf("running %s demo: %w", binary, err)
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte{'\n'})
	var outcome demoOutcome
	if err := json.Unmarshal(lines[len(lines)-1], &outcome); err != nil {
		return nil, fmt.Errorf("reading the summary of the demo: %w", err)
	}
	if !outcome.Verify.OK {
		return nil, errors.New("the demo ended without a successful verification")
	}
	return &outcome, nil
}
