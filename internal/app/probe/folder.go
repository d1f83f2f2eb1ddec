package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CheckFolder refuses a data folder that is no folder or, unless it is to be made, does not have
// the given part.
func CheckFolder(dir, part string, makes bool) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) && makes:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("--data %s: there is no such folder; name the one that ledgerlake up or ledgerlake ingest made", dir)
	case err != nil:
		return explainFolder(dir, err)
	case !info.IsDir():
		return fmt.Errorf("--data %s is a file: name a folder", dir)
	case makes:
		return nil
	}
	if _, err := os.Stat(part); err != nil {
		return fmt.Errorf("--data %s is not a data folder of ledgerlake, it has no folder %s; name the one that ledgerlake up or ledgerlake ingest made", dir, filepath.Base(part))
	}
	return nil
}

// MakeFolder makes the data folder unless it exists, and makes sure that it can be written to.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return explainFolder(dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return explainFolder(dir, err)
	}
	_, err = probe.Write(make([]byte, 4096))
	if err := errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return explainFolder(dir, err)
	}
	return nil
}

// explainFolder says why a data folder can't be used, and what to do.
func explainFolder(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("--data %s: a part of the path is a file: name a folder", dir)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("--data %s: this user may not write there: name another folder, or change its owner: %w", dir, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("--data %s: the disk is full: free some space, or name a folder on another: %w", dir, err)
	}
	return fmt.Errorf("--data %s: the folder can't be used, name another: %w", dir, err)
}
