package export

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/export/iceberg"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
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
	// Expired counts segments and folders, Objects and Bytes what was deleted, also of them,
	// and Uploads what was aborted.
	Expired, Objects, Bytes, Uploads int64
}

// LastCollection returns when the last collection ended, zero if there was none.
func (e *Exporter) LastCollection(ctx context.Context) (time.Time, error) {
	return e.catalog.Journal.LastCollection(ctx)
}

// CollectAndRecord is Collect with a record of it for LastCollection.
func (e *Exporter) CollectAndRecord(ctx context.Context, in Listing, rules CollectRules) (Collection, error) {
	c, err := e.Collect(ctx, in, rules)
	if err != nil {
		return c, err
	}
	return c, e.catalog.Journal.RecordCollection(ctx, store.CollectionRow{
		Stream: e.catalog.Stream(), EndedAt: schemas.MicrosOf(e.cfg.Now()),
		Expired: c.Expired, Objects: c.Objects, Bytes: c.Bytes, Uploads: c.Uploads,
	})
}

// Collect removes what no segment or folder needs: objects that are not listed by one that
// is published, what published ones left in staging, unfinished uploads, and with a
// retention old segments and folders. It is safe beside running exports: objects of what is
// not published now are left for the run that will finish it, and so is everything that is
// younger than the grace. Keys that this program does not write are left alone.
func (e *Exporter) Collect(ctx context.Context, in Listing, rules CollectRules) (c Collection, err error) {
	if rules.Grace <= 0 || rules.Retention < 0 {
		return c, fmt.Errorf("collecting garbage with grace %s and retention %s", rules.Grace, rules.Retention)
	}
	uploads, err := in.AbortStaleUploads(ctx, rules.Grace)
	c.Uploads = int64(uploads)
	if err != nil {
		return c, fmt.Errorf("aborting unfinished uploads: %w", err)
	}
	sweep := &sweep{
		catalog: e.catalog, objects: e.cfg.Objects, tables: e.tables, in: in, before: e.cfg.Now().Add(-rules.Grace), done: &c,
	}
	if rules.Retention > 0 {
		if c.Expired, err = sweep.expire(ctx, schemas.MicrosOf(e.cfg.Now().Add(-rules.Retention))); err != nil {
			return c, fmt.Errorf("expiring old objects: %w", err)
		}
	}
	if err := e.tables.Exclude(ctx); err != nil { // also for what a run before has expired
		return c, err
	}
	if err := sweep.run(ctx); err != nil {
		return c, fmt.Errorf("collecting garbage: %w", err)
	}
	objects, bytes, err := e.tables.Collect(ctx, sweep.before)
	c.Objects, c.Bytes = c.Objects+objects, c.Bytes+bytes
	if err != nil {
		return c, err
	}
	e.log.InfoContext(ctx, "collected garbage", "expired", c.Expired, "objects", c.Objects, "bytes", c.Bytes, "uploads", c.Uploads)
	return c, nil
}

// expire takes segments and folders that end before an instant out of the listings, and has
// those that were never published count as if they had been.
func (s *sweep) expire(ctx context.Context, before schemas.Micros) (n int64, err error) {
	segments, err := s.oldSegments(ctx, before)
	if err != nil {
		return 0, err
	}
	for _, ref := range segments {
		if err := s.mark(ctx, ref, published.Expired); err != nil {
			return n, err
		}
		n++
	}
	folders, err := s.oldFolders(ctx, before)
	if err != nil {
		return n, err
	}
	for _, ref := range folders {
		if err := s.mark(ctx, ref, published.Expired); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// oldSegments are the closed days that end before an instant and have not expired.
func (s *sweep) oldSegments(ctx context.Context, before schemas.Micros) ([]schemas.SegmentRef, error) {
	refs, err := s.catalog.DueSegments(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.catalog.AllSegments(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].State == published.Published {
			refs = append(refs, rows[i].Ref())
		}
	}
	return slices.DeleteFunc(refs, func(ref schemas.SegmentRef) bool {
		_, end, err := ref.Bounds()
		return err != nil || ref.IsImports() || end >= before
	}), nil
}

// oldFolders is oldSegments for the network's layout.
func (s *sweep) oldFolders(ctx context.Context, before schemas.Micros) ([]schemas.NetworkRef, error) {
	rows, err := s.catalog.Folders.All(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := s.catalog.DueFolders(ctx)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].State == published.Published {
			refs = append(refs, rows[i].Ref())
		}
	}
	return slices.DeleteFunc(refs, func(ref schemas.NetworkRef) bool { return ref.End >= before }), nil
}

// sweepSize is how many old objects are looked at together.
const sweepSize = 500

// sweep is one walk over the bucket.
type sweep struct {
	catalog *published.Catalog
	objects Objects
	tables  *iceberg.Tables
	in      Listing
	before  time.Time // objects that are younger are left alone
	done    *Collection
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
		return l, ref.Stream == s.catalog.Stream()
	}
	for _, parse := range []func(string) (schemas.SegmentRef, bool){schemas.ParseLookupKey, schemas.ParseChainKey, schemas.ParseDerivedKey} {
		if ref, ok := parse(l.key); ok {
			l.unit = ref
			return l, ref.Stream == s.catalog.Stream()
		}
	}
	ref, _, _, ok := schemas.ParseNetworkKey(l.key)
	l.unit = ref
	return l, ok && ref.Stream == s.catalog.Stream()
}

