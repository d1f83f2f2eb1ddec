package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
)

// put stores an object under a key that is new, or that holds the same bytes from a
// run that was cut off. Other bytes are ErrConflict unless they may be overwritten:
// then the object is replaced whatever it holds, since it may be damaged below the
// digest that stands beside it.
func (p *publisher) put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string, overwrite bool) error {
	if overwrite {
		return p.objects.Put(ctx, key, body, size, sum, contentType)
	}
	err := p.objects.PutIfAbsent(ctx, key, body, size, sum, contentType)
	if !errors.Is(err, bucket.ErrExists) {
		return err
	}
	stored, bytes, err := p.storedSum(ctx, key)
	if err != nil {
		return err
	}
	if stored == sum && bytes == size {
		return nil
	}
	return fmt.Errorf("%w: %s has %d bytes with SHA-256 %x, this segment gives %d with %x; "+
		"if the one in the bucket is wrong, export the segment again with overwriting",
		published.ErrConflict, key, bytes, stored, size, sum)
}

// storedSum reads an object back and returns the SHA-256 of the bytes that are there
// and their number, also where they are not those that were once stored.
func (p *publisher) storedSum(ctx context.Context, key string) (sum [32]byte, size int64, err error) {
	body, err := p.objects.Get(ctx, key, 0, -1)
	if err != nil {
		return sum, 0, err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, body)
	if errors.Is(err, bucket.ErrChecksum) {
		err = nil // it comes after the last byte: the caller compares with what it wants
	}
	if err = errors.Join(err, body.Close()); err != nil {
		return sum, 0, fmt.Errorf("reading back %s: %w", key, err)
	}
	return [32]byte(hash.Sum(nil)), size, nil
}
