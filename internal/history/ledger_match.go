package history

import (
	"context"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

// ledgerMatch is an EventSelection as a condition of a query. What several entries ask for
// is put together into three: parties with any template, templates with any party, and
// parties with templates. The last of these may match more than its entries do.
type ledgerMatch struct {
	// all and none say that everything matches, or nothing; the rest is empty then.
	all, none bool
	condition string
	params    store.Params
	// parties are all that is asked for, if nothing else is and they are few; sorted.
	parties []string
}

// maxPartyKeys is how many parties are looked for by their keys at most.
const maxPartyKeys = 64

// Conditions of the three, with hints that let the engine skip granules by its filter of
// parties: it does not see through arrayExists, which compares the fastest as it looks at
// each distinct party once.
const (
	witnessed           = "indexHint(hasAny(witness_parties, {parties:Array(String)})) AND arrayExists(p -> p IN {parties:Array(String)}, witness_parties)"
	ofTemplates         = "template_id IN {templates:Array(String)}"
	witnessedOfTemplate = "indexHint(hasAny(witness_parties, {both_parties:Array(String)})) AND template_id IN {both_templates:Array(String)}" +
		" AND arrayExists(p -> p IN {both_parties:Array(String)}, witness_parties)"
	staked = "indexHint(hasAny(signatories, {parties:Array(String)}) OR hasAny(observers, {parties:Array(String)}))" +
		" AND (arrayExists(p -> p IN {parties:Array(String)}, signatories) OR arrayExists(p -> p IN {parties:Array(String)}, observers))"
	stakedOfTemplate = "indexHint(hasAny(signatories, {both_parties:Array(String)}) OR hasAny(observers, {both_parties:Array(String)}))" +
		" AND template_id IN {both_templates:Array(String)}" +
		" AND (arrayExists(p -> p IN {both_parties:Array(String)}, signatories) OR arrayExists(p -> p IN {both_parties:Array(String)}, observers))"
)

// matchEvents is the condition on rows of events. Whom an event is shown to are always
// witnesses of it.
func (r *Reader) matchEvents(ctx context.Context, entries []SelectionEntry, through int64) (ledgerMatch, error) {
	return r.match(ctx, entries, through, witnessed, witnessedOfTemplate)
}

// matchLifetimes is the condition on rows of lifetimes.
func (r *Reader) matchLifetimes(ctx context.Context, entries []SelectionEntry, through int64) (ledgerMatch, error) {
	return r.match(ctx, entries, through, staked, stakedOfTemplate)
}

// match makes the condition for a part of the stream that ends at through.
func (r *Reader) match(ctx context.Context, entries []SelectionEntry, through int64, ofParties, ofBoth string) (ledgerMatch, error) {
	var parties, templates, bothParties, bothTemplates []string
	for _, e := range entries {
		if len(e.Parties) == 0 && len(e.Templates) == 0 {
			return ledgerMatch{all: true}, nil
		}
		if len(e.Templates) == 0 {
			parties = append(parties, e.Parties...)
			continue
		}
		ids, err := r.templateIDs(ctx, e.Templates, through)
		if err != nil {
			return ledgerMatch{}, err
		}
		switch {
		case len(ids) == 0: // templates that the stream does not have
		case len(e.Parties) == 0:
			templates = append(templates, ids...)
		default:
			bothParties, bothTemplates = append(bothParties, e.Parties...), append(bothTemplates, ids...)
		}
	}
	m := ledgerMatch{params: store.Params{"stream": store.Text(r.stream)}}
	var conditions []string
	add := func(list []string, name, condition string) {
		if len(list) == 0 {
			return
		}
		m.params[name] = store.Texts(list)
		if condition != "" {
			conditions = append(conditions, condition)
		}
	}
	parties, templates = distinct(parties), distinct(templates)
	bothParties, bothTemplates = distinct(bothParties), distinct(bothTemplates)
	if len(templates)+len(bothParties) == 0 && len(parties) <= maxPartyKeys {
		m.parties = parties
	}
	add(parties, "parties", ofParties)
	add(templates, "templates", ofTemplates)
	add(bothParties, "both_parties", ofBoth)
	add(bothTemplates, "both_templates", "")
	if len(conditions) == 0 {
		return ledgerMatch{none: true}, nil
	}
	m.condition = strings.Join(conditions, " OR ")
	return m, nil
}

// distinct sorts a list and leaves each text once.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
