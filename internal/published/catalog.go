package published

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// States of a segment or folder, as in tables segments and network_folders.
const (
	// Withdrawn objects are not listed and may be overwritten.
	Withdrawn = "withdrawn"
	Published = "published"
	// Staged objects are written and wait for peers to agree.
	Staged = "staged"
	// Expired objects were removed because of their age.
	Expired = "expired"
)

// Rows are the versions of the units of one layout: segments, or folders. An R names a unit,
// and a T is a version of it.
type Rows[R, T any] interface {
	// All returns the latest version of every unit, in order, without what is large: manifests,
	// lookup indexes and lists of objects.
	All(ctx context.Context) ([]T, error)
	// Some returns the latest versions of given units, in the order of All if that is the order
	// of refs. Units without a version are left out.
	Some(ctx context.Context, refs []R) ([]T, error)
	// Append adds a version. Repeating it is harmless: equal versions count as one.
	Append(ctx context.Context, row T) error
}

// Journal keeps what happened to the objects of a stream.
type Journal interface {
	// Recent counts what was published in the last rateSeconds, by pipeline.
	Recent(ctx context.Context) ([]store.PublishedRow, error)
	// RecordDisagreements keeps what peers did not agree on.
	RecordDisagreements(ctx context.Context, list []store.ExportDisagreementRow) error
	// Disagreed returns some of what peers did not agree on, the last units first.
	Disagreed(ctx context.Context, most int) ([]store.ExportDisagreementRow, error)
	// RecordCollection keeps a collection of garbage for LastCollection.
	RecordCollection(ctx context.Context, c store.CollectionRow) error
	// LastCollection returns when the last collection ended, zero if there was none.
	LastCollection(ctx context.Context) (time.Time, error)
}

// Tables are where the catalogue of a stream is kept.
type Tables struct {
	// Segments are ordered by migration and date, the imports of a migration first.
	Segments Rows[schemas.SegmentRef, store.SegmentRow]
	// Folders are ordered by start and kind.
	Folders Rows[schemas.NetworkRef, store.NetworkFolderRow]
	Journal Journal
}

var (
	//go:embed sql/segments.sql
	segmentsQuery string
	//go:embed sql/segments_by_ref.sql
	segmentsByRefQuery string
	//go:embed sql/network_folders.sql
	networkFoldersQuery string
	//go:embed sql/network_folders_by_ref.sql
	networkFoldersByRefQuery string
	//go:embed sql/recently_published.sql
	recentlyPublishedQuery string
	//go:embed sql/disagreements.sql
	disagreementsQuery string
	//go:embed sql/last_collection.sql
	lastCollectionQuery string
)

// InStore returns the tables of a stream in the store.
func InStore(db *store.DB, stream string) Tables {
	return Tables{
		Segments: storeRows[schemas.SegmentRef, store.SegmentRow]{
			db: db, stream: stream, table: "segments", all: segmentsQuery, some: segmentsByRefQuery,
			block: store.NewRecords[store.SegmentRow], params: segmentParams,
		},
		Folders: storeRows[schemas.NetworkRef, store.NetworkFolderRow]{
			db: db, stream: stream, table: "network_folders", all: networkFoldersQuery, some: networkFoldersByRefQuery,
			block: store.NewRecords[store.NetworkFolderRow], params: folderParams,
		},
		Journal: storeJournal{db, stream},
	}
}

// storeRows are the versions of a stream's units in one table.
type storeRows[R interface{ Check() error }, T any] struct {
	db            *store.DB
	stream, table string
	// all and some are the queries.
	all, some string
	block     func() *store.Records[T]
	// params names units in the query some.
	params func(refs []R) store.Params
}

// refsPerQuery keeps the parameters of a query far below what a server accepts.
const refsPerQuery = 500

// All implements Rows.
func (s storeRows[R, T]) All(ctx context.Context) ([]T, error) {
	return s.query(ctx, s.all, store.Params{})
}

