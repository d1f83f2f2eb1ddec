package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

// generator writes the catalogue files of a set of packages.
type generator struct {
	packages map[string]*packages.Package // newest of each name
	byID     map[string]*packages.Package
	types    map[packages.Ref]*packages.DataType
	uses     map[packages.Ref]int // how often a type stands in another one, or in a choice
	needed   map[packages.Ref]bool
	// inlined are records that stand in the choice that alone uses them, templates those of templates.
	inlined, templates map[packages.Ref]bool
	names              map[string]map[packages.Ref]string // of types that files declare, by package name
}

// generate returns the text of a file for each package that has templates or interfaces, or types that
// those of others are made of, by the package's name.
func generate(list []*packages.Package) map[string]string {
	g := &generator{
		packages: map[string]*packages.Package{}, byID: map[string]*packages.Package{},
		types: map[packages.Ref]*packages.DataType{}, uses: map[packages.Ref]int{}, needed: map[packages.Ref]bool{},
		inlined: map[packages.Ref]bool{}, templates: map[packages.Ref]bool{}, names: map[string]map[packages.Ref]string{},
	}
	for _, p := range list {
		if other := g.packages[p.Name]; other == nil || packages.CompareVersions(p.Version, other.Version) > 0 {
			g.packages[p.Name] = p
		}
		g.byID[p.ID] = p
		for _, m := range p.Modules {
			for i, t := range m.Types {
				g.types[packages.Ref{Package: p.ID, Module: m.Name, Name: t.Name}] = &m.Types[i]
			}
		}
	}
	for _, p := range g.packages {
		for _, m := range p.Modules {
			g.needModule(p, &m)
		}
	}
	for _, p := range g.packages {
		for _, m := range p.Modules {
			g.noteInlined(p, &m)
		}
	}
	for name, p := range g.packages {
		g.names[name] = g.namesIn(p)
	}
	files := map[string]string{}
	for name, p := range g.packages {
		if f := newFile(g, p); f.hasContent() {
			files[name] = f.text()
		}
	}
	return files
}

// current is the ref in the newest version of its package, which is the one that has a file.
func (g *generator) current(r packages.Ref) packages.Ref {
	if p := g.byID[r.Package]; p != nil {
		r.Package = g.packages[p.Name].ID
	}
	return r
}

func (g *generator) needModule(p *packages.Package, m *packages.Module) {
	for _, t := range m.Templates {
		for _, f := range m.Type(t.Name).Fields {
			g.need(f.Type)
		}
		g.needChoices(t.Choices)
	}
	for _, i := range m.Interfaces {
		g.needChoices(i.Choices)
	}
}

func (g *generator) needChoices(choices []packages.Choice) {
	for _, c := range choices {
		if c.Name != "Archive" {
			g.need(c.Argument)
			g.need(c.Result)
		}
	}
}

// need notes the types that a type is made of.
func (g *generator) need(t *packages.Type) {
	if t == nil || t.Kind == packages.ContractID {
		return
	}
	for _, a := range t.Args {
		g.need(a)
	}
	if t.Kind != packages.Named {
		return
	}
	r := g.current(t.Ref)
	data := g.types[r]
	if g.uses[r]++; data == nil || g.needed[r] {
		return
	}
	g.needed[r] = true
	for _, f := range data.Fields {
		g.need(f.Type)
	}
}

// standard is the catalogue's name of a type of the standard library, "" for other types.
func standard(r packages.Ref) string {
	switch {
	case r.Module == "DA.Types" && strings.HasPrefix(r.Name, "Tuple"):
		return "Tuple"
	case r.Entity() == "DA.Set.Types:Set":
		return "Set"
	case r.Entity() == "DA.Time.Types:RelTime":
		return "RelTime"
	}
	return ""
}

// inline reports whether a record stands where it is used: it is used there alone, and has no parameters.
func (g *generator) inline(t *packages.Type) *packages.DataType {
	if t.Kind != packages.Named || len(t.Args) > 0 || standard(t.Ref) != "" {
		return nil
	}
	r := g.current(t.Ref)
	if data := g.types[r]; data != nil && data.Shape == packages.Record && g.uses[r] == 1 {
		return data
	}
	return nil
}

// file is the catalogue file of one package.
type file struct {
	g *generator
	p *packages.Package
	// records, variants and enums are what follows a name.
	records, variants, enums map[string]string
	skipped                  []string
}

