package bulk

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// rowsPerPage is how many segments or folders a page lists.
const rowsPerPage = 50

// overviewView is the page of what is covered.
type overviewView struct {
	migrations []migrationView
	// Of what is published.
	segments, objects, rows, bytes int64
	due, staged                    int
	// linked of so many segments are in the chain, whose last link is last.
	linked, closed int
	last           string
	agree          int
	disagreed      int
	list           listView
	folders        int
}

// listView is a list of segments, the last ones first.
type listView struct {
	rows      []store.SegmentRow
	disagreed map[string]int
	older     string
}

// overview shows what is covered.
func (b *Bulk) overview(ctx context.Context, v *page.View) (page.Page, error) {
	c, err := b.coverage.Get(ctx)
	if err != nil {
		return page.Page{}, err
	}
	view := overviewView{
		migrations: calendarOf(&c, v.Status), due: len(c.due), linked: c.chain.Linked, closed: len(c.chain.Order), last: c.chain.Last,
		agree: b.cfg.Agree, disagreed: len(c.disagreed), list: listOf(&c, nil), folders: len(c.folders),
	}
	for i := range c.rows {
		switch r := &c.rows[i]; r.State {
		case published.Published:
			view.segments++
			view.objects += r.Objects
			view.rows += r.Rows
			view.bytes += r.Bytes
		case published.Staged:
			view.staged++
		}
	}
	return page.Page{Title: "Files", Section: page.Bulk, Body: overview(v, view)}, nil
}

// listOf lists segments before one, nil for the last ones.
func listOf(c *coverage, before *schemas.SegmentRef) listView {
	view := listView{disagreed: c.disagreed}
	for i := range slices.Backward(c.rows) {
		ref := c.rows[i].Ref()
		if before != nil && ref.Compare(*before) >= 0 {
			continue
		}
		if len(view.rows) == rowsPerPage {
			view.older = "/bulk/segments?before=" + refName(view.rows[rowsPerPage-1].Ref())
			break
		}
		view.rows = append(view.rows, c.rows[i])
	}
	return view
}

// segments lists all segments.
func (b *Bulk) segments(ctx context.Context, v *page.View) (page.Page, error) {
	var before *schemas.SegmentRef
	if name := v.Param("before"); name != "" {
		ref, ok := b.refOf(name)
		if !ok {
			return page.Page{}, query.Errorf(query.Invalid, "%.60q names no segment: they are named by migration and day, such as 0:2026-07-01.", name)
		}
		before = &ref
	}
	c, err := b.coverage.Get(ctx)
	if err != nil {
		return page.Page{}, err
	}
	return page.Page{Title: "Segments", Section: page.Bulk, Body: segments(v, listOf(&c, before))}, nil
}

// foldersView is the list of folders in the network's own layout, the last ones first.
type foldersView struct {
	rows      []store.NetworkFolderRow
	disagreed map[string]int
	older     string
}

// folders lists the folders of the network's own layout.
func (b *Bulk) folders(ctx context.Context, v *page.View) (page.Page, error) {
	p := v.Query()
	before, given := p.OptionalTime("before")
	if err := p.Err(); err != nil {
		return page.Page{}, err
	}
	c, err := b.coverage.Get(ctx)
	if err != nil {
		return page.Page{}, err
	}
	view := foldersView{disagreed: c.disagreed}
	for i := range slices.Backward(c.folders) {
		r := c.folders[i]
		if given && r.End >= int64(before) {
			continue
		}
		// Both kinds of a day are on the same page.
		if n := len(view.rows); n >= rowsPerPage && view.rows[n-1].End != r.End {
			view.older = "/bulk/folders?before=" + schemas.Micros(view.rows[n-1].End).String()
			break
		}
		view.rows = append(view.rows, r)
	}
	return page.Page{Title: "Folders", Section: page.Bulk, Body: folders(v, view)}, nil
}
