package nodeapi

import (
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// The requests of the node as they stand in a body or in the first frame of a
// websocket. Members that a client leaves out are nil.

type updatesRequest struct {
	Begin      *int64             `json:"beginExclusive"`
	End        *int64             `json:"endInclusive"`
	Filter     *transactionFilter `json:"filter"`
	Verbose    *bool              `json:"verbose"`
	Format     *wireUpdateFormat  `json:"updateFormat"`
	Descending bool               `json:"descendingOrder"`
}

type contractsRequest struct {
	At      *int64             `json:"activeAtOffset"`
	Filter  *transactionFilter `json:"filter"`
	Verbose *bool              `json:"verbose"`
	Format  *wireEventFormat   `json:"eventFormat"`
	Token   string             `json:"streamContinuationToken"`
}

type transactionFilter struct {
	ByParty map[string]*wireFilters `json:"filtersByParty"`
	Any     *wireFilters            `json:"filtersForAnyParty"`
}

type wireUpdateFormat struct {
	Transactions  *wireTransactionFormat `json:"includeTransactions"`
	Reassignments *wireEventFormat       `json:"includeReassignments"`
	Topology      *struct {
		Authorizations *struct {
			Parties []string `json:"parties"`
		} `json:"includeParticipantAuthorizationEvents"`
	} `json:"includeTopologyEvents"`
}

type wireTransactionFormat struct {
	Events *wireEventFormat `json:"eventFormat"`
	Shape  string           `json:"transactionShape"`
}

type wireEventFormat struct {
	transactionFilter
	Verbose *bool `json:"verbose"` // values always carry labels here
}

type wireFilters struct {
	Cumulative []struct {
		Identifier map[string]struct {
			Value struct {
				TemplateID  string `json:"templateId"`
				InterfaceID string `json:"interfaceId"`
				View        bool   `json:"includeInterfaceView"`
				Blob        bool   `json:"includeCreatedEventBlob"`
			} `json:"value"`
		} `json:"identifierFilter"`
	} `json:"cumulative"`
}

// updateFormat says which updates a client wants and how.
type updateFormat struct {
	transactions  *eventFormat // nil for none
	effects       bool         // ledger effects, else changes of the active contracts
	reassignments *eventFormat
	topology      *topologyFormat
}

// topologyFormat is nil for none; without parties it is for all.
type topologyFormat struct{ parties map[string]bool }

// eventFormat says which events a client wants.
type eventFormat struct {
	any     *filters
	byParty map[model.Party]*filters
	named   []string // parties named, known to the node or not
}

// filters say per template and version whether events match, whether with a blob, and with the views
// of which interfaces.
type filters struct {
	flags []uint8
	views map[int][]model.InterfaceName // by the indexes of flags
}

const (
	matches uint8 = 1 << iota
	withBlob
)

// formats turns what clients ask for into formats.
type formats struct {
	names    *model.Names
	view     *history.NodeView
	parties  map[string]model.Party         // that the node hosts from the start
	byID     map[string][]int               // package id:Module:Entity -> indexes of flags
	byName   map[string][]int               // package name:Module:Entity
	packages map[string]bool                // names and ids, those of interfaces included
	ifaces   map[string]model.InterfaceName // both spellings
}

func newFormats(v *history.NodeView) *formats {
	f := &formats{names: v.Names, view: v, parties: map[string]model.Party{}, byID: map[string][]int{}, byName: map[string][]int{},
		packages: map[string]bool{}, ifaces: map[string]model.InterfaceName{}}
	for _, p := range v.Parties {
		f.parties[v.Names.Name(p)] = p
	}
	for i, t := range model.Templates {
		f.packages[t.Pkg.Name] = true
		for version, id := range v.Names.TemplateIDs[i] {
			at := i*model.Versions + version
			f.byID[id] = append(f.byID[id], at)
			f.byName[t.Pkg.Name+":"+t.Name] = append(f.byName[t.Pkg.Name+":"+t.Name], at)
			f.packages[id[:model.PackageIDLength]] = true
		}
	}
	for i, id := range v.Names.Interfaces {
		f.ifaces[id], f.ifaces[model.InterfaceNames[i][0]+":"+model.InterfaceNames[i][1]] = model.InterfaceName(i), model.InterfaceName(i)
		f.packages[id[:model.PackageIDLength]], f.packages[model.InterfaceNames[i][0]] = true, true
	}
	return f
}

// party returns a party of the node, also one that was added since.
func (f *formats) party(name string) (model.Party, bool) {
	if p, ok := f.parties[name]; ok {
		return p, true
	}
	p, ok := f.names.Named(name)
	return p, ok && f.view.HostsParty(p)
}

// update returns the format of a request for updates: its own, or what its filter stands for.
func (f *formats) update(q *updatesRequest) (*updateFormat, error) {
	switch {
	case q.Format != nil && (q.Filter != nil || q.Verbose != nil):
		return nil, invalidArgument("Both filter/verbose and update_format is specified.")
	case q.Format == nil && q.Filter == nil:
		return nil, invalidArgument("Either filter/verbose or update_format is required.")
	case q.Format == nil:
		return f.legacy(q.Filter)
	}
	u := &updateFormat{}
	var err error
	if t := q.Format.Transactions; t != nil {
		if err := f.transactions(u, t); err != nil {
			return nil, err
		}
	}
	if q.Format.Reassignments != nil {
		if u.reassignments, err = f.events(q.Format.Reassignments); err != nil {
			return nil, err
		}
	}
	if t := q.Format.Topology; t != nil && t.Authorizations != nil {
		u.topology = newTopologyFormat(t.Authorizations.Parties)
	}
	return u, nil
}

// transactions sets what u has of transactions.
func (f *formats) transactions(u *updateFormat, t *wireTransactionFormat) (err error) {
	switch t.Shape {
	case "TRANSACTION_SHAPE_LEDGER_EFFECTS":
		u.effects = true
	case "TRANSACTION_SHAPE_ACS_DELTA":
	default:
		return invalidArgument("transaction_shape %q is not one to choose", t.Shape)
	}
	u.transactions, err = f.events(t.Events)
	return err
}

func newTopologyFormat(parties []string) *topologyFormat {
	t := &topologyFormat{}
	for _, p := range parties {
		if t.parties == nil {
			t.parties = map[string]bool{}
		}
		t.parties[p] = true
	}
	return t
}

// legacy is the format that a filter alone stands for.
func (f *formats) legacy(filter *transactionFilter) (*updateFormat, error) {
	events, err := f.events(&wireEventFormat{transactionFilter: *filter})
	if err != nil {
		return nil, err
	}
	u := &updateFormat{transactions: events, reassignments: events, topology: newTopologyFormat(nil)}
	if events.any == nil {
		u.topology = newTopologyFormat(events.named)
	}
	return u, nil
}

// contracts returns the format of a request for active contracts.
func (f *formats) contracts(q *contractsRequest) (*eventFormat, error) {
	switch {
	case q.Format != nil && (q.Filter != nil || q.Verbose != nil):
		return nil, invalidArgument("Both filter/verbose and event_format is specified.")
	case q.Format != nil:
		return f.events(q.Format)
	case q.Filter != nil:
		return f.events(&wireEventFormat{transactionFilter: *q.Filter})
	}
	return nil, invalidArgument("Either filter/verbose or event_format is required.")
}

func (f *formats) events(w *wireEventFormat) (*eventFormat, error) {
	if w == nil || w.Any == nil && len(w.ByParty) == 0 {
		return nil, invalidArgument("filtersByParty and filtersForAnyParty cannot be empty simultaneously")
	}
	e := &eventFormat{byParty: map[model.Party]*filters{}}
	var err error
	if w.Any != nil {
		if e.any, err = f.filters(w.Any); err != nil {
			return nil, err
		}
	}
	for name, wire := range w.ByParty {
		if label, fingerprint, ok := strings.Cut(name, model.PartyNamespaceMark); !ok || label == "" || fingerprint == "" {
			return nil, invalidArgument("%q is not a party", name)
		}
		if wire == nil {
			wire = &wireFilters{}
		}
		compiled, err := f.filters(wire)
		if err != nil {
			return nil, err
		}
		e.named = append(e.named, name)
		if p, ok := f.party(name); ok {
			e.byParty[p] = compiled
		}
	}
	return e, nil
}

// filters joins the entries of a list; an empty list is a wildcard.
func (f *formats) filters(w *wireFilters) (*filters, error) {
	c := &filters{flags: make([]uint8, len(model.Templates)*model.Versions), views: map[int][]model.InterfaceName{}}
	entries := 0
	for _, cumulative := range w.Cumulative {
		if len(cumulative.Identifier) > 1 {
			return nil, reply.BadRequest("identifierFilter has %d members, want one", len(cumulative.Identifier))
		}
		for kind, filter := range cumulative.Identifier {
			v := filter.Value
			at, iface, err := f.matching(kind, v.TemplateID, v.InterfaceID)
			if err != nil {
				return nil, err
			}
			if kind != "Empty" {
				entries++
			}
			for _, i := range at {
				c.flags[i] |= matches
				if v.Blob {
					c.flags[i] |= withBlob
				}
				if v.View && iface != model.NoInterface {
					c.views[i] = append(c.views[i], iface)
				}
			}
		}
	}
	if entries == 0 {
		for i := range c.flags {
			c.flags[i] = matches
		}
	}
	return c, nil
}

// matching returns the indexes of flags that a filter is about, and the interface that it names.
func (f *formats) matching(kind, templateID, interfaceID string) (at []int, iface model.InterfaceName, err error) {
	iface = model.NoInterface
	switch kind {
	case "Empty":
	case "WildcardFilter":
		at = make([]int, len(model.Templates)*model.Versions)
		for i := range at {
			at[i] = i
		}
	case "TemplateFilter":
		at, err = f.template(templateID)
	case "InterfaceFilter":
		if iface, err = f.iface(interfaceID); err == nil {
			at = implementing(iface)
		}
	default:
		err = reply.BadRequest("identifierFilter %q is unknown", kind)
	}
	return at, iface, err
}

// identifier splits a package, by id or #name, from Module:Entity.
func (f *formats) identifier(id string) (name string, byName bool, err error) {
	parts := strings.Split(id, ":")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return "", false, invalidArgument("identifier %q is not PACKAGE:MODULE:ENTITY", id)
	}
	pkg, byName := strings.CutPrefix(parts[0], "#")
	if byName && !f.packages[pkg] {
		return "", false, unknownTemplate("PACKAGE_NAMES_NOT_FOUND", "Package name", pkg)
	}
	return strings.TrimPrefix(id, "#"), byName, nil
}

