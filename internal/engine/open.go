package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/native"
)

// Defaults of a connection, each of which the DSN may override by the parameter named.
const (
	dialTimeout  = 5 * time.Second // dial_timeout
	readTimeout  = 5 * time.Minute // read_timeout: silence of the server; it sends progress while it works
	maxOpenConns = 16              // max_open_conns
	maxIdleConns = 8               // max_idle_conns
	connLifetime = time.Hour       // conn_max_lifetime
)

// Open connects to the ClickHouse that a DSN names, embedded, single or one of a
// cluster, and pings it:
//
//	clickhouse://user:password@host:9000/database?dial_timeout=2s&max_execution_time=60
//
// ctx bounds the first connection only. The caller closes what it gets. Errors never
// contain the password.
func Open(ctx context.Context, dsn string) (driver.Conn, error) {
	opts, err := Options(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := clickhouse.Open(opts)
	if err != nil {
		return nil, fmt.Errorf("opening store %s: %w", MaskDSN(dsn), hide(err, opts.Auth.Password))
	}
	if err := conn.Ping(ctx); err != nil {
		return nil, errors.Join(explainConnect(opts, hide(err, opts.Auth.Password)), conn.Close())
	}
	return conn, nil
}

// Options are the driver options of a DSN, for callers that need another form of
// connection, such as database/sql. What the DSN leaves open gets our defaults:
// time-outs and pool sizes, synchronous deduplicated inserts, and compression except
// over loopback, where it only costs time.
//
// The settings are sent with every query, which a user with readonly = 1 may not do;
// give a read-only user readonly = 2.
func Options(dsn string) (*clickhouse.Options, error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("reading store address %s: %w", MaskDSN(dsn), hide(err, passwordOf(dsn)))
	}
	opts.DialTimeout = cmp.Or(opts.DialTimeout, dialTimeout)
	if dialer := (native.Dialer{Timeout: opts.DialTimeout}); opts.TLS == nil {
		opts.DialContext = func(ctx context.Context, addr string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }
	}
	opts.ReadTimeout = cmp.Or(opts.ReadTimeout, readTimeout)
	opts.MaxOpenConns = cmp.Or(opts.MaxOpenConns, maxOpenConns)
	opts.MaxIdleConns = cmp.Or(opts.MaxIdleConns, min(maxIdleConns, opts.MaxOpenConns))
	opts.ConnMaxLifetime = cmp.Or(opts.ConnMaxLifetime, connLifetime)
	if opts.Compression == nil {
		opts.Compression = &clickhouse.Compression{Method: compressionFor(opts.Addr)}
	}
	for name, value := range map[string]int{"async_insert": 0, "insert_deduplicate": 1} {
		if _, given := opts.Settings[name]; !given {
			opts.Settings[name] = value
		}
	}
	return opts, nil
}

func compressionFor(addrs []string) clickhouse.CompressionMethod {
	for _, addr := range addrs {
		if !isLoopback(addr) {
			return clickhouse.CompressionLZ4
		}
	}
	return clickhouse.CompressionNone
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = strings.Trim(addr, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const mask = "xxxxx"

// MaskDSN returns dsn fit for logs and messages: the password, also one given as a
// parameter, is replaced. A DSN that cannot be parsed is not shown at all.
func MaskDSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return "(unreadable)"
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), mask)
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", mask)
		u.RawQuery = q.Encode()
	}
	return u.String()
}

// passwordOf returns the password of a DSN, "" if there is none to be found.
func passwordOf(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	if p := u.Query().Get("password"); p != "" {
		return p
	}
	p, _ := u.User.Password()
	return p
}

// hide replaces a secret in the text of err; err stays in the chain.
func hide(err error, secret string) error {
	if err == nil || secret == "" || !strings.Contains(err.Error(), secret) {
		return err
	}
	return explained{strings.ReplaceAll(err.Error(), secret, mask), err}
}
