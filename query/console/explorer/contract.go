package explorer

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// contractView is a contract with its life.
type contractView struct {
	id, template string
	created      *step // nil if history does not have the creation
	ended        *step // nil while it has not ended
	argument     []byte
	coin         *coinFacts // nil if it is none
	state        lifeState
	made         *chainPart // what created it
	then         *chainPart // what its end created
	steps        []step
	more         string // address of the later steps, "" for none
	first        bool   // whether steps begin with the first one
	raw          string
}

// step is something that happened to a contract.
type step struct {
	at      schemas.Position
	kind    schemas.UpdateKind
	event   *schemas.Event // nil for an unassignment
	target  string         // synchronizer that an unassignment leads to
	carried bool           // into a migration
}

// ends says that the step ended the contract.
func (s *step) ends() bool {
	return s.event != nil && s.event.Kind == schemas.Exercised && s.event.Consuming
}

// creates says that the contract begins with the step, here or on a synchronizer or in a migration.
func (s *step) creates() bool { return s.event != nil && s.event.Kind == schemas.Created }

// lifeState is what a contract is at an instant.
type lifeState struct{ text, class string }

// coinFacts are what matters of a coin.
type coinFacts struct {
	owner, amount, rate, round string
	holders                    []string // of its lock
	expires                    string
}

// chainPart is what a contract was made of, or became.
type chainPart struct {
	update    string
	choice    string // "" if no choice did it
	on        string // template of the choice's contract
	contracts []linkedContract
}

// linkedContract is another contract.
type linkedContract struct{ id, template string }

// Limits of what is shown of one contract.
const (
	maxLife  = 200 // creations, ends and reassignments
	maxChain = 50
)

// contract is the page of a contract.
func (e *Explorer) contract(ctx context.Context, v *page.View) (page.Page, error) {
	id, err := v.Path("id")
	if err != nil {
		return page.Page{}, err
	}
	after, node, err := stepCursor(v)
	if err != nil {
		return page.Page{}, err
	}
	watermark, err := e.cfg.History.Watermark(ctx)
	if err != nil {
		return page.Page{}, err
	}
	q := history.ContractQuery{ContractID: id, After: schemas.Start, AfterNode: -1, Through: watermark, WithoutExercises: true, Limit: maxLife}
	var life []history.ContractStep
	if id != "" && len(id) <= maxInput && watermark != schemas.Start {
		if life, err = e.cfg.History.ContractHistory(ctx, q); err != nil {
			return page.Page{}, err
		}
	}
	q.WithoutExercises, q.After, q.AfterNode, q.Limit = false, after, node, pageRows+1
	if len(life) == 0 {
		return page.Page{}, page.Missing("There is no contract with this id in public history. Contracts that only their parties see are in the node's own interfaces.")
	}
	steps, err := e.cfg.History.ContractHistory(ctx, q)
	if err != nil {
		return page.Page{}, err
	}
	view := contractView{id: id, first: after == schemas.Start, raw: e.cfg.Scan + "/v0/contracts/" + url.PathEscape(id)}
	view.live(life)
	view.list(steps)
	view.state = view.stateAt(v.Instant())
	if err := e.explain(ctx, &view, life); err != nil {
		return page.Page{}, err
	}
	return page.Page{Title: "Contract " + page.Short(id), Section: page.Nowhere, Body: contractPage(v, &view)}, nil
}

// live finds the creation and the end.
func (view *contractView) live(life []history.ContractStep) {
	for i := range life {
		s := stepOf(&life[i])
		if s.event != nil && view.template == "" {
			view.template = schemas.TemplateName(s.event.PackageName, s.event.TemplateID)
		}
		switch {
		case s.creates() && (view.created == nil || view.created.carried && !s.carried):
			view.created = &s
		case s.ends():
			view.ended = &s
		}
	}
}

// list sets the steps of the page.
func (view *contractView) list(steps []history.ContractStep) {
	for i := range steps[:min(len(steps), pageRows)] {
		view.steps = append(view.steps, stepOf(&steps[i]))
	}
	if len(steps) > pageRows {
		last := &steps[pageRows-1]
		view.more = page.ContractPath(view.id) + "?after=" + url.QueryEscape(strconv.Itoa(int(last.Node()))+"."+cursorText(last.Update.Position()))
	}
}

