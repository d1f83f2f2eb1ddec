package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
)

// Reads is what reading published objects needs of a bucket; *bucket.Client is one.
type Reads interface {
	// Get streams a range of an object, the rest of it if to is negative; or
	// bucket.ErrNotFound.
	Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error)
}

// readObject reads a small object whole.
func readObject(ctx context.Context, objects Reads, key string) ([]byte, error) {
	body, err := objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return data, nil
}

// Parts fetches published objects into temporary files.
type Parts struct {
	Objects Reads
	TempDir string
}

// fetch copies an object into a temporary file and checks its size and SHA-256.
func (s Parts) fetch(ctx context.Context, p published.Part) (*bucket.Spool, error) {
	want, err := p.Sum()
	if err != nil {
		return nil, published.AsMismatch(err)
	}
	body, err := s.Objects.Get(ctx, p.Key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, published.Mismatchf("%s is missing", p.Key)
	}
	if err != nil {
		return nil, err
	}
	file, err := bucket.NewSpool(s.TempDir)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	sum, err := copyInto(file, body)
	if err = errors.Join(err, body.Close()); err == nil && (sum != want || file.Size() != p.Bytes) {
		err = published.Mismatchf("%s has %d bytes with SHA-256 %x, the manifest says %d with %x", p.Key, file.Size(), sum, p.Bytes, want)
	}
	if err != nil {
		if errors.Is(err, bucket.ErrChecksum) {
			err = published.AsMismatch(err)
		}
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func copyInto(file *bucket.Spool, body io.Reader) ([sha256.Size]byte, error) {
	if _, err := io.Copy(file, body); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("copying an object: %w", err)
	}
	return file.Finish()
}