// remove deletes those of some objects that nobody needs.
func (s *sweep) remove(ctx context.Context, old []leftover) error {
	units, err := s.unitsOf(ctx, old)
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
	if err := s.objects.Delete(ctx, l.stored.Key); err != nil {
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
	after, err := s.unitsOf(ctx, old)
	if err != nil {
		return err
	}
	for unit, removed := range touched {
		if removed && after[unit].version != before[unit].version && after[unit].state == published.Published {
			if err := s.mark(ctx, unit, published.Withdrawn); err != nil {
				return err
			}
			if err := s.tables.Exclude(ctx); err != nil {
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
	case published.Published:
		return !l.staging && u.keys[l.key]
	case published.Expired: // the link, if any
		return !l.staging && u.keys[l.key]
	case published.Staged:
		return !l.staging || u.keys[l.key]
	}
	// A run that was cut off, or has yet to end, finds under the keys what it wrote. What is
	// in staging it writes again.
	return !l.staging
}

// unitsOf reads the rows of what some objects belong to.
func (s *sweep) unitsOf(ctx context.Context, objects []leftover) (map[any]unitState, error) {
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
		rows, err := s.catalog.Segments.Some(ctx, segments)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			state, err := s.segmentState(&rows[i])
			if err != nil {
				return nil, err
			}
			states[rows[i].Ref()] = state
		}
	}
	rows, err := s.catalog.Folders.Some(ctx, folders)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		lines, err := published.LinesOf(&rows[i])
		if err != nil {
			return nil, err
		}
		states[rows[i].Ref()] = stateOf(rows[i].State, rows[i].Version, published.FolderBatch(rows[i].Ref(), lines))
	}
	return states, nil
}

// segmentState says which objects of a segment must stay. Of one that has expired it is the
// link alone, since the chain goes through it.
func (s *sweep) segmentState(row *store.SegmentRow) (unitState, error) {
	var listed published.Batch
	if row.Manifest != "" && row.State != published.Expired { // it was published or staged once
		m, err := s.catalog.ManifestOf(row)
		if err != nil {
			return unitState{}, err
		}
		listed = m.Batch()
		beside, err := published.KeysBeside(row)
		if err != nil {
			return unitState{}, err
		}
		for _, key := range beside {
			listed.Objects = append(listed.Objects, published.Sum{Key: key})
		}
	}
	if published.Chained(row) {
		listed.Objects = append(listed.Objects, published.Sum{Key: schemas.ChainKey(row.Ref())})
	}
	return stateOf(row.State, row.Version, listed), nil
}

func stateOf(state string, version int64, b published.Batch) unitState {
	u := unitState{state: state, version: version, keys: make(map[string]bool, len(b.Objects))}
	for _, o := range b.Objects {
		u.keys[o.Key] = true
	}
	return u
}

// mark appends a row with another state for a segment or folder.
func (s *sweep) mark(ctx context.Context, unit any, state string) error {
	switch ref := unit.(type) {
	case schemas.SegmentRef:
		row, err := s.catalog.LastSegment(ctx, ref)
		if err != nil {
			return err
		}
		if state == published.Expired && row.State != published.Published {
			row.Manifest, row.ManifestHash = "", "" // it has none in the bucket that counts
		}
		row.Version++
		row.State = state
		return s.catalog.Segments.Append(ctx, row)
	case schemas.NetworkRef:
		row, err := s.catalog.LastFolder(ctx, ref)
		if err != nil {
			return err
		}
		row.Version++
		row.State = state
		return s.catalog.Folders.Append(ctx, row)
	}
	return fmt.Errorf("%v, which should become %s, is neither a segment nor a folder", unit, state)
}
