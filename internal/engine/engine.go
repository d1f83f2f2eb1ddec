package engine

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledgerlake/ledgerlake/internal/child"
)

// startAttempts bounds how often Start tries other free ports. Losing one between
// choosing and binding is rare, losing several in a row means something else is wrong.
const startAttempts = 5

// cancelTimeout bounds how long Stop tries to cancel queries before it goes on.
const cancelTimeout = 2 * time.Second

// Engine is a running embedded ClickHouse. When its process ends by itself it is started
// again, with everything where it was. Its methods are safe for concurrent use.
type Engine struct {
	*child.Supervisor
	cfg      Config
	loc      Location
	ports    ports
	keys     passwords
	settings string // path of the engine's configuration
	lock     *flock.Flock
	relay    *relay
}

// Start runs an engine on cfg.DataDir and returns when it answers queries. ctx bounds
// the start only; the engine runs until Stop, or until this process ends in any way.
//
// Errors wrap ErrMissing, ErrInUse or ErrPortTaken where these apply; others carry the
// last lines of the engine's log.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	loc, err := Locate(cfg.Library, cfg.SearchRoots)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o755); err != nil {
		return nil, fmt.Errorf("creating engine data folder: %w", err)
	}
	lock, err := lockFolder(ctx, cfg.DataDir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	e := &Engine{cfg: cfg, loc: loc, lock: lock}
	first, err := e.run(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	e.Supervisor = child.Supervise(ctx, child.Config{
		Name: "engine", Log: cfg.Log.With("data", cfg.DataDir), Again: e.restart,
		StartTimeout: cfg.StartTimeout, StopTimeout: cfg.StopGrace, BeforeStop: e.cancelQueries, Release: e.release, MaxDeaths: cfg.maxDeaths,
	}, first)
	cfg.Log.InfoContext(ctx, "engine started", slog.Int("pid", e.PID()), slog.String("addr", e.Addr()),
		slog.String("data", cfg.DataDir), slog.String("engine", loc.Path), slog.Duration("elapsed", time.Since(began)))
	return e, nil
}

// run brings the child up in the locked folder, and the relay in front of it.
func (e *Engine) run(ctx context.Context) (*child.Process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.StartTimeout,
		fmt.Errorf("no answer within %s", e.cfg.StartTimeout))
	defer cancel()
	if err := awaitPredecessor(ctx, e.cfg.DataDir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(storeDir(e.cfg.DataDir), 0o700); err != nil {
		return nil, fmt.Errorf("creating engine store: %w", err)
	}
	e.keys = newPasswords()
	if e.cfg.Cluster != nil {
		e.keys.owner = e.cfg.Cluster.Password
	}
	var err error
	if e.settings, err = writeSettings(e.cfg, e.keys); err != nil {
		return nil, err
	}
	host, port, err := e.cfg.address()
	if err != nil {
		return nil, err
	}
	listener, err := claim(host, port)
	if err != nil {
		return nil, err
	}
	first, err := e.runOnPorts(ctx)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	e.relay = newRelay(listener, e.backend(), e.cfg.Log)
	if err := writeDSNs(e.cfg.DataDir, e.ReaderDSN(), e.OwnerDSN()); err != nil {
		return nil, errors.Join(err, e.relay.close(), first.Kill())
	}
	return first, nil
}

// address is where the relay listens: as a shard where the others look for this one.
func (c *Config) address() (host string, port int, err error) {
	if c.Cluster == nil {
		return loopback, c.TCPPort, nil
	}
	own := c.Cluster.shards()[c.Cluster.Own]
	port, err = strconv.Atoi(own.Port)
	return own.Host, port, err
}

// runOnPorts tries ports until the child listens on them.
func (e *Engine) runOnPorts(ctx context.Context) (*child.Process, error) {
	for attempt := 1; ; attempt++ {
		ports, err := e.cfg.pickPorts(e.cfg)
		if err != nil {
			return nil, err
		}
		e.ports = ports
		p, err := e.attempt(ctx)
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return p, err
		}
		if fixed := e.cfg.HTTPPort; fixed != 0 && strings.Contains(err.Error(), ":"+strconv.Itoa(fixed)+" ") {
			return nil, portTaken(fixed)
		}
		if attempt == startAttempts {
			return nil, fmt.Errorf("finding free ports, %d attempts: %w", attempt, err)
		}
	}
}

