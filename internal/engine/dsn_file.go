package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func dsnPath(dataDir string) string { return filepath.Join(dataDir, "engine.dsn") }

// RunningDSN returns the data source name of the engine that another process of the
// same owner runs on a data folder, or an error that wraps ErrNotRunning. The engine
// may have been killed since it wrote the name: Open tells.
func RunningDSN(dataDir string) (string, error) {
	text, err := os.ReadFile(dsnPath(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w on data folder %s", ErrNotRunning, dataDir)
	}
	if err != nil {
		return "", fmt.Errorf("reading the engine's address: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// writeDSN publishes the address by a rename, so that nobody reads half of it.
func writeDSN(dataDir, dsn string) error {
	path := dsnPath(dataDir)
	if err := os.WriteFile(path+".new", []byte(dsn+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the engine's address: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("publishing the engine's address: %w", err)
	}
	return nil
}

func removeDSN(dataDir string) error {
	if err := os.Remove(dsnPath(dataDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the engine's address: %w", err)
	}
	return nil
}
