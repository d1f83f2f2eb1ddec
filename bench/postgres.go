package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

const (
	postgresConnections = 16
	postgresStart       = 30 * time.Second
)

// postgresServer is a Postgres with an empty database, on loopback, for comparison.
type postgresServer struct {
	cmd *exec.Cmd
	dsn string
}

// postgresLookups loads a network's events as rows of JSONB and looks them up by update id,
// once each, and returns how many that makes a second.
func (l *lab) postgresLookups(ctx context.Context, url string, ids []string) (rate float64, err error) {
	l.say("loading the history into Postgres")
	server, err := l.startPostgres(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	config, err := pgxpool.ParseConfig(server.dsn)
	if err != nil {
		return 0, err
	}
	config.MaxConns = postgresConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	if err := loadPostgres(ctx, pool, url); err != nil {
		return 0, fmt.Errorf("loading Postgres: %w", err)
	}
	ids = ids[:min(coldLookups, len(ids))]
	begin := time.Now()
	if err := lookUpPostgres(ctx, pool, ids); err != nil {
		return 0, fmt.Errorf("looking up rows in Postgres: %w", err)
	}
	return float64(len(ids)) / time.Since(begin).Seconds(), nil
}

// startPostgres starts the Postgres that is installed, which refuses to run as root.
func (l *lab) startPostgres(ctx context.Context) (*postgresServer, error) {
	bin, err := postgresFolder()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ledgerlake-postgres-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for Postgres: %w", err)
	}
	who, err := postgresUser(dir)
	if err != nil {
		return nil, err
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.SysProcAttr, cmd.Dir, cmd.Stderr = &syscall.SysProcAttr{Credential: who}, dir, l.stderr
		return cmd
	}
	data := filepath.Join(dir, "data")
	if err := run("initdb", "-D", data, "-U", "bench", "--auth=trust", "--no-sync").Run(); err != nil {
		return nil, fmt.Errorf("making a database for Postgres: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &postgresServer{
		cmd: run("postgres", "-D", data, "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-c", "fsync=off", "-c", "shared_buffers=2GB", "-c", "max_wal_size=8GB"),
		dsn: fmt.Sprintf("postgres://bench@127.0.0.1:%d/postgres", port),
	}
	s.cmd.Stderr = nil // its log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting Postgres: %w", err)
	}
	return s, until(ctx, 50*time.Millisecond, postgresStart, "starting Postgres", func() (bool, error) {
		conn, err := pgx.Connect(ctx, s.dsn)
		if err != nil {
			return false, ctx.Err()
		}
		return true, conn.Close(ctx)
	})
}

// stop ends Postgres at once and removes its folder.
func (s *postgresServer) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("stopping Postgres: %w", err)
	}
	_ = s.cmd.Wait() // says that it was interrupted
	return os.RemoveAll(s.cmd.Dir)
}

// postgresFolder has the programs of the newest Postgres that is installed.
func postgresFolder() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errors.New("there is no Postgres to compare with: install it (apt install postgresql)")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// postgresUser gives dir to the user that Postgres runs as: the current one, or, of root,
// the one that its package makes.
func postgresUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("looking for another user than root to run Postgres as: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

// loadPostgres makes the table that anybody would: a row for each event, by update id.
func loadPostgres(ctx context.Context, pool *pgxpool.Pool, url string) error {
	if _, err := pool.Exec(ctx, `CREATE TABLE events (update_id text PRIMARY KEY, event jsonb NOT NULL)`); err != nil {
		return err
	}
	const perCopy = 5000
	var rows [][]any
	flush := func() error {
		_, err := pool.CopyFrom(ctx, pgx.Identifier{"events"}, []string{"update_id", "event"}, pgx.CopyFromRows(rows))
		rows = rows[:0]
		return err
	}
	err := eachEvent(ctx, url, func(id string, event []byte) error {
		rows = append(rows, []any{id, event})
		if len(rows) < perCopy {
			return nil
		}
		return flush()
	})
	if err := errors.Join(err, flush()); err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `VACUUM ANALYZE events`)
	return err
}

func lookUpPostgres(ctx context.Context, pool *pgxpool.Pool, ids []string) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range postgresConnections {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ids) {
					return nil
				}
				var event []byte
				if err := pool.QueryRow(ctx, `SELECT event FROM events WHERE update_id = $1`, ids[i]).Scan(&event); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
