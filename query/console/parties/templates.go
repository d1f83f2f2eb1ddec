package parties

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/inventory"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// countsFresh is how old counts over all of history may be, unless an instant is asked for.
const countsFresh = 15 * time.Second

// counts remembers counts as of the end of history.
type counts struct {
	cfg       Config
	templates memo.Value[[]inventory.Template]
	packages  memo.Value[[]inventory.Package]
}

func newCounts(cfg Config) *counts {
	c := &counts{cfg: cfg}
	c.templates = memo.Value[[]inventory.Template]{TTL: countsFresh, Now: time.Now, Load: func(ctx context.Context) ([]inventory.Template, error) {
		return c.countTemplates(ctx, schemas.MaxMicros)
	}}
	c.packages = memo.Value[[]inventory.Package]{TTL: countsFresh, Now: time.Now, Load: func(ctx context.Context) ([]inventory.Package, error) {
		return cfg.Inventory.Packages(ctx, schemas.MaxMicros)
	}}
	return c
}

func (c *counts) countTemplates(ctx context.Context, at schemas.Micros) ([]inventory.Template, error) {
	instant, ok, err := c.cfg.Network.Instant(ctx, at)
	if err != nil || !ok {
		return nil, err
	}
	return c.cfg.Inventory.Templates(ctx, instant.MigrationID, instant.At)
}

// templatesAt are the templates as of the instant of a page.
func (c *counts) templatesAt(ctx context.Context, v *page.View) ([]inventory.Template, error) {
	if v.At == nil {
		return c.templates.Get(ctx)
	}
	return c.countTemplates(ctx, *v.At)
}

// templatesView is the list of templates.
type templatesView struct {
	filter string
	rows   []inventory.Template
	next   string
	live   bool // only those with live contracts
}

// templates lists the templates by name, those that a filter lets through.
func (s *Parties) templates(ctx context.Context, v *page.View) (page.Page, error) {
	view := templatesView{filter: v.Param("filter"), live: v.Param("live") == "true"}
	all, err := s.counts.templatesAt(ctx, v)
	if err != nil {
		return page.Page{}, tooMuch(err)
	}
	after, wanted := v.Param("after"), strings.ToLower(view.filter)
	for _, t := range all {
		if t.Name <= after || !strings.Contains(strings.ToLower(t.Name), wanted) || view.live && t.Live == 0 {
			continue
		}
		if len(view.rows) == pageRows {
			view.next = withParams("/templates", "filter", view.filter, "live", v.Param("live"), "after", view.rows[pageRows-1].Name)
			break
		}
		view.rows = append(view.rows, t)
	}
	return page.Page{Title: "Templates", Section: page.Templates, Body: templates(v, view)}, nil
}

// tooMuch is the error of counting for people.
func tooMuch(err error) error {
	if errors.Is(err, inventory.ErrTooExpensive) {
		return &query.Error{Code: query.Unavailable, Msg: "There is more history than can be counted at once. The analytics interface has the tables.", Err: err}
	}
	return err
}

// templateView is a template.
type templateView struct {
	name   string
	counts inventory.Template
	// choices are nil if there is too much to count.
	choices []inventory.Choice
	unknown bool // how often choices are exercised
	typed   []typedTable
	rows    []network.Contract
	older   string
}

// typedTable is one that the analytics interface serves.
type typedTable struct {
	name, choice string
	columns      []string
}

