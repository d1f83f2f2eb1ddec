package bucket

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
)

// Where the gateway keeps the metadata of objects.
const (
	metadataXattr   = "xattr"   // extended attributes of the object's file
	metadataSidecar = "sidecar" // files in a folder of their own
)

// gatewaySettings are made once per data folder and kept in it: the objects of one
// folder must not change the place of their metadata, nor clients their keys.
type gatewaySettings struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	Metadata  string `json:"metadata"`
}

// loadSettings reads the settings of the folder, or makes them on its first use.
func loadSettings(dir string) (gatewaySettings, error) {
	path := filepath.Join(dir, secretsFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createSettings(dir, path)
	}
	if err != nil {
		return gatewaySettings{}, fmt.Errorf("reading gateway settings: %w", err)
	}
	var s gatewaySettings
	// The decoder's error could quote the file, which holds the secret.
	if json.Unmarshal(raw, &s) != nil || s.AccessKey == "" || s.SecretKey == "" {
		return gatewaySettings{}, fmt.Errorf("reading gateway settings: %s is damaged: delete it to get new keys", path)
	}
	return s, nil
}

// createSettings makes new settings and stores them in one step, so that a crash
// leaves either none or all of them.
func createSettings(dir, path string) (gatewaySettings, error) {
	metadata, err := metadataKind(dir)
	if err != nil {
		return gatewaySettings{}, err
	}
	s := gatewaySettings{
		AccessKey: "ledgerlake" + rand.Text()[:10],
		SecretKey: rand.Text() + rand.Text(),
		Metadata:  metadata,
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return gatewaySettings{}, fmt.Errorf("encoding gateway settings: %w", err)
	}
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, raw, 0o600); err != nil {
		return gatewaySettings{}, fmt.Errorf("writing gateway settings: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return gatewaySettings{}, fmt.Errorf("writing gateway settings: %w", err)
	}
	return s, nil
}

// metadataKind finds out whether files in the folder can have attributes. A folder
// that has a sidecar already keeps it, which matters when its settings were deleted.
func metadataKind(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, sidecarDir)); err == nil {
		return metadataSidecar, nil
	}
	probe, err := os.CreateTemp(filepath.Join(dir, objectsDir), ".probe-*")
	if err != nil {
		return "", fmt.Errorf("probing for file attributes: %w", err)
	}
	kind := metadataXattr
	if err := (meta.XattrMeta{}).StoreAttribute(probe, "", "", "probe", []byte("1")); err != nil {
		kind = metadataSidecar
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return "", fmt.Errorf("probing for file attributes: %w", err)
	}
	return kind, nil
}
