package view

import (
	"fmt"
	"strings"
)

// Limits of what a request may name. A body of 10,000 parties is ordinary.
const (
	maxParties = 100_000
	maxEntries = 10_000 // of one cumulative list
)

// formats builds formats of what one request asks for. Filters that are written the same
// way are built once: most requests of many parties have the same for each.
type formats struct {
	known *Known
	built map[string]*filters
}

// updateFormat reads an UpdateFormat.
func (p *formats) updateFormat(to **UpdateFormat) memberReader {
	return func(r *reader, at string) {
		f := &UpdateFormat{}
		*to = f
		r.object(at, members{
			"includeTransactions":   func(r *reader, at string) { p.transactionFormat(r, at, f) },
			"includeReassignments":  p.eventFormat(&f.reassignments),
			"includeTopologyEvents": func(r *reader, at string) { f.topology = topologyEvents(r, at) },
		})
	}
}

func (p *formats) transactionFormat(r *reader, name string, f *UpdateFormat) {
	shape := ""
	r.object(name, members{"eventFormat": p.eventFormat(&f.transactions), "transactionShape": text(&shape)})
	switch {
	case r.err != nil:
	case f.transactions == nil:
		r.fail(missing("event_format"))
	case shape == "" || shape == "TRANSACTION_SHAPE_UNSPECIFIED":
		r.fail(missing("transaction_shape"))
	case shape == "TRANSACTION_SHAPE_LEDGER_EFFECTS":
		f.shape = ledgerEffects
	case shape != "TRANSACTION_SHAPE_ACS_DELTA":
		r.fail(undecodable("%s.transactionShape %.100q is unknown", name, shape))
	}
}

func topologyEvents(r *reader, name string) (f *topologyFormat) {
	r.object(name, members{"includeParticipantAuthorizationEvents": func(r *reader, at string) {
		f = &topologyFormat{parties: map[string]bool{}}
		r.object(at, members{"parties": f.readParties})
		if len(f.parties) > maxParties {
			r.fail(invalid("%s.parties names more than %d parties", at, maxParties))
		}
	}})
	return f
}

func (f *topologyFormat) readParties(r *reader, at string) {
	r.list(at, func() {
		party := r.text("each of " + at)
		if err := checkParty(party); err != nil {
			r.fail(err)
		}
		f.parties[party] = true
	})
}

// eventFormat reads an EventFormat.
func (p *formats) eventFormat(to **EventFormat) memberReader {
	return func(r *reader, at string) {
		f := &EventFormat{}
		*to = f
		p.partyFilters(r, at, f, members{"verbose": flag(&f.Verbose)})
	}
}

// transactionFilter reads a TransactionFilter, an EventFormat without verbose.
func (p *formats) transactionFilter(to **EventFormat) memberReader {
	return func(r *reader, at string) {
		f := &EventFormat{}
		*to = f
		p.partyFilters(r, at, f, members{})
	}
}

// partyFilters reads the two members that have filters, and others.
func (p *formats) partyFilters(r *reader, name string, f *EventFormat, m members) {
	m["filtersForAnyParty"] = func(r *reader, at string) { f.anyParty = p.filters(r, at, f) }
	m["filtersByParty"] = func(r *reader, at string) {
		f.byParty = map[string]*filters{}
		r.eachMember(at, func(party string) {
			if err := checkParty(party); err != nil {
				r.fail(err)
				return
			}
			f.byParty[party] = p.filters(r, at, f)
		})
	}
	r.object(name, m)
	switch {
	case r.err != nil:
	case f.anyParty == nil && len(f.byParty) == 0:
		r.fail(invalid("%s: filtersByParty and filtersForAnyParty cannot be empty simultaneously", name))
	case len(f.byParty) > maxParties:
		r.fail(invalid("%s.filtersByParty names more than %d parties", name, maxParties))
	}
}

// filters reads Filters; null stands for one without entries.
func (p *formats) filters(r *reader, name string, owner *EventFormat) *filters {
	raw := "{}"
	if !r.c.Null() {
		raw = string(r.c.Raw())
	}
	f, ok := p.built[raw]
	if !ok {
		inner := newReader(raw)
		f = p.buildFilters(inner, name)
		if inner.err != nil {
			r.fail(inner.err)
		}
		p.built[raw] = f
	}
	return owner.own(f)
}