// attempt starts one child and waits until it answers.
func (e *Engine) attempt(ctx context.Context) (*child.Process, error) {
	p, err := launch(e.cfg, e.loc, e.ports, e.settings)
	if err != nil {
		return nil, err
	}
	if err := e.awaitAnswer(ctx, p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}

func (e *Engine) awaitAnswer(ctx context.Context, p *child.Process) error {
	if err := awaitListening(ctx, p); err != nil {
		return err
	}
	conn, err := Open(ctx, e.DSN())
	if err != nil {
		return fmt.Errorf("%w; end of the engine's log: %s", err, p.LogTail())
	}
	if err := conn.Close(); err != nil {
		return fmt.Errorf("closing the first connection: %w", err)
	}
	return nil
}

// restart starts the child once more.
func (e *Engine) restart(ctx context.Context) (*child.Process, error) {
	if err := awaitPredecessor(ctx, e.cfg.DataDir); err != nil {
		return nil, err
	}
	return e.attempt(ctx)
}

// release frees the folder when the engine is gone for good.
func (e *Engine) release() error {
	if err := errors.Join(e.relay.close(), removeDSNs(e.cfg.DataDir), e.lock.Unlock()); err != nil {
		return fmt.Errorf("releasing data folder %s: %w", e.cfg.DataDir, err)
	}
	return nil
}

// Stop ends the engine and releases its data folder. Queries that still run are
// cancelled. An engine that has not ended when ctx does, or after StopGrace, is killed,
// which costs no acknowledged row, and Stop then returns an error. Further calls wait
// for the first and return what it did; so does a call after the engine was given up.
func (e *Engine) Stop(ctx context.Context) error {
	return errors.Join(e.Supervisor.Stop(ctx), e.Err())
}

// cancelQueries asks the engine to give up the queries in progress. Left to itself it
// waits five seconds for them at the end.
func (e *Engine) cancelQueries(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	const others = "KILL QUERY WHERE user IN ('" + userName + "', '" + readerName + "') AND query_id != queryID() ASYNC FORMAT Null"
	conn, err := Open(ctx, e.DSN())
	if err == nil {
		err = errors.Join(conn.Exec(ctx, others), conn.Close())
	}
	if err != nil { // not fatal: they cost the stop some seconds
		e.cfg.Log.WarnContext(ctx, "cancelling queries failed", "err", err, "data", e.cfg.DataDir)
	}
}

// Addr is the address of the native protocol for other processes, such as
// "127.0.0.1:40123". A relay listens there, which lets nobody reach the engine who does not
// know a password.
func (e *Engine) Addr() string { return e.relay.addr() }

// HTTPAddr is the address of the HTTP protocol, such as "127.38.2.197:8123", "" without
// Config.HTTPPort.
func (e *Engine) HTTPAddr() string {
	if e.ports.http == 0 {
		return ""
	}
	return net.JoinHostPort(e.ports.host, strconv.Itoa(e.ports.http))
}

// DSN is the data source name of the engine itself, for this process: with all rights, the
// password, and no relay in between. Never log it (see MaskDSN) or hand it out.
func (e *Engine) DSN() string {
	return dataSource(userName, e.keys.owner, net.JoinHostPort(e.ports.host, strconv.Itoa(e.ports.tcp)))
}

// OwnerDSN is the data source name for other processes of ours that write. It has the
// password.
func (e *Engine) OwnerDSN() string { return dataSource(userName, e.keys.owner, e.Addr()) }

// ReaderDSN is the data source name of a user who may only read. It has the password.
func (e *Engine) ReaderDSN() string { return dataSource(readerName, e.keys.reader, e.Addr()) }

func dataSource(user, password, addr string) string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(user, password), Host: addr, Path: "/default"}
	return u.String()
}

// passwords are those of the engine's two users, new at every start.
type passwords struct{ owner, reader string }

func newPasswords() passwords { return passwords{owner: newPassword(), reader: newPassword()} }

// newPassword is random and safe in a DSN.
func newPassword() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails: it ends the process instead
	return base64.RawURLEncoding.EncodeToString(b)
}
