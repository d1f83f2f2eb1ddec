package explorer

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// searchView is what a search found.
type searchView struct {
	text, problem string
	groups        []hitGroup
}

// hitGroup are hits of a kind.
type hitGroup struct {
	name string
	hits []hit
}

// hit is something that a search found.
type hit struct{ label, note, path string }

const (
	maxHits = 8 // of a kind
	// minPrefix is how much of an id is looked for: all ids of updates begin with the same four digits.
	minPrefix = 6
)

var (
	hexForm    = regexp.MustCompile(`^[0-9a-f]+$`)
	numberForm = regexp.MustCompile(`^[0-9]{1,18}$`)
)

// search looks for what has an id or a name, or begins with it. A single exact hit leads to its page.
func (e *Explorer) search(ctx context.Context, v *page.View) (page.Page, error) {
	text := v.Param("q")
	view := searchView{text: text}
	switch {
	case text == "":
		view.problem = "Type an id, a name or a part of one."
	case len(text) > maxInput:
		view.text, view.problem = page.Short(text[:maxInput]), fmt.Sprintf("This is too long: ids and names have at most %d characters.", maxInput)
	default:
		path, err := e.exact(ctx, text)
		if err != nil {
			return page.Page{}, err
		}
		if path != "" {
			return page.Page{See: string(v.Link(path))}, nil
		}
		if view.groups, err = e.similar(ctx, v, text); err != nil {
			return page.Page{}, err
		}
		if len(view.groups) == 1 && len(view.groups[0].hits) == 1 && view.groups[0].hits[0].label == text {
			return page.Page{See: string(v.Link(view.groups[0].hits[0].path))}, nil
		}
	}
	return page.Page{Title: "Search", Section: page.Nowhere, Body: searchPage(v, view)}, nil
}

// exact is the page of what has an id, "" for none.
func (e *Explorer) exact(ctx context.Context, text string) (string, error) {
	lower := strings.ToLower(text)
	switch {
	case values.IsParty(text):
		if known, err := e.cfg.Explore.HasParty(ctx, text); err != nil || known {
			return page.PartyPath(text), err
		}
	case values.IsContract(lower):
		if known, err := e.cfg.Explore.HasContract(ctx, lower); err != nil || known {
			return page.ContractPath(lower), err
		}
	case len(text) > 2*minPrefix && hexForm.MatchString(lower):
		if item, err := e.itemOf(ctx, lower); err != nil || item != nil {
			return page.UpdatePath(lower), err
		}
		if id, ok, err := e.cfg.History.UpdateIDByHash(ctx, lower); err != nil || ok {
			return page.UpdatePath(id), err
		}
	}
	return "", nil
}

// similar are what begins with a text, or has it in its name.
func (e *Explorer) similar(ctx context.Context, v *page.View, text string) (groups []hitGroup, err error) {
	for _, look := range []struct {
		name string
		find func(context.Context, *page.View, string) ([]hit, error)
	}{{"Rounds", e.rounds}, {"Names", e.names}, {"Parties", e.partiesLike}, {"Templates", e.templatesLike}} {
		hits, err := look.find(ctx, v, text)
		if err != nil {
			return nil, err
		}
		if len(hits) > 0 {
			groups = append(groups, hitGroup{look.name, hits})
		}
	}
	lower := strings.ToLower(text)
	if len(text) < minPrefix || !hexForm.MatchString(lower) {
		return groups, nil
	}
	found, err := e.cfg.Explore.IDs(ctx, lower, maxHits)
	if err != nil {
		return nil, err
	}
	var updates, contracts []hit
	for _, u := range found.Updates {
		updates = append(updates, hit{u.UpdateID, kindText(u.Kind), page.UpdatePath(u.UpdateID)})
	}
	for _, c := range found.Contracts {
		contracts = append(contracts, hit{c.ContractID, page.Entity(c.Template), page.ContractPath(c.ContractID)})
	}
	for _, g := range []hitGroup{{"Updates", updates}, {"Contracts", contracts}} {
		if len(g.hits) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// rounds is the round with a number, if it may have begun.
func (e *Explorer) rounds(ctx context.Context, _ *page.View, text string) ([]hit, error) {
	if !numberForm.MatchString(text) {
		return nil, nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, nil // too large for a round
	}
	open, err := e.state.Present().MiningRounds(ctx)
	if err != nil || len(open.Open) == 0 || number > open.Open[len(open.Open)-1].Number {
		return nil, err
	}
	label := strconv.FormatInt(number, 10)
	return []hit{{label, "mining round", "/round/" + label}}, nil
}

// names are those of the name service that begin with a text, as of the instant.
func (e *Explorer) names(ctx context.Context, v *page.View, text string) ([]hit, error) {
	through, err := e.cfg.History.ContractsWatermark(ctx)
	if err != nil || through == schemas.Start {
		return nil, err
	}
	at := through.RecordTime
	if v.At != nil {
		at = min(at, *v.At)
	}
	entries, err := e.state.StateContracts(ctx, history.StateQuery{
		MigrationID: through.MigrationID, At: at, Templates: []string{template.NameEntry}, KeyPrefix: strings.ToLower(text), Limit: maxHits,
	})
	var hits []hit
	for _, c := range entries {
		argument, _ := e.cfg.Labels.Argument(&c.Event, c.Encoding)
		if name, user, ok := nameOf(argument); ok {
			hits = append(hits, hit{name, page.Short(user), page.PartyPath(user)})
		}
	}
	return hits, err
}

// partiesLike are parties that begin with a text.
func (e *Explorer) partiesLike(ctx context.Context, _ *page.View, text string) (hits []hit, err error) {
	parties, err := e.cfg.Explore.Parties(ctx, text, maxHits)
	for _, party := range parties {
		hits = append(hits, hit{party, "", page.PartyPath(party)})
	}
	return hits, err
}

// templatesLike are templates with a text in their names.
func (e *Explorer) templatesLike(ctx context.Context, _ *page.View, text string) (hits []hit, err error) {
	if len(text) < 3 {
		return nil, nil
	}
	templates, err := e.cfg.Explore.Templates(ctx, text, maxHits)
	for _, name := range templates {
		hits = append(hits, hit{name, "", page.TemplatePath(name)})
	}
	return hits, err
}
