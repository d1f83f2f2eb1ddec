package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// ClusterName is what the engines of Servers call their cluster.
const ClusterName = "shards"

// Servers are engines that the product is pointed at: one, or the shards of a cluster.
type Servers struct {
	engines []*engine.Engine
	began   float64 // processor time of all before the load, in seconds
}

// StartServers starts as many engines, each in a folder within dir. One alone is no cluster. The caller
// closes them.
func StartServers(ctx context.Context, dir string, n int) (s *Servers, err error) {
	s = new(Servers)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	addrs, err := freeAddrs(n)
	if err != nil {
		return s, err
	}
	for own := range n {
		cfg := engine.Config{DataDir: filepath.Join(dir, fmt.Sprint(own+1)), MaxMemory: 4 << 30, Log: NewLogger()}
		if n > 1 {
			cfg.Cluster = &engine.Cluster{Name: ClusterName, Shards: addrs, Own: own, Password: "of-the-shards"}
		}
		e, err := engine.Start(ctx, cfg)
		if err != nil {
			return s, err
		}
		s.engines = append(s.engines, e)
	}
	s.began, err = s.cpu()
	return s, err
}

// freeAddrs are addresses of this machine at which nobody listens.
func freeAddrs(n int) (addrs []string, err error) {
	pid := os.Getpid()
	for i := range n {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.%d.%d.%d:0", 121+i, pid>>8&0xff, 1+pid%254))
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		addrs = append(addrs, l.Addr().String())
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// DSN names the database that the product uses.
func (s *Servers) DSN() string { return s.engines[0].OwnerDSN() }

// Options are what points the product at the engines, with another folder for its own data.
func (s *Servers) Options(data string) []string {
	options := []string{"--data", data, "--clickhouse-dsn", s.DSN()}
	if len(s.engines) > 1 {
		options = append(options, "--clickhouse-cluster", ClusterName)
	}
	return options
}

// cpu is the processor time of all engines.
func (s *Servers) cpu() (total float64, err error) {
	for _, e := range s.engines {
		seconds, err := CPUSeconds(e.PID())
		if err != nil {
			return 0, err
		}
		total += seconds
	}
	return total, nil
}

// CPU is the processor time that the engines have used since they were started.
func (s *Servers) CPU() (float64, error) {
	now, err := s.cpu()
	return now - s.began, err
}

// Kill kills an engine, counted from 0; it is started again by itself.
func (s *Servers) Kill(n int) error { return syscall.Kill(s.engines[n].PID(), syscall.SIGKILL) }

// Contents are the sums over the rows of the history tables.
func (s *Servers) Contents(ctx context.Context) (string, error) {
	cluster := ""
	if len(s.engines) > 1 {
		cluster = ClusterName
	}
	dsn, err := store.ReaderDSN(s.DSN(), cluster)
	if err != nil {
		return "", err
	}
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return "", err
	}
	one := &EngineStore{Conn: conn}
	sums, err := one.sums(ctx)
	if err := errors.Join(err, conn.Close()); err != nil {
		return "", err
	}
	var list []string
	for _, table := range HistoryTables {
		list = append(list, fmt.Sprintf("%s %016x", table, sums[table]))
	}
	return strings.Join(list, ", "), nil
}

// Close stops the engines.
func (s *Servers) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for _, e := range s.engines {
		errs = append(errs, e.Stop(ctx))
	}
	return errors.Join(errs...)
}
