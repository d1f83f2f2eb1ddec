package bucket

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

// Spool is a temporary file for an object on its way to or from a bucket. It knows the size and
// SHA-256 of what was written.
type Spool struct {
	file *os.File
	buf  *bufio.Writer
	hash hash.Hash
	size int64
}

// Size is how many bytes were written.
func (s *Spool) Size() int64 { return s.size }

// File is the file, to be read after Finish.
func (s *Spool) File() *os.File { return s.file }

const spoolBuffer = 256 << 10

// NewSpool creates a file in a folder.
func NewSpool(dir string) (*Spool, error) {
	file, err := os.CreateTemp(dir, "ledgerlake-object-*")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary file for an object: %w", err)
	}
	// Without a name it is gone even after a crash. Where an open file cannot be
	// removed, Close does it.
	_ = os.Remove(file.Name())
	return &Spool{file: file, buf: bufio.NewWriterSize(file, spoolBuffer), hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (s *Spool) Write(p []byte) (int, error) {
	n, err := s.buf.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("writing to a temporary file: %w", err)
	}
	return n, nil
}

// Finish makes everything that was written readable from File and returns its hash.
func (s *Spool) Finish() (sum [32]byte, err error) {
	if err := s.buf.Flush(); err != nil {
		return sum, fmt.Errorf("writing to a temporary file: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return sum, fmt.Errorf("rewinding a temporary file: %w", err)
	}
	return [32]byte(s.hash.Sum(nil)), nil
}

// Close removes the file.
func (s *Spool) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}
