package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// settings say how much is measured, and with what.
type settings struct {
	updates                  int           // of the history that is measured with
	hugeUpdates, hugeBytes   int           // of the history with a huge update, and that update
	kills                    int           // of the product, to measure restarts
	hours                    int           // segments that are closed one after another
	lifetimes, liveContracts int           // of which active sets are read; those that have not ended
	binary                   string        // the product; built from this module when empty
	work                     string        // an existing folder, which is kept; a temporary one when empty
	quiet                    time.Duration // without merges after which the engine counts as settled
}

// lab holds what several measurements share, made when first needed.
type lab struct {
	settings
	report *report
	stderr io.Writer
	began  time.Time
	dir    string
	ours   bool // whether dir is removed at the end

	upstream *network
	lake     *loaded // the product's load with lifetimes, its store is in lakeDir
}

func newLab(s settings, stderr io.Writer) (*lab, error) {
	l := &lab{settings: s, report: &report{Updates: s.updates}, stderr: stderr, began: time.Now(), dir: s.work}
	if l.dir != "" {
		return l, nil
	}
	dir, err := os.MkdirTemp("", "ledgerlake-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w", err)
	}
	l.dir, l.ours = dir, true
	return l, nil
}

// close ends the network and removes the folder, if it is ours.
func (l *lab) close() error {
	var err error
	if l.upstream != nil {
		err = l.upstream.process.end()
	}
	if l.ours {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}

// say prints a line of progress.
func (l *lab) say(format string, args ...any) {
	fmt.Fprintf(l.stderr, "%6.1fs  %s\n", time.Since(l.began).Seconds(), fmt.Sprintf(format, args...))
}

func (l *lab) folder(name string) string { return filepath.Join(l.dir, name) }

// lakeData is the product's data folder, and lakeDir its engine's.
func (l *lab) lakeData() string { return l.folder("lake") }

func (l *lab) lakeDir() string { return filepath.Join(l.lakeData(), "engine") }

// network returns the network that all measurements but huge read from.
func (l *lab) network(ctx context.Context) (*network, error) {
	if l.upstream != nil {
		return l.upstream, nil
	}
	n, err := l.startNetwork(ctx, networkTask{Dir: l.folder("network"), Updates: l.updates})
	if err != nil {
		return nil, err
	}
	l.upstream = n
	return n, nil
}

func (l *lab) startNetwork(ctx context.Context, task networkTask) (*network, error) {
	l.say("preparing a network of %d updates", task.Updates)
	c, err := startChild(ctx, roleNetwork, task, l.stderr)
	if err != nil {
		return nil, err
	}
	n := &network{process: c}
	if err := c.answer(n); err != nil {
		return nil, err
	}
	return n, nil
}

// ingested returns the load of the whole history with lifetimes; its store is kept.
func (l *lab) ingested(ctx context.Context) (*loaded, error) {
	if l.lake != nil {
		return l.lake, nil
	}
	n, err := l.network(ctx)
	if err != nil {
		return nil, err
	}
	l.lake, err = l.load(ctx, "the product", roleIngest, n, loadTask{Dir: l.lakeDir(), Lifetimes: true})
	return l.lake, err
}

// load has a part, named for people, load the history of n and checks that all rows arrived.
func (l *lab) load(ctx context.Context, what, role string, n *network, task loadTask) (*loaded, error) {
	task.URL, task.NetworkPID, task.Quiet = n.URL, n.PID, l.quiet
	l.say("loading: %s", what)
	got, err := ask[loaded](ctx, role, task, l.stderr)
	if err != nil {
		return nil, err
	}
	l.report.Engine = got.Engine
	l.say("loaded in %.1f s; %.1f s of processor with all merges", got.Seconds, got.Settled.total())
	return &got, n.checkRows(&got)
}

// checkRows compares the rows of the history tables with what the network served.
func (n *network) checkRows(l *loaded) error {
	var errs []error
	for _, table := range historyTables {
		got, want := l.Tables[table].Rows, n.Rows[table]
		if table == "events" {
			got += l.Unassignments
		}
		if got != want {
			errs = append(errs, fmt.Errorf("table %s has %d rows, the network served %d", table, got, want))
		}
	}
	return errors.Join(errs...)
}
