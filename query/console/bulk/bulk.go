// Package bulk has the pages of the published files: what is covered by which, with sizes and digests, and what is in them.
package bulk

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Objects reads parts of what is in the bucket; *bucket.Client does.
type Objects interface {
	// Get opens the bytes from..to of an object, from inclusive and to exclusive.
	Get(ctx context.Context, key string, from, to int64) (*bucket.Reader, error)
}

// Config says what the pages read.
type Config struct {
	Catalog *published.Catalog // required
	Objects Objects            // required
	// Agree is how many peers must have the same bytes before an object is published.
	Agree int
}

// Bulk makes the pages.
type Bulk struct {
	cfg      Config
	coverage *memo.Value[coverage]
}

// New returns the pages over some readers.
func New(cfg Config) *Bulk { return &Bulk{cfg, newCoverage(cfg.Catalog)} }

// Routes are the pages.
func (b *Bulk) Routes(p *page.Pages) []query.Route {
	preview := p.Get("/bulk/{segment}/{table}", "preview", b.preview)
	preview.Class = query.Page
	return []query.Route{
		p.Get("/bulk", "bulk", b.overview),
		p.Get("/bulk/segments", "segments", b.segments),
		p.Get("/bulk/folders", "folders", b.folders),
		p.Get("/bulk/{segment}", "segment", b.segment),
		preview,
	}
}

// refName is how addresses name a segment: migration and date, such as 3:2026-07-01, or 3:imports.
func refName(ref schemas.SegmentRef) string {
	if ref.IsImports() {
		return fmt.Sprint(ref.MigrationID, ":imports")
	}
	return fmt.Sprint(ref.MigrationID, ":", ref.Date)
}

// refOf is the inverse of refName.
func (b *Bulk) refOf(name string) (ref schemas.SegmentRef, ok bool) {
	migration, date, ok := strings.Cut(name, ":")
	id, err := strconv.ParseInt(migration, 10, 64)
	if !ok || err != nil || date == "" {
		return ref, false
	}
	if date == "imports" {
		date = ""
	}
	ref = schemas.SegmentRef{Stream: b.cfg.Catalog.Stream(), MigrationID: id, Date: date}
	return ref, ref.Check() == nil
}

// refAt is the segment that a path names.
func (b *Bulk) refAt(v *page.View) (schemas.SegmentRef, error) {
	name, err := v.Path("segment")
	if err != nil {
		return schemas.SegmentRef{}, err
	}
	ref, ok := b.refOf(name)
	if !ok {
		return ref, page.Missing("Segments are named by migration and day, such as 0:2026-07-01, or 0:imports.")
	}
	return ref, nil
}

// segmentPath is the address of a segment's page.
func segmentPath(ref schemas.SegmentRef) string { return "/bulk/" + refName(ref) }

// downloadPath is where an object can be had.
func downloadPath(key string) string {
	return "/api/scan/v0/history/bulk/download/" + url.PathEscape(key)
}
