package packages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Definitions returns what a catalogue learns from packages: the templates and interfaces of the
// newest version of each package name, with their types. One whose types refer to a package that is
// not among them is there without them. The fingerprint is the same for the same packages.
func Definitions(list []*Package) (definitions []values.Definition, fingerprint uint64) {
	r := newResolver(list)
	for _, p := range newest(list) {
		r.left = maxMade
		for i := range p.Modules {
			definitions = r.appendModule(definitions, p, &p.Modules[i])
		}
	}
	return definitions, fingerprintOf(list)
}

func fingerprintOf(list []*Package) uint64 {
	if len(list) == 0 {
		return 0
	}
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	return xxh3.HashString(strings.Join(ids, "\n"))
}

// newest returns the package with the highest version of each name, by name.
func newest(list []*Package) []*Package {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Package) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), -CompareVersions(a.Version, b.Version), strings.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(list, func(a, b *Package) bool { return a.Name == b.Name })
}

// CompareVersions orders versions such as 0.1.9 and 0.1.10 by their numbers.
func CompareVersions(a, b string) int {
	left, right := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(left), len(right)) {
		m, errM := strconv.ParseUint(left[i], 10, 64)
		n, errN := strconv.ParseUint(right[i], 10, 64)
		order := cmp.Compare(m, n)
		if errM != nil || errN != nil {
			order = strings.Compare(left[i], right[i])
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(len(left), len(right))
}

func (r *resolver) appendModule(list []values.Definition, p *Package, m *Module) []values.Definition {
	for _, t := range m.Templates {
		ref := Ref{p.ID, m.Name, t.Name}
		d := values.Definition{
			Entry:   values.Entry{PackageName: p.Name, Entity: ref.Entity()},
			Record:  r.valueOf(&Type{Kind: Named, Ref: ref}),
			Choices: r.choices(t.Choices),
		}
		for _, i := range t.Implements {
			d.Implements = append(d.Implements, i.Entity())
		}
		list = append(list, d)
	}
	for _, i := range m.Interfaces {
		list = append(list, values.Definition{
			Entry:   values.Entry{PackageName: p.Name, Entity: m.Name + ":" + i.Name, Interface: true},
			Choices: r.choices(i.Choices),
		})
	}
	return list
}

func (r *resolver) choices(list []Choice) map[string]values.Choice {
	out := make(map[string]values.Choice, len(list))
	for _, c := range list {
		out[c.Name] = values.Choice{Argument: r.valueOf(c.Argument), Result: r.valueOf(c.Result)}
	}
	return out
}
