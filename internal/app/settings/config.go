// Package settings has the configuration of the product: what can be set, from where, and what is refused.
package settings

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Config is the effective configuration. Every field is one setting, which has one
// name in three forms: the key scan_url of the YAML file, the environment variable
// LEDGERLAKE_SCAN_URL and, for all settings alike, the flag --scan-url. A flag wins
// over the environment, which wins over the file, which wins over the default.
type Config struct {
	Data        string
	Listen      string
	LogLevel    string
	MemoryLimit int64

	ScanURLs       []string
	ScanAgree      int
	ScanAgreeOn    string
	ScanSource     string
	ScanWorkers    int
	ScanRate       float64
	ScanPageBytes  int64
	FollowInterval time.Duration
	FactsInterval  time.Duration
	TimeAhead      time.Duration

	NodeURL       string
	NodeSource    string
	NodeParties   []string
	NodeToken     string
	NodeTokenFile string
	StatusListen  string

	Engine        string
	EngineMemory  int64
	ClickHouseDSN string

	RedisURL    string
	Concurrency int

	S3Endpoint  string
	S3Region    string
	S3Bucket    string
	S3Prefix    string
	S3AccessKey string
	S3SecretKey string

	BulkLayouts                        []string
	BulkSegments                       string
	BulkLookups                        bool
	ExportAgree                        int
	ExportPeers                        []string
	ExportIceberg                      bool
	BulkRetention, GCInterval, GCGrace time.Duration

	Catalog       string
	Naming        string
	PublicURL     string
	AllowedHosts  []string
	TokenKey      string
	MaxConcurrent int
	RateLimit     float64
	AnswerCache   int64
	LookupRows    bool
	Profiling     bool

	LedgerListen          string
	LedgerPrefix          string
	LedgerParticipant     string
	LedgerListLimit       int
	LedgerMaxStreams      int
	LedgerAuth            string
	LedgerAuthSecret      string
	LedgerAuthJWKS        string
	LedgerAuthCertificate string
	LedgerAuthAudience    string
	LedgerAuthScope       string
	LedgerUsers           string

	ValidatorListen          string
	ValidatorUser            string
	ValidatorParty           string
	ValidatorURL             string
	ValidatorAuthSecret      string
	ValidatorAuthJWKS        string
	ValidatorAuthCertificate string
	ValidatorAuthAudience    string

	WalletMode             string
	WalletWait             time.Duration
	WalletDevelopment      bool
	WalletTransferCommands bool
	WalletAutomations      []string
	WalletAcceptFrom       []string
	WalletSweep            []string
	WalletTopUp            float64
	WalletTopUpInterval    time.Duration
}

