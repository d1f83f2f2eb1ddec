package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// dataPart is a file or folder that ledgerlake keeps in a data folder.
type dataPart struct {
	name string
	// lock is a file in it that a process holds for as long as it uses the part, "" if others
	// guard it.
	lock string
	// signs are names of which the part has at least one. A folder of the same name without
	// them is somebody else's. Without signs the part goes if any other one does.
	signs []string
}

var dataParts = []dataPart{
	{"engine", "engine.lock", []string{"engine.lock", "store"}},
	{"bucket", "LOCK", []string{"gateway.json", "objects"}},
	{"devnet", "devnet.lock", []string{"journal.jsonl", "updates_protobuf.s2"}},
	{name: "cache"}, {name: "tmp"}, {name: "token.key"},
}

// Reset deletes what ledgerlake keeps in a data folder, and names it. Without yes it only says in its
// error what it would delete.
func Reset(dir string, yes bool) (deleted string, err error) {
	found, err := partsOf(dir)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s has nothing of ledgerlake: name its data folder with --data", dir)
	}
	for _, p := range found {
		release, err := p.take(dir)
		if err != nil {
			return "", err
		}
		defer release()
	}
	if !yes {
		return "", listParts(dir, found)
	}
	for _, p := range found {
		if err := os.RemoveAll(filepath.Join(dir, p.name)); err != nil {
			return "", fmt.Errorf("deleting the data folder: %w", err)
		}
	}
	_ = os.Remove(dir) // unless somebody else keeps something in it
	return partNames(found), nil
}

// partsOf returns the parts that a folder has.
func partsOf(dir string) (found []dataPart, err error) {
	ours := false
	for _, p := range dataParts {
		if _, err := os.Lstat(filepath.Join(dir, p.name)); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("reading the data folder: %w", err)
		}
		if len(p.signs) == 0 && !ours || len(p.signs) > 0 && !p.signed(dir) {
			continue
		}
		ours = true
		found = append(found, p)
	}
	return found, nil
}

func (p dataPart) signed(dir string) bool {
	for _, sign := range p.signs {
		if _, err := os.Lstat(filepath.Join(dir, p.name, sign)); err == nil {
			return true
		}
	}
	return false
}

// take makes sure that no process uses the part until release.
func (p dataPart) take(dir string) (release func(), err error) {
	if p.lock == "" {
		return func() {}, nil
	}
	lock := flock.New(filepath.Join(dir, p.name, p.lock))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("locking the data folder: %w", err)
	case !ok:
		return nil, fmt.Errorf("%s is in use: stop the ledgerlake that uses it first", dir)
	}
	return func() { _ = lock.Close() }, nil // the file may be gone
}

// listParts says what would be deleted.
func listParts(dir string, found []dataPart) error {
	var size int64
	for _, p := range found {
		err := filepath.WalkDir(filepath.Join(dir, p.name), func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the data folder: %w", err)
		}
	}
	return fmt.Errorf("nothing was deleted: add --yes to delete %s of %s (%.1f MB)", partNames(found), dir, float64(size)/1e6)
}

func partNames(parts []dataPart) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}