func (f *formats) template(id string) ([]int, error) {
	name, byName, err := f.identifier(id)
	if err != nil {
		return nil, err
	}
	known, code := f.byID, "TEMPLATES_OR_INTERFACES_NOT_FOUND"
	if byName {
		known, code = f.byName, "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"
	}
	if len(known[name]) == 0 {
		return nil, unknownTemplate(code, "Template", id)
	}
	return known[name], nil
}

func (f *formats) iface(id string) (model.InterfaceName, error) {
	name, _, err := f.identifier(id)
	if err != nil {
		return model.NoInterface, err
	}
	i, ok := f.ifaces[name]
	if !ok {
		return model.NoInterface, unknownTemplate("TEMPLATES_OR_INTERFACES_NOT_FOUND", "Interface", id)
	}
	return i, nil
}

// everything reports whether the format is the one that updates are kept in.
func (u *updateFormat) everything() bool {
	return u.everythingButViews() && len(u.transactions.any.views)+len(u.reassignments.any.views) == 0
}

// everythingButViews reports whether updates are as they are kept, but for views of some contracts.
func (u *updateFormat) everythingButViews() bool {
	return u.effects && u.transactions.everythingButViews() && u.reassignments.everythingButViews() &&
		u.topology != nil && u.topology.parties == nil
}

func (e *eventFormat) everythingButViews() bool {
	if e == nil || e.any == nil {
		return false
	}
	for _, flag := range e.any.flags {
		if flag != matches|withBlob {
			return false
		}
	}
	return true
}

// shows reports whether views of contracts of a template are asked for.
func (u *updateFormat) shows(template int) bool {
	for version := range model.Versions {
		at := template*model.Versions + version
		if len(u.transactions.any.views[at])+len(u.reassignments.any.views[at]) > 0 {
			return true
		}
	}
	return false
}

// String identifies the format: equal formats give equal texts.
func (e *eventFormat) String() string {
	text := fmt.Sprint(e.any)
	for p, f := range e.byParty {
		text += fmt.Sprint(" ", p, f)
	}
	return text
}