// Hosts are the names under which clients reach this server, beside those that need no entry.
func (c *Config) Hosts() []string {
	hosts := slices.Clone(c.AllowedHosts)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

// Flags declares every setting with its default.
func (c *Config) Flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	f.StringVar(&c.Data, "data", "./ledgerlake-data", "folder for everything embedded services keep")
	f.StringVar(&c.Listen, "listen", "127.0.0.1:8080", "address of the query tier")
	f.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.Int64Var(&c.MemoryLimit, "memory-limit", 700<<20, "bytes of memory above which this process, without embedded services, collects garbage harder; requests may take half of it and wait for it; GOMEMLIMIT wins")
	f.StringSliceVar(&c.ScanURLs, "scan-url", nil, "scan service to ingest from, given once for each of several; without one, up and demo run a simulated network")
	f.IntVar(&c.ScanAgree, "scan-agree", 1, "scan services that must give the same content before it is stored")
	f.StringVar(&c.ScanAgreeOn, "scan-agree-on", "updates", "what they must give alike: updates, or events, which is verdicts and side data as well")
	f.StringVar(&c.ScanSource, "scan-source", "auto", "operation to read history with: auto, events, updates or updates-before")
	f.IntVar(&c.ScanWorkers, "scan-workers", 0, "requests to the scan services in flight; 0 means 4 for each, at most 16")
	f.Float64Var(&c.ScanRate, "scan-rate", 0, "requests per second to the upstream; 0 means 10, or no limit on loopback")
	f.Int64Var(&c.ScanPageBytes, "scan-page-bytes", 256<<20, "largest page accepted from the upstream, in bytes")
	f.DurationVar(&c.FollowInterval, "follow-interval", time.Second, "longest wait between polls of the upstream's tail")
	f.DurationVar(&c.TimeAhead, "record-time-ahead", 10*time.Minute, "how far record times may be ahead of this machine's clock: what is later is waited for, and not exported; 0 means no limit, for networks with a time of their own")
	f.DurationVar(&c.FactsInterval, "facts-interval", time.Minute, "how often the upstream is asked for what its history does not tell; 0 means never")
	f.StringVar(&c.NodeURL, "node-url", "", "ledger JSON API of a node whose own stream is ingested, too")
	f.StringVar(&c.NodeSource, "node-source", "auto", "way to read the node's stream: auto, websocket, lists or flats")
	f.StringSliceVar(&c.NodeParties, "node-parties", nil, "parties whose stream is read, separated by commas; none means all of the node's")
	f.StringVar(&c.NodeToken, "node-token", "", "access token for the node")
	f.StringVar(&c.NodeTokenFile, "node-token-file", "", "file with the access token for the node, read again when it changes")
	f.StringVar(&c.StatusListen, "status-listen", "", "address on which ingest serves /streams and /metrics, such as 127.0.0.1:8090; up and serve have them on --listen")
	f.StringVar(&c.Engine, "engine", "", "ClickHouse library or binary for the embedded engine; found by itself when empty")
	f.Int64Var(&c.EngineMemory, "engine-memory", 0, "memory limit of the embedded engine in bytes; 0 leaves the engine's default")
	f.StringVar(&c.ClickHouseDSN, "clickhouse-dsn", "", "ClickHouse to use instead of the embedded engine, clickhouse://user:password@host:9000/database")
	f.StringVar(&c.RedisURL, "redis-url", "", "Redis for the job queue instead of the in-process one, redis://host:6379/0")
	f.IntVar(&c.Concurrency, "concurrency", max(2, runtime.NumCPU()/2), "jobs that run at the same time")
	f.StringVar(&c.S3Endpoint, "s3-endpoint", "", "S3-compatible storage to use instead of the embedded gateway")
	f.StringVar(&c.S3Region, "s3-region", "us-east-1", "region of the S3 storage")
	f.StringVar(&c.S3Bucket, "s3-bucket", "ledgerlake", "bucket for exported objects")
	f.StringVar(&c.S3Prefix, "s3-prefix", "", "prefix of all object keys")
	f.StringVar(&c.S3AccessKey, "s3-access-key", "", "access key of the S3 storage")
	f.StringVar(&c.S3SecretKey, "s3-secret-key", "", "secret key of the S3 storage")
	f.StringSliceVar(&c.BulkLayouts, "bulk-layouts", []string{LayoutParquet, LayoutNetwork}, "layouts in which bulk objects are published, the first one first: parquet, network")
	f.StringVar(&c.BulkSegments, "bulk-segments", string(schemas.DaySegments), "what is published at a time in Parquet: a day or an hour; a bucket keeps what it was begun with")
	f.BoolVar(&c.BulkLookups, "bulk-lookups", false, "make objects by which ledgerlake get finds single updates in two requests; they nearly double the bucket")
	f.IntVar(&c.ExportAgree, "export-agree", 0, "peers that must have the same bulk objects before they are published; 0 publishes without asking")
	f.StringSliceVar(&c.ExportPeers, "export-peer", nil, "ledgerlake of another operator that is asked for its checksums, given once for each of several")
	f.BoolVar(&c.ExportIceberg, "export-iceberg", false, "keep Iceberg tables over the Parquet objects, below iceberg/ in the bucket")
	f.DurationVar(&c.BulkRetention, "bulk-retention", 0, "age from which on published days are removed from the bucket, such as 8760h; 0 keeps all")
	f.DurationVar(&c.GCInterval, "gc-interval", 24*time.Hour, "how often worker removes from the bucket what nobody needs; 0 means never")
	f.DurationVar(&c.GCGrace, "gc-grace", 24*time.Hour, "age from which on unlisted objects and unfinished uploads are taken for left over")
	f.StringVar(&c.Catalog, "catalog", "", "folder of template catalogue files for packages that are not the network's own")
	f.StringVar(&c.Naming, "naming", "neutral", "spelling of members of answers: neutral, or network for the network's own; requests may use both")
	f.StringVar(&c.PublicURL, "public-url", "", "URL under which clients reach the query tier; default http://<listen address>")
	f.StringSliceVar(&c.AllowedHosts, "allowed-hosts", nil, "names in the public DNS under which clients reach this server, separated by commas, beside that of --public-url; * allows all")
	f.StringVar(&c.TokenKey, "token-key", "", "secret that signs page tokens; without one it is made once and kept in the data folder")
	f.IntVar(&c.MaxConcurrent, "max-concurrent", 256, "small requests worked on at the same time; more wait, and get 503 when that takes too long")
	f.Float64Var(&c.RateLimit, "rate-limit", 0, "requests per second and client; 0 means no limit")
	f.Int64Var(&c.AnswerCache, "answer-cache", 64<<20, "bytes of memory for answers to lookups that never change")
	f.BoolVar(&c.LookupRows, "lookup-rows", false, "keep a copy of public history by update id, and of nodes' streams by offset, which makes lookups many times faster and the store about twice as large; for ingest and serve")
	f.BoolVar(&c.Profiling, "profiling", false, "serve /debug/pprof on the query tier")
	f.StringVar(&c.LedgerListen, "ledger-listen", "", "address of the ledger interface, or off; default 127.0.0.1 and the port after that of --listen")
	f.StringVar(&c.LedgerPrefix, "ledger-prefix", "", "prefix of the paths of the ledger interface, such as /ledger")
	f.StringVar(&c.LedgerParticipant, "ledger-participant", "", "participant whose stream the ledger interface serves, if the store has several")
	f.IntVar(&c.LedgerListLimit, "ledger-list-limit", 200, "elements above which a list of the ledger interface is refused with 413 (http-list-max-elements-limit)")
	f.IntVar(&c.LedgerMaxStreams, "ledger-max-streams", 256, "websockets of the ledger interface at the same time; more get 429")
	f.StringVar(&c.LedgerAuth, "ledger-auth", "auto", "auto: tokens are checked if a key is given, and without one only loopback is served; none: everybody may read everything")
	f.StringVar(&c.LedgerAuthSecret, "ledger-auth-secret", "", "shared secret of tokens (HS256), at least 32 characters, for development")
	f.StringVar(&c.LedgerAuthJWKS, "ledger-auth-jwks", "", "URL of the key set (JWKS) that tokens are signed with")
	f.StringVar(&c.LedgerAuthCertificate, "ledger-auth-certificate", "", "PEM file with the certificate or public key that tokens are signed with")
	f.StringVar(&c.LedgerAuthAudience, "ledger-auth-audience", "", "audience that tokens must name")
	f.StringVar(&c.LedgerAuthScope, "ledger-auth-scope", "", "scope that tokens must have, instead of an audience")
	f.StringVar(&c.LedgerUsers, "ledger-users", "", "YAML file of users and their rights, read again when it changes; without one the node of --node-url is asked")
	f.StringVar(&c.ValidatorListen, "validator-listen", "", "address of its own for the validator interface, or off; default below /api/validator of --listen")
	f.StringVar(&c.ValidatorUser, "validator-user", "", "ledger user of the validator's operator; default the user of the node's token")
	f.StringVar(&c.ValidatorParty, "validator-party", "", "party of the validator's operator; default the primary party of --validator-user")
	f.StringVar(&c.ValidatorURL, "validator-url", "", "existing validator to which --wallet-mode forward sends what changes the ledger")
	f.StringVar(&c.ValidatorAuthSecret, "validator-auth-secret", "", "shared secret of tokens (HS256), for development; at least 32 characters unless the listener is on loopback")
	f.StringVar(&c.ValidatorAuthJWKS, "validator-auth-jwks", "", "URL of the key set (JWKS) that tokens are signed with")
	f.StringVar(&c.ValidatorAuthCertificate, "validator-auth-certificate", "", "PEM file with the certificate or public key that tokens are signed with")
	f.StringVar(&c.ValidatorAuthAudience, "validator-auth-audience", "https://validator.ledgerlake", "audience that tokens must name")
	f.StringVar(&c.WalletMode, "wallet-mode", "node", "where what changes the ledger is sent: node, as commands; forward, to the validator of --validator-url; off")
	f.DurationVar(&c.WalletWait, "wallet-wait", 5*time.Second, "how long a change waits until it can be read here before it is answered")
	f.BoolVar(&c.WalletDevelopment, "wallet-development", false, "the network is a development network: wallets may tap")
	f.BoolVar(&c.WalletTransferCommands, "wallet-transfer-commands", true, "external parties may send by transfer commands, which the network is about to give up")
	f.StringSliceVar(&c.WalletAutomations, "wallet-automations", nil, "automations that worker and up run, by name and separated by commas, or all; none runs all on a simulated network with --live-clock and none elsewhere")
	f.StringSliceVar(&c.WalletAcceptFrom, "wallet-accept-from", nil, "RECEIVER/SENDER, parties of which the first accepts all transfer offers of the second, given once for each")
	f.StringSliceVar(&c.WalletSweep, "wallet-sweep", nil, "SENDER/RECEIVER/ABOVE/KEEP, of whose parties the first sends the second what it has above so many dollars and keeps the rest, given once for each; /preapproval behind it sends in one step")
	f.Float64Var(&c.WalletTopUp, "wallet-top-up", 0, "bytes of traffic per second that the node may use and that the operator keeps bought; 0 buys none")
	f.DurationVar(&c.WalletTopUpInterval, "wallet-top-up-interval", 10*time.Minute, "least time between two purchases of traffic")
	return f
}

