package packagestest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

// catalogFile is a file of the template catalogue.
type catalogFile struct {
	Package    string                     `yaml:"package"`
	Imports    []string                   `yaml:"imports"`
	Records    map[string]yaml.Node       `yaml:"records"`
	Variants   map[string]yaml.Node       `yaml:"variants"`
	Enums      map[string][]string        `yaml:"enums"`
	Templates  map[string]catalogTemplate `yaml:"templates"`
	Interfaces map[string]catalogTemplate `yaml:"interfaces"`
}

type catalogTemplate struct {
	Fields     yaml.Node                `yaml:"fields"`
	Implements []string                 `yaml:"implements"`
	Choices    map[string]catalogChoice `yaml:"choices"`
}

type catalogChoice struct {
	Argument yaml.Node `yaml:"argument"`
	Result   yaml.Node `yaml:"result"`
}

// FromCatalog returns packages with what the *.yaml files of the template catalogue say, as one package:
// those of a name refer to each other in circles, which packages cannot. Its modules begin with the name
// of the package whose file it is. What a choice does not say is no data.
func FromCatalog(fsys fs.FS) (*packages.Package, error) {
	c := &catalogReader{files: map[string]*catalogFile{}, modules: map[string]*packages.Module{}}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		f := &catalogFile{}
		if err := yaml.Unmarshal(text, f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.files[f.Package] = f
	}
	for _, f := range c.files {
		c.read(f)
	}
	p := &packages.Package{Name: "catalogue", Version: "1.0.0"}
	for _, m := range c.modules {
		p.Modules = append(p.Modules, *m)
	}
	slices.SortFunc(p.Modules, func(a, b packages.Module) int { return strings.Compare(a.Name, b.Name) })
	return p, c.err
}

type catalogReader struct {
	files   map[string]*catalogFile
	modules map[string]*packages.Module
	f       *catalogFile // that is read
	err     error        // the first one
}

// module is where what a file has in a module stands.
func (c *catalogReader) module(name string) *packages.Module {
	if name = moduleOf(c.f.Package, name); c.modules[name] == nil {
		c.modules[name] = &packages.Module{Name: name}
	}
	return c.modules[name]
}

func moduleOf(pkg, module string) string { return pkg + "." + module }

// named is the module of types that files have without one.
const named = "Types"

func (c *catalogReader) read(f *catalogFile) {
	c.f = f
	for name, node := range f.Records {
		c.add(named, packages.Record, name, &node)
	}
	for name, node := range f.Variants {
		c.add(named, packages.Variant, name, &node)
	}
	for name, constructors := range f.Enums {
		m := c.module(named)
		m.Types = append(m.Types, EnumOf(name, constructors...))
	}
	for id, t := range f.Templates {
		module, name, _ := strings.Cut(id, ":")
		c.add(module, packages.Record, name, &t.Fields)
		out := packages.Template{Name: name, Choices: c.choices(module, name, t.Choices)}
		for _, i := range t.Implements {
			out.Implements = append(out.Implements, c.iface(i))
		}
		m := c.module(module)
		m.Templates = append(m.Templates, out)
	}
	for id, t := range f.Interfaces {
		module, name, _ := strings.Cut(id, ":")
		out := packages.Interface{Name: name, View: Of(packages.Unit), Choices: c.choices(module, name, t.Choices)}
		m := c.module(module)
		m.Types = append(m.Types, Data(packages.OfInterface, name))
		m.Interfaces = append(m.Interfaces, out)
	}
}

// add declares a record or variant.
func (c *catalogReader) add(module string, shape packages.Shape, name string, node *yaml.Node) {
	m := c.module(module)
	t := Data(shape, name)
	for i := 0; i+1 < len(node.Content); i += 2 {
		label := node.Content[i].Value
		t.Fields = append(t.Fields, F(label, c.typ(module, name+"."+label, node.Content[i+1])))
	}
	m.Types = append(m.Types, t)
}

