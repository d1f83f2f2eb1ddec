package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// EngineFolder and BucketFolder are where the embedded services keep what they have.
func (c *Config) EngineFolder() string { return filepath.Join(c.Data, "engine") }
func (c *Config) BucketFolder() string { return filepath.Join(c.Data, "bucket") }

// AccessToken is our own token for the node, "" without one.
func (c *Config) AccessToken(context.Context) (string, error) {
	if c.NodeTokenFile == "" {
		return c.NodeToken, nil
	}
	text, err := os.ReadFile(c.NodeTokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the node's token: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// CheckTokenFile makes sure that the file of the node's token has one, where a node is given.
func (c *Config) CheckTokenFile() error {
	if c.NodeURL == "" || c.NodeTokenFile == "" {
		return nil
	}
	token, err := c.AccessToken(context.Background())
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("--node-token-file %s: there is no such file: correct the path", c.NodeTokenFile)
	case err != nil:
		return fmt.Errorf("--node-token-file: %w", err)
	case token == "":
		return fmt.Errorf("--node-token-file %s: the file is empty: write the token into it", c.NodeTokenFile)
	}
	return nil
}
