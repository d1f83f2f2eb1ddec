package export

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
)

// spool is a temporary file that knows the size and SHA-256 of what was written.
type spool struct {
	file *os.File
	buf  *bufio.Writer
	hash hash.Hash
	size int64
}

const spoolBuffer = 256 << 10

func newSpool(dir string) (*spool, error) {
	file, err := os.CreateTemp(dir, "ledgerlake-object-*")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary file for an object: %w", err)
	}
	// Without a name it is gone even after a crash. Where an open file cannot be
	// removed, close does it.
	_ = os.Remove(file.Name())
	return &spool{file: file, buf: bufio.NewWriterSize(file, spoolBuffer), hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("writing to a temporary file: %w", err)
	}
	return n, nil
}

// finish makes everything that was written readable from s.file and returns its hash.
func (s *spool) finish() (sum [32]byte, err error) {
	if err := s.buf.Flush(); err != nil {
		return sum, fmt.Errorf("writing to a temporary file: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return sum, fmt.Errorf("rewinding a temporary file: %w", err)
	}
	return [32]byte(s.hash.Sum(nil)), nil
}

// close removes the file.
func (s *spool) close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
