package explorer

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updateView is an update with what was decided about it, or the decision alone.
type updateView struct {
	id            string
	item          schemas.Item
	events        []event // without a parent
	left          int     // events that are not shown
	views         []verdictView
	oddViews      []byte // views of another form, as JSON
	envelopes     []envelope
	activity      []appShare
	movements     []explore.Movement
	derived       bool // whether movements are known
	before, after string
	raw           []rawLink
}

// rawLink leads to the update as an interface has it.
type rawLink struct{ label, address string }

// event is one of the tree.
type event struct {
	*schemas.Event
	template         string
	argument, result []byte // nil if they are not shown
	children         []event
	deep             bool // its children are too deep to show
}

// verdictView is a view of a transaction, as the mediator has it.
type verdictView struct {
	ID         int64    `json:"view_id"`
	Hash       string   `json:"view_hash"`
	Informees  []string `json:"informees"`
	Confirming []struct {
		Parties   []string `json:"parties"`
		Threshold int64    `json:"threshold"`
	} `json:"confirming_parties"`
	SubViews []int64 `json:"sub_views"`
}

// envelope is what an envelope of a transaction cost.
type envelope struct {
	Cost  int64   `json:"traffic_cost"`
	Views []int64 `json:"view_ids"`
}

// appShare is the activity of an app.
type appShare struct {
	Party  string      `json:"party"`
	Weight json.Number `json:"weight"`
}

// What of one update is shown at most. The raw JSON has everything.
const (
	maxEvents    = 400
	maxValues    = 60 // events with their values
	maxNesting   = 40
	maxMovements = 200
)

// update is the page of an update.
func (e *Explorer) update(ctx context.Context, v *page.View) (page.Page, error) {
	id, err := v.Path("id")
	if err != nil {
		return page.Page{}, err
	}
	item, err := e.itemOf(ctx, id)
	if err != nil {
		return page.Page{}, err
	}
	if item == nil {
		return e.noUpdate(ctx, id)
	}
	view := updateView{id: id, item: *item, raw: e.rawOf(item, id)}
	view.decide()
	if item.Update != nil {
		view.events, view.left = e.tree(item.Update)
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		view.before, view.after, err = e.cfg.Explore.Neighbours(ctx, item.Position())
		return err
	})
	if item.Update != nil {
		group.Go(func() (err error) {
			view.movements, view.derived, err = e.cfg.Explore.MovementsOf(ctx, item.Position(), maxMovements)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return page.Page{}, err
	}
	return page.Page{Title: "Update " + page.Short(id), Section: page.Updates, Body: updatePage(v, &view)}, nil
}

// itemOf is the item of an id, nil without one.
func (e *Explorer) itemOf(ctx context.Context, id string) (*schemas.Item, error) {
	if id == "" || len(id) > maxInput {
		return nil, nil
	}
	items, err := e.cfg.History.ItemsByID(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	if item, ok := items[id]; ok {
		return &item, nil
	}
	return nil, nil
}

// noUpdate leads to the contract of an import update, whose id that is, or says that there is no such update.
func (e *Explorer) noUpdate(ctx context.Context, id string) (page.Page, error) {
	if values.IsContract(id) {
		known, err := e.cfg.Explore.HasContract(ctx, id)
		if err != nil {
			return page.Page{}, err
		}
		if known {
			return page.Page{See: page.ContractPath(id)}, nil
		}
	}
	return page.Page{}, page.Missing("There is no update or verdict with this id in public history.")
}

// rawOf are the addresses of an item on the interfaces.
func (e *Explorer) rawOf(item *schemas.Item, id string) (links []rawLink) {
	escaped := url.PathEscape(id)
	if item.Update != nil {
		links = append(links, rawLink{"update (v2)", e.cfg.Scan + "/v2/updates/" + escaped}, rawLink{"update (v1)", e.cfg.Scan + "/v1/updates/" + escaped})
	}
	return append(links, rawLink{"update with verdict (v0)", e.cfg.Scan + "/v0/events/" + escaped})
}

// decide reads what the verdict says.
func (view *updateView) decide() {
	if v := view.item.Verdict; v != nil {
		var all struct {
			Views []verdictView `json:"views"`
		}
		if err := json.Unmarshal(v.Views, &all); err != nil {
			view.oddViews = v.Views
		}
		view.views = all.Views
	}
	if t := view.item.Traffic; t != nil && json.Unmarshal(t.Envelopes, &view.envelopes) != nil {
		view.envelopes = nil // the raw JSON has them
	}
	if a := view.item.AppActivity; a != nil && json.Unmarshal(a.Records, &view.activity) != nil {
		view.activity = nil
	}
}

// tree makes the tree of an update's events, and counts those that are left out.
func (e *Explorer) tree(u *schemas.Update) (roots []event, left int) {
	t := treeMaker{Explorer: e, update: u, byNode: make(map[int32]int, len(u.Events))}
	for i := range u.Events {
		t.byNode[u.Events[i].Node] = i
	}
	of := u.RootEvents
	if u.Kind != schemas.Transaction {
		for i := range u.Events {
			of = append(of, u.Events[i].Node)
		}
	}
	roots = t.below(of, 0)
	return roots, len(u.Events) - t.shown
}

// treeMaker makes the tree of an update.
type treeMaker struct {
	*Explorer
	update *schemas.Update
	byNode map[int32]int
	shown  int
}

// below makes the events of some nodes.
func (t *treeMaker) below(nodes []int32, depth int) (list []event) {
	for _, node := range nodes {
		i, ok := t.byNode[node]
		if !ok || t.shown >= maxEvents {
			continue
		}
		t.shown++
		made := event{Event: &t.update.Events[i]}
		made.template = schemas.TemplateName(made.PackageName, made.TemplateID)
		if t.shown <= maxValues {
			made.argument, made.result = said(t.cfg.Labels.Argument(made.Event, t.update.Encoding))
		}
		if made.deep = depth >= maxNesting && len(made.Children) > 0; !made.deep {
			made.children = t.below(made.Children, depth+1)
		}
		list = append(list, made)
	}
	return list
}

// said leaves out values that say nothing.
func said(argument, result []byte) ([]byte, []byte) {
	for _, value := range []*[]byte{&argument, &result} {
		if text := string(*value); text == "{}" || text == "null" {
			*value = nil
		}
	}
	return argument, result
}