// secrets are the settings that are never shown.
var secrets = map[string]bool{"s3-secret-key": true, "token-key": true, "node-token": true, "ledger-auth-secret": true, "validator-auth-secret": true}

// Check rejects values that no part can work with.
func (c *Config) Check() error {
	for name, urls := range map[string][]string{
		"scan-url": c.ScanURLs, "export-peer": c.ExportPeers, "node-url": {c.NodeURL}, "s3-endpoint": {c.S3Endpoint}, "public-url": {c.PublicURL},
		"ledger-auth-jwks": {c.LedgerAuthJWKS}, "validator-auth-jwks": {c.ValidatorAuthJWKS}, "validator-url": {c.ValidatorURL},
	} {
		for _, raw := range urls {
			if raw == "" && name != "scan-url" && name != "export-peer" {
				continue
			}
			if err := CheckURL(name, raw); err != nil {
				return err
			}
		}
	}
	if err := c.checkServices(); err != nil {
		return err
	}
	if err := c.checkChoices(); err != nil {
		return err
	}
	switch {
	case c.Data == "":
		return errors.New("--data must name a folder")
	case c.ScanWorkers < 0 || c.ScanWorkers > 64:
		return fmt.Errorf("--scan-workers must be between 0 and 64, not %d", c.ScanWorkers)
	case c.ScanAgree < 1 || c.ScanAgree > max(1, len(c.ScanURLs)):
		return fmt.Errorf("--scan-agree must be between 1 and the number of --scan-url, which is %d, not %d", len(c.ScanURLs), c.ScanAgree)
	case c.ScanRate < 0 || c.RateLimit < 0:
		return fmt.Errorf("--scan-rate and --rate-limit must not be negative, they are %g and %g; 0 has a meaning of its own, see --help", c.ScanRate, c.RateLimit)
	case c.ScanPageBytes < 1<<20:
		return fmt.Errorf("--scan-page-bytes must be at least %d bytes (1 MiB), not %d", 1<<20, c.ScanPageBytes)
	case c.EngineMemory < 0:
		return fmt.Errorf("--engine-memory must not be negative, it is %d; 0 leaves the engine's default", c.EngineMemory)
	case c.FollowInterval <= 0:
		return fmt.Errorf("--follow-interval must be positive, such as 1s, not %s", c.FollowInterval)
	case c.MaxConcurrent < 1:
		return fmt.Errorf("--max-concurrent must be at least 1, not %d", c.MaxConcurrent)
	case c.FactsInterval < 0:
		return fmt.Errorf("--facts-interval must not be negative, it is %s", c.FactsInterval)
	case c.TimeAhead < 0:
		return fmt.Errorf("--record-time-ahead must not be negative, it is %s", c.TimeAhead)
	case !validLayouts(c.BulkLayouts):
		return fmt.Errorf("--bulk-layouts must be %s, %s or both, not %q", LayoutParquet, LayoutNetwork, strings.Join(c.BulkLayouts, ","))
	case !slices.Contains(schemas.SegmentLengths[:], schemas.SegmentLength(c.BulkSegments)):
		return fmt.Errorf("--bulk-segments must be %s or %s, not %q", schemas.DaySegments, schemas.HourSegments, c.BulkSegments)
	case c.ExportAgree < 0 || c.ExportAgree > len(c.ExportPeers):
		return fmt.Errorf("--export-agree must be between 0 and the number of --export-peer, which is %d, not %d", len(c.ExportPeers), c.ExportAgree)
	case c.BulkRetention < 0 || c.GCInterval < 0:
		return fmt.Errorf("--bulk-retention and --gc-interval must not be negative, they are %s and %s", c.BulkRetention, c.GCInterval)
	case c.GCGrace < minGCGrace:
		return fmt.Errorf("--gc-grace must be at least %s, which an export may take, not %s", minGCGrace, c.GCGrace)
	case c.Naming != "neutral" && c.Naming != "network":
		return fmt.Errorf("--naming must be neutral or network, not %q", c.Naming)
	case c.NodeToken != "" && c.NodeTokenFile != "":
		return errors.New("--node-token and --node-token-file are two sources of one token: give one")
	case c.MemoryLimit < 64<<20:
		return fmt.Errorf("--memory-limit must be at least %d bytes (64 MiB), not %d", 64<<20, c.MemoryLimit)
	case c.MaxConcurrent < 1:
		return fmt.Errorf("--max-concurrent must be at least 1, not %d", c.MaxConcurrent)
	case c.AnswerCache < 1<<20:
		return fmt.Errorf("--answer-cache must be at least %d bytes (1 MiB), not %d", 1<<20, c.AnswerCache)
	case c.Concurrency < 1:
		return fmt.Errorf("--concurrency must be at least 1, not %d", c.Concurrency)
	case c.S3Endpoint != "" && (c.S3AccessKey == "" || c.S3SecretKey == ""):
		return errors.New("--s3-endpoint needs --s3-access-key and --s3-secret-key (or LEDGERLAKE_S3_ACCESS_KEY and LEDGERLAKE_S3_SECRET_KEY)")
	}
	if err := c.checkLedger(); err != nil {
		return err
	}
	if err := c.checkValidator(); err != nil {
		return err
	}
	return c.checkAutomations()
}

