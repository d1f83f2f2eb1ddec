package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// mistake is one wrong way to call the product, and the one line that it answers with.
type mistake struct {
	args  string            // separated by spaces
	env   map[string]string // variables that are set
	files map[string]string // files that exist in the working folder, by path
	want  string            // the line, after "ledgerlake: "
}

// TestMistakesOfUsage: what is wrong in arguments, flags, variables and the configuration file is
// named with its fix, before anything is done.
func TestMistakesOfUsage(t *testing.T) {
	config := func(text string) map[string]string { return map[string]string{"lake.yaml": text} }
	for _, m := range []mistake{
		// Commands and arguments.
		{args: "exprot", want: `there is no command "exprot"; did you mean export? ledgerlake --help lists the commands`},
		{args: "start", want: `there is no command "start"; ledgerlake --help lists the commands`},
		{args: "restroe --data x", want: `there is no command "restroe"; did you mean restore? ledgerlake --help lists the commands`},
		{args: "get 1220aabb", want: `get takes the id as a flag: ledgerlake get --update-id 1220aabb, or --contract-id for a contract`},
		{args: "get --update-id 1220aabb", want: `--update-id must be a complete id of 68 characters, but 1220aabb has 8: copy it from /v2/updates or ledgerlake sql`},
		{args: "get", want: `get needs either --update-id ID or --contract-id ID`},
		{args: "get --update-id 1220 --contract-id 00", want: `get needs either --update-id ID or --contract-id ID`},
		{args: "prove", want: `prove needs --update-id, the id of the update to prove`},
		{args: "prove --update-id 1220aabb", want: `--update-id must be a complete id of 68 characters, but 1220aabb has 8: copy it from /v2/updates or ledgerlake sql`},
		{args: "check-proof", want: `check-proof needs --proof, a file, or - for standard input`},
		{args: "serve 8080", want: `serve takes no arguments, but "8080" was given: use flags, which ledgerlake serve --help lists`},
		{args: "up --lookup-rows true", want: `up takes no arguments, but "true" was given: write a flag that is true or false as --flag=true`},
		{args: "sql SELECT 1", want: `sql takes one query, not 2 arguments: put it in quotes`},
		{args: "sql --format xml q", want: `--format must be table, csv, tsv, json, parquet or arrow, not "xml"`},
		{args: "rebuild", want: `rebuild needs one argument, wallets, movements, rollups or tables, not "": ledgerlake rebuild wallets`},
		{args: "rebuild lifetimes", want: `rebuild needs one argument, wallets, movements, rollups or tables, not "lifetimes": ledgerlake rebuild wallets`},
		{args: "automation swep --node-url http://127.0.0.1:1", want: `there is no automation "swep"; did you mean sweep? the automations are record-liveness, collect-rewards, mint-delegated, top-up, accept-offers, complete-offers, complete-traffic, pay-subscriptions, accept-preapprovals, renew-preapprovals, accept-merge-delegations, merge-delegated, send-commands, sweep, expire`},
		{args: "automation", want: `automation needs --node-url, the ledger API of the node that hosts the wallets`},
		{args: "operator", want: `operator needs --node-url, the JSON API of the node that the validator interface works with`},
		{args: "ingest", want: `ingest needs --scan-url, the address of a scan service such as http://127.0.0.1:5012, or --node-url, that of a node's ledger API`},
		{args: "token", want: `token needs --ledger-auth-secret (or LEDGERLAKE_LEDGER_AUTH_SECRET), with which the ledger interface checks tokens`},
		{args: "token --ledger-auth-secret a-secret-of-32-characters-or-more", want: `token needs --user, the user's id`},
		{args: "token --user alice --ledger-auth-secret short", want: `--ledger-auth-secret: the shared secret of tokens has 5 bytes, at least 32 are needed`},
		{args: "token --validator", want: `token needs --user, the user's id, and --expires-in must not be negative`},
		{args: "token --user alice --expires-in -1h --ledger-auth-secret a-secret-of-32-characters-or-more", want: `--expires-in must not be negative, it is -1h0m0s`},
		// Flags.
		{args: "serve --lisen :8080", want: `serve has no flag --lisen; did you mean --listen? ledgerlake serve --help lists its flags`},
		{args: "serve -listen :8080", want: `-listen is written with two dashes: --listen`},
		{args: "up --clickhouse-dns x", want: `up has no flag --clickhouse-dns; did you mean --clickhouse-dsn? ledgerlake up --help lists its flags`},
		{args: "up --frobnicate", want: `up has no flag --frobnicate; ledgerlake up --help lists its flags`},
		{args: "sql --listen :8080", want: `sql does not use the setting --listen, which belongs to config, demo, doctor, serve, up: leave it out, or set it for all commands with LEDGERLAKE_LISTEN or in the file of --config; ledgerlake sql --help lists its flags`},
		{args: "--listen :8080 sql", want: `sql does not use the setting --listen, which belongs to config, demo, doctor, serve, up: leave it out, or set it for all commands with LEDGERLAKE_LISTEN or in the file of --config; ledgerlake sql --help lists its flags`},
		{args: "verify --keep", want: `verify has no flag --keep, which belongs to demo; ledgerlake verify --help lists its flags`},
		{args: "serve --updates 5", want: `serve has no flag --updates, which belongs to demo, devnet, up; ledgerlake serve --help lists its flags`},
		{args: "up --listen", want: `--listen needs a value: address of the query tier`},
		{args: "up --gc-grace soon", want: `--gc-grace must be a duration such as 90s, 10m or 24h, not "soon"`},
		{args: "up --gc-interval 24", want: `--gc-interval must be a duration such as 90s, 10m or 24h, not "24"`},
		{args: "up --memory-limit 700MB", want: `--memory-limit must be a whole number of bytes such as 268435456, which is 256 MiB, not "700MB"`},
		{args: "up --scan-workers many", want: `--scan-workers must be a whole number, not "many"`},
		{args: "up --seed -1", want: `--seed must be a whole number that is not negative, not "-1"`},
		{args: "up --rate-limit fast", want: `--rate-limit must be a number, not "fast"`},
		{args: "up --lookup-rows=maybe", want: `--lookup-rows must be true or false, not "maybe"`},
		{args: "up --log-level loud", want: `--log-level must be debug, info, warn or error, not "loud"`},
		// Values.
		{args: "up --listen 8080", want: `--listen must be an address and a port, not "8080": write --listen 127.0.0.1:8080`},
		{args: "up --listen localhost", want: `--listen must be an address and a port, not "localhost": write --listen 127.0.0.1:8080`},
		{args: "serve --listen 127.0.0.1:99999", want: `--listen must be an address and a port, not "127.0.0.1:99999": write --listen 127.0.0.1:8080`},
		{args: "ingest --status-listen 8090 --scan-url http://127.0.0.1:1", want: `--status-listen must be an address and a port, not "8090": write --status-listen 127.0.0.1:8090`},
		{args: "devnet --devnet-listen 5012", want: `--devnet-listen must be an address and a port, not "5012": write --devnet-listen 127.0.0.1:5012`},
		{args: "devnet --node-listen 5013", want: `--node-listen must be an address and a port, not "5013": write --node-listen 127.0.0.1:5013`},
		{args: "demo --updates -5", want: `--updates must be at least 1, not -5`},
		{args: "up --days 0", want: `--days must be at least 1, not 0`},
		{args: "up --live -1", want: `--live must be at least 0, not -1`},
		{args: "up --scan-url scan.example.com", want: `--scan-url must be a URL that begins with http:// or https://, such as http://127.0.0.1:5012`},
		{args: "up --scan-url ftp://scan.example.com", want: `--scan-url must be a URL that begins with http:// or https://, such as http://127.0.0.1:5012`},
		{args: "up --node-url 127.0.0.1:7575", want: `--node-url must be a URL that begins with http:// or https://, such as http://127.0.0.1:5012`},
		{args: "verify --peer lake.example.com", want: `--peer must be a URL that begins with http:// or https://, such as http://127.0.0.1:5012`},
		{args: "verify --check hash", want: `--check hash is unknown; did you mean hashes? the checks are parts, batches, hashes, days, verdicts, lifetimes, coins, rewards, lookups, indexes, movements, rollups, tables, wallets, objects`},
		{args: "verify --check days", want: `--check days needs --peer or --scan-url, the address of a ledgerlake or scan to compare with`},
		{args: "verify --stream node:x --peer http://127.0.0.1:1", want: `--stream node:x: days, verdicts, rewards, rollups and objects, and --peer, are about stream scan`},
		{args: "up --scan-url http://127.0.0.1:1 --scan-agree 2", want: `--scan-agree must be between 1 and the number of --scan-url, which is 1, not 2`},
		{args: "up --scan-agree 2", want: `--scan-agree must be between 1 and the number of --scan-url, which is 0, not 2`},
		{args: "up --scan-source event", want: `--scan-source must be one of auto, events, updates, updates-before, not "event"`},
		{args: "up --node-source ws", want: `--node-source must be one of auto, websocket, lists, flats, not "ws"`},
		{args: "up --scan-rate -1", want: `--scan-rate and --rate-limit must not be negative, they are -1 and 0; 0 has a special meaning, see --help`},
		{args: "up --engine-memory -1", want: `--engine-memory must not be negative, it is -1; 0 leaves the engine's default`},
		{args: "up --follow-interval 0s", want: `--follow-interval must be positive, such as 1s, not 0s`},
		{args: "up --max-concurrent 0", want: `--max-concurrent must be at least 1, not 0`},
		{args: "up --node-token a --node-token-file b", want: `--node-token and --node-token-file are two sources of one token: give only one`},
		{args: "serve --s3-endpoint http://127.0.0.1:1", want: `--s3-endpoint needs --s3-access-key and --s3-secret-key (or LEDGERLAKE_S3_ACCESS_KEY and LEDGERLAKE_S3_SECRET_KEY)`},
		{args: "serve --s3-bucket My_Lake", want: `--s3-bucket must be 3 to 63 lower-case letters, digits, dots and hyphens, not "My_Lake"`},
		{args: "serve --clickhouse-dsn localhost:9000", want: `--clickhouse-dsn must be of the form clickhouse://user:password@host:9000/database, the port that of ClickHouse's native protocol`},
		{args: "serve --clickhouse-dsn http://127.0.0.1:8123", want: `--clickhouse-dsn must be of the form clickhouse://user:password@host:9000/database, the port that of ClickHouse's native protocol`},
		{args: "worker --redis-url http://127.0.0.1:6379", want: `--redis-url: the redis url is not valid: write redis://[user:password@]host:port[/db], or leave it empty for the built-in queue`},
		{args: "export --from 2026-07-03 --to 2026-07-01", want: `--from 2026-07-03 is after --to 2026-07-01: nothing is between them`},
		{args: "export --from 2026-07-03T00:00:00", want: `--from: "2026-07-03T00:00:00" is neither a day such as 2026-07-01 nor an hour such as 2026-07-01T05`},
		{args: "export --to yesterday", want: `--to: "yesterday" is neither a day such as 2026-07-01 nor an hour such as 2026-07-01T05`},
		{args: "export --gc-grace 1s", want: `--gc-grace must be at least 12h0m0s, the time that an export may take, not 1s`},
		// Variables.
		{args: "serve", env: map[string]string{"LEDGERLAKE_SCAN_ULR": "x"}, want: `LEDGERLAKE_SCAN_ULR is not a setting; did you mean LEDGERLAKE_SCAN_URL? Correct it, or unset it`},
		{args: "serve", env: map[string]string{"LEDGERLAKE_MEMORY_LIMIT": "1GB"}, want: `LEDGERLAKE_MEMORY_LIMIT must be a whole number of bytes such as 268435456, which is 256 MiB, not "1GB"`},
		{args: "serve", env: map[string]string{"LEDGERLAKE_CONFIG": "nowhere.yaml"}, want: `--config nowhere.yaml: there is no such file; ledgerlake config > nowhere.yaml writes one`},
		// The configuration file.
		{args: "serve --config nowhere.yaml", want: `--config nowhere.yaml: there is no such file; ledgerlake config > nowhere.yaml writes one`},
		{args: "serve --config folder", files: map[string]string{"folder/lake.yaml": ""}, want: `--config folder is a folder: name the YAML file in it`},
		{args: "serve --config lake.yaml", files: config("listen: 127.0.0.1:0\n# a comment\nscan_ulr: http://x\n"), want: `lake.yaml:3: unknown key "scan_ulr"; did you mean scan_url? ledgerlake config lists the keys`},
		{args: "serve --config lake.yaml", files: config("scan-url: http://x\n"), want: `lake.yaml:1: unknown key "scan-url"; did you mean scan_url? ledgerlake config lists the keys`},
		{args: "serve --config lake.yaml", files: config("data: x\nscan_workers: many\n"), want: `lake.yaml:2: scan_workers must be a whole number, not "many"`},
		{args: "serve --config lake.yaml", files: config("scan_url:\n  - http://a\n  - http://b\n"), want: `lake.yaml:2: scan_url must be one plain value; separate several by commas`},
		{args: "serve --config lake.yaml", files: config("data: a\ndata: b\n"), want: `lake.yaml:2: data is already set in line 1: remove one`},
		{args: "serve --config lake.yaml", files: config("just words\n"), want: `lake.yaml:1: settings must be lines such as listen: 127.0.0.1:8080`},
		{args: "serve --config lake.yaml", files: config("data: \"open\n"), want: `lake.yaml is not YAML: line 2: found unexpected end of stream; write lines such as listen: 127.0.0.1:8080`},
	} {
		m.check(t, statusUsage)
	}
}

