package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Config says how to run an embedded engine. Only DataDir is required.
type Config struct {
	// DataDir is the folder of everything the engine keeps; created if absent. One
	// engine at a time uses it.
	DataDir string
	// Library is the engine to use: a shared library (libchdb.so), a clickhouse binary,
	// or a folder that holds one of them. Empty: the engine is looked for, see Locate.
	Library string
	// SearchRoots are the folders from which Locate walks upwards to find an installed
	// npm package. Defaults to the working directory and the folder of our executable.
	SearchRoots []string
	// Child are the leading arguments that make our executable call ChildMain with the
	// rest. Defaults to ChildCommand.
	Child []string

	// TCPPort is the port of 127.0.0.1 at which other processes reach the engine by the
	// native protocol; 0, the default, picks a free one.
	TCPPort int
	// HTTPPort is the port of the HTTP protocol, at the address that HTTPAddr tells; 0, the
	// default, is for none.
	HTTPPort int

	// Cluster makes the engine one shard of a cluster; nil, the default, leaves it alone.
	Cluster *Cluster

	// MaxMemory bounds the memory of the whole engine, in bytes; a query that would
	// exceed it fails. Defaults to 60 % of the machine's memory.
	MaxMemory int64
	// MaxThreads bounds the threads of one query. Defaults to one per core.
	MaxThreads int

	// StartTimeout bounds the time from process start to the first answer. Defaults to
	// 30s: 0.3s are usual, a cold disk has to read a library of 560 MB first.
	StartTimeout time.Duration
	// StopGrace is how long Stop waits for a clean end before it kills. Defaults to 10s.
	StopGrace time.Duration

	Log *slog.Logger // defaults to slog.Default()

	// noDeathSignal leaves the end of stdin as the only sign that the owner is gone, as
	// on systems without a parent death signal. For tests.
	noDeathSignal bool
	// maxDeaths is child.Config.MaxDeaths. For tests.
	maxDeaths int
	// pickPorts chooses the ports of one attempt; defaults to the function of that name.
	// For tests, which cannot otherwise lose the race for a port.
	pickPorts func(Config) (ports, error)
}

// withDefaults checks c and returns it completed, with absolute paths.
func (c Config) withDefaults() (Config, error) {
	if c.DataDir == "" {
		return c, errors.New("engine: DataDir is required")
	}
	if err := c.checkRanges(); err != nil {
		return c, err
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return c, fmt.Errorf("resolving engine data folder %s: %w", c.DataDir, err)
	}
	c.DataDir = dir
	if c.Child == nil {
		c.Child = []string{ChildCommand}
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = 30 * time.Second
	}
	if c.StopGrace == 0 {
		c.StopGrace = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.pickPorts == nil {
		c.pickPorts = pickPorts
	}
	return c, nil
}

func (c Config) checkRanges() error {
	for _, p := range []int{c.TCPPort, c.HTTPPort} {
		if p < 0 || p > 65535 {
			return fmt.Errorf("engine: port %d is not between 0 and 65535", p)
		}
	}
	if c.TCPPort != 0 && c.TCPPort == c.HTTPPort {
		return fmt.Errorf("engine: TCPPort and HTTPPort are both %d", c.TCPPort)
	}
	if c.MaxMemory < 0 || c.MaxThreads < 0 || c.StartTimeout < 0 || c.StopGrace < 0 {
		return errors.New("engine: MaxMemory, MaxThreads, StartTimeout and StopGrace cannot be negative")
	}
	return c.Cluster.check()
}

// defaultRoots are the working directory and the folder of our executable, as far as
// they can be told.
func defaultRoots() []string {
	var roots []string
	if wd, err := os.Getwd(); err == nil {
		roots = append(roots, wd)
	}
	if exe, err := os.Executable(); err == nil {
		roots = append(roots, filepath.Dir(exe))
	}
	return roots
}
