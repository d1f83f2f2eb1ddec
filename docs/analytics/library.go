// Package analytics is the library of questions about the network: one file of SQL for each, in folder
// questions, with the answer on the example network beside it.
package analytics

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed questions/*.sql
var files embed.FS

// Question is one of the library.
type Question struct {
	Name       string // of its file, such as "supply"
	Title      string
	Group      string // who asks
	Number     int    // in the whole library
	Parameters []Parameter
	Example    map[string]string // values for the example network, of parameters that need others than usual
	ClickHouse string            // over the tables of the store
	// DuckDB is the same question over the published Parquet objects, with a view for each of their tables and
	// a variable for each parameter; empty where they lack what it needs.
	DuckDB string
}

// Parameter is one of a question's.
type Parameter struct {
	Name, Type, Meaning string
	Default             string // "" if a value must be given
}

// Groups are those who ask, in the order in which they are listed.
var Groups = []string{"Analyst", "Auditor", "App operator", "Validator operator", "Compliance"}

// Questions returns the library by group and number.
func Questions() ([]Question, error) {
	names, err := fs.Glob(files, "questions/*.sql")
	if err != nil {
		return nil, err
	}
	var list []Question
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		q, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		q.Name = strings.TrimSuffix(strings.TrimPrefix(name, "questions/"), ".sql")
		list = append(list, q)
	}
	slices.SortFunc(list, func(a, b Question) int {
		return cmp.Or(slices.Index(Groups, a.Group)-slices.Index(Groups, b.Group), a.Number-b.Number)
	})
	return list, nil
}

var (
	field     = regexp.MustCompile(`^-- (group|number|example): (.+)$`)
	parameter = regexp.MustCompile(`^-- (\w+) ([\w(), ]+?)(?: = (.+?))?: (.+)$`)
	value     = regexp.MustCompile(`(\w+)=(\S+(?: \d\d:\d\d:\d\d)?)`)
)

// parse reads a file: comments with the title, the group and so on, an empty line, the statement, and, after a
// line "-- DuckDB", the one for DuckDB.
func parse(text string) (q Question, err error) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	q.Title = strings.TrimPrefix(lines[0], "-- ")
	for _, line := range lines[1:] {
		switch found := field.FindStringSubmatch(line); {
		case found == nil:
			of := parameter.FindStringSubmatch(line)
			if of == nil {
				return q, fmt.Errorf("%q is no line of a head", line)
			}
			q.Parameters = append(q.Parameters, Parameter{Name: of[1], Type: of[2], Default: of[3], Meaning: of[4]})
		case found[1] == "group":
			q.Group = found[2]
		case found[1] == "number":
			q.Number, err = strconv.Atoi(found[2])
		default:
			q.Example = make(map[string]string)
			for _, v := range value.FindAllStringSubmatch(found[2], -1) {
				q.Example[v[1]] = v[2]
			}
		}
		if err != nil {
			return q, err
		}
	}
	q.ClickHouse, q.DuckDB, _ = strings.Cut(body, "\n-- DuckDB\n")
	if !slices.Contains(Groups, q.Group) || q.Number == 0 || strings.TrimSpace(q.ClickHouse) == "" {
		return q, fmt.Errorf("its group is %q, its number %d, or its statement is missing", q.Group, q.Number)
	}
	return q, nil
}

// Values are the values of all parameters: those that are given, and defaults for the rest.
func (q *Question) Values(given map[string]string) (map[string]string, error) {
	values := make(map[string]string, len(q.Parameters))
	for _, p := range q.Parameters {
		v, ok := given[p.Name]
		if !ok && p.Default == "" {
			return nil, fmt.Errorf("question %s needs --param %s=..: %s", q.Name, p.Name, p.Meaning)
		}
		if !ok {
			v = p.Default
		}
		values[p.Name] = v
	}
	for name := range given {
		if _, known := values[name]; !known {
			return nil, fmt.Errorf("question %s has no parameter %s: it has %s", q.Name, name, q.ParameterNames())
		}
	}
	return values, nil
}

// ParameterNames are the names of the parameters in their order, "none" without any.
func (q *Question) ParameterNames() string {
	var names []string
	for _, p := range q.Parameters {
		names = append(names, p.Name)
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