// template is a template with its newest contracts and its choices.
func (s *Parties) template(ctx context.Context, v *page.View) (page.Page, error) {
	name, err := v.Path("template")
	if err != nil {
		return page.Page{}, err
	}
	before, ok := network.ParseKey(v.Param("before"))
	if !ok {
		return page.Page{}, errPlace
	}
	missing := page.Missing("History has no contracts of this template at this time. Its name is PACKAGE:MODULE:ENTITY.")
	at, ok, err := s.cfg.Network.Instant(ctx, v.Instant())
	if err != nil {
		return page.Page{}, err
	}
	if !ok || strings.Count(name, ":") != 2 || len(name) > maxID {
		return page.Page{}, missing
	}
	view := templateView{name: name}
	found, err := s.cfg.Inventory.Templates(ctx, at.MigrationID, at.At, name)
	if err != nil {
		return page.Page{}, tooMuch(err)
	}
	for _, t := range found { // in one or both spellings
		view.counts.Live, view.counts.Ended = view.counts.Live+t.Live, view.counts.Ended+t.Ended
	}
	view.choices, err = s.cfg.Inventory.Choices(ctx, v.Instant(), name)
	if view.unknown = errors.Is(err, inventory.ErrTooExpensive); err != nil && !view.unknown {
		return page.Page{}, err
	}
	if len(found) == 0 && len(view.choices) == 0 && !view.unknown {
		return page.Page{}, missing
	}
	if err := s.addContracts(ctx, &view, at, before); err != nil {
		return page.Page{}, err
	}
	if view.typed, err = s.typed(ctx, name); err != nil {
		return page.Page{}, err
	}
	return page.Page{Title: page.Entity(name), Section: page.Templates, Body: template(v, view)}, nil
}

// addContracts reads a page of the newest contracts.
func (s *Parties) addContracts(ctx context.Context, view *templateView, at network.Instant, before network.Key) error {
	list, err := s.cfg.Network.Before(ctx, at, before, pageRows+1, view.name)
	if err != nil {
		return err
	}
	if len(list) > pageRows {
		list = list[:pageRows]
		view.older = withParams(page.TemplatePath(view.name), "before", network.KeyOf(&list[pageRows-1]).String())
	}
	view.rows = list
	return nil
}

// typed are the typed tables of a template and its choices that can be read.
func (s *Parties) typed(ctx context.Context, name string) (list []typedTable, err error) {
	recorded, err := s.cfg.Inventory.Typed(ctx, name)
	if err != nil || len(recorded) == 0 {
		return nil, err
	}
	all, err := s.cfg.Tables.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range recorded {
		i := slices.IndexFunc(all, func(t tables.Table) bool { return t.Name == r.Table })
		if i < 0 {
			continue
		}
		table := typedTable{name: r.Table, choice: r.Choice}
		for _, c := range all[i].Columns {
			table.columns = append(table.columns, c.Name)
		}
		list = append(list, table)
	}
	return list, nil
}

// packagesView is what packages there are.
type packagesView struct {
	rows []packageRow
}

// packageRow is a package of history, of the store, or of both.
type packageRow struct {
	name, id string
	kept     *inventory.Kept
	seen     *inventory.Package
}

// packages lists packages by name: those of history, and those that the store keeps.
func (s *Parties) packages(ctx context.Context, v *page.View) (page.Page, error) {
	seen, err := s.packagesAt(ctx, v)
	if err != nil {
		return page.Page{}, tooMuch(err)
	}
	kept, err := s.cfg.Inventory.Kept(ctx)
	if err != nil {
		return page.Page{}, err
	}
	return page.Page{Title: "Packages", Section: page.Templates, Body: packages(v, packagesView{joined(seen, kept)})}, nil
}

func (s *Parties) packagesAt(ctx context.Context, v *page.View) ([]inventory.Package, error) {
	if v.At == nil {
		return s.counts.packages.Get(ctx)
	}
	return s.cfg.Inventory.Packages(ctx, *v.At)
}

// joined are packages of history with what the store keeps of them, and those that only the store has, by name.
func joined(seen []inventory.Package, kept []inventory.Kept) (rows []packageRow) {
	known := make(map[string]*inventory.Kept, len(kept))
	for i := range kept {
		known[kept[i].ID] = &kept[i]
	}
	for i := range seen {
		rows = append(rows, packageRow{seen[i].Name, seen[i].ID, known[seen[i].ID], &seen[i]})
		delete(known, seen[i].ID)
	}
	for _, k := range known {
		rows = append(rows, packageRow{k.Name, k.ID, k, nil})
	}
	slices.SortStableFunc(rows, func(a, b packageRow) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version(), b.version()), cmp.Compare(a.id, b.id))
	})
	return rows
}

// version is what the package says of itself, "" if the store does not have it.
func (r packageRow) version() string {
	if r.kept == nil {
		return ""
	}
	return r.kept.Version
}
