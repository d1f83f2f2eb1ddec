package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokenKey returns the secret that signs page tokens: the configured one, or one that
// is made once and kept beside the data.
func (s *servers) tokenKey() ([]byte, error) {
	if s.p.cfg.TokenKey != "" {
		if len(s.p.cfg.TokenKey) < 16 {
			return nil, errors.New("--token-key must have at least 16 characters")
		}
		return []byte(s.p.cfg.TokenKey), nil
	}
	path := filepath.Join(s.p.cfg.Data, "token.key")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := makeTokenKey(path); err != nil {
			return nil, fmt.Errorf("making a key for page tokens: %w", err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key for page tokens: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	if len(key) < 16 {
		return nil, fmt.Errorf("%s holds no key: delete the file to have a new one made", path)
	}
	return []byte(key), nil
}

// makeTokenKey writes a new key to path, whole or not at all. When another process is
// faster, its key stands.
func makeTokenKey(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".token-*") // readable by the owner only
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = fmt.Fprintln(file, rand.Text()+rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
