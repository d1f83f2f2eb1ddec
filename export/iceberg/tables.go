package iceberg

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Tables keeps the tables of a stream equal to what is published. It is safe for
// concurrent use, also by several processes. A nil *Tables keeps no tables: its methods do
// nothing.
type Tables struct {
	cfg Config
	// commits lets one goroutine commit at a time: others of this process would only lose.
	commits sync.Mutex

	mu sync.Mutex
	// seen is the listing of segments that a table was seen to have last.
	seen map[schemas.ParquetTable]string
	// empty has the segments that were found to have no rows in a table.
	empty map[emptySegment]bool
}

type emptySegment struct {
	table   schemas.ParquetTable
	ref     schemas.SegmentRef
	content string
}

// New returns the tables of a stream. It sends nothing yet.
func New(cfg Config) (*Tables, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	return &Tables{cfg: cfg, seen: make(map[schemas.ParquetTable]string), empty: make(map[emptySegment]bool)}, nil
}

// names lists the tables, those of days first and derived ones last.
func names() []schemas.ParquetTable {
	day, imports := schemas.SegmentRef{Date: "2026-07-01"}, schemas.SegmentRef{}
	return slices.Concat(day.Tables(), imports.Tables(), day.DerivedTables())
}

// Update makes all tables equal to what is published. A table that nothing was ever
// published of is not made.
func (t *Tables) Update(ctx context.Context) error { return t.updateAll(ctx, false) }

// Exclude is Update for segments that the catalog has stopped listing just now: once it
// has returned, no table names their objects, and none will by the commit of a writer
// that still saw them listed.
func (t *Tables) Exclude(ctx context.Context) error { return t.updateAll(ctx, true) }

func (t *Tables) updateAll(ctx context.Context, always bool) error {
	if t == nil {
		return nil
	}
	t.commits.Lock()
	defer t.commits.Unlock()
	all, err := t.cfg.Catalog.Segments(ctx)
	if err != nil {
		return err
	}
	for _, name := range names() {
		if !always && t.hasSeen(name, ofTable(all, name)) {
			continue
		}
		if err := t.update(ctx, name, always); err != nil {
			return fmt.Errorf("updating Iceberg table %s: %w", name, err)
		}
	}
	return nil
}

// maxAttempts is how often a commit is tried of which other writers were faster.
const maxAttempts = 30

// update makes one table equal to the catalog. With always it makes a new version even if
// the table is equal, which every commit fails on that began before.
func (t *Tables) update(ctx context.Context, name schemas.ParquetTable, always bool) error {
	for attempt := range maxAttempts {
		if err := sleep(ctx, time.Duration(attempt)*rand.N(20*time.Millisecond)); err != nil {
			return err
		}
		done, err := t.try(ctx, name, always)
		if done || err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, errConflict) {
			return err
		}
	}
	return fmt.Errorf("%w in each of %d attempts", errConflict, maxAttempts)
}

// try makes one attempt. The table is read before the catalog: a commit then fails if the
// table has changed since, and all that leaves the catalog leaves the tables after that.
func (t *Tables) try(ctx context.Context, name schemas.ParquetTable, always bool) (done bool, err error) {
	base, err := t.load(ctx, name)
	if err != nil {
		return false, err
	}
	segments, err := t.segments(ctx, name)
	if err != nil {
		return false, err
	}
	if base.version == 0 && len(segments) == 0 && !always {
		return true, nil
	}
	if base.content() == fingerprint(segments) && !always {
		t.see(name, segments)
		return true, t.writeHint(ctx, name, base.version)
	}
	next, err := t.next(ctx, base, segments)
	if err != nil {
		return false, err
	}
	if err := t.commit(ctx, next); err != nil {
		return false, err
	}
	t.see(name, segments)
	return true, nil
}

// segments lists what is published of a table.
func (t *Tables) segments(ctx context.Context, name schemas.ParquetTable) ([]Segment, error) {
	all, err := t.cfg.Catalog.Segments(ctx)
	if err != nil {
		return nil, err
	}
	return ofTable(all, name), nil
}

// ofTable returns the segments that have a table, with the content that counts for it.
func ofTable(all []Segment, name schemas.ParquetTable) []Segment {
	var list []Segment
	for _, s := range all {
		switch {
		case slices.Contains(s.Ref.Tables(), name):
			s.Derived = ""
		case s.Derived != "" && slices.Contains(s.Ref.DerivedTables(), name):
			s.Content, s.Derived = s.Derived, ""
		default:
			continue
		}
		list = append(list, s)
	}
	return list
}

// fingerprint is a SHA-256 in hex over the contents of segments, in the order of their names.
func fingerprint(segments []Segment) string {
	return digest(segments, func(s Segment) string { return s.Ref.String() + " " + s.Content })
}

// listing is a fingerprint that is never again that of an earlier listing: what was
// withdrawn and is published again has another version.
func listing(segments []Segment) string {
	return digest(segments, func(s Segment) string { return fmt.Sprint(s.Ref, s.Content, s.Version) })
}

func digest(segments []Segment, line func(Segment) string) string {
	lines := make([]string, len(segments))
	for i, s := range segments {
		lines[i] = line(s) + "\n"
	}
	slices.Sort(lines)
	hash := sha256.New()
	for _, l := range lines {
		hash.Write([]byte(l))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// UpToDate reports whether the tables have exactly the given segments, which are what the
// catalog lists now. The bucket is asked only about tables that were seen with others last.
func (t *Tables) UpToDate(ctx context.Context, segments []Segment) (bool, error) {
	if t == nil {
		return true, nil
	}
	for _, name := range names() {
		list := ofTable(segments, name)
		if t.hasSeen(name, list) {
			continue
		}
		base, err := t.load(ctx, name)
		if err != nil {
			return false, fmt.Errorf("reading Iceberg table %s: %w", name, err)
		}
		if base.version == 0 && len(list) == 0 {
			continue
		}
		if base.content() != fingerprint(list) {
			return false, nil
		}
		t.see(name, list)
	}
	return true, nil
}

func (t *Tables) hasSeen(name schemas.ParquetTable, segments []Segment) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[name] == listing(segments)
}

func (t *Tables) see(name schemas.ParquetTable, segments []Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[name] = listing(segments)
}

func (t *Tables) isEmpty(name schemas.ParquetTable, s Segment) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.empty[emptySegment{name, s.Ref, s.Content}]
}

func (t *Tables) setEmpty(name schemas.ParquetTable, s Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.empty[emptySegment{name, s.Ref, s.Content}] = true
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
