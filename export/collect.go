package export

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Listing is what a collection of garbage needs of the bucket beyond Objects;
// *bucket.Client is one.
type Listing interface {
	// All walks over the objects whose keys begin with prefix, in the order of their keys.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
	// Head describes an object, or returns bucket.ErrNotFound.
	Head(ctx context.Context, key string) (bucket.Object, error)
	// AbortStaleUploads removes unfinished uploads that began more than olderThan ago.
	AbortStaleUploads(ctx context.Context, olderThan time.Duration) (int, error)
}

// CollectRules say what a collection of garbage removes.
type CollectRules struct {
	// Grace is the age from which on objects that nobody lists, and unfinished uploads, are
	// taken for left over. It must be longer than the longest export. Required.
	Grace time.Duration
	// Retention is the age from which on published objects are removed: that of the end of
	// their segment or folder. 0 keeps all. Imports and manifests are always kept.
	Retention time.Duration
}

// Collection is what a collection of garbage has removed.
type Collection struct {
	Stream string    `ch:"stream"`
	Ended  time.Time `ch:"ended_at"`
	// Expired counts segments and folders, Objects and Bytes what was deleted, also of them,
	// and Uploads what was aborted.
	Expired int64 `ch:"expired"`
	Objects int64 `ch:"objects"`
	Bytes   int64 `ch:"bytes"`
	Uploads int64 `ch:"uploads"`
}

var (
	//go:embed sql/insert_collection.sql
	insertCollection string
	//go:embed sql/last_collection.sql
	lastCollectionQuery string
)

// LastCollection returns when the last collection ended, zero if there was none.
func (e *Exporter) LastCollection(ctx context.Context) (time.Time, error) {
	var ended time.Time
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"stream": e.stream}))
	if err := e.cfg.Conn.QueryRow(ctx, lastCollectionQuery).Scan(&ended); err != nil {
		return time.Time{}, fmt.Errorf("reading when garbage was last collected: %w", err)
	}
	if ended.Unix() == 0 {
		return time.Time{}, nil
	}
	return ended, nil
}

// CollectAndRecord is Collect with a record of it for LastCollection.
func (e *Exporter) CollectAndRecord(ctx context.Context, in Listing, rules CollectRules) (Collection, error) {
	c, err := e.Collect(ctx, in, rules)
	if err != nil {
		return c, err
	}
	c.Ended = e.cfg.Now().UTC()
	return c, appendRow(ctx, e.cfg.Conn, insertCollection, &c, text("collection"))
}

// Collect removes what no segment or folder needs: objects that are not listed by one that
// is published, what published ones left in staging, unfinished uploads, and with a
// retention old segments and folders. It is safe beside running exports: objects of what is
// not published now are left for the run that will finish it, and so is everything that is
// younger than the grace. Keys that this program does not write are left alone.
func (e *Exporter) Collect(ctx context.Context, in Listing, rules CollectRules) (Collection, error) {
	c := Collection{Stream: e.stream}
	if rules.Grace <= 0 || rules.Retention < 0 {
		return c, fmt.Errorf("collecting garbage with grace %s and retention %s", rules.Grace, rules.Retention)
	}
	uploads, err := in.AbortStaleUploads(ctx, rules.Grace)
	c.Uploads = int64(uploads)
	if err != nil {
		return c, fmt.Errorf("aborting unfinished uploads: %w", err)
	}
	if rules.Retention > 0 {
		if c.Expired, err = e.expire(ctx, schemas.MicrosOf(e.cfg.Now().Add(-rules.Retention))); err != nil {
			return c, fmt.Errorf("expiring old objects: %w", err)
		}
	}
	if err := e.excludeFromTables(ctx); err != nil { // also for what a run before has expired
		return c, err
	}
	sweep := &sweep{exporter: e, in: in, before: e.cfg.Now().Add(-rules.Grace), done: &c}
	if err := sweep.run(ctx); err != nil {
		return c, fmt.Errorf("collecting garbage: %w", err)
	}
	if err := e.collectTables(ctx, sweep.before, &c); err != nil {
		return c, err
	}
	e.log.InfoContext(ctx, "collected garbage", "expired", c.Expired, "objects", c.Objects, "bytes", c.Bytes, "uploads", c.Uploads)
	return c, nil
}

