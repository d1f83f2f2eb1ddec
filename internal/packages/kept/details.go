package kept

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/packages"
)

// Summary is a compiled package that the store keeps.
type Summary struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Version    string `json:"version"`
	LF         string `json:"lf"`
	Upgrades   string `json:"upgrades,omitempty"`
	Templates  int    `json:"templates"`
	Interfaces int    `json:"interfaces"`
	// Source is the file or the node that it came from, SeenAt when, in RFC 3339.
	Source string `json:"source"`
	SeenAt string `json:"seen_at"`
}

// Summary describes a package.
func (p *Package) Summary() Summary {
	return Summary{
		ID: p.ID, Name: p.Name, Version: p.Version, LF: p.LF, Upgrades: p.Upgrades,
		Templates: p.Templates(), Interfaces: p.Interfaces(), Source: p.Source, SeenAt: p.SeenAt.Time().Format(time.RFC3339),
	}
}

// Details is what a package has. Types are texts such as List<Leg> and optional Text.
type Details struct {
	Summary
	Modules []ModuleDetails `json:"modules"`
}

// ModuleDetails is a module with its templates, interfaces and data types, each by name.
type ModuleDetails struct {
	Name       string             `json:"name"`
	Templates  []TemplateDetails  `json:"templates,omitempty"`
	Interfaces []InterfaceDetails `json:"interfaces,omitempty"`
	Types      []TypeDetails      `json:"types,omitempty"`
}

// TemplateDetails is a template with the fields of its contracts.
type TemplateDetails struct {
	Name       string          `json:"name"`
	Fields     []FieldDetails  `json:"fields"`
	Key        string          `json:"key,omitempty"`
	Implements []string        `json:"implements,omitempty"`
	Choices    []ChoiceDetails `json:"choices"`
}

// InterfaceDetails is an interface.
type InterfaceDetails struct {
	Name     string          `json:"name"`
	View     string          `json:"view"`
	Requires []string        `json:"requires,omitempty"`
	Choices  []ChoiceDetails `json:"choices"`
}

// ChoiceDetails is a choice.
type ChoiceDetails struct {
	Name      string `json:"name"`
	Consuming bool   `json:"consuming"`
	Argument  string `json:"argument"`
	Result    string `json:"result"`
}

// TypeDetails is a data type: a record, a variant or an enum, whose constructors have no type.
type TypeDetails struct {
	Name       string         `json:"name"`
	Shape      string         `json:"shape"`
	Parameters []string       `json:"parameters,omitempty"`
	Fields     []FieldDetails `json:"fields"`
}

// FieldDetails is a field or a constructor.
type FieldDetails struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// Details returns what a package has; of several versions that a name fits, the newest.
func (s *Packages) Details(ctx context.Context, name string) (*Details, error) {
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	found, err := named(list, name)
	if err != nil {
		return nil, err
	}
	p := found[0]
	for _, other := range found[1:] {
		if packages.CompareVersions(other.Version, p.Version) > 0 {
			p = other
		}
	}
	details := &Details{Summary: p.Summary()}
	for i := range p.Modules {
		if m := (moduleReader{p.Package, &p.Modules[i]}).details(); len(m.Templates)+len(m.Interfaces)+len(m.Types) > 0 {
			details.Modules = append(details.Modules, m)
		}
	}
	slices.SortFunc(details.Modules, func(a, b ModuleDetails) int { return strings.Compare(a.Name, b.Name) })
	return details, nil
}

// moduleReader describes a module.
type moduleReader struct {
	p *packages.Package
	m *packages.Module
}

func (r moduleReader) details() ModuleDetails {
	d := ModuleDetails{Name: r.m.Name}
	own := map[string]bool{} // records that are a template's
	for _, t := range r.m.Templates {
		own[t.Name] = true
		out := TemplateDetails{Name: t.Name, Fields: r.fields(r.m.Type(t.Name).Fields), Implements: entities(t.Implements), Choices: r.choices(t.Choices)}
		if t.Key != nil {
			out.Key = r.p.TypeText(r.m.Name, t.Key)
		}
		d.Templates = append(d.Templates, out)
	}
	for _, i := range r.m.Interfaces {
		d.Interfaces = append(d.Interfaces, InterfaceDetails{
			Name: i.Name, View: r.p.TypeText(r.m.Name, i.View), Requires: entities(i.Requires), Choices: r.choices(i.Choices),
		})
	}
	shapes := map[packages.Shape]string{packages.Record: "record", packages.Variant: "variant", packages.Enum: "enum"}
	for _, t := range r.m.Types {
		if shape := shapes[t.Shape]; shape != "" && !own[t.Name] {
			d.Types = append(d.Types, TypeDetails{Name: t.Name, Shape: shape, Parameters: t.Params, Fields: r.fields(t.Fields)})
		}
	}
	slices.SortFunc(d.Templates, func(a, b TemplateDetails) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Interfaces, func(a, b InterfaceDetails) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(d.Types, func(a, b TypeDetails) int { return strings.Compare(a.Name, b.Name) })
	return d
}

func (r moduleReader) fields(list []packages.Field) []FieldDetails {
	out := []FieldDetails{}
	for _, f := range list {
		d := FieldDetails{Name: f.Name}
		if f.Type != nil {
			d.Type = r.p.TypeText(r.m.Name, f.Type)
		}
		out = append(out, d)
	}
	return out
}

func (r moduleReader) choices(list []packages.Choice) []ChoiceDetails {
	out := []ChoiceDetails{}
	for _, c := range list {
		out = append(out, ChoiceDetails{c.Name, c.Consuming, r.p.TypeText(r.m.Name, c.Argument), r.p.TypeText(r.m.Name, c.Result)})
	}
	slices.SortFunc(out, func(a, b ChoiceDetails) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func entities(list []packages.Ref) (out []string) {
	for _, r := range list {
		out = append(out, r.Entity())
	}
	return out
}
