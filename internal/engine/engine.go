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
	"time"

	"github.com/gofrs/flock"
)

// startAttempts bounds how often Start tries other free ports. Losing one between
// choosing and binding is rare, losing several in a row means something else is wrong.
const startAttempts = 5

// cancelTimeout bounds how long Stop tries to cancel queries before it goes on.
const cancelTimeout = 2 * time.Second

// Engine is a running embedded ClickHouse. Its methods are safe for concurrent use.
type Engine struct {
	cfg      Config
	loc      Location
	ports    ports
	password string
	lock     *flock.Flock
	server   *server

	done     chan struct{} // closed when the child is gone and the folder is released
	stopping chan struct{} // closed by the first Stop
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
	e := &Engine{cfg: cfg, loc: loc, lock: lock, done: make(chan struct{}), stopping: make(chan struct{})}
	if err := e.run(ctx); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	go e.watch()
	return e, nil
}

// run brings the child up in the locked folder.
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
	e.password = newPassword()
	configFile, err := writeSettings(e.cfg, e.password)
	if err != nil {
		return err
	}
	if err := e.runOnPorts(ctx, configFile); err != nil {
		return err
	}
	e.cfg.Log.InfoContext(ctx, "engine started", slog.Int("pid", e.PID()), slog.String("addr", e.Addr()),
		slog.String("data", e.cfg.DataDir), slog.String("engine", e.loc.Path), slog.Duration("elapsed", time.Since(began)))
	return nil
}

// runOnPorts tries ports until the child listens on them.
func (e *Engine) runOnPorts(ctx context.Context, configFile string) error {
	for attempt := 1; ; attempt++ {
		p, err := e.cfg.pickPorts(e.cfg)
		if err != nil {
			return err
		}
		e.ports = p
		err = e.attempt(ctx, configFile)
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
		for _, fixed := range []int{e.cfg.TCPPort, e.cfg.HTTPPort} {
			if fixed != 0 && strings.Contains(err.Error(), ":"+strconv.Itoa(fixed)+" ") {
				return portTaken(fixed)
			}
		}
		if attempt == startAttempts {
			return fmt.Errorf("finding free ports, %d attempts: %w", attempt, err)
		}
	}
}

// attempt starts one child, waits until it answers, and publishes its address.
func (e *Engine) attempt(ctx context.Context, configFile string) error {
	s, err := launch(e.cfg, e.loc, e.ports, configFile)
	if err != nil {
		return err
	}
	if err := e.settle(ctx, s); err != nil {
		return errors.Join(err, s.abort())
	}
	e.server = s
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
	return writeDSN(e.cfg.DataDir, e.DSN())
}

// watch releases the folder when the child has ended and says why it did.
func (e *Engine) watch() {
	<-e.server.done
	select {
	case <-e.stopping:
	default:
		e.err = e.server.ended("by itself")
		e.cfg.Log.Error("engine ended by itself", "err", e.err, "data", e.cfg.DataDir)
	}
	if err := errors.Join(removeDSN(e.cfg.DataDir), e.lock.Unlock()); err != nil {
		e.err = errors.Join(e.err, fmt.Errorf("releasing data folder %s: %w", e.cfg.DataDir, err))
	}
	close(e.done)
}

// Stop ends the engine and releases its data folder. Queries that still run are
// cancelled. An engine that has not ended when ctx does, or after StopGrace, is killed,
// which costs no acknowledged row, and Stop then returns an error. Further calls wait
// for the first and return what it did; so does a call after the engine ended by itself.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopOnce.Do(func() {
		close(e.stopping)
		ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.StopGrace,
			fmt.Errorf("still running after %s", e.cfg.StopGrace))
		defer cancel()
		if err := e.cancelQueries(ctx); err != nil { // not fatal: they cost the stop some seconds
			e.cfg.Log.WarnContext(ctx, "cancelling queries failed", "err", err, "data", e.cfg.DataDir)
		}
		e.stopErr = e.server.stop(ctx)
		<-e.done
		e.stopErr = errors.Join(e.stopErr, e.err)
	})
	return e.stopErr
}

// cancelQueries asks the engine to give up the queries in progress. Left to itself it
// waits five seconds for them at the end.
func (e *Engine) cancelQueries(ctx context.Context) error {
	select {
	case <-e.server.done:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	conn, err := Open(ctx, e.DSN())
	if err != nil {
		return err
	}
	const others = "KILL QUERY WHERE user = currentUser() AND query_id != queryID() ASYNC FORMAT Null"
	return errors.Join(conn.Exec(ctx, others), conn.Close())
}

// Done is closed when the engine has ended, by Stop or by itself, and its data folder
// is free.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err is nil while the engine runs and after Stop ended it, else it says why the engine
// ended by itself.
func (e *Engine) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

// Addr is the address of the native protocol, such as "127.0.0.1:40123".
func (e *Engine) Addr() string { return net.JoinHostPort(loopback, strconv.Itoa(e.ports.tcp)) }

// HTTPAddr is the address of the HTTP protocol, such as "127.0.0.1:40124".
func (e *Engine) HTTPAddr() string { return net.JoinHostPort(loopback, strconv.Itoa(e.ports.http)) }

// DSN is the data source name for Open, with the password: never log it (see MaskDSN).
func (e *Engine) DSN() string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(userName, e.password), Host: e.Addr(), Path: "/default"}
	return u.String()
}

// PID is the process id of the child.
func (e *Engine) PID() int { return e.server.cmd.Process.Pid }

// newPassword is random and safe in a DSN.
func newPassword() string {
	b := make([]byte, 24)
	rand.Read(b) // never fails: it ends the process instead
	return base64.RawURLEncoding.EncodeToString(b)
}