// expire takes segments and folders that end before an instant out of the listings, and has
// those that were never published count as if they had been.
func (e *Exporter) expire(ctx context.Context, before schemas.Micros) (n int64, err error) {
	segments, err := e.oldSegments(ctx, before)
	if err != nil {
		return 0, err
	}
	for _, ref := range segments {
		if err := e.mark(ctx, ref, expired); err != nil {
			return n, err
		}
		n++
	}
	folders, err := e.oldFolders(ctx, before)
	if err != nil {
		return n, err
	}
	for _, ref := range folders {
		if err := e.mark(ctx, ref, expired); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// oldSegments are the closed days that end before an instant and have not expired.
func (e *Exporter) oldSegments(ctx context.Context, before schemas.Micros) ([]schemas.SegmentRef, error) {
	refs, err := e.DueSegments(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := e.allRows(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].State == published {
			refs = append(refs, rows[i].ref())
		}
	}
	return slices.DeleteFunc(refs, func(ref schemas.SegmentRef) bool {
		_, end, err := ref.Bounds()
		return err != nil || ref.IsImports() || end >= before
	}), nil
}

// oldFolders is oldSegments for the network's layout.
func (e *Exporter) oldFolders(ctx context.Context, before schemas.Micros) ([]schemas.NetworkRef, error) {
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := e.DueNetwork(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].State == published {
			refs = append(refs, rows[i].ref())
		}
	}
	return slices.DeleteFunc(refs, func(ref schemas.NetworkRef) bool { return ref.End >= before }), nil
}

// sweepSize is how many old objects are looked at together.
const sweepSize = 500

// sweep is one walk over the bucket.
type sweep struct {
	exporter *Exporter
	in       Listing
	before   time.Time // objects that are younger are left alone
	done     *Collection
}

// leftover is an old object, and what it belongs to: a segment or a folder.
type leftover struct {
	stored  bucket.Object
	key     string // without the prefix of staging
	staging bool
	unit    any // schemas.SegmentRef or schemas.NetworkRef
}

func (s *sweep) run(ctx context.Context) error {
	var old []leftover
	for o, err := range s.in.All(ctx, "") {
		if err != nil {
			return err
		}
		l, ours := s.identify(o)
		if !ours || !o.Modified.Before(s.before) {
			continue
		}
		if old = append(old, l); len(old) == sweepSize {
			if err := s.remove(ctx, old); err != nil {
				return err
			}
			old = old[:0]
		}
	}
	return s.remove(ctx, old)
}

// identify says what an object belongs to; ours is false for manifests, objects of other
// streams, and what this program does not write.
func (s *sweep) identify(o bucket.Object) (l leftover, ours bool) {
	l = leftover{stored: o}
	l.key, l.staging = strings.CutPrefix(o.Key, schemas.StagingPrefix)
	if _, ref, _, ok := schemas.ParseObjectKey(l.key); ok {
		l.unit = ref
		return l, ref.Stream == s.exporter.stream
	}
	for _, parse := range []func(string) (schemas.SegmentRef, bool){schemas.ParseLookupKey, schemas.ParseChainKey} {
		if ref, ok := parse(l.key); ok {
			l.unit = ref
			return l, ref.Stream == s.exporter.stream
		}
	}
	ref, _, _, ok := schemas.ParseNetworkKey(l.key)
	l.unit = ref
	return l, ok && ref.Stream == s.exporter.stream
}

// remove deletes those of some objects that nobody needs.
func (s *sweep) remove(ctx context.Context, old []leftover) error {
	units, err := s.exporter.unitsOf(ctx, old)
	if err != nil {
		return err
	}
	touched := make(map[any]bool)
	for _, l := range old {
		if units[l.unit].needs(l) {
			continue
		}
		gone, err := s.delete(ctx, l)
		if err != nil {
			return err
		}
		touched[l.unit] = touched[l.unit] || gone && !l.staging
	}
	return s.recheck(ctx, old, units, touched)
}

// delete deletes an object, unless somebody has written it since it was listed.
func (s *sweep) delete(ctx context.Context, l leftover) (gone bool, err error) {
	now, err := s.in.Head(ctx, l.stored.Key)
	if errors.Is(err, bucket.ErrNotFound) {
		return false, nil
	}
	if err != nil || !now.Modified.Before(s.before) {
		return false, err
	}
	if err := s.exporter.cfg.Objects.Delete(ctx, l.stored.Key); err != nil {
		return false, err
	}
	s.done.Objects++
	s.done.Bytes += now.Size
	return true, nil
}

// recheck withdraws what was published again while objects of it were deleted: one of them
// may have been written in between. The next export writes it once more.
func (s *sweep) recheck(ctx context.Context, old []leftover, before map[any]unitState, touched map[any]bool) error {
	if len(touched) == 0 {
		return nil
	}
	after, err := s.exporter.unitsOf(ctx, old)
	if err != nil {
		return err
	}
	for unit, removed := range touched {
		if removed && after[unit].version != before[unit].version && after[unit].state == published {
			if err := s.exporter.mark(ctx, unit, withdrawn); err != nil {
				return err
			}
			if err := s.exporter.excludeFromTables(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// unitState is the latest row of a segment or folder.
type unitState struct {
	state   string // "" for one without a row
	version int64
	keys    map[string]bool
}

// needs reports whether an object must stay.
func (u unitState) needs(l leftover) bool {
	switch u.state {
	case published:
		return !l.staging && u.keys[l.key]
	case expired: // the link, if any
		return !l.staging && u.keys[l.key]
	case staged:
		return !l.staging || u.keys[l.key]
	}
	// A run that was cut off, or has yet to end, finds under the keys what it wrote. What is
	// in staging it writes again.
	return !l.staging
}

// unitsOf reads the rows of what some objects belong to.
func (e *Exporter) unitsOf(ctx context.Context, objects []leftover) (map[any]unitState, error) {
	var segments []schemas.SegmentRef
	var folders []schemas.NetworkRef
	states := make(map[any]unitState)
	for _, o := range objects {
		if _, known := states[o.unit]; known {
			continue
		}
		states[o.unit] = unitState{}
		switch ref := o.unit.(type) {
		case schemas.SegmentRef:
			segments = append(segments, ref)
		case schemas.NetworkRef:
			folders = append(folders, ref)
		}
	}
	if len(segments) > 0 {
		rows, err := e.catalog.some(ctx, segments)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			state, err := e.segmentState(&rows[i])
			if err != nil {
				return nil, err
			}
			states[rows[i].ref()] = state
		}
	}
	rows, err := e.network.some(ctx, folders)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		lines, err := rows[i].lines()
		if err != nil {
			return nil, err
		}
		states[rows[i].ref()] = stateOf(rows[i].State, rows[i].Version, networkBatch(rows[i].ref(), lines))
	}
	return states, nil
}

// segmentState says which objects of a segment must stay. Of one that has expired it is the
// link alone, since the chain goes through it.
func (e *Exporter) segmentState(row *segmentRow) (unitState, error) {
	var listed batch
	if row.Manifest != "" && row.State != expired { // it was published or staged once
		m, err := e.manifests.of(row)
		if err != nil {
			return unitState{}, err
		}
		listed = m.batch()
		lookups, err := row.lookupKeys()
		if err != nil {
			return unitState{}, err
		}
		for _, key := range lookups {
			listed.objects = append(listed.objects, object{key: key})
		}
	}
	if row.chained() {
		listed.objects = append(listed.objects, object{key: schemas.ChainKey(row.ref())})
	}
	return stateOf(row.State, row.Version, listed), nil
}

func stateOf(state string, version int64, b batch) unitState {
	u := unitState{state: state, version: version, keys: make(map[string]bool, len(b.objects))}
	for _, o := range b.objects {
		u.keys[o.key] = true
	}
	return u
}

// mark appends a row with another state for a segment or folder.
func (e *Exporter) mark(ctx context.Context, unit any, state string) error {
	switch ref := unit.(type) {
	case schemas.SegmentRef:
		row, err := e.catalog.last(ctx, ref)
		if err != nil {
			return err
		}
		if state == expired && row.State != published {
			row.Manifest, row.ManifestHash = "", "" // it has none in the bucket that counts
		}
		row.Version++
		row.State = state
		return e.catalog.append(ctx, row)
	case schemas.NetworkRef:
		row, err := e.network.last(ctx, ref)
		if err != nil {
			return err
		}
		row.Version++
		row.State = state
		return e.network.append(ctx, row)
	}
	return fmt.Errorf("%v, which is to be %s, is no segment nor folder", unit, state)
}
