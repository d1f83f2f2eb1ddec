package wallet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
)

// decision is what a user is about to do with an item.
type decision struct {
	kind   kind
	action action
	item   walletapi.Item
	facts  []fact
}

// path is the address of the page that confirms it.
func (d *decision) path() string { return doPath(d.kind.name, d.action.name, d.item.ID) }

// asked reads what is to be done out of the address.
func asked(v *visit) (d decision, err error) {
	var names [3]string
	for i, name := range []string{"kind", "action", "id"} {
		if names[i], err = v.Path(name); err != nil {
			return d, err
		}
	}
	var ok bool
	if d.kind, ok = kindOf(names[0]); ok {
		i := slices.IndexFunc(d.kind.actions, func(a action) bool { return a.name == names[1] })
		if ok = i >= 0; ok {
			d.action, d.item.ID = d.kind.actions[i], names[2]
		}
	}
	if !ok {
		return d, page.Missing("There is nothing of this kind that a wallet could do.")
	}
	return d, nil
}

// find completes a decision from the user's own list: what is not in it, or not the user's to decide, is
// not there.
func (d *decision) find(ctx context.Context, v *visit) error {
	items, err := d.kind.list(ctx, v)
	if err != nil {
		return fmt.Errorf("listing %s: %w", d.kind.name, err)
	}
	i := slices.IndexFunc(items, func(i walletapi.Item) bool { return i.ID == d.item.ID })
	if i < 0 || !slices.ContainsFunc(d.kind.offered(v, &items[i]), func(a action) bool { return a.name == d.action.name }) {
		return page.Missing("This is not open for you: it may have been decided already, or is not yours to decide.")
	}
	d.item, d.facts = items[i], itemFacts(&items[i])
	return nil
}

// decide shows what will happen.
func (w *Wallet) decide(ctx context.Context, v *visit) (page.Page, error) {
	d, err := asked(v)
	if err == nil {
		err = d.find(ctx, v)
	}
	if err != nil {
		return page.Page{}, err
	}
	return made(v, d.action.label, decidePage(v, &d, ""))
}

// doDecide does it. A form that comes again when it is done goes on to the same page.
func (w *Wallet) doDecide(ctx context.Context, v *visit) (page.Page, error) {
	d, err := asked(v)
	if err != nil {
		return page.Page{}, err
	}
	d.item.Tracking = v.Field("tracking")
	err = d.find(ctx, v)
	if walletapi.Is(err, query.NotFound) && d.action.after != nil && v.Field("once") != "" {
		see, err := d.afterwards()
		see.See = strings.TrimSuffix(see.See, "?new=1") // to strangers the page tells nothing
		return see, err
	}
	if err != nil {
		return page.Page{}, err
	}
	err = d.action.do(ctx, v, d.item)
	if err == nil || walletapi.Is(err, query.AlreadyExists) {
		return d.afterwards()
	}
	text, ok := told(err)
	if !ok {
		return page.Page{}, err
	}
	return failed(v, d.action.label, decidePage(v, &d, text))
}

// afterwards goes on to the page that tells what has become of it.
func (d *decision) afterwards() (page.Page, error) {
	if d.action.after != nil && (d.kind.name != "offers" || d.item.Tracking != "") {
		return page.Page{See: d.action.after(d.item)}, nil
	}
	return see(d.kind.back, "done")
}
