package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// dsnFile holds the address of a running engine for a user who may only read, ownerFile
// that for one who may do everything.
const (
	dsnFile   = "engine.dsn"
	ownerFile = "engine-owner.dsn"
)

// RunningDSN returns the data source name by which the engine can be read that another
// process of the same owner runs on a data folder, or an error that wraps ErrNotRunning.
// The engine may have been killed since it wrote the name: Open tells.
func RunningDSN(dataDir string) (string, error) { return readDSN(dataDir, dsnFile) }

// RunningOwnerDSN is like RunningDSN for who writes.
func RunningOwnerDSN(dataDir string) (string, error) { return readDSN(dataDir, ownerFile) }

func readDSN(dataDir, file string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dataDir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w on data folder %s", ErrNotRunning, dataDir)
	}
	if err != nil {
		return "", fmt.Errorf("reading the engine's address: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// writeDSNs publishes the addresses.
func writeDSNs(dataDir, reader, owner string) error {
	return errors.Join(writeDSN(filepath.Join(dataDir, dsnFile), reader), writeDSN(filepath.Join(dataDir, ownerFile), owner))
}

// writeDSN publishes an address by a rename, so that nobody reads half of it.
func writeDSN(path, dsn string) error {
	if err := os.WriteFile(path+".new", []byte(dsn+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the engine's address: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("publishing the engine's address: %w", err)
	}
	return nil
}

func removeDSNs(dataDir string) error {
	var errs []error
	for _, name := range []string{dsnFile, ownerFile} {
		if err := os.Remove(filepath.Join(dataDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("removing the engine's address: %w", err))
		}
	}
	return errors.Join(errs...)
}
