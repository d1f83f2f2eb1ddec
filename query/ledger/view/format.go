package view

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
)

// UpdateFormat says which updates a reader sees and what of them. It belongs to one
// goroutine: it remembers what its filters say about each template.
type UpdateFormat struct {
	// transactions and reassignments are nil when none of the kind are asked for.
	transactions, reassignments *EventFormat
	// shape is that of transactions.
	shape    shape
	topology *topologyFormat
	// bare transactions come alone, not as updates.
	bare bool
}

// shape is which events a transaction has, and how they are written.
type shape byte

const (
	acsDelta shape = iota
	ledgerEffects
	// tree has the events of ledgerEffects by their node numbers.
	tree
)

// wrapper is what stands around the members of an update.
type wrapper struct{ head, end string }

const endOfUpdate = `}}}}`

// wrapper is that of transactions.
func (f *UpdateFormat) wrapper() wrapper {
	switch {
	case f.bare:
		return wrapper{`{"transaction":{`, `}}`}
	case f.shape == tree:
		return wrapper{`{"update":{"TransactionTree":{"value":{`, endOfUpdate}
	}
	return wrapper{`{"update":{"Transaction":{"value":{`, endOfUpdate}
}

// topologyFormat asks for topology events, of all parties if parties is empty.
type topologyFormat struct{ parties map[string]bool }

// EventFormat says which events a reader sees. It belongs to one goroutine, as an
// UpdateFormat does.
type EventFormat struct {
	// anyParty are the filters for any party, nil without.
	anyParty *filters
	byParty  map[string]*filters
	// distinct are all filters, each once; byText finds them.
	distinct []*filters
	byText   map[string]*filters
	// Verbose asks for labels in values, which are always there.
	Verbose bool

	templates templates
	// Scratch of the event in work.
	parties []string
	shown   []string
	views   []wantedView
}

// Readers returns whose right to read it needs: the parties that the format names, sorted,
// and whether that of any party.
func (f *UpdateFormat) Readers() (parties []string, anyParty bool) {
	named := map[string]bool{}
	for _, e := range []*EventFormat{f.transactions, f.reassignments} {
		if e != nil {
			e.addReaders(named, &anyParty)
		}
	}
	if t := f.topology; t != nil {
		anyParty = anyParty || len(t.parties) == 0
		maps.Copy(named, t.parties)
	}
	return slices.Sorted(maps.Keys(named)), anyParty
}

// Readers is like that of an UpdateFormat.
func (f *EventFormat) Readers() (parties []string, anyParty bool) {
	named := map[string]bool{}
	f.addReaders(named, &anyParty)
	return slices.Sorted(maps.Keys(named)), anyParty
}

func (f *EventFormat) addReaders(named map[string]bool, anyParty *bool) {
	*anyParty = *anyParty || f.anyParty != nil
	for p := range f.byParty {
		named[p] = true
	}
}

// Selection is what must be read from the store: all that may be visible, and some more.
func (f *UpdateFormat) Selection() nodehistory.Selection {
	s := nodehistory.Selection{Topology: f.topology != nil}
	if f.transactions != nil {
		s.Transactions = f.transactions.selection()
		// Whether an exercise changes the contracts active for some parties can be said of
		// their contracts only; for any party the stream says it.
		s.Contracts = f.shape == acsDelta || f.transactions.anyParty == nil
	}
	if f.reassignments != nil {
		s.Reassignments = f.reassignments.selection()
	}
	return s
}

// Selection is what must be read from the store of active contracts.
func (f *EventFormat) Selection() nodehistory.EventSelection { return *f.selection() }

// selection has one entry for any party and one for all parties with the same filters.
func (f *EventFormat) selection() *nodehistory.EventSelection {
	s := &nodehistory.EventSelection{}
	add := func(filters *filters, parties []string) {
		templates, none := filters.selected()
		if !none {
			s.Entries = append(s.Entries, nodehistory.SelectionEntry{Parties: parties, Templates: templates})
		}
	}
	if f.anyParty != nil {
		add(f.anyParty, nil)
	}
	parties := make(map[*filters][]string, len(f.distinct))
	for p, own := range f.byParty {
		parties[own] = append(parties[own], p)
	}
	for _, own := range f.distinct {
		if list := parties[own]; len(list) > 0 {
			slices.Sort(list)
			add(own, list)
		}
	}
	return s
}

// Digest identifies the format: equal ones have equal digests, whatever the order and
// spelling of the request.
func (f *UpdateFormat) Digest() [32]byte {
	var text strings.Builder
	for i, e := range []*EventFormat{f.transactions, f.reassignments} {
		if e != nil {
			text.WriteString([]string{"transactions ", "reassignments "}[i])
			e.describe(&text)
		}
	}
	text.WriteString([...]string{acsDelta: "", ledgerEffects: "effects ", tree: "tree "}[f.shape])
	if f.topology != nil {
		text.WriteString("topology " + strings.Join(slices.Sorted(maps.Keys(f.topology.parties)), " "))
	}
	return sha256.Sum256([]byte(text.String()))
}

// Digest is like that of an UpdateFormat.
func (f *EventFormat) Digest() [32]byte {
	var text strings.Builder
	f.describe(&text)
	return sha256.Sum256([]byte(text.String()))
}

func (f *EventFormat) describe(text *strings.Builder) {
	if f.anyParty != nil {
		text.WriteString("any party " + f.anyParty.text + "\n")
	}
	for _, p := range slices.Sorted(maps.Keys(f.byParty)) {
		text.WriteString(p + " " + f.byParty[p].text + "\n")
	}
}