// Some implements Rows.
func (s storeRows[R, T]) Some(ctx context.Context, refs []R) (rows []T, err error) {
	for _, ref := range refs {
		if err := ref.Check(); err != nil { // a name of another form could end the array
			return nil, err
		}
	}
	for part := range slices.Chunk(refs, refsPerQuery) {
		found, err := s.query(ctx, s.some, s.params(part))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (s storeRows[R, T]) query(ctx context.Context, query string, params store.Params) ([]T, error) {
	params["stream"] = store.Text(s.stream)
	rows, err := store.SelectAll(ctx, s.db, query, params, s.block())
	if err != nil {
		return nil, fmt.Errorf("reading the %s of stream %s: %w", s.table, s.stream, err)
	}
	return rows, nil
}

// Append implements Rows.
func (s storeRows[R, T]) Append(ctx context.Context, row T) error {
	b := s.block()
	b.Append(row)
	return s.db.Insert(ctx, s.table, "", b)
}

func segmentParams(refs []schemas.SegmentRef) store.Params {
	migrations, dates := make([]int64, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		migrations[i], dates[i] = ref.MigrationID, ref.Date
	}
	return store.Params{"migrations": store.Ints(migrations), "dates": store.Texts(dates)}
}

func folderParams(refs []schemas.NetworkRef) store.Params {
	kinds, starts, ends := make([]string, len(refs)), make([]int64, len(refs)), make([]int64, len(refs))
	for i, ref := range refs {
		kinds[i], starts[i], ends[i] = string(ref.Kind), int64(ref.Start), int64(ref.End)
	}
	return store.Params{"kinds": store.Texts(kinds), "starts": store.Ints(starts), "ends": store.Ints(ends)}
}

// storeJournal is the journal of a stream in the store.
type storeJournal struct {
	db     *store.DB
	stream string
}

// Recent implements Journal.
func (j storeJournal) Recent(ctx context.Context) ([]store.PublishedRow, error) {
	params := store.Params{"stream": store.Text(j.stream), "seconds": strconv.Itoa(rateSeconds)}
	rows, err := store.SelectAll(ctx, j.db, recentlyPublishedQuery, params, store.NewRecords[store.PublishedRow]())
	if err != nil {
		return nil, fmt.Errorf("reading what was published recently: %w", err)
	}
	return rows, nil
}

// RecordDisagreements implements Journal.
func (j storeJournal) RecordDisagreements(ctx context.Context, list []store.ExportDisagreementRow) error {
	b := store.NewRecords[store.ExportDisagreementRow]()
	for _, d := range list {
		b.Append(d)
	}
	return j.db.Insert(ctx, "export_disagreements", "", b)
}

// Disagreed implements Journal.
func (j storeJournal) Disagreed(ctx context.Context, most int) ([]store.ExportDisagreementRow, error) {
	params := store.Params{"stream": store.Text(j.stream), "most": strconv.Itoa(most)}
	rows, err := store.SelectAll(ctx, j.db, disagreementsQuery, params, store.NewRecords[store.ExportDisagreementRow]())
	if err != nil {
		return nil, fmt.Errorf("reading what peers did not agree on: %w", err)
	}
	return rows, nil
}

// RecordCollection implements Journal.
func (j storeJournal) RecordCollection(ctx context.Context, c store.CollectionRow) error {
	b := store.NewRecords[store.CollectionRow]()
	b.Append(c)
	return j.db.Insert(ctx, "collections", "", b)
}

// LastCollection implements Journal.
func (j storeJournal) LastCollection(ctx context.Context) (time.Time, error) {
	last, ok, err := store.SelectOne(ctx, j.db, lastCollectionQuery, store.Params{"stream": store.Text(j.stream)}, store.NewRecords[store.CollectionRow]())
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time of the last garbage collection: %w", err)
	}
	if !ok {
		return time.Time{}, nil
	}
	return last.EndedAt.Time(), nil
}
