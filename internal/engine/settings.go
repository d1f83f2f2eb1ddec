package engine

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// userName is the user that may do everything in an embedded engine, readerName the one
// that may only read.
const (
	userName   = "ledgerlake"
	readerName = "reader"
)

//go:embed config.xml.tmpl
var configTemplate string

//go:embed users.xml.tmpl
var usersTemplate string

const mib = 1 << 20

// serverSettings fill both templates.
type serverSettings struct {
	UsersFile      string // absolute path of the second file
	Store          string // absolute path of the engine's own files
	MaxMemory      int64  // bytes; 0: a share of the machine's memory
	CacheSize      int64  // bytes, of the caches of marks, of primary indexes and of unpacked blocks
	SmallCacheSize int64  // bytes, of the caches we need less
	MaxThreads     int    // 0: one per core
	User           string
	PasswordSHA256 string // hex
	Reader         string
	ReaderSHA256   string // hex, of the reader's password
	ReaderTables   []string
	Cluster        string // "" for none
	Shards         []shard
	Password       string // of User on all shards
}

// readerTables are those of database system that the reader may read beside what the
// engine shows to everybody. The others tell of users, credentials and other servers, or
// disturb the engine when they are read.
var readerTables = []string{
	"asynchronous_metrics", "build_options", "detached_parts", "disks", "errors", "events", "merges", "metrics",
	"mutations", "parts", "parts_columns", "processes", "projection_parts", "server_settings",
}

// writeSettings writes the two configuration files of an engine into its data folder
// and returns the path of the first.
func writeSettings(cfg Config, keys passwords) (string, error) {
	s := serverSettings{
		UsersFile:      filepath.Join(cfg.DataDir, "engine-users.xml"),
		Store:          storeDir(cfg.DataDir),
		MaxMemory:      cfg.MaxMemory,
		CacheSize:      cacheShare(cfg.MaxMemory, 256*mib),
		SmallCacheSize: cacheShare(cfg.MaxMemory, 64*mib),
		MaxThreads:     cfg.MaxThreads,
		User:           userName,
		PasswordSHA256: sumOf(keys.owner),
		Reader:         readerName,
		ReaderSHA256:   sumOf(keys.reader),
		ReaderTables:   readerTables,
	}
	if cfg.Cluster != nil {
		s.Cluster, s.Shards, s.Password = cfg.Cluster.Name, cfg.Cluster.shards(), keys.owner
	}
	path := filepath.Join(cfg.DataDir, "engine-config.xml")
	for file, text := range map[string]string{path: configTemplate, s.UsersFile: usersTemplate} {
		if err := writeTemplate(file, text, s); err != nil {
			return "", err
		}
	}
	return path, nil
}

// sumOf is the SHA-256 sum of a password in hex.
func sumOf(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// cacheShare bounds a cache to an eighth of the engine's memory.
func cacheShare(maxMemory, most int64) int64 {
	if maxMemory == 0 {
		return most
	}
	return min(most, maxMemory/8)
}

func writeTemplate(path, text string, s serverSettings) error {
	t, err := template.New(filepath.Base(path)).Parse(text)
	if err != nil {
		return fmt.Errorf("parsing template of %s: %w", path, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return fmt.Errorf("filling template of %s: %w", path, err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing engine settings: %w", err)
	}
	return nil
}

func storeDir(dataDir string) string { return filepath.Join(dataDir, "store") }
