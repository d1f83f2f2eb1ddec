package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
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
func measureDemo(ctx context.Context, l *lab.Lab, s lab.Section) error {
	l.Say("demo")
	begin := time.Now()
	outcome, err := runDemo(ctx, l)
	if err != nil {
		return err
	}
	s.AtMost(maxDemoSeconds, "wall time of ledgerlake demo", time.Since(begin).Seconds(), "s")
	for _, step := range []string{"devnet", "ingest", "export", "verify"} {
		s.Add("of that: "+step, outcome.Seconds[step], "s")
	}
	s.Add("Parquet objects of closed days", float64(outcome.ParquetBytes)/lab.Megabyte, "MB")
	s.Add("network's layout of closed days, one encoding", float64(outcome.JSONZstdBytes)/lab.Megabyte, "MB")
	return nil
}

func runDemo(ctx context.Context, l *lab.Lab) (*demoOutcome, error) {
	var stdout bytes.Buffer
	demo := l.Command(ctx, "demo", "--json", "--updates", strconv.Itoa(l.Updates), "--data", l.Folder("demo"))
	demo.Stdout = &stdout
	if err := demo.Run(); err != nil {
		return nil, fmt.Errorf("running ledgerlake demo: %w", err)
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
