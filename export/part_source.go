package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// Reads is what reading published objects needs of a bucket; *bucket.Client is one.
type Reads interface {
	// Get streams a range of an object, the rest of it if to is negative; or
	// bucket.ErrNotFound.
	Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error)
}

// partSource fetches published objects into temporary files.
type partSource struct {
	objects Reads
	tempDir string
}

// fetch copies an object into a temporary file and checks its size and SHA-256.
func (s partSource) fetch(ctx context.Context, p Part) (*spool, error) {
	want, err := p.sum()
	if err != nil {
		return nil, mismatch{err}
	}
	body, err := s.objects.Get(ctx, p.Key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, mismatchf("%s is missing", p.Key)
	}
	if err != nil {
		return nil, err
	}
	file, err := newSpool(s.tempDir)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	sum, err := file.copyFrom(body)
	if err = errors.Join(err, body.Close()); err == nil && (sum != want || file.size != p.Bytes) {
		err = mismatchf("%s has %d bytes with SHA-256 %x, the manifest says %d with %x", p.Key, file.size, sum, p.Bytes, want)
	}
	if err != nil {
		if errors.Is(err, bucket.ErrChecksum) {
			err = mismatch{err}
		}
		return nil, errors.Join(err, file.close())
	}
	return file, nil
}

func (s *spool) copyFrom(body io.Reader) ([sha256.Size]byte, error) {
	if _, err := io.Copy(s, body); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("copying an object: %w", err)
	}
	return s.finish()
}
