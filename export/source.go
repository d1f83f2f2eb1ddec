package export

import (
	"context"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Source is committed history of one stream; *history.Reader is one. All lists
// ascend, a list shorter than the limit is the last one, and nothing above the
// watermark is read. It must be safe for concurrent use.
type Source interface {
	// Stream names the stream.
	Stream() string
	// Watermark is the position up to which the stream is complete and final.
	Watermark(ctx context.Context) (schemas.Position, error)
	// ContractsWatermark is the position up to which ActiveContracts is.
	ContractsWatermark(ctx context.Context) (schemas.Position, error)
	// Migrations sums up what is held, by ascending id.
	Migrations(ctx context.Context) ([]history.Migration, error)
	// Updates are transactions and reassignments, whole, by position.
	Updates(ctx context.Context, rg history.Range) ([]schemas.Update, error)
	// Imports are a migration's import updates by id, from after afterUpdateID.
	Imports(ctx context.Context, migrationID int64, afterUpdateID string, limit int) ([]schemas.Update, error)
	// Verdicts are items with a verdict and its side data, by position.
	Verdicts(ctx context.Context, rg history.Range) ([]schemas.Item, error)
	// ActiveContracts is a page of an active set by (created_at, contract id).
	ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error)
}

// Objects is the bucket; *bucket.Client is one. Its errors are those of that package.
type Objects interface {
	// Put stores body under key and replaces what is there.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	// PutIfAbsent is Put for a new key; bucket.ErrExists means that there is an object.
	PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	Reads
	// Copy copies an object and replaces what is under the key to; or bucket.ErrNotFound.
	Copy(ctx context.Context, from, to string) error
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
}
