package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cache keeps what lookups need of every segment on the local disk: manifests,
// and the filters of lookup objects. A file's name says what content it has, so that
// nothing in it becomes stale; files that are no longer used are harmless. "" caches
// nothing.
type cache string

// file names the copy of something in the bucket. version tells contents under one key
// apart.
func (c cache) file(key, version string) string {
	sum := sha256.Sum256([]byte(version))
	return filepath.Join(string(c), filepath.FromSlash(key)+"@"+hex.EncodeToString(sum[:8]))
}

// load returns a copy, or nil if there is none.
func (c cache) load(key, version string) ([]byte, error) {
	if c == "" {
		return nil, nil
	}
	data, err := os.ReadFile(c.file(key, version))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// save keeps a copy, whole or not at all, in place of those of other versions.
func (c cache) save(key, version string, data []byte) (err error) {
	if c == "" {
		return nil
	}
	path := c.file(key, version)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the cache of %s: %w", key, err)
	}
	stale, err := filepath.Glob(path[:strings.LastIndexByte(path, '@')] + "@*") // at worst a pattern that finds nothing
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".cache-*")
	if err != nil {
		return fmt.Errorf("caching %s: %w", key, err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("caching %s: %w", key, err), os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("caching %s: %w", key, err)
	}
	for _, old := range stale {
		if old == path {
			continue
		}
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// under returns the copies of all objects whose key begins with prefix.
func (c cache) under(prefix string) (copies [][]byte, err error) {
	if c == "" {
		return nil, nil
	}
	root := filepath.Join(string(c), filepath.FromSlash(prefix))
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		data, err := os.ReadFile(path)
		copies = append(copies, data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the cache of %s: %w", prefix, err)
	}
	return copies, nil
}
