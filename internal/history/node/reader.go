// Package node reads a node's own stream, which is ordered by offset: updates of a selection,
// in either direction, active sets, and what is known of single updates and contracts.
package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Reader reads a node's own stream. It is safe for concurrent use.
type Reader struct {
	*ends
	source    source
	finder    finder
	lifetimes lifetimes
	actives   actives
	templates templates
}

// NewReader returns a reader of a node's stream, see schemas.NodeStream.
func NewReader(db *store.DB, stream string) *Reader {
	r := &Reader{
		ends:      &ends{db: db, stream: stream, mark: journal.NewMark(db, stream)},
		source:    source{db: db, stream: stream},
		templates: templates{db: db, stream: stream},
	}
	r.finder = finder{db: db, stream: stream, templates: &r.templates}
	r.lifetimes = lifetimes{db: db, stream: stream, ends: r.ends}
	r.actives = actives{db: db, stream: stream, source: &r.source, finder: &r.finder}
	return r
}

// Stream names the stream that r reads.
func (r *Reader) Stream() string { return r.stream }

// UseCopies has updates that are read by their offsets looked up in copies first. It must be
// called before anything is read.
func (r *Reader) UseCopies(c *copies.Updates) { r.source.copies = c }

// UpdatesByOffset returns at most limit updates of a node's own stream after one offset up
// to and including another, ascending, whole. The contracts that the stream began with
// are not among them: see Imports.
func (r *Reader) UpdatesByOffset(ctx context.Context, after, through int64, limit int) ([]schemas.Update, error) {
	if after >= through {
		return nil, nil
	}
	span := rows.Span{Stream: r.stream, After: schemas.AtOffset(after), Through: schemas.AtOffset(through)}
	return rows.Updates(ctx, r.db, span, int64(limit))
}

// EachUpdatePage gives all updates of a node's own stream after one offset through another, as
// UpdatesByOffset does, up to limit at a time; the last page may be empty.
func (r *Reader) EachUpdatePage(ctx context.Context, after, through int64, limit int, page func([]schemas.Update) error) error {
	for {
		updates, err := r.UpdatesByOffset(ctx, after, through, limit)
		if err != nil {
			return err
		}
		if err := page(updates); err != nil || len(updates) < limit {
			return err
		}
		after = updates[len(updates)-1].Local.Offset
	}
}

// NextEnd returns the next commit that moves LedgerEnd.
func (r *Reader) NextEnd() store.NextCommit { return r.db.NextCommit(r.stream) }

// NextActiveEnd returns the next commit that moves LedgerActiveEnd.
func (r *Reader) NextActiveEnd() store.NextCommit {
	return r.db.NextCommit(journal.ContractsStream(r.stream))
}

// SynchronizerTimes returns the latest record time of each synchronizer at or below an
// offset, by id.
func (r *Reader) SynchronizerTimes(ctx context.Context, offset int64) (times []SynchronizerTime, err error) {
	all, err := rows.SynchronizerRanges(ctx, r.db, r.stream)
	if err != nil {
		return nil, fmt.Errorf("reading the synchronizers of %s: %w", r.stream, err)
	}
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(t store.SynchronizerRange) bool { return t.SynchronizerID == s.SynchronizerID }) {
			continue // of another migration
		}
		last, err := store.SelectAll(ctx, r.db, synchronizerTimeQuery, store.Params{
			"stream": store.Text(r.stream), "synchronizer": store.Text(s.SynchronizerID), "through": store.Int(offset),
		}, store.NewRecords[store.SynchronizerRange]())
		if err != nil {
			return nil, fmt.Errorf("reading the record time of %s at offset %d: %w", s.SynchronizerID, offset, err)
		}
		if len(last) > 0 {
			times = append(times, SynchronizerTime{s.SynchronizerID, last[0].Max})
		}
	}
	slices.SortFunc(times, func(a, b SynchronizerTime) int { return strings.Compare(a.SynchronizerID, b.SynchronizerID) })
	return times, nil
}

// KnownTemplates returns the templates of the stream up to its watermark. Calls after one
// another give the same list with others behind it.
func (r *Reader) KnownTemplates(ctx context.Context) ([]Template, error) {
	end, err := r.LedgerEnd(ctx)
	if err != nil {
		return nil, err
	}
	return r.templates.all(ctx, end)
}
