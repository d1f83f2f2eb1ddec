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
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// startAttempts bounds how often Start tries other free ports. Losing one between
// choosing and binding is rare, losing several in a row means something else is wrong.
const startAttempts = 5

// cancelTimeout bounds how long Stop tries to cancel queries before it goes on.
const cancelTimeout = 2 * time.Second

// Engine is a running embedded ClickHouse. When its process ends by itself it is started
// again, with everything where it was. Its methods are safe for concurrent use.
type Engine struct {
	cfg      Config
	loc      Location
	ports    ports
	keys     passwords
	settings string // path of the engine's configuration
	lock     *flock.Flock
	relay    *relay
	server   atomic.Pointer[server] // the child, or the last one

	done     chan struct{}      // closed when the child is gone for good and the folder is released
	stopping context.CancelFunc // says that the next end of the child is asked for
	changing sync.Mutex         // held while a child is started again, and while one is stopped
	stopOnce sync.Once
	stopErr  error // valid once Stop has returned
	err      error // valid once done is closed
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
	kept, stopping := context.WithCancel(context.WithoutCancel(ctx))
	e := &Engine{cfg: cfg, loc: loc, lock: lock, done: make(chan struct{}), stopping: stopping}
	if err := e.run(ctx); err != nil {
		stopping()
		return nil, errors.Join(err, lock.Unlock())
	}
	guard.Go(func() error { return e.keep(kept) }, e.release)
	return e, nil
}

// run brings the child up in the locked folder, and the relay in front of it.
func (e *Engine) run(ctx context.Context) error {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.StartTimeout,
		fmt.Errorf("no answer within %s", e.cfg.StartTimeout))
	defer cancel()
	if err := awaitPredecessor(ctx, e.cfg.DataDir); err != nil {
		return err
	}
	if err := os.MkdirAll(storeDir(e.cfg.DataDir), 0o700); err != nil {
		return fmt.Errorf("creating engine store: %w", err)
	}
	e.keys = newPasswords()
	var err error
	if e.settings, err = writeSettings(e.cfg, e.keys); err != nil {
		return err
	}
	listener, err := claim(loopback, e.cfg.TCPPort)
	if err != nil {
		return err
	}
	if err := e.runOnPorts(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	e.relay = newRelay(listener, e.backend(), e.cfg.Log)
	if err := writeDSNs(e.cfg.DataDir, e.ReaderDSN(), e.OwnerDSN()); err != nil {
		return errors.Join(err, e.relay.close(), e.server.Load().abort())
	}
	e.cfg.Log.InfoContext(ctx, "engine started", slog.Int("pid", e.PID()), slog.String("addr", e.Addr()),
		slog.String("data", e.cfg.DataDir), slog.String("engine", e.loc.Path), slog.Duration("elapsed", time.Since(began)))
	return nil
}

// runOnPorts tries ports until the child listens on them.
func (e *Engine) runOnPorts(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		p, err := e.cfg.pickPorts(e.cfg)
		if err != nil {
			return err
		}
		e.ports = p
		err = e.attempt(ctx)
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
		if fixed := e.cfg.HTTPPort; fixed != 0 && strings.Contains(err.Error(), ":"+strconv.Itoa(fixed)+" ") {
			return portTaken(fixed)
		}
		if attempt == startAttempts {
			return fmt.Errorf("finding free ports, %d attempts: %w", attempt, err)
		}
	}
}

// attempt starts one child and waits until it answers.
func (e *Engine) attempt(ctx context.Context) error {
	s, err := launch(e.cfg, e.loc, e.ports, e.settings)
	if err != nil {
		return err
	}
	if err := e.settle(ctx, s); err != nil {
		return errors.Join(err, s.abort())
	}
	e.server.Store(s)
	return nil
}

func (e *Engine) settle(ctx context.Context, s *server) error {
	if err := s.awaitListening(ctx); err != nil {
		return err
	}
	conn, err := Open(ctx, e.DSN())
	if err != nil {
		return fmt.Errorf("%w; end of the engine's log: %s", err, s.log.tail())
	}
	if err := conn.Close(); err != nil {
		return fmt.Errorf("closing the first connection: %w", err)
	}
	return nil
}

// Stop ends the engine and releases its data folder. Queries that still run are
// cancelled. An engine that has not ended when ctx does, or after StopGrace, is killed,
// which costs no acknowledged row, and Stop then returns an error. Further calls wait
// for the first and return what it did; so does a call after the engine was given up.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopOnce.Do(func() {
		e.stopping()
		ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.StopGrace,
			fmt.Errorf("still running after %s", e.cfg.StopGrace))
		defer cancel()
		e.stopErr = e.end(ctx)
		<-e.done
		e.stopErr = errors.Join(e.stopErr, e.err)
	})
	return e.stopErr
}

// end ends the child, if there is one.
func (e *Engine) end(ctx context.Context) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	if err := e.cancelQueries(ctx); err != nil { // not fatal: they cost the stop some seconds
		e.cfg.Log.WarnContext(ctx, "cancelling queries failed", "err", err, "data", e.cfg.DataDir)
	}
	return e.server.Load().stop(ctx)
}

// cancelQueries asks the engine to give up the queries in progress. Left to itself it
// waits five seconds for them at the end.
func (e *Engine) cancelQueries(ctx context.Context) error {
	select {
	case <-e.server.Load().done:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	conn, err := Open(ctx, e.DSN())
	if err != nil {
		return err
	}
	const others = "KILL QUERY WHERE user IN ('" + userName + "', '" + readerName + "') AND query_id != queryID() ASYNC FORMAT Null"
	return errors.Join(conn.Exec(ctx, others), conn.Close())
}

// Done is closed when the engine has ended, by Stop or because it was given up, and its
// data folder is free.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err is nil while the engine runs or is being started again, and after Stop ended it, else
// it says how the engine ended by itself the last time.
func (e *Engine) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
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

// PID is the process id of the child. It changes when the engine is started again.
func (e *Engine) PID() int { return e.server.Load().cmd.Process.Pid }

// passwords are those of the engine's two users, new at every start.
type passwords struct{ owner, reader string }

func newPasswords() passwords { return passwords{owner: newPassword(), reader: newPassword()} }

// newPassword is random and safe in a DSN.
func newPassword() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails: it ends the process instead
	return base64.RawURLEncoding.EncodeToString(b)
}
