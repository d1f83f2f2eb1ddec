package values

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
	"gopkg.in/yaml.v3"
)

// file is one catalogue file; see docs/formats/values.md. Mappings of fields stay yaml nodes,
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
	sum  uint64 // of its text
}

type templateInFile struct {
	Fields  yaml.Node               `yaml:"fields"`
	Choices map[string]choiceInFile `yaml:"choices"`
	// Implements are interfaces, as Module:Entity.
	Implements []string `yaml:"implements"`
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
	// that types may be recursive. A template is there by Module:Entity, and by its entity
	// unless another one of the package has the same: then with nil.
	named map[string]map[string]*Type
}

func newLoader() *loader { return &loader{named: map[string]map[string]*Type{}} }

// readAll reads the files at the root of fsys. Within it each type and template stands
// once; what other file systems have of the same name is replaced.
func (l *loader) readAll(fsys fs.FS) error {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return fmt.Errorf("listing catalogue files: %w", err)
	}
	if len(names) == 0 {
		return errNoFiles
	}
	var errs []error
	d := declarations{loader: l, places: map[declaration]string{}}
	for _, name := range names {
		f, err := readFile(fsys, name)
		if err == nil {
			l.files = append(l.files, f)
			err = d.declare(f)
		}
		if err != nil {
			errs = append(errs, wrap(err, "", name))
		}
	}
	return errors.Join(errs...)
}

// readFile reads one YAML document.
func readFile(fsys fs.FS, name string) (*file, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, sum: xxh3.Hash(text)}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(f); errors.Is(err, io.EOF) {
		return nil, errNoPackage
	} else if err != nil {
		return nil, plainYAMLError(err)
	}
	if f.Package == "" {
		return nil, errNoPackage
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is a second YAML document: put each package into a file of its own")
	}
	return f, nil
}

var (
	errNoFiles   = errors.New("there is no *.yaml file")
	errNoPackage = errors.New("there is no package name: begin with package: and the name that events carry as package_name")

	unknownKey = regexp.MustCompile(`field (\S+) not found in type values\.(\w+)`)
)

// keysOf are the keys of the parts of a file, for people, by the name of their Go type.
var keysOf = map[string]string{
	"file":           "package, imports, records, variants, enums, templates and interfaces",
	"templateInFile": "fields, choices and implements",
	"choiceInFile":   "argument and result",
}

// plainYAMLError speaks of keys where the YAML library speaks of our Go types.
func plainYAMLError(err error) error {
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return err
	}
	var list []error
	for _, text := range types.Errors {
		if m := unknownKey.FindStringSubmatch(text); m != nil {
			text = strings.Replace(text, m[0], fmt.Sprintf("unknown key %s; the keys here are %s", m[1], keysOf[m[2]]), 1)
		}
		list = append(list, errors.New(text))
	}
	return errors.Join(list...)
}