// bucketName is what S3 takes for the name of a bucket.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// checkServices rejects addresses of services that cannot be right.
func (c *Config) checkServices() error {
	if c.ClickHouseDSN != "" {
		u, err := url.Parse(c.ClickHouseDSN)
		if err != nil || (u.Scheme != "clickhouse" && u.Scheme != "tcp") || u.Hostname() == "" {
			return errors.New("--clickhouse-dsn must be of the form clickhouse://user:password@host:9000/database, the port that of ClickHouse's native protocol")
		}
		if _, err := engine.Options(c.ClickHouseDSN); err != nil {
			return fmt.Errorf("--clickhouse-dsn: %w", err)
		}
	}
	if c.RedisURL != "" {
		if err := jobs.CheckURL(c.RedisURL); err != nil {
			return fmt.Errorf("--redis-url: %w", err)
		}
	}
	if !bucketName.MatchString(c.S3Bucket) {
		return fmt.Errorf("--s3-bucket must be 3 to 63 lower-case letters, digits, dots and hyphens, not %q", c.S3Bucket)
	}
	for _, at := range []struct{ setting, address string }{
		{"listen", c.Listen}, {"status-listen", c.StatusListen}, {"ledger-listen", c.LedgerListen}, {"validator-listen", c.ValidatorListen},
	} {
		if at.address == "" && at.setting != "listen" || at.address == LedgerOff && at.setting != "listen" && at.setting != "status-listen" {
			continue
		}
		if err := CheckAddress(at.setting, at.address); err != nil {
			return err
		}
	}
	return nil
}

