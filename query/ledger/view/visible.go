package view

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// shown is what a format lets a reader see of an event. It is good until the next one.
type shown struct {
	// parties are those that are named as witnesses.
	parties []string
	blob    bool
	views   []wantedView
}

// look says what a reader sees of an event of a template that some parties may be shown;
// ok is false when that is nothing.
func (f *EventFormat) look(seenBy []string, t *template) (s shown, ok bool) {
	if len(seenBy) == 0 {
		return s, false
	}
	f.views = f.views[:0]
	if f.anyParty != nil {
		ok = f.join(&s, f.anyParty.of(t))
		s.parties = seenBy
	}
	if len(f.byParty) > 0 {
		named := f.shown[:0]
		for _, p := range seenBy {
			own := f.byParty[p]
			if own == nil {
				continue
			}
			named = append(named, p)
			ok = f.join(&s, own.of(t)) || ok
		}
		if f.shown = named; f.anyParty == nil {
			s.parties = named
		}
	}
	if len(f.views) > 1 {
		slices.SortFunc(f.views, func(a, b wantedView) int { return strings.Compare(a.entity, b.entity) })
	}
	s.views = f.views
	return s, ok
}

// join adds what filters ask for and reports whether they match.
func (f *EventFormat) join(s *shown, v *verdict) bool {
	if !v.matches {
		return false
	}
	s.blob = s.blob || v.blob
	for _, view := range v.views {
		if !has(f.views, view.iface) {
			f.views = append(f.views, view)
		}
	}
	return true
}

// stakeholders returns the parties of this node that have a stake in the contract of an
// event; known is false when all that is known is that they are among the witnesses. The
// result is good until the next call.
func (f *EventFormat) stakeholders(e *schemas.Event) (parties []string, known bool) {
	signatories, observers := e.Signatories, e.Observers
	switch {
	case e.Kind == schemas.Unassigned: // its witnesses are the stakeholders
		return e.Local.Witnesses, true
	case e.Kind == schemas.Exercised:
		if e.Local.Contract == nil {
			return e.Local.Witnesses, false
		}
		signatories, observers = e.Local.Contract.Signatories, e.Local.Contract.Observers
	}
	f.parties = f.parties[:0]
	for _, p := range e.Local.Witnesses {
		if contains(signatories, p) || contains(observers, p) {
			f.parties = append(f.parties, p)
		}
	}
	return f.parties, true
}

// contains looks for a party in a sorted list.
func contains(sorted []string, party string) bool {
	const short = 8
	if len(sorted) <= short {
		return slices.Contains(sorted, party)
	}
	_, found := slices.BinarySearch(sorted, party)
	return found
}

// isDelta reports whether an event changes the set of contracts active for the parties
// that are shown.
func (f *EventFormat) isDelta(e *schemas.Event, s *shown) bool {
	if !e.Local.ACSDelta || f.anyParty != nil {
		return e.Local.ACSDelta
	}
	stakeholders, known := f.stakeholders(e)
	return !known || slices.ContainsFunc(s.parties, func(p string) bool { return contains(stakeholders, p) })
}

// templateOf returns the template of the contract that an event begins or ends.
func (f *EventFormat) templateOf(e *schemas.Event) *template {
	if c := e.Local.Contract; c != nil && c.TemplateID != "" {
		return f.templates.of(e.PackageName, c.TemplateID)
	}
	return f.templates.of(e.PackageName, e.TemplateID)
}
