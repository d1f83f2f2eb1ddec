package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// maxBytes is how large an archive may be: it is in the repository for good.
const maxBytes = 700 << 10

// pack writes the engine's store into an archive whose bytes depend on nothing else: files are sorted,
// belong to nobody and have no time. Folders that the store does not need, and the given ones, are
// left out. A file that contains one of the marks is an error.
func pack(archive, engine string, without, marks []string) error {
	var packed bytes.Buffer
	compressor, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	files := tar.NewWriter(compressor)
	err = filepath.WalkDir(filepath.Join(engine, "store"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.ContainsFunc(without, func(p string) bool { return filepath.Clean(p) == path }) {
			return fs.SkipDir
		}
		return add(files, engine, path, marks)
	})
	if err := errors.Join(err, files.Close(), compressor.Close()); err != nil {
		return err
	}
	if packed.Len() > maxBytes {
		return fmt.Errorf("the archive has %d bytes, more than %d: make the history shorter", packed.Len(), maxBytes)
	}
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	return os.WriteFile(archive, packed.Bytes(), 0o644)
}

// add adds a folder, a file or a link.
func add(to *tar.Writer, engine, path string, marks []string) error {
	name, err := filepath.Rel(engine, path)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Format: tar.FormatUSTAR}
	var content []byte
	switch mode := info.Mode(); {
	case mode.IsDir():
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, h.Name+"/", 0o700
	case mode.IsRegular():
		if content, err = os.ReadFile(path); err != nil {
			return err
		}
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o600, int64(len(content))
	case mode&fs.ModeSymlink != 0:
		if h.Linkname, err = os.Readlink(path); err != nil {
			return err
		}
		h.Typeflag, h.Mode = tar.TypeSymlink, 0o777
	default:
		return fmt.Errorf("%s is neither a folder nor a file nor a link", name)
	}
	for _, mark := range marks {
		if bytes.Contains(content, []byte(mark)) || bytes.Contains([]byte(h.Linkname), []byte(mark)) {
			return fmt.Errorf("%s contains %q, which is of this machine", name, mark)
		}
	}
	if err := to.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(to, bytes.NewReader(content))
	return err
}
