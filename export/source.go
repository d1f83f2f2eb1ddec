package export

import (
	"context"
	"io"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Source is committed history of one stream; *history.Reader is one. All that is read
// ascends, and nothing above the watermark is read. Pages are handed out one after the other,
// none is empty, and whoever takes one may keep it; an error that it returns ends the reading.
// It must be safe for concurrent use.
type Source interface {
	// UpdatePages are transactions and reassignments, whole, by position.
	UpdatePages(ctx context.Context, rg history.Range, page func([]schemas.Update) error) error
	// ImportPages are a migration's import updates by id.
	ImportPages(ctx context.Context, migrationID int64, limit int, page func([]schemas.Update) error) error
	// VerdictPages are items with a verdict and its side data, by position.
	VerdictPages(ctx context.Context, rg history.Range, page func([]schemas.Item) error) error
	// ActivePages are an active set by (created_at, contract id).
	ActivePages(ctx context.Context, q history.ActiveQuery, page func([]history.ActiveContract) error) error
	// MovementPages are the movements of a segment by (record_time, update id, entry): an error
	// unless all of them are derived.
	MovementPages(ctx context.Context, ref schemas.SegmentRef, limit int, page func([]schemas.MovementRow) error) error
}

// Objects is the bucket; *bucket.Client is one. Its errors are those of that package.
type Objects interface {
	// Put stores body under key and replaces what is there.
	Put(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	// PutIfAbsent is Put for a new key; bucket.ErrExists means that there is an object.
	PutIfAbsent(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte, contentType string) error
	archive.Reads
	// Copy copies an object and replaces what is under the key to; or bucket.ErrNotFound.
	Copy(ctx context.Context, from, to string) error
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
}
