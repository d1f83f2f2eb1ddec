package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// standbyLab is a network that never rests, with a ClickHouse for several ingests of it.
type standbyLab struct {
	t                *testing.T
	dsn              string // of a ClickHouse that is no process' own
	ledger           *devnet.Ledger
	scanURL, nodeURL string
	node             string // name of the node's stream
	quiet            func() // has the network rest
}

// labPause is how long the network pauses between its updates. All processes of a lab read each commit,
// and their queries are most of what a test with one costs.
var labPause = time.Duration(schematest.Rounds(1000, 200)) * time.Millisecond

func newStandbyLab(t *testing.T) *standbyLab {
	t.Helper()
	needEngine(t)
	dir := t.TempDir()
	startEngine(t, dir)
	dsn, err := os.ReadFile(filepath.Join(dir, "engine-owner.dsn")) // by way of the relay, as processes end that use it
	if err != nil {
		t.Fatal(err)
	}
	l := &standbyLab{t: t, dsn: strings.TrimSpace(string(dsn))}
	l.ledger, l.scanURL, l.nodeURL = networkWithNode(t, 400)
	l.node = schemas.NodeStream(l.ledger.NodeDigests().ParticipantID)
	ctx, stop := context.WithCancel(t.Context())
	var advancing sync.WaitGroup
	advancing.Go(func() {
		for pace := time.NewTicker(labPause); ; {
			select {
			case <-ctx.Done():
				pace.Stop()
				return
			case <-pace.C:
			}
			if err := l.ledger.Advance(ctx, 3); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	l.quiet = func() { stop(); advancing.Wait() }
	t.Cleanup(l.quiet)
	return l
}

// standbyIngest is one of the ingests of a lab.
type standbyIngest struct {
	*ledgerlake
	lab    *standbyLab
	status string // URL
}

func (l *standbyLab) ingest() *standbyIngest {
	l.t.Helper()
	p := start(l.t, "ingest", "--clickhouse-dsn", l.dsn, "--scan-url", l.scanURL, "--node-url", l.nodeURL, "--lookup-rows",
		"--status-listen", "127.0.0.1:0", "--follow-interval", "250ms")
	return &standbyIngest{p, l, statusURL(l.t, p)}
}

// streams are what the process reports, by name.
func (p *standbyIngest) streams() map[string]app.StreamReport {
	p.lab.t.Helper()
	var reports []app.StreamReport
	if err := json.Unmarshal([]byte(get(p.lab.t, p.status+"/streams?format=json")), &reports); err != nil {
		p.lab.t.Fatal(err)
	}
	byName := make(map[string]app.StreamReport)
	for _, r := range reports {
		byName[r.Stream] = r
	}
	return byName
}

// isStandby and writes are phases to wait for.
func isStandby(phase string) bool { return phase == "standby" }
func writes(phase string) bool    { return phase == "history" || phase == "following" }

// phase waits until both streams are in a phase, and returns how long that took.
func (p *standbyIngest) phase(want func(string) bool) time.Duration {
	p.lab.t.Helper()
	begin := time.Now()
	for {
		streams, there := p.streams(), true
		for _, name := range []string{schemas.ScanStream, p.lab.node} {
			live := streams[name].Live
			there = there && live != nil && want(live.Phase)
		}
		if there {
			return time.Since(begin)
		}
		if time.Since(begin) > time.Minute {
			p.lab.t.Fatalf("after a minute it is not in the phase: %+v\n%s", streams, tail(p.stderr.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// commits waits until each of the streams, and what is derived of it, has more batches than before.
func (p *standbyIngest) commits(before map[string]app.StreamReport) time.Duration {
	p.lab.t.Helper()
	begin := time.Now()
	for {
		now, more := p.streams(), true
		for _, name := range []string{schemas.ScanStream, schemas.ScanStream + "/contracts", p.lab.node, p.lab.node + "/contracts", p.lab.node + "/wallet"} {
			more = more && now[name].Batches > before[name].Batches
		}
		if more {
			return time.Since(begin)
		}
		if time.Since(begin) > time.Minute {
			p.lab.t.Fatalf("nothing new was committed for a minute: before %+v, now %+v\n%s", before, now, tail(p.stderr.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (p *standbyIngest) signal(signal syscall.Signal) {
	p.lab.t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		p.lab.t.Fatal(err)
	}
}

// takesOver waits until the process reads the streams to write them, and returns how long that took, and how long until it has
// committed something to every stream.
func (p *standbyIngest) takesOver() (reads, commits time.Duration) {
	p.lab.t.Helper()
	begin, before := time.Now(), p.streams()
	reads = p.phase(writes)
	p.commits(before)
	return reads, time.Since(begin)
}

// check verifies all that the store has, and compares it with the network, which rests.
func (l *standbyLab) check() {
	l.t.Helper()
	mustRun(l.t, "ingest", "--once", "--clickhouse-dsn", l.dsn, "--scan-url", l.scanURL, "--node-url", l.nodeURL, "--lookup-rows")
	v := parse[app.Verification](l.t, mustRun(l.t, "verify", "--json", "--clickhouse-dsn", l.dsn, "--data", l.t.TempDir()))
	if !v.OK || len(v.Streams) != 1 {
		l.t.Fatalf("verification: %+v", v)
	}
	node, err := app.TablesOf(l.ledger.NodeDigests().Tables)
	if err != nil {
		l.t.Fatal(err)
	}
	diff := append(verify.Differences("the network", served(l.t, l.ledger), "the store", v.Tables),
		verify.Differences("the node", node, "the store", v.Streams[0].Tables)...)
	if len(diff) > 0 {
		l.t.Fatal(strings.Join(diff, "\n"))
	}
}

// lateLines counts what writers wrote to the journal after others had claimed their streams.
func (l *standbyLab) lateLines() (lines uint64) {
	l.t.Helper()
	conn, err := engine.Open(l.t.Context(), l.dsn)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close()
	err = conn.QueryRow(l.t.Context(), `SELECT count() FROM batches AS late
		INNER JOIN (SELECT stream, epoch, written_at FROM batches WHERE state = 'claim') AS claim ON late.stream = claim.stream
		WHERE late.state != 'claim' AND late.epoch < claim.epoch AND late.written_at > claim.written_at`).Scan(&lines)
	if err != nil {
		l.t.Fatal(err)
	}
	return lines
}

// TestStandbyTakesOver runs two ingests of the same streams into one ClickHouse: one writes and the
// other one waits. The first is killed, stopped and continued, and ended, with a new one in its place
// each time. It takes some half a minute: a standby waits for seconds before it takes over.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	l := newStandbyLab(t)
	writer := l.ingest()
	writer.phase(writes)
	random := rand.New(rand.NewPCG(1, 2))
	// replaced has a standby take over from the writer when something happens to it.
	replaced := func(what string, happens func()) (left *standbyIngest) {
		t.Helper()
		standby := l.ingest()
		standby.phase(isStandby)
		contains(t, "page", get(t, standby.status+"/streams"), "standby waits for", fmt.Sprintf("process %d\n", writer.Process.Pid))
		contains(t, "metrics", get(t, standby.status+"/metrics"),
			`ledgerlake_stream_phase{phase="standby",stream="scan"} 1`, fmt.Sprintf(`ledgerlake_stream_phase{phase="standby",stream="%s"} 1`, l.node))
		contains(t, "log", standby.stderr.String(), "standby: another process writes the stream", fmt.Sprintf("process %d", writer.Process.Pid))
		writer.commits(writer.streams())
		time.Sleep(time.Duration(random.Int64N(int64(time.Second)))) // at any moment between two signs of life
		happens()
		reads, commits := standby.takesOver()
		t.Logf("%s: the standby reads the streams after %s, and has committed to all of them after %s", what, reads.Round(time.Millisecond), commits.Round(time.Millisecond))
		left, writer = writer, standby
		return left
	}
	for range schematest.Rounds(1, 20) {
		replaced("kill -9", func() { writer.signal(syscall.SIGKILL); _ = writer.Wait() })
	}
	for range schematest.Rounds(1, 10) {
		stopped := replaced("SIGSTOP", func() { writer.signal(syscall.SIGSTOP) })
		stopped.signal(syscall.SIGCONT)
		stopped.phase(isStandby)
		contains(t, "log", stopped.stderr.String(), "lost the stream to another process")
		if !writes(writer.streams()["scan"].Live.Phase) {
			t.Error("the one that took over no longer writes")
		}
		if late := l.lateLines(); late > 0 {
			t.Errorf("writers that were replaced wrote %d lines to the journal", late)
		}
		// It takes over again when the other one ends.
		over := writer
		over.signal(syscall.SIGTERM)
		reads, commits := stopped.takesOver()
		t.Logf("SIGTERM: the one that was stopped reads the streams after %s, and has committed to all of them after %s", reads.Round(time.Millisecond), commits.Round(time.Millisecond))
		if err := over.Wait(); err != nil {
			t.Errorf("it did not end cleanly: %v\n%s", err, tail(over.stderr.String()))
		}
		writer = stopped
	}
	// Commands that do not wait take the streams over, and the one that wrote goes on afterwards.
	for _, args := range [][]string{{"rebuild", "wallets"}, {"ingest", "--once", "--scan-url", l.scanURL, "--node-url", l.nodeURL}} {
		mustRun(t, append(args, "--clickhouse-dsn", l.dsn)...)
		writer.phase(writes)
		writer.commits(writer.streams())
	}
	contains(t, "log", writer.stderr.String(), "lost the stream to another process")
	l.quiet()
	writer.signal(syscall.SIGTERM)
	if err := writer.Wait(); err != nil {
		t.Errorf("it did not end cleanly: %v\n%s", err, tail(writer.stderr.String()))
	}
	l.check()
}
