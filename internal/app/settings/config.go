// Package settings has the configuration of the product: what can be set, from where, and what is refused.
package settings

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
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
	General
	Upstream
	Store
	Objects
	Jobs
	Query
	Ledger
	Validator
	Wallet
	Console
}

// Group is settings that belong together. Its name heads them where they are listed.
type Group string

// The groups, each of which is a type of this package.
const (
	GroupGeneral   Group = "General"
	GroupUpstream  Group = "Upstream"
	GroupStore     Group = "Store"
	GroupObjects   Group = "Objects"
	GroupJobs      Group = "Jobs"
	GroupQuery     Group = "Query tier"
	GroupLedger    Group = "Ledger interface"
	GroupValidator Group = "Validator interface"
	GroupWallet    Group = "Wallets"
	GroupConsole   Group = "Console"
)

// Groups are all groups, in the order in which they are listed.
var Groups = []Group{
	GroupGeneral, GroupUpstream, GroupStore, GroupObjects, GroupJobs, GroupQuery, GroupLedger, GroupValidator, GroupWallet, GroupConsole,
}

// Flags are the settings of c by group, with their defaults.
type Flags map[Group]*pflag.FlagSet

// Flags declares every setting with its default.
func (c *Config) Flags() Flags {
	flags := make(Flags)
	for group, declare := range map[Group]func(*pflag.FlagSet){
		GroupGeneral: c.General.declare, GroupUpstream: c.Upstream.declare, GroupStore: c.Store.declare, GroupObjects: c.Objects.declare,
		GroupJobs: c.Jobs.declare, GroupQuery: c.Query.declare, GroupLedger: c.Ledger.declare, GroupValidator: c.Validator.declare, GroupWallet: c.Wallet.declare,
		GroupConsole: c.Console.declare,
	} {
		flags[group] = pflag.NewFlagSet(string(group), pflag.ContinueOnError)
		declare(flags[group])
	}
	return flags
}

// All are the settings of all groups together.
func (f Flags) All() *pflag.FlagSet {
	all := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	for _, group := range Groups {
		all.AddFlagSet(f[group])
	}
	return all
}

// Hosts are the names under which clients reach this server, beside those that need no entry.
func (c *Config) Hosts() []string {
	hosts := slices.Clone(c.AllowedHosts)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

// secrets are the settings that are never shown.
var secrets = map[string]bool{"s3-secret-key": true, "token-key": true, "node-token": true, "ledger-auth-secret": true, "validator-auth-secret": true, "console-oidc-client-secret": true}

// Check rejects values that no part can work with.
func (c *Config) Check() error {
	for name, urls := range map[string][]string{
		"scan-url": c.ScanURLs, "export-peer": c.ExportPeers, "node-url": {c.NodeURL}, "s3-endpoint": {c.S3Endpoint}, "public-url": {c.PublicURL},
		"ledger-auth-jwks": {c.LedgerAuthJWKS}, "validator-auth-jwks": {c.ValidatorAuthJWKS}, "validator-url": {c.ValidatorURL},
		"console-oidc-issuer": {c.ConsoleOIDCIssuer},
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
		return fmt.Errorf("--scan-rate and --rate-limit must not be negative, they are %g and %g; 0 has a special meaning, see --help", c.ScanRate, c.RateLimit)
	case c.ScanPageBytes < 1<<20:
		return fmt.Errorf("--scan-page-bytes must be at least %d bytes (1 MiB), not %d", 1<<20, c.ScanPageBytes)
	case c.ClickHouseCluster != "" && c.ClickHouseDSN == "":
		return errors.New("--clickhouse-cluster needs --clickhouse-dsn, which names a server of the cluster")
	case c.ClickHouseCluster != "" && c.LookupRows:
		return errors.New("--lookup-rows and --clickhouse-cluster exclude each other: copies for lookups are for a single server")
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
		return fmt.Errorf("--gc-grace must be at least %s, the time that an export may take, not %s", minGCGrace, c.GCGrace)
	case c.Naming != "neutral" && c.Naming != "network":
		return fmt.Errorf("--naming must be neutral or network, not %q", c.Naming)
	case c.NodeToken != "" && c.NodeTokenFile != "":
		return errors.New("--node-token and --node-token-file are two sources of one token: give only one")
	case c.MemoryLimit < 64<<20:
		return fmt.Errorf("--memory-limit must be at least %d bytes (64 MiB), not %d", 64<<20, c.MemoryLimit)
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
	if err := c.checkConsole(); err != nil {
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
		return fmt.Errorf("--%s must be an address and a port, not %q: write --%s %s", setting, address, setting, example)
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
		return errors.New("--ledger-auth-secret, --ledger-auth-jwks and --ledger-auth-certificate are several keys for the same tokens: give only one")
	case keys > 0 && c.LedgerAuth == "none":
		return errors.New("--ledger-auth none contradicts the token key that is also given: leave one of them out")
	case c.LedgerAuthAudience != "" && c.LedgerAuthScope != "":
		return errors.New("--ledger-auth-audience and --ledger-auth-scope are for two forms of tokens: give only one")
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
		lines = append(lines, fmt.Sprintf("# %s\n%s: %q", s.Usage, FileKey(s.Name), c.shown(s)))
	})
	sort.Strings(lines)
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// shown is the value of a setting of c for people: secrets are masked.
func (c *Config) shown(s *pflag.Flag) string {
	value := s.Value.String()
	switch {
	case secrets[s.Name] && value != "":
		return "********"
	case s.Name == "clickhouse-dsn" || s.Name == "redis-url" || s.Name == "node-url" || s.Name == "validator-url":
		return MaskURL(value)
	case s.Name == "scan-url":
		return strings.Join(MaskURLs(c.ScanURLs), ",")
	case s.Name == "export-peer":
		return strings.Join(MaskURLs(c.ExportPeers), ",")
	case s.Name == "node-parties":
		return strings.Join(c.NodeParties, ",")
	case s.Name == "bulk-layouts":
		return strings.Join(c.BulkLayouts, ",")
	case s.Name == "console-oidc-scopes":
		return strings.Join(c.ConsoleOIDCScopes, ",")
	}
	return value
}

// Effective is a setting in effect, with secrets masked.
type Effective struct {
	Group              Group
	Name, Value, Usage string
	// Changed says that the value is not the default.
	Changed bool
}

// Effective lists all settings in effect, by group and name.
func (c *Config) Effective() []Effective {
	// Flags point into their Config, and declaring them sets its defaults.
	var of Config
	flags := of.Flags()
	of = *c
	var list []Effective
	for _, group := range Groups {
		flags[group].VisitAll(func(s *pflag.Flag) {
			list = append(list, Effective{group, s.Name, of.shown(s), s.Usage, s.Value.String() != s.DefValue})
		})
	}
	return list
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
