package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"slices"
	"strings"
	"time"
)

// pack returns the files, below a folder, as a tar archive with gzip: sorted by name, of one time
// and owned by user 0.
func pack(folder string, files []file, at time.Time) ([]byte, error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression) // without a name and a time of its own
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zip)
	head := func(name string, kind byte, mode, size int64) error {
		return archive.WriteHeader(&tar.Header{Format: tar.FormatUSTAR, Typeflag: kind, Name: name, Mode: mode, Size: size, ModTime: at})
	}
	if err := head(folder+"/", tar.TypeDir, 0o755, 0); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := head(folder+"/"+f.name, tar.TypeReg, f.mode, int64(len(f.content))); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err = zip.Close()
	return out.Bytes(), err
}

//go:embed archive.md
var archiveReadme string

// readme is the archive's README.md.
func (r release) readme(p platform) []byte {
	tried := "This is the platform that ledgerlake is tested on."
	if p.String() != "linux/amd64" {
		tried = "ledgerlake is tested on linux/amd64. This binary is built from the same source and has not been tried with the embedded engine: tell us how it goes."
	}
	return []byte(strings.NewReplacer(
		"{VERSION}", strings.TrimPrefix(r.version, "v"), "{COMMIT}", r.commit, "{PLATFORM}", p.String(),
		"{ENGINE}", p.engine+"@"+r.engine, "{TRIED}", tried,
	).Replace(archiveReadme))
}
