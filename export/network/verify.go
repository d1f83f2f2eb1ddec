package network

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Verify reads back the objects of one row of the network's layout: their SHA-256,
// and that they are whole lines, as many as are listed. The lines of one kind and folder
// are the same in all encodings.
func (e *Exporter) Verify(ctx context.Context, row *store.NetworkFolderRow, read func(bytes int64)) (findings []string, err error) {
	lines, err := published.LinesOf(row)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		rows := int64(0)
		for _, o := range lines[i].Objects {
			rows += o.Rows
			var m published.Mismatch
			if err := e.verifyObject(ctx, o); errors.As(err, &m) {
				findings = append(findings, err.Error())
				continue
			} else if err != nil {
				return nil, err
			}
			read(o.Bytes)
		}
		if rows != lines[i].Rows || rows != lines[0].Rows {
			findings = append(findings, fmt.Sprintf("%s has %d lines in %s, but %d are listed, and %d in %s",
				row.Ref(), rows, lines[i].Encoding, lines[i].Rows, lines[0].Rows, lines[0].Encoding))
		}
	}
	return findings, nil
}

// verifyObject returns a mismatch if an object is not what is listed.
func (e *Exporter) verifyObject(ctx context.Context, o published.NetworkObject) (err error) {
	body, err := e.Objects.Get(ctx, o.Key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return published.Mismatchf("%s is missing", o.Key)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	read := &countingReader{in: io.TeeReader(body, hash)}
	rows, decodeErr := countLines(read)
	if _, err := io.Copy(io.Discard, read); errors.Is(err, bucket.ErrChecksum) {
		return published.AsMismatch(err)
	} else if err != nil {
		return fmt.Errorf("reading back %s: %w", o.Key, err)
	}
	switch sum := fmt.Sprintf("%x", hash.Sum(nil)); {
	case sum != o.SHA256 || read.n != o.Bytes:
		return published.Mismatchf("%s has %d bytes with SHA-256 %s, the listing says %d with %s", o.Key, read.n, sum, o.Bytes, o.SHA256)
	case decodeErr != nil:
		return published.Mismatchf("%s: %w", o.Key, decodeErr)
	case rows != o.Rows:
		return published.Mismatchf("%s has %d lines, the listing says %d", o.Key, rows, o.Rows)
	}
	return nil
}

// countLines counts the lines in zstd frames, the last of which must end like the others.
func countLines(in io.Reader) (lines int64, err error) {
	decoder, err := newLineDecoder(in)
	if err != nil {
		return 0, err
	}
	defer decoder.Close()
	counter := new(lineCounter)
	if _, err := decoder.WriteTo(counter); err != nil {
		return counter.lines, fmt.Errorf("decompressing: %w", err)
	}
	if counter.last != '\n' {
		return counter.lines, errors.New("the last line is cut off")
	}
	return counter.lines, nil
}

// lineCounter counts line ends.
type lineCounter struct {
	lines int64
	last  byte
}

// Write implements io.Writer.
func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += int64(bytes.Count(p, []byte{'\n'}))
	if len(p) > 0 {
		c.last = p[len(p)-1]
	}
	return len(p), nil
}

// countingReader counts the bytes that were read.
type countingReader struct {
	in io.Reader
	n  int64
}

// Read implements io.Reader.
func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.n += int64(n)
	return n, err
}
