package engine

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestMaskDSN(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"clickhouse://127.0.0.1:9000/default", "clickhouse://127.0.0.1:9000/default"},
		{"clickhouse://user@h:9000", "clickhouse://user@h:9000"},
		{"clickhouse://user:s3cret@h1:9000/db?max_threads=2", "clickhouse://user:xxxxx@h1:9000/db?max_threads=2"},
		{"clickhouse://h:9000/db?username=u&password=s3cret", "clickhouse://h:9000/db?password=xxxxx&username=u"},
		{"clickhouse://user:s3cret@h1:9000,h2:9000/db", "clickhouse://user:xxxxx@h1:9000,h2:9000/db"},
		{"clickhouse://user@h1:9000,h2:9000/db?password=s3cret", "clickhouse://user@h1:9000,h2:9000/db?password=xxxxx"},
		{"clickhouse://h1:9000,h2:9000/db", "clickhouse://h1:9000,h2:9000/db"},
		{"clickhouse://user:s3cret@h:90 00/db", "(unreadable)"},
		{"user:s3cret", "(unreadable)"},
		{"", "(unreadable)"},
	} {
		if got := MaskDSN(c.dsn); got != c.want {
			t.Errorf("MaskDSN(%q) = %q, want %q", c.dsn, got, c.want)
		}
	}
}

func TestOptionsDefaults(t *testing.T) {
	for _, c := range []struct {
		name, dsn string
		check     func(*clickhouse.Options) bool
	}{
		{"time-outs", "clickhouse://h:9000", func(o *clickhouse.Options) bool {
			return o.DialTimeout == dialTimeout && o.ReadTimeout == readTimeout && o.ConnMaxLifetime == connLifetime
		}},
		{"time-outs given", "clickhouse://h:9000?dial_timeout=1s&read_timeout=2s", func(o *clickhouse.Options) bool {
			return o.DialTimeout == time.Second && o.ReadTimeout == 2*time.Second
		}},
		{"pool", "clickhouse://h:9000", func(o *clickhouse.Options) bool {
			return o.MaxOpenConns == maxOpenConns && o.MaxIdleConns == maxIdleConns
		}},
		{"small pool", "clickhouse://h:9000?max_open_conns=2", func(o *clickhouse.Options) bool {
			return o.MaxOpenConns == 2 && o.MaxIdleConns == 2
		}},
		{"synchronous, deduplicated inserts", "clickhouse://h:9000", func(o *clickhouse.Options) bool {
			return o.Settings["async_insert"] == 0 && o.Settings["insert_deduplicate"] == 1
		}},
		{"settings given", "clickhouse://h:9000?async_insert=1&max_threads=3", func(o *clickhouse.Options) bool {
			return o.Settings["async_insert"] == 1 && o.Settings["max_threads"] == 3
		}},
		{"compression on a network", "clickhouse://h1:9000,h2:9000", compressesBy(clickhouse.CompressionLZ4)},
		{"compression over loopback", "clickhouse://127.0.0.1:9000", compressesBy(clickhouse.CompressionNone)},
		{"compression over loopback, version 6", "clickhouse://[::1]:9000", compressesBy(clickhouse.CompressionNone)},
		{"compression over loopback, by name", "clickhouse://localhost:9000", compressesBy(clickhouse.CompressionNone)},
		{"compression given", "clickhouse://127.0.0.1:9000?compress=zstd", compressesBy(clickhouse.CompressionZSTD)},
		{"replicas, one of them remote", "clickhouse://127.0.0.1:9000?alt_hosts=h2:9000", compressesBy(clickhouse.CompressionLZ4)},
	} {
		opts, err := Options(c.dsn)
		if err != nil {
			t.Errorf("%s: Options(%q): %v", c.name, c.dsn, err)
			continue
		}
		if !c.check(opts) {
			t.Errorf("%s: Options(%q) = %+v", c.name, c.dsn, opts)
		}
	}
}

func compressesBy(m clickhouse.CompressionMethod) func(*clickhouse.Options) bool {
	return func(o *clickhouse.Options) bool { return o.Compression.Method == m }
}

func TestOpenErrorsHideThePassword(t *testing.T) {
	t.Parallel()
	const secret = "p4ssw0rd-of-ours"
	e := start(t, Config{DataDir: t.TempDir()})
	for name, dsn := range map[string]string{
		"wrong password":  "clickhouse://" + userName + ":" + secret + "@" + e.Addr() + "/default",
		"nobody listens":  "clickhouse://u:" + secret + "@127.0.0.1:" + strconv.Itoa(freePort(t)) + "/default",
		"unreadable host": "clickhouse://u:" + secret + "@h:port/default",
		"unknown scheme":  "mysql://u:" + secret + "@h:9000/default",
		"bad parameter":   "clickhouse://h:9000/default?password=" + secret + "&dial_timeout=soon",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := Open(t.Context(), dsn)
			if err == nil {
				t.Fatalf("Open succeeded: %v", conn.Close())
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the message has the password: %v", err)
			}
			if !strings.Contains(err.Error(), "store") {
				t.Errorf("the message does not say what was done: %v", err)
			}
		})
	}
}

// freePort is a port nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := claim(loopback, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return portOf(l)
}
