package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// PutPart stores an object of a segment or folder: under its key, or where peers must agree
// first, in staging. What is in staging nobody can read, so that it may be replaced.
func (p *publisher) PutPart(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string, overwrite bool) error {
	if p.Stages() {
		return p.objects.Put(ctx, schemas.StagingKey(key), body, size, sum, contentType)
	}
	return p.put(ctx, key, body, size, sum, contentType, overwrite)
}

// Stages reports whether objects wait in staging until peers agree.
func (p *publisher) Stages() bool { return p.mustAgree > 0 }

// Publish has a batch listed by list. One that is staged it first puts under its keys, if peers
// agree now, and in the end removes from staging.
func (p *publisher) Publish(ctx context.Context, b published.Batch, staged, overwrite bool, list, withdraw func() error) error {
	if staged {
		if err := p.settle(ctx, b, overwrite, withdraw); err != nil {
			return err
		}
	}
	if err := list(); err != nil {
		return err
	}
	if staged {
		p.unstage(ctx, b)
	}
	return nil
}

// settle puts the objects of a staged batch under their keys if peers agree now. What staging
// has lost it withdraws, so that the next run writes it again.
func (p *publisher) settle(ctx context.Context, b published.Batch, overwrite bool, withdraw func() error) error {
	err := p.agree(ctx, b)
	if err == nil {
		err = p.release(ctx, b, overwrite)
	}
	if mustStageAgain(err) {
		return errors.Join(err, withdraw())
	}
	return err
}

// release copies the objects of a batch that was agreed on from staging to their keys.
// Those that are there already, from a run that was cut off, are left alone; other bytes
// are ErrConflict unless they may be overwritten.
func (p *publisher) release(ctx context.Context, b published.Batch, overwrite bool) error {
	for _, o := range b.Objects {
		if err := p.releaseObject(ctx, o, overwrite); err != nil {
			return fmt.Errorf("releasing %s of %s: %w", o.Key, b.Name, err)
		}
	}
	return nil
}

func (p *publisher) releaseObject(ctx context.Context, o published.Sum, overwrite bool) error {
	there, err := p.holds(ctx, o.Key, o.SHA256)
	switch {
	case errors.Is(err, bucket.ErrNotFound):
	case err != nil:
		return err
	case there:
		return nil
	case !overwrite:
		return fmt.Errorf("%w: peers agreed on SHA-256 %s", published.ErrConflict, o.SHA256)
	}
	// What is in staging may have been damaged there.
	there, err = p.holds(ctx, schemas.StagingKey(o.Key), o.SHA256)
	if errors.Is(err, bucket.ErrNotFound) {
		// Another worker may have released it meanwhile, and emptied staging.
		if released, again := p.holds(ctx, o.Key, o.SHA256); again == nil && released {
			return nil
		}
	}
	if err != nil {
		return err
	}
	if !there {
		return errUnstaged
	}
	return p.objects.Copy(ctx, schemas.StagingKey(o.Key), o.Key)
}

// holds reports whether an object has a SHA-256; or bucket.ErrNotFound.
func (p *publisher) holds(ctx context.Context, key, sha256 string) (bool, error) {
	sum, _, err := p.storedSum(ctx, key)
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
func (p *publisher) unstage(ctx context.Context, b published.Batch) {
	for _, o := range b.Objects {
		if err := p.objects.Delete(ctx, schemas.StagingKey(o.Key)); err != nil {
			p.log.WarnContext(ctx, "removing a published object from staging failed", "key", o.Key, "err", err)
			return
		}
	}
}

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
	return fmt.Errorf("%w: %s has %d bytes with SHA-256 %x, but this segment's object has %d with %x; if the object in the "+
		"bucket is wrong, delete it and export again",
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
