package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Settings say how much is measured, and with what.
type Settings struct {
	Updates                  int           // of the history that is measured with
	HugeUpdates, HugeBytes   int           // of the history with a huge update, and that update
	AnalyticsUpdates         int           // of the history that questions are asked of
	Kills                    int           // of the product, to measure restarts
	Hours                    int           // segments that are closed one after another
	Lifetimes, LiveContracts int           // of which active sets are read; those that have not ended
	Binary                   string        // the product; built from this module when empty
	Work                     string        // an existing folder, which is kept; a temporary one when empty
	Quiet                    time.Duration // without merges after which the engine counts as settled
}

// Lab holds what several measurements share, made when first needed.
type Lab struct {
	Settings
	report *Report
	Stderr io.Writer
	began  time.Time
	dir    string
	ours   bool // whether dir is removed at the end

	upstream *Network
	lake     *Loaded // the product's load with lifetimes, its store is in lakeDir
}

func newLab(s Settings, stderr io.Writer) (*Lab, error) {
	l := &Lab{Settings: s, report: &Report{Updates: s.Updates}, Stderr: stderr, began: time.Now(), dir: s.Work}
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
func (l *Lab) close() error {
	var err error
	if l.upstream != nil {
		err = l.upstream.Stop()
	}
	if l.ours {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}

// Say prints a line of progress.
func (l *Lab) Say(format string, args ...any) {
	fmt.Fprintf(l.Stderr, "%6.1fs  %s\n", time.Since(l.began).Seconds(), fmt.Sprintf(format, args...))
}

// Folder is the path of a folder, or a file, that a piece works in.
func (l *Lab) Folder(name string) string { return filepath.Join(l.dir, name) }

// LakeData is the data folder of the store that Ingested fills.
func (l *Lab) LakeData() string { return l.Folder("lake") }

// LakeDir is the folder of its engine.
func (l *Lab) LakeDir() string { return filepath.Join(l.LakeData(), "engine") }

// Network returns the network that all measurements but huge read from.
func (l *Lab) Network(ctx context.Context) (*Network, error) {
	if l.upstream != nil {
		return l.upstream, nil
	}
	n, err := l.StartNetwork(ctx, NetworkTask{Dir: l.Folder("network"), Updates: l.Updates})
	if err != nil {
		return nil, err
	}
	l.upstream = n
	return n, nil
}

// StartNetwork starts another network. The caller stops it.
func (l *Lab) StartNetwork(ctx context.Context, task NetworkTask) (*Network, error) {
	l.Say("preparing a network of %d updates", task.Updates)
	c, err := startChild(ctx, roleNetwork, task, l.Stderr)
	if err != nil {
		return nil, err
	}
	n := &Network{process: c}
	if err := c.answer(n); err != nil {
		return nil, err
	}
	return n, nil
}

// Ingested returns the load of the whole history with lifetimes; its store is kept.
func (l *Lab) Ingested(ctx context.Context) (*Loaded, error) {
	if l.lake != nil {
		return l.lake, nil
	}
	n, err := l.Network(ctx)
	if err != nil {
		return nil, err
	}
	l.lake, err = l.Load(ctx, "the product", RoleIngest, n, LoadTask{Dir: l.LakeDir(), Lifetimes: true})
	return l.lake, err
}

// Load has a part, named for people, load the history of n and checks that all rows arrived.
func (l *Lab) Load(ctx context.Context, what, role string, n *Network, task LoadTask) (*Loaded, error) {
	task.URL, task.NetworkPID, task.Quiet = n.URL, n.PID, l.Quiet
	l.Say("loading: %s", what)
	got, err := Ask[Loaded](ctx, role, task, l.Stderr)
	if err != nil {
		return nil, err
	}
	l.report.Engine = got.Engine
	l.Say("loaded in %.1f s; %.1f s of processor with all merges", got.Seconds, got.Settled.Total())
	return &got, n.checkRows(&got)
}

// checkRows compares the rows of the history tables with what the network served.
func (n *Network) checkRows(l *Loaded) error {
	var errs []error
	for _, table := range HistoryTables {
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
