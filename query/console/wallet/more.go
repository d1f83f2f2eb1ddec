package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
)

// preapproval tells whether anybody can send to the user in one step, and offers it.
func (w *Wallet) preapproval(ctx context.Context, v *visit) (page.Page, error) {
	found, err := v.user.Preapproval(ctx, v.party)
	if walletapi.Is(err, query.NotFound) {
		return made(v, "Preapproval", preapprovalPage(v, nil))
	}
	if err != nil {
		return page.Page{}, err
	}
	return made(v, "Preapproval", preapprovalPage(v, &found))
}

// requestPreapproval asks for one. A second time there is one.
func (w *Wallet) requestPreapproval(ctx context.Context, v *visit) (page.Page, error) {
	err := v.user.RequestPreapproval(ctx)
	switch {
	case walletapi.Is(err, query.AlreadyExists):
		return see("/wallet/preapproval", "preapproval-there")
	case err != nil:
		return page.Page{}, err
	}
	return see("/wallet/preapproval", "preapproval")
}

// nameForm is a name that is asked for.
type nameForm struct {
	name, url, description      string
	nameProblem, urlProblem     string
	descriptionProblem, refusal string
}

func (f *nameForm) bad() bool {
	return f.nameProblem+f.urlProblem+f.descriptionProblem+f.refusal != ""
}

// What the fields of a name may have, in bytes.
const (
	maxName        = 100
	maxURL         = 255
	maxDescription = 140
)

// names are the user's names, with the form to ask for one.
func (w *Wallet) names(ctx context.Context, v *visit) (page.Page, error) {
	return showNames(ctx, v, nameForm{})
}

func showNames(ctx context.Context, v *visit, form nameForm) (page.Page, error) {
	names, err := v.user.Names(ctx)
	if err != nil {
		return page.Page{}, err
	}
	if form.bad() {
		return failed(v, "Names", namesPage(v, names, form))
	}
	return made(v, "Names", namesPage(v, names, form))
}

// requestName asks for a name. It is the user's once the subscription is accepted that comes in return.
func (w *Wallet) requestName(ctx context.Context, v *visit) (page.Page, error) {
	form := nameForm{name: v.Field("name"), url: v.Field("url"), description: v.Field("description")}
	if form.name == "" || len(form.name) > maxName {
		form.nameProblem = "Enter a name of at most 100 characters."
	}
	if len(form.url) > maxURL {
		form.urlProblem = "The address may have 255 characters."
	}
	if len(form.description) > maxDescription {
		form.descriptionProblem = "The description may have 140 characters."
	}
	if form.bad() {
		return showNames(ctx, v, form)
	}
	subscription, err := v.user.RequestName(ctx, form.name, form.url, form.description)
	if err == nil && subscription != "" {
		return page.Page{See: doPath("subscription-requests", "accept", subscription)}, nil
	}
	if err == nil {
		return see("/wallet/requests", "requested")
	}
	var ok bool
	if form.refusal, ok = told(err); !ok {
		return page.Page{}, err
	}
	return showNames(ctx, v, form)
}

// maxCoupons is how many coupons are shown.
const maxCoupons = 500

// rewards are the coupons that the wallet can turn into coins.
func (w *Wallet) rewards(ctx context.Context, v *visit) (page.Page, error) {
	coupons, err := v.user.Coupons(ctx)
	if err != nil {
		return page.Page{}, err
	}
	return made(v, "Rewards", rewardsPage(v, coupons[:min(len(coupons), maxCoupons)], len(coupons)))
}

// maxSteps is how many steps of automations are shown.
const maxSteps = 500

// automations are what the automations of all wallets would do, for operators.
func (w *Wallet) automations(ctx context.Context, v *visit) (page.Page, error) {
	if !v.Who.Admin {
		return page.Page{}, query.Errorf(query.Denied, "Automations act for all wallets of the validator: they are shown to its operators.")
	}
	if w.cfg.Automations == nil {
		return page.Page{}, query.Errorf(query.Disabled, "This server sends no commands to a node, and so has no automations.")
	}
	steps, err := w.cfg.Automations(ctx)
	if err != nil {
		return page.Page{}, &query.Error{Code: query.Unavailable, Msg: "The automations cannot tell what they would do.", Err: err}
	}
	return made(v, "Automations", automationsPage(v, steps[:min(len(steps), maxSteps)], len(steps)))
}
