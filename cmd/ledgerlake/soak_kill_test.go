package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
)

// killing is an episode with real processes: the product with its engine, killed with
// SIGKILL at moments that the seed draws, over an upstream with faults.
type killing struct {
	*episode
	data string
}

const (
	// killSpan is about what the product takes from its start to the end of this history.
	killSpan     = 900 * time.Millisecond
	processLimit = 3 * time.Minute
	// An export takes from exportKillStart, when its engine is up, for about exportKillSpan.
	exportKillStart = 700 * time.Millisecond
	exportKillSpan  = 1500 * time.Millisecond
)

func (l *lab) runKill(ctx context.Context, seed faults.Seed, ofNode bool) (result, *episode) {
	res := result{kind: "kill"}
	extent := faults.Extent{Requests: l.extent.Requests}
	if ofNode {
		extent = faults.Extent{Requests: l.node.extent.Requests, Frames: l.node.extent.Frames}
	}
	ep := &killing{episode: l.newEpisode(seed, faults.NewPlan(seed, extent))}
	if ofNode {
		ep.node = new(nodeShape)
	}
	if err := ep.run(ctx, &res); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	res.fired = ep.tally.Total()
	return res, ep.episode
}

func (ep *killing) run(ctx context.Context, res *result) (err error) {
	if ep.data, err = os.MkdirTemp(ep.dir, "kill-"); err != nil {
		return fmt.Errorf("making a data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(ep.data)) }()
	upstream := faults.HTTPConfig{
		Name: "upstream", Target: ep.lab.upstream, Faults: ep.plan.Upstream, PageLimit: ep.shape.pageLimit, Tally: &ep.tally,
	}
	if ep.node != nil {
		upstream = ep.nodeUpstream()
		upstream.Tokens = false // one that a process is given does not change
	}
	ep.upstream, err = faults.NewHTTP(upstream)
	if err != nil {
		return err
	}
	ep.closers = append(ep.closers, ep.upstream.Close)
	r := ep.seed.Rand("kills")
	ingest := []string{"ingest", "--once", "--data", ep.data, "--scan-url", ep.upstream.URL(), "--log-level", "debug", "--follow-interval", "20ms"}
	if ep.node != nil {
		ingest = []string{"ingest", "--once", "--data", ep.data, "--node-url", ep.upstream.URL(), "--log-level", "debug"}
	}
	for range 2 + r.IntN(4) {
		after := time.Duration(r.Int64N(int64(killSpan)))
		if err := ep.process(ctx, after, ingest...); err != nil {
			ep.diary.note("a life ended by itself: %v", err)
		}
	}
	ep.upstream.Pass()
	if err := ep.process(ctx, 0, ingest...); err != nil {
		return fmt.Errorf("life without faults: %w", err)
	}
	if err := ep.verify(ctx, res); err != nil || ep.node != nil {
		return err
	}
	return ep.export(ctx, res)
}

// export publishes what was ingested in lives that are killed, and compares the objects with
// those of an undisturbed export.
func (ep *killing) export(ctx context.Context, res *result) error {
	r := ep.seed.Rand("export kills")
	args := []string{"export", "--data", ep.data, "--log-level", "debug"}
	for range 2 + r.IntN(4) {
		if err := ep.process(ctx, exportKillStart+time.Duration(r.Int64N(int64(exportKillSpan))), args...); err != nil {
			ep.diary.note("an export ended by itself: %v", err)
		}
	}
	if err := ep.process(ctx, 0, args...); err != nil {
		return fmt.Errorf("export without faults: %w", err)
	}
	gateway, err := bucket.StartGateway(ctx, bucket.GatewayConfig{DataDir: filepath.Join(ep.data, "bucket"), Log: ep.logger()})
	if err != nil {
		return err
	}
	client, err := bucket.New(ctx, gateway.Config("ledgerlake"))
	if err != nil {
		return errors.Join(err, gateway.Close())
	}
	got, err := digestsIn(ctx, client)
	if err := errors.Join(err, gateway.Close()); err != nil {
		return err
	}
	ep.lab.compareObjects(got, res)
	return nil
}

// process runs the product, to its end if after is 0, else kills it then.
func (ep *killing) process(ctx context.Context, after time.Duration, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, processLimit)
	defer cancel()
	cmd, err := productCommand(ctx, args...)
	if err != nil {
		return err
	}
	cmd.Stderr = &ep.diary
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the product: %w", err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() {
			if cmd.Process.Kill() == nil {
				ep.tally.Add("process: kill -9")
			}
		})
		defer timer.Stop()
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && after > 0 {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return nil
		}
	}
	return err
}

// productCommand is this test binary as the product.
func productCommand(ctx context.Context, args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the product: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	return cmd, nil
}

// verify compares the store with the network.
func (ep *killing) verify(ctx context.Context, res *result) error {
	e, err := engine.Start(ctx, engine.Config{DataDir: filepath.Join(ep.data, "engine"), StopGrace: app.StopTimeout, Log: ep.logger()})
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, e.DSN())
	if err != nil {
		return errors.Join(err, e.Stop(ctx))
	}
	served := ep.served
	if ep.node != nil {
		served = ep.lab.node.served
	}
	report, err := digests(ctx, db, ep.stream())
	db.Close()
	if err := errors.Join(err, e.Stop(ctx)); err != nil {
		return err
	}
	for _, d := range verify.Differences("the network", served, "the store", report.Total) {
		res.findings = append(res.findings, d)
		res.damage.changed++
	}
	return nil
}
