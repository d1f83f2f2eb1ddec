package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

const (
	// minVerifyRatio is how many times faster than ingested a store must be verified.
	minVerifyRatio = 5
	verifyRuns     = 3
)

// verified is what one verification took, the start and the end of the engine included.
type verified struct {
	seconds float64 // wall time
	cpu     float64 // processor time, the engine's included
}

// measureVerify checks the store that ingest has filled, with all checks that need nothing
// but the store.
func measureVerify(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	got, err := l.Ingested(ctx)
	if err != nil {
		return err
	}
	var runs []verified
	for range verifyRuns {
		l.Say("verifying the store")
		run, err := verify(ctx, l, l.LakeData(), n.Rows["updates"])
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	slices.SortFunc(runs, func(a, b verified) int { return int((a.seconds - b.seconds) * 1e6) })
	median, updates := runs[len(runs)/2], float64(n.Rows["updates"])
	s.Add("wall time of ledgerlake verify, median of 3", median.seconds, "s")
	s.Add("processor time of it, with the engine", median.cpu, "s")
	s.Add("updates", updates/median.seconds, "1/s")
	s.AtLeast(minVerifyRatio, "times the rate of ingest", got.Seconds/median.seconds, "")
	s.Add("processor time of ingest / of verify", got.Cost.Total()/median.cpu, "")
	return nil
}

// verify runs the product's verification once. It must find nothing, in so many updates.
func verify(ctx context.Context, l *lab.Lab, data string, updates uint64) (verified, error) {
	var stdout bytes.Buffer
	cmd := l.Command(ctx, "verify", "--data", data, "--check", "batches,hashes,lifetimes,coins", "--json")
	cmd.Stdout = &stdout
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return verified{}, fmt.Errorf("running ledgerlake verify: %w", err)
	}
	took := verified{time.Since(begin).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	var report struct {
		OK     bool `json:"ok"`
		Checks []struct {
			Name    string            `json:"name"`
			Checked map[string]uint64 `json:"checked"`
		} `json:"checks"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		return took, fmt.Errorf("reading the report of verify: %w", err)
	}
	if !report.OK {
		return took, errors.New("the store that was ingested has findings")
	}
	for _, c := range report.Checks {
		if c.Name == "batches" && c.Checked["items"] < updates {
			return took, fmt.Errorf("verify read %d items, but the network served %d updates", c.Checked["items"], updates)
		}
	}
	return took, nil
}
