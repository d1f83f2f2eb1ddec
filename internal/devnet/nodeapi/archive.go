package nodeapi

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// archives are the packages that were uploaded to a node, until it ends. The network's own are known by
// their ids alone: nobody has compiled them.
type archives struct {
	mu       sync.Mutex
	payloads map[string][]byte // by id
}

const (
	maxArchive        = 64 << 20 // bytes of an upload, and of what it inflates to
	archivePayload    = 3        // Archive
	archiveHash       = 4
	packageHashHeader = "Canton-Package-Hash"
)

// add keeps the packages of a .dar file.
func (a *archives) add(dar []byte) error {
	payloads, err := payloadsOf(dar)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(a.payloads, payloads)
	return nil
}

func (a *archives) get(id string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.payloads[id]
}

func (a *archives) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.payloads))
}

// payloadsOf returns the packages in a .dar file by their id, which is compared with their bytes.
func payloadsOf(dar []byte) (map[string][]byte, error) {
	files, err := zip.NewReader(bytes.NewReader(dar), int64(len(dar)))
	if err != nil {
		return nil, err
	}
	payloads, left := map[string][]byte{}, int64(maxArchive)
	for _, f := range files.File {
		if !strings.HasSuffix(f.Name, ".dalf") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		archive, err := io.ReadAll(io.LimitReader(r, left+1))
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		if left -= int64(len(archive)); left < 0 {
			return nil, errors.New("it is too large")
		}
		id, payload, err := payloadOf(archive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		payloads[id] = payload
	}
	if len(payloads) == 0 {
		return nil, errors.New("it has no package")
	}
	return payloads, nil
}

// payloadOf returns the package in an Archive.
func payloadOf(archive []byte) (id string, payload []byte, err error) {
	for len(archive) > 0 {
		field, kind, n := protowire.ConsumeTag(archive)
		if n < 0 || kind != protowire.BytesType {
			return "", nil, errors.New("it is no archive")
		}
		content, m := protowire.ConsumeBytes(archive[n:])
		if m < 0 {
			return "", nil, errors.New("it is cut off")
		}
		switch field {
		case archivePayload:
			payload = content
		case archiveHash:
			id = string(content)
		}
		archive = archive[n+m:]
	}
	if sum := sha256.Sum256(payload); id != hex.EncodeToString(sum[:]) {
		return "", nil, errors.New("its hash is not that of its bytes")
	}
	return id, payload, nil
}

// uploadArchive keeps the packages of a .dar file.
func (n *partyServer) uploadArchive(r *http.Request) (any, error) {
	dar, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxArchive))
	if err == nil {
		err = n.archives.add(dar)
	}
	if err != nil {
		return nil, nodeRefusal("INVALID_DAR", "Dar file is corrupt: %s", err)
	}
	return map[string]any{}, nil
}

// validateArchive says whether a .dar file could be uploaded, and keeps nothing of it.
func (n *partyServer) validateArchive(r *http.Request) (any, error) {
	dar, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxArchive))
	if err == nil {
		_, err = payloadsOf(dar)
	}
	if err != nil {
		return nil, nodeRefusal("INVALID_DAR", "Dar file is corrupt: %s", err)
	}
	return rawJSON{}, nil
}

// archive serves the bytes of a package.
func (n *partyServer) archive(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("package")
	payload := n.archives.get(id)
	if payload == nil {
		return nodeRefusal("PACKAGE_NOT_FOUND", "Could not find package %s.", id)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(packageHashHeader, id)
	w.Write(payload) // if the client is gone, nobody is left to tell
	return nil
}
