package settings

import (
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// General is what all parts share.
type General struct {
	Data        string
	LogLevel    string
	MemoryLimit int64
	Catalog     string
}

func (c *General) declare(f *pflag.FlagSet) {
	f.StringVar(&c.Data, "data", "./ledgerlake-data", "folder for everything embedded services keep")
	f.StringVar(&c.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.Int64Var(&c.MemoryLimit, "memory-limit", 700<<20, "soft memory limit of this process in bytes, without embedded services; requests share half of it, and wait for it; GOMEMLIMIT takes precedence")
	f.StringVar(&c.Catalog, "catalog", "", "folder of template catalogue files for packages that are not the network's own")
}

// Upstream is where history is read from.
type Upstream struct {
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
	NodeURL        string
	NodeSource     string
	NodeParties    []string
	NodeToken      string
	NodeTokenFile  string
	StatusListen   string
}

func (c *Upstream) declare(f *pflag.FlagSet) {
	f.StringSliceVar(&c.ScanURLs, "scan-url", nil, "scan service to ingest from; repeat the flag for several; without one, up and demo run a simulated network")
	f.IntVar(&c.ScanAgree, "scan-agree", 1, "number of scan services that must return the same content before it is stored")
	f.StringVar(&c.ScanAgreeOn, "scan-agree-on", "updates", "what they must agree on: updates, or events, which adds verdicts and side data")
	f.StringVar(&c.ScanSource, "scan-source", "auto", "operation to read history with: auto, events, updates or updates-before")
	f.IntVar(&c.ScanWorkers, "scan-workers", 0, "maximum of concurrent requests to the scan services; 0 means 4 for each, at most 16")
	f.Float64Var(&c.ScanRate, "scan-rate", 0, "requests per second to the upstream; 0 means 10, or no limit on loopback")
	f.Int64Var(&c.ScanPageBytes, "scan-page-bytes", 256<<20, "largest page accepted from the upstream, in bytes")
	f.DurationVar(&c.FollowInterval, "follow-interval", time.Second, "longest wait between polls of the upstream's tail, and of a few updates for more, to be stored with them")
	f.DurationVar(&c.FactsInterval, "facts-interval", time.Minute, "how often to ask the upstream for what is not in its history; 0 means never")
	f.DurationVar(&c.TimeAhead, "record-time-ahead", 10*time.Minute, "how far record times may be ahead of this machine's clock; later updates are not stored until then, nor exported; 0 means no limit, for networks with their own time")
	f.StringVar(&c.NodeURL, "node-url", "", "ledger JSON API of a node whose own stream is also ingested")
	f.StringVar(&c.NodeSource, "node-source", "auto", "way to read the node's stream: auto, websocket, lists or flats")
	f.StringSliceVar(&c.NodeParties, "node-parties", nil, "parties whose stream is read, separated by commas; default all parties of the node")
	f.StringVar(&c.NodeToken, "node-token", "", "access token for the node")
	f.StringVar(&c.NodeTokenFile, "node-token-file", "", "file with the access token for the node, read again when it changes")
	f.StringVar(&c.StatusListen, "status-listen", "", "address on which ingest serves /streams and /metrics, such as 127.0.0.1:8090; up and serve serve them on --listen")
}

// Store is the ClickHouse that history is stored in.
type Store struct {
	ClickHouseDSN     string
	ClickHouseCluster string
	Engine            string
	EngineMemory      int64
	LookupRows        bool
}

func (c *Store) declare(f *pflag.FlagSet) {
	f.StringVar(&c.ClickHouseDSN, "clickhouse-dsn", "", "ClickHouse to use instead of the embedded engine, clickhouse://user:password@host:9000/database; of several hosts, one:9000,two:9000, the first that answers is used")
	f.StringVar(&c.ClickHouseCluster, "clickhouse-cluster", "", "cluster of the servers at --clickhouse-dsn over whose shards the store is spread, by its name in their remote_servers")
	f.StringVar(&c.Engine, "engine", "", "ClickHouse library or binary for the embedded engine; found automatically when empty")
	f.Int64Var(&c.EngineMemory, "engine-memory", 0, "memory limit of the embedded engine in bytes; 0 leaves the engine's default")
	f.BoolVar(&c.LookupRows, "lookup-rows", false, "keep a copy of public history by update id, and of nodes' streams by offset, which makes lookups many times faster and the store about twice as large; for ingest and serve")
}

// Objects is the bucket, and what is published in it.
type Objects struct {
	S3Endpoint    string
	S3Region      string
	S3Bucket      string
	S3Prefix      string
	S3AccessKey   string
	S3SecretKey   string
	BulkLayouts   []string
	BulkSegments  string
	BulkLookups   bool
	ExportAgree   int
	ExportPeers   []string
	ExportIceberg bool
	BulkRetention time.Duration
	GCInterval    time.Duration
	GCGrace       time.Duration
}

func (c *Objects) declare(f *pflag.FlagSet) {
	f.StringVar(&c.S3Endpoint, "s3-endpoint", "", "S3-compatible storage to use instead of the embedded gateway")
	f.StringVar(&c.S3Region, "s3-region", "us-east-1", "region of the S3 storage")
	f.StringVar(&c.S3Bucket, "s3-bucket", "ledgerlake", "bucket for exported objects")
	f.StringVar(&c.S3Prefix, "s3-prefix", "", "prefix of all object keys")
	f.StringVar(&c.S3AccessKey, "s3-access-key", "", "access key of the S3 storage")
	f.StringVar(&c.S3SecretKey, "s3-secret-key", "", "secret key of the S3 storage")
	f.StringSliceVar(&c.BulkLayouts, "bulk-layouts", []string{LayoutParquet, LayoutNetwork}, "layouts in which bulk objects are published, in this order: parquet, network")
	f.StringVar(&c.BulkSegments, "bulk-segments", string(schemas.DaySegments), "length of a Parquet segment: day or hour; a bucket keeps the length that it was begun with")
	f.BoolVar(&c.BulkLookups, "bulk-lookups", false, "publish lookup objects, with which ledgerlake get finds an update in two requests; they nearly double the bucket")
	f.IntVar(&c.ExportAgree, "export-agree", 0, "number of peers that must have the same bulk objects before they are published; 0 publishes without asking")
	f.StringSliceVar(&c.ExportPeers, "export-peer", nil, "ledgerlake of another operator to ask for checksums; repeat the flag for several")
	f.BoolVar(&c.ExportIceberg, "export-iceberg", false, "keep Iceberg tables over the Parquet objects, below iceberg/ in the bucket")
	f.DurationVar(&c.BulkRetention, "bulk-retention", 0, "age at which published days are removed from the bucket, such as 8760h; 0 keeps all")
	f.DurationVar(&c.GCInterval, "gc-interval", 24*time.Hour, "how often worker removes unused objects from the bucket; 0 means never")
	f.DurationVar(&c.GCGrace, "gc-grace", 24*time.Hour, "age at which unlisted objects and unfinished uploads count as left over")
}

// Jobs is the queue of background work.
type Jobs struct {
	RedisURL    string
	Concurrency int
}

func (c *Jobs) declare(f *pflag.FlagSet) {
	f.StringVar(&c.RedisURL, "redis-url", "", "Redis for the job queue instead of the in-process one, redis://host:6379/0")
	f.IntVar(&c.Concurrency, "concurrency", max(2, runtime.NumCPU()/2), "jobs that run at the same time")
}

// Query is the query tier, whose listener other interfaces may share.
type Query struct {
	Listen        string
	PublicURL     string
	AllowedHosts  []string
	Naming        string
	TokenKey      string
	MaxConcurrent int
	RateLimit     float64
	AnswerCache   int64
	Profiling     bool
}

func (c *Query) declare(f *pflag.FlagSet) {
	f.StringVar(&c.Listen, "listen", "127.0.0.1:8080", "address of the query tier")
	f.StringVar(&c.PublicURL, "public-url", "", "URL under which clients reach the query tier; default http://<listen address>")
	f.StringSliceVar(&c.AllowedHosts, "allowed-hosts", nil, "public DNS names under which clients reach this server, separated by commas, in addition to that of --public-url; * allows all")
	f.StringVar(&c.Naming, "naming", "neutral", "spelling of member names in answers: neutral, or network for the network's own; requests may use both")
	f.StringVar(&c.TokenKey, "token-key", "", "secret that signs page tokens; without one, a secret is generated once and kept in the data folder")
	f.IntVar(&c.MaxConcurrent, "max-concurrent", 256, "maximum of concurrent small requests; more wait, and get 503 if that takes too long")
	f.Float64Var(&c.RateLimit, "rate-limit", 0, "requests per second per client; 0 means no limit")
	f.Int64Var(&c.AnswerCache, "answer-cache", 64<<20, "bytes of memory for answers to lookups that never change")
	f.BoolVar(&c.Profiling, "profiling", false, "serve /debug/pprof on the query tier")
}

// Ledger is the ledger interface.
type Ledger struct {
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
}

func (c *Ledger) declare(f *pflag.FlagSet) {
	f.StringVar(&c.LedgerListen, "ledger-listen", "", "address of the ledger interface, or off; default 127.0.0.1 and the port after that of --listen")
	f.StringVar(&c.LedgerPrefix, "ledger-prefix", "", "prefix of the paths of the ledger interface, such as /ledger")
	f.StringVar(&c.LedgerParticipant, "ledger-participant", "", "participant whose stream the ledger interface serves, if the store has several")
	f.IntVar(&c.LedgerListLimit, "ledger-list-limit", 200, "maximum of elements in a list of the ledger interface; longer lists get 413 (http-list-max-elements-limit)")
	f.IntVar(&c.LedgerMaxStreams, "ledger-max-streams", 256, "maximum of concurrent websockets of the ledger interface; more get 429")
	f.StringVar(&c.LedgerAuth, "ledger-auth", "auto", "auto: tokens are checked if a key is given, and without one only loopback is served; none: everybody may read everything")
	f.StringVar(&c.LedgerAuthSecret, "ledger-auth-secret", "", "shared secret of tokens (HS256), at least 32 characters, for development")
	f.StringVar(&c.LedgerAuthJWKS, "ledger-auth-jwks", "", "URL of the key set (JWKS) that tokens are signed with")
	f.StringVar(&c.LedgerAuthCertificate, "ledger-auth-certificate", "", "PEM file with the certificate or public key that tokens are signed with")
	f.StringVar(&c.LedgerAuthAudience, "ledger-auth-audience", "", "audience that tokens must name")
	f.StringVar(&c.LedgerAuthScope, "ledger-auth-scope", "", "scope that tokens must have, instead of an audience")
	f.StringVar(&c.LedgerUsers, "ledger-users", "", "YAML file of users and their rights, read again when it changes; without one the node of --node-url is asked")
}

// Validator is the validator interface.
type Validator struct {
	ValidatorListen          string
	ValidatorUser            string
	ValidatorParty           string
	ValidatorURL             string
	ValidatorAuthSecret      string
	ValidatorAuthJWKS        string
	ValidatorAuthCertificate string
	ValidatorAuthAudience    string
}

func (c *Validator) declare(f *pflag.FlagSet) {
	f.StringVar(&c.ValidatorListen, "validator-listen", "", "separate address for the validator interface, or off; default below /api/validator on --listen")
	f.StringVar(&c.ValidatorUser, "validator-user", "", "ledger user of the validator's operator; default the user of the node's token")
	f.StringVar(&c.ValidatorParty, "validator-party", "", "party of the validator's operator; default the primary party of --validator-user")
	f.StringVar(&c.ValidatorURL, "validator-url", "", "existing validator to which --wallet-mode forward sends changes to the ledger")
	f.StringVar(&c.ValidatorAuthSecret, "validator-auth-secret", "", "shared secret of tokens (HS256), for development; at least 32 characters unless the listener is on loopback")
	f.StringVar(&c.ValidatorAuthJWKS, "validator-auth-jwks", "", "URL of the key set (JWKS) that tokens are signed with")
	f.StringVar(&c.ValidatorAuthCertificate, "validator-auth-certificate", "", "PEM file with the certificate or public key that tokens are signed with")
	f.StringVar(&c.ValidatorAuthAudience, "validator-auth-audience", "https://validator.ledgerlake", "audience that tokens must name")
}

// Wallet is what wallets may do, and do by themselves.
type Wallet struct {
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

func (c *Wallet) declare(f *pflag.FlagSet) {
	f.StringVar(&c.WalletMode, "wallet-mode", "node", "where changes to the ledger are sent: node, as commands; forward, to the validator of --validator-url; off")
	f.DurationVar(&c.WalletWait, "wallet-wait", 5*time.Second, "how long the answer to a change waits until the change can be read here")
	f.BoolVar(&c.WalletDevelopment, "wallet-development", false, "the network is a development network: wallets may tap")
	f.BoolVar(&c.WalletTransferCommands, "wallet-transfer-commands", false, "external parties may send by transfer commands, which the network dropped in 0.8.0")
	f.StringSliceVar(&c.WalletAutomations, "wallet-automations", nil, "automations that worker and up run, separated by commas, or all; default all on a simulated network with --live-clock, none otherwise")
	f.StringSliceVar(&c.WalletAcceptFrom, "wallet-accept-from", nil, "RECEIVER/SENDER: the first party accepts all transfer offers of the second; repeat the flag for several")
	f.StringSliceVar(&c.WalletSweep, "wallet-sweep", nil, "SENDER/RECEIVER/ABOVE/KEEP: when the first party has more than ABOVE dollars, it offers the second all but KEEP; append /preapproval to send in one step; repeat the flag for several")
	f.Float64Var(&c.WalletTopUp, "wallet-top-up", 0, "bytes of traffic per second that the operator buys for the node; 0 buys none")
	f.DurationVar(&c.WalletTopUpInterval, "wallet-top-up-interval", 10*time.Minute, "minimum time between two purchases of traffic")
}

// Console is how people sign in to the pages for browsers.
type Console struct {
	ConsoleOIDCIssuer       string
	ConsoleOIDCClientID     string
	ConsoleOIDCClientSecret string
	ConsoleOIDCAudience     string
	ConsoleOIDCScopes       []string
}

func (c *Console) declare(f *pflag.FlagSet) {
	f.StringVar(&c.ConsoleOIDCIssuer, "console-oidc-issuer", "", "URL of the OpenID provider that people sign in by, whose access tokens the validator interface accepts")
	f.StringVar(&c.ConsoleOIDCClientID, "console-oidc-client-id", "", "what the provider knows the console by; its redirect address is /login/callback below --public-url")
	f.StringVar(&c.ConsoleOIDCClientSecret, "console-oidc-client-secret", "", "secret of that client, if it has one")
	f.StringVar(&c.ConsoleOIDCAudience, "console-oidc-audience", "", "audience to ask the provider for, if its tokens depend on it")
	f.StringSliceVar(&c.ConsoleOIDCScopes, "console-oidc-scopes", []string{"offline_access"}, "scopes to ask for beside openid, separated by commas")
}
