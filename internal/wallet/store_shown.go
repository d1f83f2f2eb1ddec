package wallet

import (
	"context"
	"encoding/json"
	"slices"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

const (
	// shownPage is how many contracts of apps are read at a time, maxShown how many at most: of more the
	// node is asked.
	shownPage = 200
	maxShown  = 1000
)

// Shown returns what the node's stream has of what interfaces show of the active contracts of a party.
// known is false if it may not have all: a contract of a template that may implement one of the
// interfaces came without views, because nobody asked for them then.
func (s *StoreReader) Shown(ctx context.Context, party string, interfaces ...string) (list []ShownContract, known bool, err error) {
	end, err := s.wallets.End(ctx)
	if err != nil {
		return nil, false, err
	}
	templates, err := s.mayImplement(ctx, interfaces)
	if err != nil || len(templates) == 0 {
		return nil, err == nil, err
	}
	q := nodehistory.ActiveQuery{Offset: end, Limit: shownPage,
		Selection: nodehistory.EventSelection{Entries: []nodehistory.SelectionEntry{{Parties: []string{party}, Templates: templates}}}}
	for read := 0; read < maxShown; read += shownPage {
		page, err := s.node.LedgerActive(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for i := range page.Contracts {
			c := &page.Contracts[i]
			views := shownOf(&c.Event, interfaces)
			if len(views) == 0 {
				return nil, false, nil
			}
			list = append(list, views...)
			q.After = c.Key()
		}
		if !page.More {
			return list, true, nil
		}
	}
	return nil, false, nil
}

// mayImplement are the templates of the stream that implement one of some interfaces, or of which
// no catalogue says which they implement.
func (s *StoreReader) mayImplement(ctx context.Context, interfaces []string) (names []string, err error) {
	known, err := s.node.KnownTemplates(ctx)
	if err != nil {
		return nil, err
	}
	others := map[string]bool{}
	for _, t := range s.catalog.Entries() {
		if !slices.ContainsFunc(interfaces, func(name string) bool { return slices.Contains(t.Implements, template.Entity(name)) }) {
			others[t.PackageName+":"+t.Entity] = true
		}
	}
	for _, t := range known {
		name := schemas.TemplateName(t.PackageName, t.TemplateID)
		if !others[values.Network(name)] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// shownOf are the views of some interfaces that a node gave of a created contract.
func shownOf(e *schemas.Event, interfaces []string) (list []ShownContract) {
	if e.Local == nil {
		return nil
	}
	extras := jsonscan.Value(e.Local.Extras)
	for _, view := range extras.At("interfaceViews").Elements() {
		id := view.At("interfaceId").Text()
		of := func(name string) bool { return template.Entity(name) == template.Entity(id) }
		if !slices.ContainsFunc(interfaces, of) || string(view.At("viewStatus", "code")) != "0" {
			continue
		}
		list = append(list, ShownContract{ID: e.ContractID, InterfaceID: id, View: json.RawMessage(view.At("viewValue")),
			CreatedAt: e.CreatedAt.Time(), Blob: extras.At("createdEventBlob").Text()})
	}
	return list
}
