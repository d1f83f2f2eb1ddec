package bulk

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// segmentView is the page of a segment.
type segmentView struct {
	row        store.SegmentRow
	start, end schemas.Micros
	tables     []tableView
	// Its place in the chain, and the segment before it there.
	chained  bool
	before   *schemas.SegmentRef
	previous string
	// disagreed counts objects that peers have otherwise, agree is how many of them must agree.
	disagreed, agree int
}

// tableView is a table of a segment with its objects.
type tableView struct {
	published.Table
	derived bool
	preview string
}

// summary says how many rows there are, and where they come from.
func (t tableView) summary() string {
	text := page.Grouped(sprint(t.Rows)) + " rows"
	if t.derived {
		text += ", derived from history and beside the manifest"
	}
	return text + ". "
}

// segment shows a segment with its objects.
func (b *Bulk) segment(ctx context.Context, v *page.View) (page.Page, error) {
	ref, err := b.refAt(v)
	if err != nil {
		return page.Page{}, err
	}
	row, tables, err := b.tablesOf(ctx, ref)
	if err != nil {
		return page.Page{}, err
	}
	c, err := b.coverage.Get(ctx)
	if err != nil {
		return page.Page{}, err
	}
	view := segmentView{row: row, start: schemas.Micros(row.Start), end: schemas.Micros(row.End), tables: tables, disagreed: c.disagreed[ref.String()], agree: b.cfg.Agree}
	before, link, chained := c.previous(ref)
	if view.chained, view.previous = chained, link; before != (schemas.SegmentRef{}) {
		view.before = &before
	}
	return page.Page{Title: "Segment " + refName(ref), Section: page.Bulk, Body: segment(v, view)}, nil
}

// tablesOf is the latest version of a segment with the tables of its manifest, and those beside it.
func (b *Bulk) tablesOf(ctx context.Context, ref schemas.SegmentRef) (row store.SegmentRow, tables []tableView, err error) {
	row, err = b.cfg.Catalog.LastSegment(ctx, ref)
	if err != nil {
		return row, nil, err
	}
	if row.Version == 0 {
		return row, nil, page.Missing("This segment is not published: see the calendar of what is, and of what is due.")
	}
	if row.Manifest == "" {
		return row, nil, nil // it was withdrawn
	}
	manifest, err := b.cfg.Catalog.ManifestOf(&row)
	if err != nil {
		return row, nil, err
	}
	derived, err := published.DerivedOf(&row)
	if err != nil {
		return row, nil, err
	}
	for _, t := range manifest.Tables {
		tables = append(tables, tableView{t, false, previewPath(ref, t)})
	}
	if derived != nil {
		for _, t := range derived.Tables {
			tables = append(tables, tableView{t, true, previewPath(ref, t)})
		}
	}
	return row, tables, nil
}

// previewPath is the address of the first rows of a table, "" without any.
func previewPath(ref schemas.SegmentRef, t published.Table) string {
	if len(t.Parts) == 0 {
		return ""
	}
	return segmentPath(ref) + "/" + string(t.Name)
}

// tableAt is the table that a path names.
func tableAt(tables []tableView, name string) (tableView, bool) {
	i := slices.IndexFunc(tables, func(t tableView) bool { return string(t.Name) == name })
	if i < 0 || len(tables[i].Parts) == 0 {
		return tableView{}, false
	}
	return tables[i], true
}