// check makes the mistake in a folder of its own, in which nothing must be made.
func (m mistake) check(t *testing.T, want int) {
	t.Run(m.args, func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(dir)
		for path, text := range m.files {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range m.env {
			t.Setenv(name, value)
		}
		before := tree(t, dir)
		var stdout, stderr bytes.Buffer
		began := time.Now()
		status := execute(t.Context(), strings.Fields(m.args), &stdout, &stderr)
		if line := "ledgerlake: " + m.want + "\n"; stderr.String() != line || status != want || stdout.Len() > 0 {
			t.Errorf("status %d, printed\n%s%s\nwant status %d and\n%s", status, stdout.String(), stderr.String(), want, line)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("the folder held\n%s\nand afterwards\n%s", before, after)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %s to say so", took)
		}
	})
}

// tree lists what is in a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		b.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// smallNetwork serves a simulated network and one of its nodes.
func smallNetwork(t *testing.T) (scanURL, nodeURL string) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 100, Days: 1, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	node, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scan, participant := httptest.NewServer(ledger.Handler()), httptest.NewServer(node)
	t.Cleanup(func() {
		scan.Close()
		participant.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return scan.URL, participant.URL
}

// closedPort is an address of this machine on which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only its number is wanted
	return l.Addr().String()
}

// refusedFolder is a folder that this user, who may be root, can't write to.
func refusedFolder(t *testing.T) (dir, reason string) {
	t.Helper()
	if os.Getuid() == 0 {
		return "/sys/ledgerlake", syscall.EPERM.Error()
	}
	dir = t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data"), syscall.EACCES.Error()
}

