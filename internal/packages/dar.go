package packages

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

const manifestPath = "META-INF/MANIFEST.MF"

// ReadDAR reads a .dar file: the package that it is of, and then all that it depends on.
func ReadDAR(file []byte) ([]*Package, error) {
	if len(file) > MaxFile {
		return nil, fmt.Errorf("a file of %d bytes: at most %d are read", len(file), MaxFile)
	}
	entries, err := directory(file)
	if err != nil {
		return nil, err
	}
	manifest, err := inflate(entries, manifestPath, maxManifest)
	if err != nil {
		return nil, err
	}
	paths, err := packagePaths(string(manifest))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifestPath, err)
	}
	var list []*Package
	left, seen := maxInflated, map[string]bool{}
	for _, path := range paths {
		archive, err := inflate(entries, path, min(left, MaxFile))
		if err != nil {
			return nil, err
		}
		left -= len(archive)
		p, err := readArchive(archive)
		if err != nil {
			return nil, fmt.Errorf("%.200q: %w", short(path), err)
		}
		if !seen[p.ID] {
			seen[p.ID] = true
			list = append(list, p)
		}
	}
	return list, nil
}

// Read reads a .dar file, or a package alone: as a node serves it, or as it is in a .dar file.
func Read(file []byte) ([]*Package, error) {
	if bytes.HasPrefix(file, []byte("PK")) {
		return ReadDAR(file)
	}
	p, err := readArchive(file)
	if errors.Is(err, errNoArchive) {
		p, err = ReadPayload(file, "")
	}
	if err != nil {
		return nil, fmt.Errorf("it is no .dar file, which is a zip file, and read as a package: %w", err)
	}
	return []*Package{p}, nil
}

// short is a path for people to read.
func short(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// bounded reads so many bytes of a file and then fails.
type bounded struct {
	io.ReaderAt
	left int
}

var errDirectory = fmt.Errorf("its directory has more than %d bytes", maxDirectory)

func (b *bounded) ReadAt(to []byte, offset int64) (int, error) {
	if b.left -= len(to); b.left < 0 {
		return 0, errDirectory
	}
	return b.ReaderAt.ReadAt(to, offset)
}

// directory returns the entries of a zip file by their path.
func directory(file []byte) (map[string]*zip.File, error) {
	// The directory is read before the number of entries is known: that must not take much memory.
	source := &bounded{bytes.NewReader(file), maxDirectory}
	z, err := zip.NewReader(source, int64(len(file)))
	switch {
	case errors.Is(err, zip.ErrFormat):
		return nil, errors.New("it is no zip file, or is cut off")
	case err != nil:
		return nil, fmt.Errorf("reading the zip file: %w", err)
	case len(z.File) > maxEntries:
		return nil, fmt.Errorf("the zip file has %d entries: at most %d are read", len(z.File), maxEntries)
	}
	source.left = 2 * maxInflated // of the entries, which are bounded each
	entries := make(map[string]*zip.File, len(z.File))
	for _, f := range z.File {
		if entries[f.Name] != nil {
			return nil, fmt.Errorf("the zip file has %.200q twice", f.Name)
		}
		entries[f.Name] = f
	}
	return entries, nil
}

// inflate returns the content of an entry.
func inflate(entries map[string]*zip.File, path string, limit int) ([]byte, error) {
	f := entries[path]
	if f == nil {
		return nil, fmt.Errorf("there is no %.200q in the zip file", path)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", path, err)
	}
	defer r.Close()
	// What the directory says of the size may be a lie.
	content, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", path, err)
	}
	if len(content) > limit {
		return nil, fmt.Errorf("%.200q is larger than the %d bytes that are read of it", path, limit)
	}
	return content, nil
}

// packagePaths returns the paths of the packages that a manifest names, the main one first.
func packagePaths(manifest string) ([]string, error) {
	// A line that is folded goes on in the next one after a space, in the middle of a word too.
	manifest = strings.NewReplacer("\r\n ", "", "\n ", "").Replace(manifest)
	var format, main, all string
	for line := range strings.Lines(manifest) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Format":
			format = value
		case "Main-Dalf":
			main = value
		case "Dalfs":
			all = value
		}
	}
	switch {
	case format != "daml-lf":
		return nil, fmt.Errorf("its format is %.60q: only daml-lf is read", format)
	case main == "":
		return nil, errors.New("it names no Main-Dalf")
	}
	paths := []string{main}
	for path := range strings.SplitSeq(all, ",") {
		if path = strings.TrimSpace(path); path != "" && path != main {
			paths = append(paths, path)
		}
	}
	if len(paths) > maxEntries {
		return nil, fmt.Errorf("it names %d packages: at most %d are read", len(paths), maxEntries)
	}
	return paths, nil
}

const archiveHashFunction, archivePayload, archiveHash = 1, 3, 4

var errNoArchive = errors.New("it is no archive of a package")

// readArchive reads a package with the hash that stands beside it.
func readArchive(archive []byte) (*Package, error) {
	var payload []byte
	var hash string
	var function uint64
	err := walk(archive, func(f part) error {
		switch f.num {
		case archiveHashFunction:
			function = f.n
		case archivePayload:
			payload = f.b
		case archiveHash:
			hash = string(f.b)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(hash) != hex.EncodedLen(sha256.Size):
		return nil, errNoArchive
	case function != 0:
		return nil, fmt.Errorf("its hash is not SHA-256 but number %d", function)
	}
	return ReadPayload(payload, hash)
}
