package typed

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

//go:embed views/*.sql
var viewFiles embed.FS

// namedView is a view over typed tables of the network's own templates.
type namedView struct {
	name, title string
	tables      []typed.Source
	columns     [][2]string // names and meanings
	query       string
}

// namedViews are those of the folder views: a title, the tables that a view reads, and its columns, in
// comments before the query.
var namedViews = readViews()

func readViews() (list []*namedView) {
	files, err := viewFiles.ReadDir("views")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	for _, f := range files {
		text, err := viewFiles.ReadFile("views/" + f.Name())
		if err != nil {
			panic(err)
		}
		v := &namedView{name: strings.TrimSuffix(f.Name(), ".sql")}
		for line := range strings.Lines(string(text)) {
			comment, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
			kind, rest, _ := strings.Cut(comment, " ")
			switch {
			case !ok:
				v.query += line
			case v.title == "":
				v.title = comment
			case kind == "table":
				id, choice, _ := strings.Cut(rest, "/")
				pkg, entity, _ := strings.Cut(id, ":")
				v.tables = append(v.tables, typed.Source{Package: pkg, Entity: entity, Choice: choice})
			case kind == "column":
				name, meaning, _ := strings.Cut(rest, " ")
				v.columns = append(v.columns, [2]string{name, meaning})
			}
		}
		list = append(list, v)
	}
	return list
}

func viewNamed(name string) *namedView {
	i := slices.IndexFunc(namedViews, func(v *namedView) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return namedViews[i]
}

// ViewNames are the names of the views that Add makes.
func ViewNames() (names []string) {
	for _, v := range namedViews {
		names = append(names, v.name)
	}
	return names
}

// createView makes a view, or makes it again.
func (s *Tables) createView(ctx context.Context, v *namedView) error {
	var comments []string
	for _, c := range v.columns {
		comments = append(comments, "COMMENT COLUMN "+quoted(c[0])+" "+quotedText(c[1]))
	}
	for _, statement := range []string{
		"CREATE OR REPLACE VIEW " + quoted(v.name) + " AS " + v.query + " COMMENT " + quotedText(v.title),
		"ALTER TABLE " + quoted(v.name) + " " + strings.Join(comments, ", "),
	} {
		if err := s.db.Exec(ctx, statement, "", nil); err != nil {
			return fmt.Errorf("making view %s: %w", v.name, err)
		}
	}
	return nil
}

// dropViews drops views.
func (s *Tables) dropViews(ctx context.Context, views []*namedView) error {
	for _, v := range views {
		if err := s.db.Exec(ctx, "DROP VIEW IF EXISTS "+quoted(v.name), "", nil); err != nil {
			return fmt.Errorf("dropping view %s: %w", v.name, err)
		}
	}
	return nil
}

// madeViews are the views that the store has.
func (s *Tables) madeViews(ctx context.Context) (list []*namedView, err error) {
	rows, err := store.SelectAll(ctx, s.db, selectViews, store.Params{"names": store.Texts(ViewNames())}, store.NewRecords[name]())
	for _, r := range rows {
		list = append(list, viewNamed(r.Name))
	}
	return list, err
}

// reads reports whether a view reads one of some tables.
func (v *namedView) reads(tables []*Table) bool {
	return slices.ContainsFunc(tables, func(t *Table) bool { return slices.Contains(v.tables, t.Source) })
}
