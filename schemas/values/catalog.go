package values

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

//go:embed catalog/*.yaml
var ownFiles embed.FS

// Catalog knows the types of templates, and of the arguments and results of their choices.
// What its files have never changes; one of Learning also has what it learnt last. It is safe for
// concurrent use. All lookups accept the network's and the neutral spelling, and return nil for what
// is not in the catalogue.
type Catalog struct {
	// templates by package name, then by Module:Entity. Interfaces are among them. The
	// empty package name stands for all packages, with nil where two have the same entity.
	templates map[string]map[string]*template
	entries   []Entry

	fingerprint uint64
	learnt      atomic.Pointer[Catalog] // which itself has learnt nothing
}

// Fingerprint is the same for catalogues that write every value alike: it changes with the
// text of any of their files, with what is learnt, and with a version that converts otherwise.
func (c *Catalog) Fingerprint() uint64 {
	if learnt := c.learnt.Load(); learnt != nil {
		return c.fingerprint ^ learnt.fingerprint
	}
	return c.fingerprint
}

// Entry names a template or interface of the catalogue, in the network's spelling.
type Entry struct {
	PackageName string
	// Entity is Module:Entity.
	Entity    string
	Interface bool
	// Implements are the interfaces, as Module:Entity, that a template implements.
	Implements []string
}

// Entries returns all templates and interfaces, those of the files and those that were learnt, each
// sorted by package and entity.
func (c *Catalog) Entries() []Entry {
	if learnt := c.learnt.Load(); learnt != nil {
		return slices.Concat(c.entries, learnt.entries)
	}
	return c.entries
}

// template is a template, or an interface, which has no record.
type template struct {
	record  *Type
	choices map[string]Choice
}

// Choice are the types of a choice, nil where one is not known.
type Choice struct{ Argument, Result *Type }

var (
	emptyRecord = Record()
	unit        = Scalar(KindUnit)
)

// Default returns the catalogue of the network's own packages. All calls return the same
// one.
func Default() *Catalog { return defaultCatalog() }

var defaultCatalog = sync.OnceValue(func() *Catalog {
	c, err := Load()
	if err != nil {
		panic(fmt.Sprintf("reading the built-in template catalogue: %v", err)) // a test reads it
	}
	return c
})

// Load returns the catalogue of the network's own packages together with those of the
// *.yaml files at the root of each of extra, of which each must have some; see
// docs/formats/values.md for their format. A template in a later file system replaces one of the
// same name in an earlier one. The error names all that is wrong, by file and line.
func Load(extra ...fs.FS) (*Catalog, error) {
	own, err := fs.Sub(ownFiles, "catalog")
	if err != nil {
		return nil, fmt.Errorf("opening the built-in template catalogue: %w", err)
	}
	l := newLoader()
	for _, fsys := range append([]fs.FS{own}, extra...) {
		if err := l.readAll(fsys); err != nil {
			return nil, fmt.Errorf("reading a template catalogue: %w", allOf(err))
		}
	}
	c, err := l.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading a template catalogue: %w", allOf(err))
	}
	return c, nil
}

// Templates returns how many templates the catalogue has, interfaces not among them.
func (c *Catalog) Templates() int {
	distinct := map[*template]bool{}
	for pkg, byID := range c.templates {
		for _, t := range byID {
			if pkg != "" && t.record != nil {
				distinct[t] = true
			}
		}
	}
	return len(distinct)
}

// Template returns the type of a template's create arguments. templateID is
// <package id>:Module:Entity, or #<package name>:Module:Entity, or Module:Entity; its
// package is not looked at. With an empty pkgName any package will do in which alone there
// is such a template.
func (c *Catalog) Template(pkgName, templateID string) *Type {
	t, ok := c.lookup(pkgName, templateID)
	if learnt := c.learnt.Load(); !ok && learnt != nil {
		t, _ = learnt.lookup(pkgName, templateID)
	}
	if t == nil {
		return nil
	}
	return t.record
}

// ChoiceArgument returns the type of a choice's argument. interfaceID is empty for a choice
// of the template itself.
func (c *Catalog) ChoiceArgument(pkgName, templateID, interfaceID, choice string) *Type {
	if choice == "Archive" {
		return emptyRecord
	}
	return c.choice(pkgName, templateID, interfaceID, choice).Argument
}

// ChoiceResult is like ChoiceArgument for what the choice returns.
func (c *Catalog) ChoiceResult(pkgName, templateID, interfaceID, choice string) *Type {
	if choice == "Archive" {
		return unit
	}
	return c.choice(pkgName, templateID, interfaceID, choice).Result
}

// Choices returns the names of the choices of a template or an interface, sorted and in the network's
// spelling, without Archive.
func (c *Catalog) Choices(pkgName, id string) []string {
	t, ok := c.lookup(pkgName, id)
	if learnt := c.learnt.Load(); !ok && learnt != nil {
		t, _ = learnt.lookup(pkgName, id)
	}
	if t == nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(t.choices))
	return slices.DeleteFunc(names, func(name string) bool {
		_, twice := t.choices[Network(name)]
		return name == "Archive" || twice && name != Network(name)
	})
}

// choice returns a choice of the files, and of what was learnt if they do not have it.
func (c *Catalog) choice(pkgName, templateID, interfaceID, name string) Choice {
	id := templateID
	if interfaceID != "" {
		pkgName, id = "", interfaceID // in a package of its own, which the event does not name
	}
	t, ambiguous := c.lookup(pkgName, id)
	if t != nil {
		if ch, ok := t.choices[name]; ok {
			return ch
		}
	}
	if learnt := c.learnt.Load(); learnt != nil && (t != nil || !ambiguous) {
		return learnt.choice(pkgName, templateID, interfaceID, name)
	}
	return Choice{}
}

// lookup returns a template or interface; one that is there without being one is ambiguous.
func (c *Catalog) lookup(pkgName, id string) (t *template, there bool) {
	t, there = c.templates[pkgName][entityOf(id)]
	return t, there
}

// entityOf returns the Module:Entity at the end of an id.
func entityOf(id string) string {
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		return id[strings.LastIndexByte(id[:i], ':')+1:]
	}
	return id
}