func newFile(g *generator, p *packages.Package) *file {
	return &file{g: g, p: p, records: map[string]string{}, variants: map[string]string{}, enums: map[string]string{}}
}

// noteInlined notes the records that stand in a choice of a module, and those of its templates.
func (g *generator) noteInlined(p *packages.Package, m *packages.Module) {
	for _, t := range m.Templates {
		g.templates[packages.Ref{Package: p.ID, Module: m.Name, Name: t.Name}] = true
	}
	for _, choices := range choicesOf(m) {
		for _, c := range choices {
			for _, t := range []*packages.Type{c.Argument, c.Result} {
				if c.Name != "Archive" && g.inline(t) != nil {
					g.inlined[g.current(t.Ref)] = true
				}
			}
		}
	}
}

// namesIn are the names of the types that the file of a package declares: with their module where a
// package has several of one name. A type with parameters is declared where it is used.
func (g *generator) namesIn(p *packages.Package) map[packages.Ref]string {
	names := map[packages.Ref]string{}
	count := map[string]int{}
	for _, m := range p.Modules {
		for _, t := range m.Templates {
			count[t.Name]++
		}
	}
	for r := range g.needed {
		if r.Package == p.ID {
			count[r.Name]++
		}
	}
	for r := range g.needed {
		if r.Package != p.ID || standard(r) != "" || len(g.types[r].Params) > 0 || strings.Contains(r.Name, ".") || g.inlined[r] || g.templates[r] {
			continue
		}
		names[r] = r.Name
		if count[r.Name] > 1 {
			names[r] = r.Entity()
		}
	}
	return names
}

func choicesOf(m *packages.Module) (all [][]packages.Choice) {
	for _, t := range m.Templates {
		all = append(all, t.Choices)
	}
	for _, i := range m.Interfaces {
		all = append(all, i.Choices)
	}
	return all
}

func (f *file) hasContent() bool {
	return len(f.g.names[f.p.Name]) > 0 || f.p.Templates()+f.p.Interfaces() > 0
}

// text is the whole file.
func (f *file) text() string {
	templates, interfaces := map[string]string{}, map[string]string{}
	for _, m := range f.p.Modules {
		for _, t := range m.Templates {
			templates[m.Name+":"+t.Name] = f.template(&m, &t)
		}
		for _, i := range m.Interfaces {
			body := " {}\n"
			if choices := f.choices(i.Choices); choices != "" {
				body = "\n" + choices
			}
			interfaces[m.Name+":"+i.Name] = body
		}
	}
	for r, name := range f.g.names[f.p.Name] {
		f.declare(name, f.g.types[r], nil)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Written by go run ./scripts/catalog from package %s %s,\n# %s.\n", f.p.Name, f.p.Version, f.p.ID)
	for _, what := range slices.Sorted(slices.Values(f.skipped)) {
		fmt.Fprintf(&out, "# Not data, and left out: %s\n", what)
	}
	fmt.Fprintf(&out, "package: %s\n", key(f.p.Name))
	for _, section := range []struct {
		name    string
		entries map[string]string
	}{{"records", f.records}, {"variants", f.variants}, {"enums", f.enums}, {"templates", templates}, {"interfaces", interfaces}} {
		if len(section.entries) > 0 {
			fmt.Fprintf(&out, "%s:\n", section.name)
		}
		for _, name := range slices.Sorted(maps.Keys(section.entries)) {
			fmt.Fprintf(&out, "  %s:%s", key(name), section.entries[name])
		}
	}
	return out.String()
}

func (f *file) template(m *packages.Module, t *packages.Template) string {
	fields, err := f.mapping(m.Type(t.Name).Fields, nil, 4, len("fields:"))
	if err != nil {
		f.skipped = append(f.skipped, fmt.Sprintf("fields of %s:%s: %v", m.Name, t.Name, err))
		fields = " {}\n"
	}
	body := "\n    fields:" + fields
	var implements []string
	for _, i := range t.Implements {
		implements = append(implements, i.Entity())
	}
	if slices.Sort(implements); len(implements) > 0 {
		body += "    implements: [" + strings.Join(implements, ", ") + "]\n"
	}
	return body + f.choices(t.Choices)
}

func (f *file) choices(list []packages.Choice) string {
	lines := map[string]string{}
	for _, c := range list {
		if c.Name == "Archive" {
			continue
		}
		argument, argumentErr := f.choiceType(c.Argument, len("argument:"))
		result, resultErr := f.choiceType(c.Result, len("result:"))
		for what, err := range map[string]error{"argument": argumentErr, "result": resultErr} {
			if err != nil {
				f.skipped = append(f.skipped, fmt.Sprintf("%s of %s: %v", what, c.Name, err))
			}
		}
		lines[c.Name] = choice(key(c.Name), argument, result, argumentErr == nil, resultErr == nil)
	}
	if len(lines) == 0 {
		return ""
	}
	out := "    choices:\n"
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		out += lines[name]
	}
	return out
}

