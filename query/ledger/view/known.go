package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Known is what filters may name: the templates and interfaces of a stream and of the
// catalogue. Reading it is safe for concurrent use, adding to it is not; build another one
// when the stream has got new templates.
type Known struct {
	packages map[string]bool // names
	// templates by "PACKAGE_NAME:Module:Entity" and "<package id>:Module:Entity", with the
	// former as value.
	templates map[string]string
	// interfaces likewise by package name and by package id, with an id as value if one
	// is known.
	interfaces map[string]string
	// byEntity are the ids of interfaces by "Module:Entity", "" while none is known; named
	// are those that the catalogue has. implementers are the names of templates by that of
	// an interface. All are in the network's spelling, whatever the stream's.
	byEntity     map[string]string
	named        map[string]bool
	implementers map[string]map[string]bool
}

// NewKnown returns what a catalogue knows. It may be nil.
func NewKnown(c *values.Catalog) *Known {
	k := &Known{
		packages: map[string]bool{}, templates: map[string]string{}, interfaces: map[string]string{},
		byEntity: map[string]string{}, named: map[string]bool{}, implementers: map[string]map[string]bool{},
	}
	if c == nil {
		return k
	}
	for _, t := range c.Entries() {
		k.packages[t.PackageName] = true
		name := t.PackageName + ":" + t.Entity
		if t.Interface {
			k.interfaces[name], k.byEntity[t.Entity], k.named[t.Entity] = "", "", true
			continue
		}
		k.templates[name] = name
		for _, entity := range t.Implements {
			k.implement(name, entity)
		}
	}
	return k
}

// AddPackageName adds the name of a package of which nothing else may be known.
func (k *Known) AddPackageName(name string) { k.packages[name] = true }

// AddTemplate adds a template of the stream, such as splice-amulet and
// <package id>:Splice.Amulet:Amulet.
func (k *Known) AddTemplate(packageName, templateID string) {
	name := schemas.TemplateName(packageName, templateID)
	k.packages[packageName], k.templates[name], k.templates[templateID] = true, name, name
}

// AddInterface adds an interface of the stream, <package id>:Module:Entity. Package names
// of interfaces are only known from the catalogue.
func (k *Known) AddInterface(interfaceID string) {
	k.interfaces[interfaceID] = interfaceID
	k.byEntity[entityOf(interfaceID)] = interfaceID
}

// AddImplementation adds that a template implements an interface, as an exercise of one of
// its choices on a contract of the template shows.
func (k *Known) AddImplementation(packageName, templateID, interfaceID string) {
	k.AddTemplate(packageName, templateID)
	k.AddInterface(interfaceID)
	k.implement(values.Network(schemas.TemplateName(packageName, templateID)), entityOf(interfaceID))
}

// entityOf returns the Module:Entity of an id in the network's spelling.
func entityOf(id string) string {
	_, entity, _ := strings.Cut(id, ":")
	return values.Network(entity)
}

func (k *Known) implement(templateName, interfaceEntity string) {
	if k.implementers[interfaceEntity] == nil {
		k.implementers[interfaceEntity] = map[string]bool{}
	}
	k.implementers[interfaceEntity][templateName] = true
}

// Size grows with each addition, so that it identifies a state of what is known.
func (k *Known) Size() int {
	n := len(k.packages) + len(k.templates) + len(k.interfaces) + len(k.byEntity) + len(k.named)
	for _, names := range k.implementers {
		n += len(names)
	}
	return n
}

// reference is a template or interface as a filter names it.
type reference struct {
	asked string
	// byName says that pkg is a package name, else it is a package id.
	byName      bool
	pkg, entity string
	// spellings are pkg:entity, as asked and as the network and the neutral words spell it.
	spellings []string
}

// parseReference reads #PACKAGE_NAME:Module:Entity or <package id>:Module:Entity.
func parseReference(member, text string) (reference, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "#" || strings.ContainsAny(p, " \t\r\n\x00") }) {
		return reference{}, invalid("%s %.300q is neither #PACKAGE_NAME:MODULE:ENTITY nor PACKAGE_ID:MODULE:ENTITY", member, text)
	}
	bare, byName := strings.CutPrefix(text, "#")
	if !byName && len(parts[0]) > 128 || len(text) > 1000 {
		return reference{}, invalid("%s %.100q is too long", member, text)
	}
	r := reference{asked: text, byName: byName, spellings: []string{bare}}
	for _, spelling := range []string{values.Network(bare), values.Neutral(bare)} {
		if !slices.Contains(r.spellings, spelling) {
			r.spellings = append(r.spellings, spelling)
		}
	}
	r.pkg, r.entity, _ = strings.Cut(bare, ":")
	return r, nil
}

// hasPackage reports whether the package name of a reference is known in any spelling.
func (k *Known) hasPackage(r *reference) bool {
	return k.packages[r.pkg] || slices.ContainsFunc(r.spellings, func(s string) bool {
		pkg, _, _ := strings.Cut(s, ":")
		return k.packages[pkg]
	}) || k.packages[values.Network(r.pkg)] || k.packages[values.Neutral(r.pkg)]
}

// template returns the spellings of a reference that templates of the stream have, all as
// names: a filter by package id is about one version, see templateFilter.
func (k *Known) template(r *reference) ([]string, error) {
	if r.byName && !k.hasPackage(r) {
		return nil, unknown(UnknownPackageName, packageNameKind, r.pkg)
	}
	var names []string
	for _, s := range r.spellings {
		if name, ok := k.templates[s]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return names, nil
	case r.byName:
		return nil, unknown(UnknownTemplateName, templateKind, r.asked)
	}
	return nil, unknown(UnknownTemplate, templateKind, r.asked)
}

// interfaceOf finds the interface that a reference is about. The stream tells ids of
// interfaces and the catalogue names of their packages: where one of them is not known,
// Module:Entity decides.
func (k *Known) interfaceOf(r *reference) (*iface, error) {
	for _, s := range r.spellings {
		entity := entityOf(s)
		id, known := k.interfaces[s]
		other, anywhere := k.byEntity[entity]
		if !known && anywhere {
			known = r.byName && !k.named[entity] || !r.byName && other == ""
		}
		if known {
			return &iface{entity: entity, id: cmp.Or(id, other, r.asked), implementers: k.implementers[entity]}, nil
		}
	}
	if r.byName && !k.hasPackage(r) {
		return nil, unknown(UnknownPackageName, packageNameKind, r.pkg)
	}
	return nil, unknown(UnknownTemplate, interfaceKind, r.asked)
}

// iface is an interface that a filter names.
type iface struct {
	entity string // in the network's spelling
	// id is <package id>:Module:Entity, or what the filter says where no id is known.
	id string
	// implementers are the names of templates, in the network's spelling.
	implementers map[string]bool
}