func (c *catalogReader) choices(module, template string, in map[string]catalogChoice) []packages.Choice {
	out := []packages.Choice{ArchiveChoice()}
	for name, ch := range in {
		out = append(out, packages.Choice{
			Name:     name,
			Argument: c.typ(module, template+"_"+name, &ch.Argument), Result: c.typ(module, template+"_"+name+"Result", &ch.Result),
		})
	}
	slices.SortFunc(out, func(a, b packages.Choice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// typ is the type of a node; a mapping of fields is a record of a name.
func (c *catalogReader) typ(module, record string, node *yaml.Node) *packages.Type {
	switch node.Kind {
	case 0:
		return Of(packages.NotData)
	case yaml.MappingNode:
		c.add(module, packages.Record, record, node)
		return TypeOf("", moduleOf(c.f.Package, module), record)
	}
	e := expression{c: c, rest: node.Value}
	return e.typ()
}

// iface finds the interface with a Module:Entity.
func (c *catalogReader) iface(id string) packages.Ref {
	for pkg, f := range c.files {
		if _, ok := f.Interfaces[id]; ok {
			module, name, _ := strings.Cut(id, ":")
			return packages.Ref{Module: moduleOf(pkg, module), Name: name}
		}
	}
	c.fail("no file has interface %s", id)
	return packages.Ref{}
}

func (c *catalogReader) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("package %s: "+format, append([]any{c.f.Package}, args...)...)
	}
}

// expression reads a type expression, such as optional List<Leg>.
type expression struct {
	c    *catalogReader
	rest string
}

func (e *expression) typ() *packages.Type {
	e.rest = strings.TrimLeft(e.rest, " ")
	end := strings.IndexAny(e.rest+" ", "<>, ")
	name := e.rest[:end]
	e.rest = strings.TrimLeft(e.rest[end:], " ")
	if name == "optional" {
		return Of(packages.Optional, e.typ())
	}
	if name == "ContractId" {
		if _, after, ok := strings.Cut(e.rest, ">"); ok && strings.HasPrefix(e.rest, "<") {
			e.rest = after // whose contract it is does not count
		}
		return Of(packages.ContractID, Of(packages.Unit))
	}
	var args []*packages.Type
	for strings.HasPrefix(e.rest, "<") || len(args) > 0 && strings.HasPrefix(e.rest, ",") {
		e.rest = e.rest[1:]
		args = append(args, e.typ())
	}
	if len(args) > 0 {
		e.rest = strings.TrimPrefix(e.rest, ">")
	}
	return e.c.apply(name, args)
}

var catalogKinds = map[string]packages.Kind{
	"Unit": packages.Unit, "Bool": packages.Bool, "Int64": packages.Int64, "Text": packages.Text, "Party": packages.Party,
	"Timestamp": packages.Timestamp, "Date": packages.Date, "List": packages.List, "TextMap": packages.TextMap, "GenMap": packages.GenMap,
}

func (c *catalogReader) apply(name string, args []*packages.Type) *packages.Type {
	switch kind := catalogKinds[name]; {
	case kind != 0:
		return Of(kind, args...)
	case name == "Numeric":
		return Decimal()
	case name == "RelTime":
		return RelTime()
	case name == "Set":
		return SetOf(args[0])
	case name == "Tuple" && len(args) == 2:
		return Tuple2(args[0], args[1])
	}
	if pkg, bare, ok := strings.Cut(name, "/"); ok {
		if t := c.declared(c.files[pkg], bare); t != nil {
			return t
		}
	}
	for _, pkg := range append([]string{c.f.Package}, c.f.Imports...) {
		if t := c.declared(c.files[pkg], name); t != nil {
			return t
		}
	}
	c.fail("no type %s", name)
	return Of(packages.Unit)
}

// declared is the type of a name that a file declares, or nil.
func (c *catalogReader) declared(f *catalogFile, name string) *packages.Type {
	if f == nil {
		return nil
	}
	_, record := f.Records[name]
	_, variant := f.Variants[name]
	if record || variant || f.Enums[name] != nil {
		return TypeOf("", moduleOf(f.Package, named), name)
	}
	for id := range f.Templates {
		if module, entity, _ := strings.Cut(id, ":"); id == name || entity == name {
			return TypeOf("", moduleOf(f.Package, module), entity)
		}
	}
	return nil
}