// own returns the format's own filters that are equal to f: what filters remember belongs
// to a format, as templates are numbered in each.
func (f *EventFormat) own(shared *filters) *filters {
	if own, ok := f.byText[shared.text]; ok {
		return own
	}
	own := *shared
	own.verdicts = nil
	if f.byText == nil {
		f.byText = map[string]*filters{}
	}
	f.byText[own.text] = &own
	f.distinct = append(f.distinct, &own)
	return &own
}

func (p *formats) buildFilters(r *reader, name string) *filters {
	f := &filters{}
	entries := 0
	entry := members{"identifierFilter": func(r *reader, at string) { p.identifierFilter(r, at, f) }}
	r.object(name, members{"cumulative": func(r *reader, at string) {
		r.list(at, func() {
			if entries++; entries > maxEntries {
				r.fail(invalid("%s has more than %d entries", at, maxEntries))
				return
			}
			r.objectAt("each of "+at, at+".", entry)
		})
	}})
	if !f.wildcard && len(f.templates)+len(f.interfaces) == 0 {
		f.wildcard = true
	}
	f.describe()
	return f
}

// identifierFilter reads the filter that is the one member of an object.
func (p *formats) identifierFilter(r *reader, name string, f *filters) {
	count := 0
	r.eachMember(name, func(kind string) {
		if count++; count > 1 {
			r.fail(undecodable("%s must have one member only", name))
			return
		}
		at := name + "." + kind
		switch kind {
		case "Empty":
			r.object(at, nil)
		case "WildcardFilter":
			w := p.identifierValue(r, at)
			f.wildcard, f.wildcardBlob = true, f.wildcardBlob || w.blob
		case "TemplateFilter":
			p.templateFilter(r, at, f)
		case "InterfaceFilter":
			p.interfaceFilter(r, at, f)
		default:
			r.fail(undecodable("%s.%.100s is unknown", name, kind))
		}
	})
	if count == 0 && r.err == nil {
		r.fail(undecodable("%s must have a member", name))
	}
}

func (p *formats) templateFilter(r *reader, name string, f *filters) {
	v := p.identifierValue(r, name)
	switch {
	case r.err != nil:
		return
	case v.template == "":
		r.fail(missing("template_id"))
		return
	}
	ref, err := parseReference("templateId", v.template)
	if err != nil {
		r.fail(err)
		return
	}
	names, err := p.known.template(&ref)
	if err != nil {
		r.fail(err)
		return
	}
	t := templateFilter{names: names, blob: v.blob}
	if !ref.byName {
		t.ids = ref.spellings
	}
	f.templates = append(f.templates, t)
}

func (p *formats) interfaceFilter(r *reader, name string, f *filters) {
	v := p.identifierValue(r, name)
	switch {
	case r.err != nil:
		return
	case v.iface == "":
		r.fail(missing("interface_id"))
		return
	}
	ref, err := parseReference("interfaceId", v.iface)
	if err != nil {
		r.fail(err)
		return
	}
	found, err := p.known.interfaceOf(&ref)
	if err != nil {
		r.fail(err)
		return
	}
	for _, other := range f.interfaces {
		if other.entity == found.entity {
			found = other.iface // one view of it is enough
		}
	}
	f.interfaces = append(f.interfaces, interfaceFilter{iface: found, view: v.view, blob: v.blob})
}

// identifierMembers are the members that the kinds of filter have between them.
type identifierMembers struct {
	template, iface string
	blob, view      bool
}

// identifierValue reads {"value": {...}}.
func (p *formats) identifierValue(r *reader, name string) (v identifierMembers) {
	r.object(name, members{"value": func(r *reader, at string) {
		r.object(at, members{
			"templateId": text(&v.template), "interfaceId": text(&v.iface),
			"includeCreatedEventBlob": flag(&v.blob), "includeInterfaceView": flag(&v.view),
		})
	}})
	return v
}

// checkParty checks that a text may be the id of a party, name::fingerprint.
func checkParty(party string) error {
	name, fingerprint, ok := strings.Cut(party, "::")
	if !ok || name == "" || fingerprint == "" || len(party) > 255 || strings.ContainsFunc(party, noPartyRune) {
		return invalid("%s is not a party: it must be NAME::FINGERPRINT", fmt.Sprintf("%.300q", party))
	}
	return nil
}

// noPartyRune tells runes that ids of parties do not have.
func noPartyRune(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune(":-_ ", c)
}
