package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template/views"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// filters are the entries of a cumulative list, joined: what one of them matches matches,
// and what one of them asks for is given.
type filters struct {
	// text is the same for equal filters.
	text string
	// wildcard matches every template.
	wildcard, wildcardBlob bool
	templates              []templateFilter
	interfaces             []interfaceFilter
	// verdicts are what the filters say, by number of the template.
	verdicts []verdict
}

// templateFilter matches one template, in one version or in all.
type templateFilter struct {
	// ids are spellings of <package id>:Module:Entity; names are the template's names in the
	// stream, PACKAGE_NAME:Module:Entity. Without ids the names match.
	ids, names []string
	blob       bool
}

// interfaceFilter matches the templates that are known to implement an interface.
type interfaceFilter struct {
	*iface
	view, blob bool
}

// verdict is what filters say about a template.
type verdict struct {
	known, matches, blob bool
	views                []wantedView
}

// wantedView is an interface whose view of a contract is asked for.
type wantedView struct {
	*iface
	// compute is how the contract's template implements it, nil if that is not known.
	compute views.Rule
}

// has reports whether a view is among some.
func has(list []wantedView, i *iface) bool {
	return slices.ContainsFunc(list, func(v wantedView) bool { return v.entity == i.entity })
}

// of returns the verdict about a template.
func (f *filters) of(t *template) *verdict {
	for len(f.verdicts) <= t.number {
		f.verdicts = append(f.verdicts, verdict{})
	}
	v := &f.verdicts[t.number]
	if !v.known {
		*v = f.judge(t)
	}
	return v
}

func (f *filters) judge(t *template) verdict {
	v := verdict{known: true, matches: f.wildcard, blob: f.wildcardBlob}
	for i := range f.templates {
		if f.templates[i].matches(t) {
			v.matches, v.blob = true, v.blob || f.templates[i].blob
		}
	}
	for _, i := range f.interfaces {
		if !i.implementers[t.network] {
			continue
		}
		v.matches, v.blob = true, v.blob || i.blob
		if i.view && !has(v.views, i.iface) {
			v.views = append(v.views, wantedView{i.iface, views.Of(t.network, i.entity)})
		}
	}
	return v
}

func (f *templateFilter) matches(t *template) bool {
	if len(f.ids) > 0 {
		return slices.Contains(f.ids, t.id)
	}
	return slices.Contains(f.names, t.name)
}

// selected are names of the templates that may match, empty for any. none says that
// nothing can match.
func (f *filters) selected() (names []string, none bool) {
	if f.wildcard {
		return nil, false
	}
	for _, t := range f.templates {
		// By name also where one version is asked for: an exercise may be of another version
		// than its contract.
		names = append(names, t.names...)
	}
	for _, i := range f.interfaces {
		for name := range i.implementers {
			names = append(names, name, values.Neutral(name))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names, len(names) == 0
}

// describe writes text: the entries, sorted and each once.
func (f *filters) describe() {
	var entries []string
	if f.wildcard {
		entries = append(entries, fmt.Sprint("* ", f.wildcardBlob))
	}
	for _, t := range f.templates {
		entries = append(entries, fmt.Sprint(t.ids, t.names, t.blob))
	}
	for _, i := range f.interfaces {
		entries = append(entries, fmt.Sprint(i.entity, " ", i.id, i.view, i.blob))
	}
	slices.Sort(entries)
	f.text = strings.Join(slices.Compact(entries), ";")
}

// template is one version of a template as it occurs in the stream.
type template struct {
	number  int
	id, pkg string
	// name is PACKAGE_NAME:Module:Entity as it occurs, network in the network's spelling.
	name, network string
}

// templates numbers the templates that a format meets.
type templates struct {
	byID map[string]*template
	// other are those whose id occurs with another package name, which no network has.
	other map[[2]string]*template
	last  *template
	count int
}

// of returns the template of an event, given its package name and id.
func (ts *templates) of(pkg, id string) *template {
	if t := ts.last; t != nil && t.id == id && t.pkg == pkg {
		return t
	}
	t, ok := ts.byID[id]
	if !ok {
		t = ts.add(pkg, id)
		if ts.byID == nil {
			ts.byID = map[string]*template{}
		}
		ts.byID[t.id] = t
	}
	if t.pkg != pkg {
		if t, ok = ts.other[[2]string{pkg, id}]; !ok {
			t = ts.add(pkg, id)
			if ts.other == nil {
				ts.other = map[[2]string]*template{}
			}
			ts.other[[2]string{t.pkg, t.id}] = t
		}
	}
	ts.last = t
	return t
}

// add numbers another template. Texts are copied: those of an event hold on to a page.
func (ts *templates) add(pkg, id string) *template {
	name := schemas.TemplateName(pkg, id)
	t := &template{number: ts.count, id: strings.Clone(id), pkg: strings.Clone(pkg), name: name, network: values.Network(name)}
	ts.count++
	return t
}
