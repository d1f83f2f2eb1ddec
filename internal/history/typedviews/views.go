// Package typedviews has the views over typed tables of the network's own templates: for those who make them, and
// for those who read them.
package typedviews

import (
	"embed"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

//go:embed views/*.sql
var files embed.FS

// View is a view over typed tables.
type View struct {
	Name, Title string
	// Tables are those that it reads.
	Tables []typed.Source
	// Key are the columns that order the rows of a stream, and tell one from the other.
	Key []string
	// Columns are names and meanings.
	Columns [][2]string
	Query   string
}

// All are the views of the folder views, by name. In each file comments come before the query: a title, the
// tables that the view reads, its key and its columns.
var All = read()

func read() (list []*View) {
	entries, err := files.ReadDir("views")
	if err != nil {
		panic(err) // the folder is in the binary
	}
	for _, f := range entries {
		text, err := files.ReadFile("views/" + f.Name())
		if err != nil {
			panic(err)
		}
		v := &View{Name: strings.TrimSuffix(f.Name(), ".sql")}
		for line := range strings.Lines(string(text)) {
			v.take(line)
		}
		list = append(list, v)
	}
	return list
}

// take takes a line of a view's file.
func (v *View) take(line string) {
	comment, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
	kind, rest, _ := strings.Cut(comment, " ")
	switch {
	case !ok:
		v.Query += line
	case v.Title == "":
		v.Title = comment
	case kind == "table":
		id, choice, _ := strings.Cut(rest, "/")
		pkg, entity, _ := strings.Cut(id, ":")
		v.Tables = append(v.Tables, typed.Source{Package: pkg, Entity: entity, Choice: choice})
	case kind == "key":
		v.Key = strings.Fields(rest)
	case kind == "column":
		name, meaning, _ := strings.Cut(rest, " ")
		v.Columns = append(v.Columns, [2]string{name, meaning})
	}
}

// Named is the view of a name, nil if there is none.
func Named(name string) *View {
	i := slices.IndexFunc(All, func(v *View) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Names are those of all views.
func Names() (names []string) {
	for _, v := range All {
		names = append(names, v.Name)
	}
	return names
}
