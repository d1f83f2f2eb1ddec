package scan

import (
	"context"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/state"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Source reads the committed history of one stream; *history.Reader is one.
type Source interface {
	horizon.Source
	state.Source
	// Items are ascending by position and without imports.
	Items(ctx context.Context, rg history.Range) ([]schemas.Item, error)
	// UpdatesWithImports is Updates with the imports of each migration before its history.
	UpdatesWithImports(ctx context.Context, rg history.Range) ([]schemas.Update, error)
	// ItemsByID leaves out ids that it does not know.
	ItemsByID(ctx context.Context, ids []string) (map[string]schemas.Item, error)
	// UpdateIDByHash returns the id of the update with an external transaction hash.
	UpdateIDByHash(ctx context.Context, hash string) (id string, ok bool, err error)
	// UpdatesBefore is descending by record time.
	UpdatesBefore(ctx context.Context, b history.Before) ([]schemas.Update, error)
	// Imports are ascending by update id.
	Imports(ctx context.Context, migrationID int64, afterUpdateID string, limit int) ([]schemas.Update, error)
	// ActiveContracts are ascending by (created_at, contract id).
	ActiveContracts(ctx context.Context, q history.ActiveQuery) ([]history.ActiveContract, error)
	// ActiveKeys are the keys of the last contracts of the next full pages of q.Limit
	// contracts, at most of so many.
	ActiveKeys(ctx context.Context, q history.ActiveQuery, pages int) ([]history.ContractKey, error)
	// ContractHistory is ascending by position and node.
	ContractHistory(ctx context.Context, q history.ContractQuery) ([]history.ContractStep, error)
	// PartyUpdates are ascending by position and without imports. The range must not end
	// above ContractsWatermark.
	PartyUpdates(ctx context.Context, party string, rg history.Range) ([]schemas.Update, error)
}

// Facts asks an upstream for what is not in history.
type Facts interface{ state.Upstream }

// Health says how the deployment is doing.
type Health interface {
	// Backfilled reports whether the stream has once reached its upstream's end.
	Backfilled(ctx context.Context) bool
	// Ready returns nil when requests can be answered, else the reason, which is
	// logged but not sent.
	Ready(ctx context.Context) error
}

// Format is the file format of bulk objects.
type Format string

const (
	// JSONZstd is the network's own: JSON lines in zstd frames.
	JSONZstd Format = "json_zstd"
	// Parquet is ledgerlake's.
	Parquet Format = "parquet"
)

// Object is a published bulk object, and Pipeline how far one kind of export is.
type (
	Object   = published.Object
	Pipeline = published.Pipeline
)

// Segment is a published stretch of history. Its order is (Start, MigrationID).
type Segment struct {
	MigrationID int64
	// Start is exclusive, End inclusive.
	Start, End schemas.Micros
	// Objects hold the segment's updates, in the order of their content.
	Objects []Object
}

// Bulk lists published objects and opens them. It only knows objects whose segment
// is published whole.
type Bulk interface {
	// ActiveSet returns the objects of the latest published active contract set at
	// or before at, and the instant it is for; schemas.ErrNotFound if there is none.
	// Where two migrations have a set of one instant, it is that of the lower one:
	// the other began after that instant.
	ActiveSet(ctx context.Context, format Format, at schemas.Micros) (schemas.Micros, []Object, error)
	// Segments returns the first published segments, at most limit, with Start < end and
	// End > start, in order and without a gap, also those without objects, and the record
	// time up to which nothing is missing, schemas.MinMicros if there is nothing.
	Segments(ctx context.Context, format Format, start, end schemas.Micros, limit int) (list []Segment, published schemas.Micros, err error)
	// Published is the second result of Segments alone.
	Published(ctx context.Context, format Format) (schemas.Micros, error)
	// Progress says how far each kind of export is.
	Progress(ctx context.Context) ([]Pipeline, error)
	// Objects looks keys up; those that no published object has are left out.
	Objects(ctx context.Context, keys ...string) (map[string]Object, error)
	// Checksums returns the SHA-256 of objects by key: of published ones, and of those that
	// wait for peers to agree and are otherwise unknown. Other keys are left out.
	Checksums(ctx context.Context, keys ...string) (map[string][32]byte, error)
	// Open streams the bytes of a published object from offset from (inclusive) to offset
	// to (exclusive). What is not as o says, its content included, is an error, of Open or of
	// the stream. The stream ends with ctx; the caller closes it.
	Open(ctx context.Context, o Object, from, to int64) (io.ReadCloser, error)
}
