package values

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// file is one catalogue file; see catalog/README.md. Mappings of fields stay yaml nodes,
// because their order counts.
type file struct {
	Package    string                    `yaml:"package"`
	Imports    []string                  `yaml:"imports"`
	Records    map[string]yaml.Node      `yaml:"records"`
	Variants   map[string]yaml.Node      `yaml:"variants"`
	Enums      map[string][]string       `yaml:"enums"`
	Templates  map[string]templateInFile `yaml:"templates"`
	Interfaces map[string]templateInFile `yaml:"interfaces"`

	name string
}

type templateInFile struct {
	Fields  yaml.Node               `yaml:"fields"`
	Choices map[string]choiceInFile `yaml:"choices"`
}

// choiceInFile holds types: an expression, or a mapping of fields.
type choiceInFile struct {
	Argument yaml.Node `yaml:"argument"`
	Result   yaml.Node `yaml:"result"`
}

// loader reads catalogue files and then resolves the names in them, so that files may
// refer to each other in any order.
type loader struct {
	files []*file
	// named types by package, then by name. They are allocated before they are filled, so
	// that types may be recursive.
	named map[string]map[string]*Type
}

func newLoader() *loader { return &loader{named: map[string]map[string]*Type{}} }

func (l *loader) readAll(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return fmt.Errorf("listing catalogue files: %w", err)
	}
	for _, name := range names {
		if err := l.read(fsys, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (l *loader) read(fsys fs.FS, name string) error {
	in, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	f := &file{name: name}
	d := yaml.NewDecoder(in)
	d.KnownFields(true)
	if err := d.Decode(f); err != nil {
		return err
	}
	if f.Package == "" {
		return errors.New("no package name")
	}
	l.files = append(l.files, f)
	return l.declare(f)
}

// declare allocates the named types of a file.
func (l *loader) declare(f *file) error {
	names := l.named[f.Package]
	if names == nil {
		names = map[string]*Type{}
		l.named[f.Package] = names
	}
	own := map[string]bool{}
	add := func(name string, kind Kind) error {
		if own[name] {
			return fmt.Errorf("type %s is there twice", name)
		}
		own[name] = true
		names[name] = &Type{Kind: kind, Name: name}
		return nil
	}
	var errs []error
	for name := range f.Records {
		errs = append(errs, add(name, KindRecord))
	}
	for name := range f.Variants {
		errs = append(errs, add(name, KindVariant))
	}
	for name := range f.Enums {
		errs = append(errs, add(name, KindEnum))
	}
	for id := range f.Templates {
		_, entity, _ := cutLast(id, ':')
		errs = append(errs, add(entity, KindRecord))
	}
	return errors.Join(errs...)
}

// catalog fills the declared types and returns the finished catalogue.
func (l *loader) catalog() (*Catalog, error) {
	c := &Catalog{templates: map[string]map[string]*template{"": {}}}
	for _, f := range l.files {
		r := resolver{l: l, f: f}
		if err := r.fillTypes(); err != nil {
			return nil, fmt.Errorf("template catalogue %s: %w", f.name, err)
		}
		if err := r.addTemplates(c); err != nil {
			return nil, fmt.Errorf("template catalogue %s: %w", f.name, err)
		}
	}
	return c, nil
}

// resolver resolves the names of one file.
type resolver struct {
	l *loader
	f *file
}

func (r resolver) fillTypes() error {
	own := r.l.named[r.f.Package]
	for name, constructors := range r.f.Enums {
		own[name].Fields = nil
		for _, c := range constructors {
			own[name].Fields = append(own[name].Fields, Field{Label: c})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.f.Records)) {
		node := r.f.Records[name]
		if err := r.fillRecord(own[name], &node); err != nil {
			return fmt.Errorf("record %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.f.Variants)) {
		node := r.f.Variants[name]
		fields, err := r.fields(&node)
		if err != nil {
			return fmt.Errorf("variant %s: %w", name, err)
		}
		own[name].Fields = fields
	}
	return nil
}

func (r resolver) addTemplates(c *Catalog) error {
	for id, in := range r.f.Templates {
		_, entity, ok := cutLast(id, ':')
		if !ok {
			return fmt.Errorf("template %s is not Module:Entity", id)
		}
		record := r.l.named[r.f.Package][entity]
		if err := r.fillRecord(record, &in.Fields); err != nil {
			return fmt.Errorf("template %s: %w", id, err)
		}
		choices, err := r.choices(in.Choices)
		if err != nil {
			return fmt.Errorf("template %s: %w", id, err)
		}
		c.add(r.f.Package, id, &template{record: record, choices: choices})
	}
	for id, in := range r.f.Interfaces {
		choices, err := r.choices(in.Choices)
		if err != nil {
			return fmt.Errorf("interface %s: %w", id, err)
		}
		c.add(r.f.Package, id, &template{choices: choices})
	}
	return nil
}

// add adds a template or interface under both spellings, and without its package.
func (c *Catalog) add(pkgName, id string, t *template) {
	replaced := c.templates[pkgName][id]
	for _, pkg := range []string{pkgName, Neutral(pkgName)} {
		if c.templates[pkg] == nil {
			c.templates[pkg] = map[string]*template{}
		}
		c.templates[pkg][id] = t
		c.templates[pkg][Neutral(id)] = t
	}
	for _, name := range []string{id, Neutral(id)} {
		if other, ok := c.templates[""][name]; ok && other != t && other != replaced {
			t = nil // two packages have it
		}
	}
	c.templates[""][id] = t
	c.templates[""][Neutral(id)] = t
}

func (r resolver) choices(in map[string]choiceInFile) (map[string]choice, error) {
	out := make(map[string]choice, 2*len(in))
	for name, ch := range in {
		argument, err := r.typeOf(&ch.Argument)
		if err != nil {
			return nil, fmt.Errorf("argument of %s: %w", name, err)
		}
		result, err := r.typeOf(&ch.Result)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", name, err)
		}
		out[name] = choice{argument, result}
		out[Neutral(name)] = out[name]
	}
	return out, nil
}

// typeOf returns the type that a node describes: none for an absent node, a record without
// a name for a mapping, else an expression.
func (r resolver) typeOf(node *yaml.Node) (*Type, error) {
	switch node.Kind {
	case 0:
		return nil, nil
	case yaml.MappingNode:
		t := &Type{Kind: KindRecord}
		return t, r.fillRecord(t, node)
	case yaml.ScalarNode:
		return r.parse(node.Value)
	}
	return nil, fmt.Errorf("line %d: neither a type nor a mapping of fields", node.Line)
}

func (r resolver) fillRecord(t *Type, node *yaml.Node) error {
	fields, err := r.fields(node)
	if err != nil {
		return err
	}
	t.setFields(fields)
	return nil
}

// fields reads a mapping of names to types, in its order.
func (r resolver) fields(node *yaml.Node) ([]Field, error) {
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: not a mapping of fields", node.Line)
	}
	var fields []Field
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		label := node.Content[i].Value
		if seen[label] {
			return nil, fmt.Errorf("line %d: %s is there twice", node.Content[i].Line, label)
		}
		seen[label] = true
		t, err := r.typeOf(node.Content[i+1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
		fields = append(fields, Field{Label: label, Type: t})
	}
	return fields, nil
}