// CheckURL rejects what is no URL of a service. It does not repeat it: it may hold a password.
func CheckURL(name, raw string) error {
	if u, err := url.Parse(raw); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("--%s must be a URL that begins with http:// or https://, such as http://127.0.0.1:5012", name)
	}
	return nil
}

// CheckAddress rejects what is no address to listen on.
func CheckAddress(setting, address string) error {
	example := "127.0.0.1:8080"
	if _, err := strconv.ParseUint(address, 10, 16); err == nil {
		example = "127.0.0.1:" + address
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--%s must be an address and a port, not %q: say --%s %s", setting, address, setting, example)
	}
	return nil
}

// checkChoices rejects values of settings that have a few.
func (c *Config) checkChoices() error {
	for _, choice := range []struct {
		setting, value string
		values         []string
	}{
		{"scan-source", c.ScanSource, []string{"auto", "events", "updates", "updates-before"}},
		{"scan-agree-on", c.ScanAgreeOn, []string{"updates", "events"}},
		{"node-source", c.NodeSource, []string{"auto", "websocket", "lists", "flats"}},
	} {
		if !slices.Contains(choice.values, choice.value) {
			return fmt.Errorf("--%s must be one of %s, not %q", choice.setting, strings.Join(choice.values, ", "), choice.value)
		}
	}
	return nil
}

