package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// leavingClientCount is how many clients visit in an episode.
const leavingClientCount = 250

// runLeavingClients is an episode in which clients leave early, beside ingest.
func (l *lab) runLeavingClients(ctx context.Context, seed faults.Seed) (result, *episode) {
	ep := l.newEpisode(seed, faults.Plan{})
	res := result{kind: "clients", fired: leavingClientCount}
	if err := ep.withFolder(func(data string) error { return ep.leavingClients(ctx, data, &res) }); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	return res, ep
}

// withFolder has work done in a folder that is removed after it.
func (ep *episode) withFolder(work func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(ep.dir, "people-")
	if err != nil {
		return fmt.Errorf("making a data folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return work(folder)
}

func (ep *episode) leavingClients(ctx context.Context, data string, res *result) error {
	h, err := openInstance(ctx, data, "--updates", "1000", "--live", strconv.Itoa(peopleRate))
	if err != nil {
		return err
	}
	c, err := newLeavingClients(ctx, h.scan, h.ledger)
	if err != nil {
		return errors.Join(err, h.close())
	}
	res.findings, err = h.visited(ctx, c, uint64(ep.seed), leavingClientCount)
	ep.diary.note("%s", c)
	return errors.Join(err, h.close())
}

// runOperator is an episode of the command line in the hands of people: commands in an odd order,
// two of them on one folder, each stopped by ctrl-C at any moment. What they leave behind is a
// folder on which the product works.
func (l *lab) runOperator(ctx context.Context, seed faults.Seed) (result, *episode) {
	ep := l.newEpisode(seed, faults.Plan{})
	res := result{kind: "operator"}
	o := operator{episode: ep, res: &res, random: seed.Rand("operator")}
	if err := ep.withFolder(func(data string) error { return o.work(ctx, data) }); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	return res, ep
}

type operator struct {
	*episode
	res    *result
	random *rand.Rand
	data   string
}

const (
	// commandTries is how many commands of an episode are stopped.
	commandTries = 6
	// stopsWithin is how long a command may take to end after ctrl-C.
	stopsWithin = time.Minute
)

// interruptSpan is the time within which ctrl-C comes.
var interruptSpan = time.Duration(schematest.Rounds(2500, 4000)) * time.Millisecond

// operatorNetwork has a day that is published and one that is not, and hardly goes on: at the rate of an
// instance with clients it would begin a new day, to be published as well, every ten seconds.
var operatorNetwork = []string{"--updates", "400", "--days", "2"}

const operatorRate = "2"

func (o *operator) work(ctx context.Context, data string) error {
	o.data = data
	up := slices.Concat([]string{"up", "--live", "0", "--listen", "127.0.0.1:0"}, operatorNetwork)
	o.stopped(ctx, up...)
	for range commandTries {
		o.stopped(ctx, o.command(up)...)
	}
	if err := o.beside(ctx); err != nil {
		return err
	}
	// The folder is whole: everything that was begun is brought to its end.
	for _, args := range [][]string{{"export"}, {"verify"}} {
		if out, err := o.run(ctx, 0, args...); err != nil {
			o.finding("%s after all that: %v\n%s", args[0], err, tail(out))
		}
	}
	return nil
}

// command draws a command.
func (o *operator) command(up []string) []string {
	list := [][]string{
		up, up,
		{"export"}, {"verify"}, {"verify", "--json"}, {"doctor"}, {"config"},
		{"sql", "SELECT count() FROM events"},
		{"serve", "--listen", "127.0.0.1:0"},
		{"worker"},
		{"get", "1220" + strings.Repeat("ab", 32)},
		{"rebuild", "wallets"},
		{"restore", "--data", filepath.Join(o.data, "..", "restored-"+strconv.Itoa(int(o.random.Int32())))},
		{"automation", "--dry-run"},
	}
	return list[o.random.IntN(len(list))]
}

// beside runs commands on a folder that another process uses.
func (o *operator) beside(ctx context.Context) error {
	instance, err := openInstance(ctx, o.data, append(operatorNetwork, "--live", operatorRate)...)
	if err != nil {
		return err
	}
	for range 3 {
		o.stopped(ctx, o.command(append([]string{"up"}, operatorNetwork...))...)
		if err := instance.alive(); err != nil {
			return err
		}
	}
	return instance.close()
}

// stopped runs a command and stops it by ctrl-C at some time, if it has not ended by then.
func (o *operator) stopped(ctx context.Context, args ...string) {
	after := time.Duration(o.random.Int64N(int64(interruptSpan)))
	o.res.fired++
	out, err := o.run(ctx, after, args...)
	o.diary.note("%s, ctrl-C after %s: %v\n%s", strings.Join(args, " "), after, err, tail(out))
	if errors.Is(err, errHangs) {
		o.finding("%s does not end after ctrl-C at %s\n%s", args[0], after, tail(out))
	}
	for _, word := range []string{"panic", "goroutine ", "runtime error", "SIGSEGV"} {
		if strings.Contains(out, word) {
			o.finding("%s stopped after %s says %q:\n%s", args[0], after, word, out)
			break
		}
	}
}

func (o *operator) finding(format string, args ...any) {
	o.res.findings = append(o.res.findings, fmt.Sprintf(format, args...))
}

// run runs a command on the folder, to its end if after is 0, and returns what it printed.
func (o *operator) run(ctx context.Context, after time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, processLimit)
	defer cancel()
	if !strings.Contains(strings.Join(args, " "), "--data") {
		args = append(args[:len(args):len(args)], "--data", o.data)
	}
	cmd, err := productCommand(ctx, args...)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = stopsWithin // a child that outlives it would hold its output open
	if err := cmd.Start(); err != nil {
		return "", err
	}
	late := false
	if after > 0 {
		interrupt := time.AfterFunc(after, func() { _ = cmd.Process.Signal(os.Interrupt) })
		defer interrupt.Stop()
		kill := time.AfterFunc(after+stopsWithin, func() { late = true; _ = cmd.Process.Signal(syscall.SIGQUIT) })
		defer kill.Stop()
	}
	err = cmd.Wait()
	switch {
	case late, errors.Is(err, exec.ErrWaitDelay), ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", errHangs, errors.Join(err, ctx.Err()))
	}
	return out.String(), err
}
