package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is compared with lookups and pages.
var Postgres = Comparator{"Postgres", "apt-get install postgresql", func() error {
	_, err := postgresFolder()
	return err
}}

const postgresStart = 30 * time.Second

// PostgresServer is a Postgres with an empty database, on loopback, for comparison.
type PostgresServer struct {
	cmd *exec.Cmd
	DSN string
}

// StartPostgres starts the Postgres that is installed, which refuses to run as root.
func (l *Lab) StartPostgres(ctx context.Context) (*PostgresServer, error) {
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
		cmd.SysProcAttr, cmd.Dir, cmd.Stderr = &syscall.SysProcAttr{Credential: who}, dir, l.Stderr
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
	s := &PostgresServer{
		cmd: run("postgres", "-D", data, "-k", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-c", "fsync=off", "-c", "shared_buffers=2GB", "-c", "max_wal_size=8GB"),
		DSN: fmt.Sprintf("postgres://bench@127.0.0.1:%d/postgres", port),
	}
	s.cmd.Stderr = nil // its log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting Postgres: %w", err)
	}
	return s, Until(ctx, 50*time.Millisecond, postgresStart, "starting Postgres", func() (bool, error) {
		conn, err := pgx.Connect(ctx, s.DSN)
		if err != nil {
			return false, ctx.Err()
		}
		return true, conn.Close(ctx)
	})
}

// Stop ends Postgres at once and removes its folder.
func (s *PostgresServer) Stop() error {
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
		return "", errors.New("no Postgres is installed")
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
		return nil, fmt.Errorf("looking for a user other than root to run Postgres: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}