func stepOf(s *history.ContractStep) step {
	u := &s.Update
	made := step{at: u.Position(), kind: u.Kind, carried: u.IsImport()}
	if len(u.Events) > 0 {
		made.event = &u.Events[0]
	}
	if u.Reassignment != nil {
		made.target = u.Reassignment.TargetSynchronizer
	}
	return made
}

// stepCursor is where the steps of a page begin: NODE.POSITION in parameter after.
func stepCursor(v *page.View) (schemas.Position, int32, error) {
	text := v.Param("after")
	if text == "" {
		return schemas.Start, -1, nil
	}
	number, rest, _ := strings.Cut(text, ".")
	node, wrong := strconv.ParseInt(number, 10, 32)
	at, err := positionOf(rest)
	if err != nil || wrong != nil {
		return at, 0, query.Errorf(query.Invalid, "after does not say where the list goes on: begin it again.")
	}
	return at, int32(node), nil
}

// stateAt is what the contract is at an instant.
func (view *contractView) stateAt(at schemas.Micros) lifeState {
	switch {
	case view.created != nil && view.created.at.RecordTime > at:
		return lifeState{"not created yet", "tag warn"}
	case view.ended != nil && view.ended.at.RecordTime <= at:
		return lifeState{"ended", "tag bad"}
	}
	return lifeState{"active", "tag good"}
}

// explain adds what needs the whole updates of the creation and the end.
func (e *Explorer) explain(ctx context.Context, view *contractView, life []history.ContractStep) error {
	var ids []string
	for _, s := range []*step{view.created, view.ended} {
		if s != nil && !s.carried {
			ids = append(ids, s.at.UpdateID)
		}
	}
	items, err := e.cfg.History.ItemsByID(ctx, ids)
	if err != nil {
		return err
	}
	if view.created != nil {
		for i := range life {
			if u := &life[i].Update; u.Position() == view.created.at {
				view.argument, _ = e.cfg.Labels.Argument(view.created.event, u.Encoding)
				break
			}
		}
		view.coin = coinOf(view.template, view.argument)
		if u := items[view.created.at.UpdateID].Update; u != nil && u.Kind == schemas.Transaction {
			view.made = madeBy(u, view.created.event.Node)
		}
	}
	if view.ended != nil {
		if u := items[view.ended.at.UpdateID].Update; u != nil {
			view.then = becameOf(u, view.ended.event.Node, view.id)
		}
	}
	return nil
}

// coinOf reads what matters of a coin's labelled argument, nil for other contracts.
func coinOf(name string, argument []byte) *coinFacts {
	type coin struct {
		Owner  string `json:"owner"`
		Amount struct {
			Initial string `json:"initialAmount"`
			Created struct {
				Number string `json:"number"`
			} `json:"createdAt"`
			Rate struct {
				Rate string `json:"rate"`
			} `json:"ratePerRound"`
		} `json:"amount"`
	}
	facts := func(c *coin) *coinFacts {
		return &coinFacts{owner: c.Owner, amount: c.Amount.Initial, rate: c.Amount.Rate.Rate, round: c.Amount.Created.Number}
	}
	switch name {
	case template.Coin:
		var c coin
		if json.Unmarshal(argument, &c) == nil {
			return facts(&c)
		}
	case template.LockedCoin:
		var locked struct {
			Coin coin `json:"amulet"`
			Lock struct {
				Holders []string `json:"holders"`
				Expires string   `json:"expiresAt"`
			} `json:"lock"`
		}
		if json.Unmarshal(argument, &locked) == nil {
			f := facts(&locked.Coin)
			f.holders, f.expires = locked.Lock.Holders, locked.Lock.Expires
			return f
		}
	}
	return nil
}

// nameOf reads the name, and whose it is, of a labelled entry of the name service.
func nameOf(argument []byte) (name, user string, ok bool) {
	var entry struct{ Name, User string }
	err := json.Unmarshal(argument, &entry)
	return entry.Name, entry.User, err == nil && entry.User != ""
}