// catalog fills the declared types and returns the finished catalogue.
func (l *loader) catalog() (*Catalog, error) {
	c := &Catalog{templates: map[string]map[string]*template{"": {}}}
	var errs []error
	for _, f := range l.files {
		r := resolver{l: l, f: f}
		if err := joinSorted(append(r.fillTypes(), r.addTemplates(c)...)); err != nil {
			errs = append(errs, wrap(err, "", f.name))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.fingerprint = fingerprintOf(l.files)
	return c, nil
}

// conversions is the version of what this package writes. It is raised when a value is written
// otherwise than before with the same catalogue.
const conversions = 1

// fingerprintOf tells catalogues of different files apart. Their order counts, as later files
// replace templates of earlier ones.
func fingerprintOf(files []*file) uint64 {
	sums := binary.LittleEndian.AppendUint64(nil, conversions)
	for _, f := range files {
		sums = binary.LittleEndian.AppendUint64(sums, f.sum)
	}
	return xxh3.Hash(sums)
}

// resolver resolves the names of one file.
type resolver struct {
	l *loader
	f *file
}

// fillTypes fills the named types and returns what is wrong with them.
func (r resolver) fillTypes() (errs []error) {
	own := r.l.named[r.f.Package]
	for name, constructors := range r.f.Enums {
		own[name].Fields = nil
		for _, c := range constructors {
			own[name].Fields = append(own[name].Fields, Field{Label: c})
		}
	}
	for name, node := range r.f.Records {
		errs = append(errs, wrap(r.fillRecord(own[name], &node), "record ", name))
	}
	for name, node := range r.f.Variants {
		fields, err := r.fields(&node)
		errs = append(errs, wrap(err, "variant ", name))
		own[name].Fields = fields
	}
	return errs
}

// addTemplates adds templates and interfaces and returns what is wrong with them.
func (r resolver) addTemplates(c *Catalog) (errs []error) {
	for id, in := range r.f.Templates {
		record := r.l.named[r.f.Package][id]
		if in.Fields.Kind == 0 {
			errs = append(errs, fmt.Errorf("template %s: there are no fields: write fields: {} if it has none", id))
			continue
		}
		choices, choiceErrs := r.choices(in.Choices)
		for _, err := range append(choiceErrs, r.fillRecord(record, &in.Fields)) {
			errs = append(errs, wrap(err, "template ", id))
		}
		c.add(r.f.Package, id, &template{record: record, choices: choices})
		for _, i := range in.Implements {
			if !strings.Contains(i, ":") {
				errs = append(errs, fmt.Errorf("template %s: it implements %q, which is not of the form Module:Entity", id, i))
			}
		}
		c.enter(Entry{PackageName: r.f.Package, Entity: id, Implements: in.Implements})
	}
	for id, in := range r.f.Interfaces {
		choices, choiceErrs := r.choices(in.Choices)
		for _, err := range choiceErrs {
			errs = append(errs, wrap(err, "interface ", id))
		}
		c.add(r.f.Package, id, &template{choices: choices})
		c.enter(Entry{PackageName: r.f.Package, Entity: id, Interface: true})
	}
	return errs
}

// enter puts an entry in its place, instead of one of the same name.
func (c *Catalog) enter(e Entry) {
	i, found := slices.BinarySearchFunc(c.entries, e, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.PackageName, b.PackageName), strings.Compare(a.Entity, b.Entity))
	})
	if found {
		c.entries[i] = e
		return
	}
	c.entries = slices.Insert(c.entries, i, e)
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

// choices returns the choices, by both spellings, and what is wrong with them.
func (r resolver) choices(in map[string]choiceInFile) (out map[string]Choice, errs []error) {
	out = make(map[string]Choice, 2*len(in))
	for name, ch := range in {
		argument, err := r.typeOf(&ch.Argument)
		errs = append(errs, wrap(err, "argument of ", name))
		result, err := r.typeOf(&ch.Result)
		errs = append(errs, wrap(err, "result of ", name))
		out[name] = Choice{argument, result}
		out[Neutral(name)] = out[name]
	}
	return out, errs
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
		t, err := r.parse(node.Value)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", node.Line, err)
		}
		return t, nil
	}
	return nil, fmt.Errorf("line %d: neither a type nor a mapping of fields; a list of texts is List<Text>", node.Line)
}

func (r resolver) fillRecord(t *Type, node *yaml.Node) error {
	fields, err := r.fields(node)
	t.SetFields(fields)
	return err
}

// fields reads a mapping of names to types, in its order.
func (r resolver) fields(node *yaml.Node) (fields []Field, err error) {
	if node.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: not a mapping of fields, such as {owner: Party, amount: Numeric}", node.Line)
	}
	var errs []error
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		label := node.Content[i].Value
		if label == "" {
			errs = append(errs, fmt.Errorf("line %d: a field without a name", node.Content[i].Line))
			continue
		}
		if seen[label] {
			errs = append(errs, fmt.Errorf("line %d: %s is declared twice: remove one", node.Content[i].Line, label))
			continue
		}
		seen[label] = true
		t, err := r.typeOf(node.Content[i+1])
		if t == nil && err == nil {
			err = fmt.Errorf("line %d: no type", node.Content[i].Line)
		}
		if err != nil {
			errs = append(errs, wrap(err, "", label))
			continue
		}
		fields = append(fields, Field{Label: label, Type: t})
	}
	return fields, errors.Join(errs...)
}