// checkLedger rejects settings of the ledger interface that contradict each other.
func (c *Config) checkLedger() error {
	keys := 0
	for _, given := range []string{c.LedgerAuthSecret, c.LedgerAuthJWKS, c.LedgerAuthCertificate} {
		if given != "" {
			keys++
		}
	}
	switch {
	case c.LedgerAuth != "auto" && c.LedgerAuth != "none":
		return fmt.Errorf("--ledger-auth must be auto or none, not %q", c.LedgerAuth)
	case keys > 1:
		return errors.New("--ledger-auth-secret, --ledger-auth-jwks and --ledger-auth-certificate are several keys for one token: give one")
	case keys > 0 && c.LedgerAuth == "none":
		return errors.New("--ledger-auth none contradicts the key of tokens that is given, too")
	case c.LedgerAuthAudience != "" && c.LedgerAuthScope != "":
		return errors.New("--ledger-auth-audience and --ledger-auth-scope are two forms of tokens: give one")
	case c.LedgerPrefix != "" && (!strings.HasPrefix(c.LedgerPrefix, "/") || strings.HasSuffix(c.LedgerPrefix, "/") || strings.ContainsAny(c.LedgerPrefix, "{}?#% ")):
		return fmt.Errorf("--ledger-prefix must be a path such as /ledger, not %q", c.LedgerPrefix)
	case c.LedgerListLimit < 1:
		return fmt.Errorf("--ledger-list-limit must be at least 1, not %d", c.LedgerListLimit)
	case c.LedgerMaxStreams < 1:
		return fmt.Errorf("--ledger-max-streams must be at least 1, not %d", c.LedgerMaxStreams)
	}
	return nil
}

// Print writes the effective configuration as the YAML file that would give it, with
// secrets masked.
func (c *Config) Print(w io.Writer, settings *pflag.FlagSet) error {
	var lines []string
	settings.VisitAll(func(s *pflag.Flag) {
		value := s.Value.String()
		switch {
		case secrets[s.Name] && value != "":
			value = "********"
		case s.Name == "clickhouse-dsn" || s.Name == "redis-url" || s.Name == "node-url" || s.Name == "validator-url":
			value = MaskURL(value)
		case s.Name == "scan-url":
			value = strings.Join(MaskURLs(c.ScanURLs), ",")
		case s.Name == "export-peer":
			value = strings.Join(MaskURLs(c.ExportPeers), ",")
		case s.Name == "node-parties":
			value = strings.Join(c.NodeParties, ",")
		case s.Name == "bulk-layouts":
			value = strings.Join(c.BulkLayouts, ",")
		}
		lines = append(lines, fmt.Sprintf("# %s\n%s: %q", s.Usage, fileKey(s.Name), value))
	})
	sort.Strings(lines)
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// minGCGrace is the most that an export job may take.
const minGCGrace = 12 * time.Hour

// The values of setting bulk-layouts.
const (
	LayoutParquet = "parquet"
	LayoutNetwork = "network"
)

func validLayouts(list []string) bool {
	for _, layout := range list {
		if layout != LayoutParquet && layout != LayoutNetwork {
			return false
		}
	}
	return len(list) > 0
}

// Publishes reports whether bulk objects are published in a layout.
func (c *Config) Publishes(layout string) bool { return slices.Contains(c.BulkLayouts, layout) }

// MaskURL hides the password of a URL.
func MaskURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "********"
	}
	return u.Redacted()
}

func MaskURLs(list []string) []string {
	masked := make([]string, len(list))
	for i, raw := range list {
		masked[i] = MaskURL(raw)
	}
	return masked
}
