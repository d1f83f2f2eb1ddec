package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// putPart stores an object of a segment or folder: under its key, or where peers must agree
// first, in staging. What is in staging nobody can read, so that it may be replaced.
func (e *Exporter) putPart(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string, overwrite bool) error {
	if e.cfg.Agree > 0 {
		return e.cfg.Objects.Put(ctx, schemas.StagingKey(key), body, size, sum, contentType)
	}
	return e.put(ctx, key, body, size, sum, contentType, overwrite)
}

// overwrites reports whether the objects of a segment or folder may replace what is under
// their keys, given its latest row: it was published once and withdrawn. Version 1 is the
// first row of all, and that of a segment that waits in staging for the first time.
func overwrites(state string, version int64) bool {
	return version > 1 || version == 1 && state == withdrawn
}

// settle puts the objects of a staged batch under their keys if peers agree now.
func (e *Exporter) settle(ctx context.Context, b batch, overwrite bool) error {
	if err := e.agree(ctx, b); err != nil {
		return err
	}
	return e.release(ctx, b, overwrite)
}

// stageAgain withdraws what staging has lost, so that the next run writes it again.
func (e *Exporter) stageAgain(err error, withdraw func() error) error {
	if !mustStageAgain(err) {
		return nil
	}
	return withdraw()
}

// release copies the objects of a batch that was agreed on from staging to their keys.
// Those that are there already, from a run that was cut off, are left alone; other bytes
// are ErrConflict unless they may be overwritten.
func (e *Exporter) release(ctx context.Context, b batch, overwrite bool) error {
	for _, o := range b.objects {
		if err := e.releaseObject(ctx, o, overwrite); err != nil {
			return fmt.Errorf("releasing %s of %s: %w", o.key, b.name, err)
		}
	}
	return nil
}

func (e *Exporter) releaseObject(ctx context.Context, o object, overwrite bool) error {
	there, err := e.holds(ctx, o.key, o.sha256)
	switch {
	case errors.Is(err, bucket.ErrNotFound):
	case err != nil:
		return err
	case there:
		return nil
	case !overwrite:
		return fmt.Errorf("%w: peers agreed on SHA-256 %s", ErrConflict, o.sha256)
	}
	// What is in staging may have been damaged there.
	there, err = e.holds(ctx, schemas.StagingKey(o.key), o.sha256)
	if errors.Is(err, bucket.ErrNotFound) {
		// Another worker may have released it meanwhile, and emptied staging.
		if released, again := e.holds(ctx, o.key, o.sha256); again == nil && released {
			return nil
		}
	}
	if err != nil {
		return err
	}
	if !there {
		return errUnstaged
	}
	return e.cfg.Objects.Copy(ctx, schemas.StagingKey(o.key), o.key)
}

// holds reports whether an object has a SHA-256; or bucket.ErrNotFound.
func (e *Exporter) holds(ctx context.Context, key, sha256 string) (bool, error) {
	sum, _, err := e.storedSum(ctx, key)
	return err == nil && fmt.Sprintf("%x", sum) == sha256, err
}

// errUnstaged means that staging does not hold what its catalog says.
var errUnstaged = errors.New("the staged object is not the one that was written")

// mustStageAgain reports whether releasing failed because staging has lost objects.
func mustStageAgain(err error) bool {
	return errors.Is(err, bucket.ErrNotFound) || errors.Is(err, errUnstaged)
}

// unstage removes the objects of a batch from staging once it is published. What is left
// by a crash is for the collection of garbage.
func (e *Exporter) unstage(ctx context.Context, b batch) {
	for _, o := range b.objects {
		if err := e.cfg.Objects.Delete(ctx, schemas.StagingKey(o.key)); err != nil {
			e.log.WarnContext(ctx, "removing a published object from staging failed", "key", o.key, "err", err)
			return
		}
	}
}