// TestMistakesOutside: services, folders, files and addresses that can't be used are named with
// their fix, by every command that needs them, before an engine or a network is started.
func TestMistakesOutside(t *testing.T) {
	needEngine(t)
	location, err := engine.Locate("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LEDGERLAKE_ENGINE", location.Path) // it is not found from the folders in which we make mistakes
	busy := t.TempDir()
	_, port, _ := strings.Cut(freePort(t), ":")
	httpPort, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := engine.Start(t.Context(), engine.Config{DataDir: filepath.Join(busy, "engine"), HTTPPort: httpPort, StopGrace: app.StopTimeout, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locked.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	good := buckettest.Gateway(t)
	empty := good.Config("empty-bucket")
	if err := buckettest.Open(t, empty).EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, takenPort, _ := net.SplitHostPort(taken.Addr().String())
	pages := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(pages.Close)
	web := pages.Listener.Addr().String()
	closed := closedPort(t)
	scanURL, nodeURL := smallNetwork(t)
	refused, reason := refusedFolder(t)
	s3 := func(endpoint, key, secret string) string {
		return " --s3-endpoint " + endpoint + " --s3-access-key " + key + " --s3-secret-key " + secret
	}
	keys := s3(good.Endpoint, good.AccessKey, good.SecretKey)
	file := map[string]string{"file": "text"}
	for _, m := range []mistake{
		// The data folder.
		{args: "sql --data TYPO q", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "verify --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "serve --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "export --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "worker --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "rebuild wallets --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "automation --data TYPO --node-url http://127.0.0.1:1", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "restore --data TYPO", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "get --data TYPO --contract-id 00ab", want: `--data TYPO: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "sql --data other q", files: map[string]string{"other/notes.txt": ""}, want: `--data other is not a data folder of ledgerlake, it has no folder engine; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "serve --data other", files: map[string]string{"other/notes.txt": ""}, want: `--data other is not a data folder of ledgerlake, it has no folder engine; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "restore --data other", files: map[string]string{"other/notes.txt": ""}, want: `--data other is not a data folder of ledgerlake, it has no folder bucket; name the one that ledgerlake up or ledgerlake ingest made`},
		{args: "up --data file", files: file, want: `--data file is a file: name a folder`},
		{args: "demo --data file", files: file, want: `--data file is a file: name a folder`},
		{args: "verify --data file", files: file, want: `--data file is a file: name a folder`},
		{args: "up --listen 127.0.0.1:0 --data file/lake", files: file, want: `--data file/lake: a part of the path is a file: name a folder`},
		{args: "up --data " + busy, want: `data folder in use: another ledgerlake (pid PID) uses ` + busy + `/engine: stop it, or give another --data`},
		{args: "serve --data " + busy, want: `data folder in use: another ledgerlake (pid PID) uses ` + busy + `/engine: stop it, or give another --data`},
		{args: "verify --data " + busy, want: `data folder in use: another ledgerlake (pid PID) uses ` + busy + `/engine: stop it, or give another --data`},
		// Addresses to listen on.
		{args: "up --listen TAKEN", want: `--listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "up --listen 127.0.0.1:0 --ledger-listen TAKEN", want: `--ledger-listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "serve --listen TAKEN --clickhouse-dsn clickhouse://127.0.0.1:1", want: `--listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "demo --listen TAKEN --data new", want: `--listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "devnet --devnet-listen TAKEN", want: `--devnet-listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "devnet --devnet-listen 127.0.0.1:0 --node-listen TAKEN", want: `--node-listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "ingest --status-listen TAKEN --scan-url http://127.0.0.1:1", want: `--status-listen TAKEN: another program listens there: stop it (ss -ltnp 'sport = :PORT' names it), or choose another port`},
		{args: "up --listen 192.0.2.1:8080", want: `--listen 192.0.2.1:8080: this machine does not have that address: choose 127.0.0.1:8080 to serve this machine only, or 0.0.0.0:8080 to serve others as well`},
		// ClickHouse.
		{args: "verify --clickhouse-dsn clickhouse://" + closed, want: `--clickhouse-dsn: connecting to the store at ` + closed + `: nothing listens there: start ClickHouse, or correct the address`},
		{args: "verify --clickhouse-dsn clickhouse://no-such-host.invalid:9000", want: `--clickhouse-dsn: connecting to the store at no-such-host.invalid:9000: there is no such host: correct the name`},
		{args: "export --clickhouse-dsn clickhouse://" + web + "?dial_timeout=1s", want: `--clickhouse-dsn: connecting to the store at ` + web + `: the service there does not speak ClickHouse's native protocol: give the port of that, which is usually 9000`},
		{args: "export --clickhouse-dsn clickhouse://" + locked.HTTPAddr(), want: `--clickhouse-dsn: connecting to the store at ` + locked.HTTPAddr() + `: this is an HTTP port: give the port of ClickHouse's native protocol, which is usually 9000, or 9440 with ?secure=true`},
		{args: "sql --clickhouse-dsn clickhouse://" + closed + " q", want: `--clickhouse-dsn: connecting to the store at ` + closed + `: nothing listens there: start ClickHouse, or correct the address`},
		// Object storage.
		{args: "restore" + s3("http://"+closed, "k", "s"), want: `--s3-endpoint http://` + closed + `: nothing listens there: start it, or correct the address`},
		{args: "get --contract-id 00ab" + s3("http://no-such-host.invalid:9000", "k", "s"), want: `--s3-endpoint http://no-such-host.invalid:9000: there is no host no-such-host.invalid: correct the name`},
		{args: "restore" + s3(good.Endpoint, "stranger", "wrong-secret"), want: `--s3-endpoint ` + good.Endpoint + `: the object storage refuses our keys: correct --s3-access-key and --s3-secret-key, or allow them bucket ledgerlake`},
		{args: "restore --s3-bucket no-such-bucket" + keys, want: `--s3-bucket no-such-bucket: the object storage has no such bucket: correct the name`},
		{args: "restore --s3-bucket empty-bucket" + keys, want: `bucket empty-bucket has no published segments, so nothing can be restored: correct --s3-bucket or --s3-prefix, or publish some with ledgerlake export`},
		// The queue.
		{args: "worker --redis-url redis://:secret-word@" + closed, want: `--redis-url: jobs: redis is not usable: redis://***@` + closed + `: dial tcp ` + closed + `: connect: connection refused: start redis there, or leave the redis url empty for the built-in queue`},
		// Upstreams.
		{args: "ingest --once --data new --scan-url http://" + closed, want: `--scan-url http://` + closed + `: nothing listens there: start it, or correct the address`},
		{args: "up --listen 127.0.0.1:0 --data new --scan-url http://no-such-host.invalid", want: `--scan-url http://no-such-host.invalid: there is no host no-such-host.invalid: correct the name`},
		{args: "ingest --data new --scan-url http://" + web, want: `--scan-url http://` + web + `: the service there is not a scan service: give the address that has /version or /api/scan/version`},
		{args: "ingest --data new --scan-url " + nodeURL, want: `--scan-url ` + nodeURL + `: this is the ledger API of a node, not a scan service: give it as --node-url`},
		{args: "ingest --data new --node-url " + scanURL, want: `--node-url ` + scanURL + `: this is a scan service, not the ledger API of a node: give it as --scan-url`},
		{args: "ingest --data new --node-url http://" + web, want: `--node-url http://` + web + `: the service there is not the ledger API of a node: give the address that has /v2/version`},
		{args: "ingest --data new --node-url http://" + closed, want: `--node-url http://` + closed + `: nothing listens there: start it, or correct the address`},
		{args: "up --listen 127.0.0.1:0 --data new --scan-url " + scanURL + " --scan-url http://me:secret-word@" + closed + " --scan-agree 2", want: `--scan-url http://me:xxxxx@` + closed + `: nothing listens there: start it, or correct the address`},
		{args: "verify --data " + busy + " --peer http://" + closed, want: `--peer http://` + closed + `: nothing listens there: start it, or correct the address`},
		{args: "verify --data " + busy + " --peer " + nodeURL, want: `--peer ` + nodeURL + `: this is the ledger API of a node, not a scan service: give the address of a scan service or of a ledgerlake`},
		// Files.
		{args: "up --listen 127.0.0.1:0 --engine /nowhere/libchdb.so --data new", want: "engine not found: configuration names /nowhere/libchdb.so: no such file or directory; run `make setup` or pass --engine PATH"},
		{args: "up --listen 127.0.0.1:0 --catalog nowhere --data new", want: `--catalog: stat nowhere: no such file or directory`},
		{args: "ingest --node-url http://127.0.0.1:1 --node-token-file nowhere --data new", want: `--node-token-file nowhere: there is no such file: correct the path`},
		{args: "ingest --node-url http://127.0.0.1:1 --node-token-file empty --data new", files: map[string]string{"empty": "\n"}, want: `--node-token-file empty: the file is empty: write the token into it`},
		{args: "check-proof --proof nowhere", want: `reading the proof: open nowhere: no such file or directory`},
		{args: "up --listen 127.0.0.1:0 --data " + refused, want: `--data ` + refused + `: this user may not write there: name another folder, or change its owner: mkdir ` + refused + `: ` + reason},
	} {
		m.args = strings.ReplaceAll(m.args, "TAKEN", taken.Addr().String())
		m.want = strings.NewReplacer("TAKEN", taken.Addr().String(), "PORT", takenPort, "PID", strconv.Itoa(os.Getpid())).Replace(m.want)
		m.check(t, statusFailed)
	}
}

// Doctor names each fault of its settings with a fix, and makes nothing.
func TestDoctorNamesFaults(t *testing.T) {
	dir, closed := t.TempDir(), closedPort(t)
	t.Chdir(dir)
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }() // the test is over
	var stdout, stderr bytes.Buffer
	status := execute(t.Context(), []string{"doctor", "--json", "--data", "file", "--listen", taken.Addr().String(), "--clickhouse-dsn", "clickhouse://" + closed,
		"--s3-endpoint", "http://" + closed, "--s3-access-key", "k", "--s3-secret-key", "s", "--redis-url", "redis://" + closed,
		"--catalog", "nowhere", "--scan-url", "http://" + closed, "--node-url", "http://" + closed, "--node-token-file", "nowhere"}, &stdout, &stderr)
	report := parse[struct{ Checks []app.Finding }](t, stdout.Bytes())
	for check, fix := range map[string]string{
		"data folder": "name a folder", "addresses": "stop it (ss -ltnp ", "clickhouse": "start ClickHouse, or correct the address",
		"object storage": "start it, or correct the address", "queue": "start redis there, ", "catalogue": "correct the files or leave --catalog out", "upstream": "correct the address",
	} {
		ok := false
		for _, f := range report.Checks {
			ok = ok || f.Check == check && !f.OK && strings.Contains(f.Fix, fix)
		}
		if !ok {
			t.Errorf("check %s does not say %q in %s", check, fix, stdout.String())
		}
	}
	if left := tree(t, dir); status != statusFailed || strings.Count(left, "\n") != 2 {
		t.Errorf("status %d; the folder has %s", status, left)
	}
}

// Every command says how it is called.
func TestHelpHasExamples(t *testing.T) {
	for _, c := range newRoot(console.New(io.Discard, io.Discard), readBuild()).Commands() {
		if !strings.Contains(c.Example, "ledgerlake "+c.Name()) {
			t.Errorf("%s has no example", c.Name())
		}
	}
}
