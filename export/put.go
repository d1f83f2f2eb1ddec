package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
)

// put stores an object under a key that is new, or that holds the same bytes from a
// run that was cut off. Other bytes are ErrConflict unless they may be overwritten.
func (e *Exporter) put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string, overwrite bool) error {
	err := e.cfg.Objects.PutIfAbsent(ctx, key, body, size, sum, contentType)
	if !errors.Is(err, bucket.ErrExists) {
		return err
	}
	object, err := e.cfg.Objects.Head(ctx, key)
	switch {
	case err != nil:
		return err
	case object.SHA256 == sum && object.Size == size:
		return nil
	case overwrite:
		return e.cfg.Objects.Put(ctx, key, body, size, sum, contentType)
	}
	return fmt.Errorf("%w: %s has %d bytes with SHA-256 %x, this segment gives %d with %x; "+
		"if the one in the bucket is wrong, export the segment again with overwriting",
		ErrConflict, key, object.Size, object.SHA256, size, sum)
}