// choice writes a choice on one line if it fits.
func choice(name, argument, result string, hasArgument, hasResult bool) string {
	var parts []string
	block := "      " + name + ":\n"
	if hasArgument {
		parts, block = append(parts, "argument:"+strings.TrimSuffix(argument, "\n")), block+"        argument:"+argument
	}
	if hasResult {
		parts, block = append(parts, "result:"+strings.TrimSuffix(result, "\n")), block+"        result:"+result
	}
	line := "      " + name + ": {" + strings.Join(parts, ", ") + "}\n"
	if len(line) > maxLine || strings.Count(line, "\n") > 1 {
		return block
	}
	return line
}

// choiceType is the type of an argument or result, as it stands after its key.
func (f *file) choiceType(t *packages.Type, after int) (string, error) {
	if data := f.g.inline(t); data != nil {
		return f.mapping(data.Fields, nil, 8, after)
	}
	text, err := f.expression(t, nil)
	return " " + quoted(text) + "\n", err
}

// maxLine is about how long a line may be.
const maxLine = 110

// mapping writes fields on one line if they fit, else each on its own below an indent.
func (f *file) mapping(fields []packages.Field, variables map[string]string, indent, after int) (string, error) {
	parts := make([]string, len(fields))
	for i, field := range fields {
		text, err := f.content(field.Type, variables)
		if err != nil {
			return "", fmt.Errorf("%s: %w", field.Name, err)
		}
		parts[i] = key(field.Name) + ": " + text
	}
	line := " {" + strings.Join(parts, ", ") + "}\n"
	if indent+after+len(line) <= maxLine {
		return line, nil
	}
	separator := "\n" + strings.Repeat(" ", indent+2)
	return separator + strings.Join(parts, separator) + "\n", nil
}

// content is the type of a field or constructor. The record of a constructor with named fields stands
// in its place.
func (f *file) content(t *packages.Type, variables map[string]string) (string, error) {
	if t.Kind == packages.Named && strings.Contains(t.Ref.Name, ".") {
		data := f.g.types[f.g.current(t.Ref)]
		if data == nil || data.Shape != packages.Record {
			return "", fmt.Errorf("there is no type %s", t.Ref.Entity())
		}
		inner, err := f.arguments(data, t.Args, variables)
		if err != nil {
			return "", err
		}
		parts := make([]string, len(data.Fields))
		for i, field := range data.Fields {
			text, err := f.expression(field.Type, inner)
			if err != nil {
				return "", err
			}
			parts[i] = key(field.Name) + ": " + quoted(text)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	text, err := f.expression(t, variables)
	return quoted(text), err
}

// declare writes a data type of which the parameters stand for expressions.
func (f *file) declare(name string, data *packages.DataType, variables map[string]string) {
	if data.Shape == packages.Enum {
		var list []string
		for _, c := range data.Fields {
			list = append(list, key(c.Name))
		}
		f.enums[name] = " [" + strings.Join(list, ", ") + "]\n"
		return
	}
	section := f.records
	if data.Shape == packages.Variant {
		section = f.variants
	}
	if section[name] != "" {
		return
	}
	section[name] = " {}\n" // so that it is not declared once more while it is
	text, err := f.mapping(data.Fields, variables, 2, len(name)+1)
	if err != nil {
		f.skipped = append(f.skipped, fmt.Sprintf("%s: %v", name, err))
		delete(section, name)
		return
	}
	section[name] = text
}

func (f *file) arguments(data *packages.DataType, args []*packages.Type, variables map[string]string) (map[string]string, error) {
	if len(args) != len(data.Params) {
		return nil, fmt.Errorf("%s has %d arguments", data.Name, len(args))
	}
	out := map[string]string{}
	for i, a := range args {
		text, err := f.expression(a, variables)
		if err != nil {
			return nil, err
		}
		out[data.Params[i]] = text
	}
	return out, nil
}
