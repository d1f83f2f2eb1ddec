package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
)

// featuredApps serves all rights of featured apps, oldest first.
func (a *API) featuredApps(ctx context.Context, r *query.Request) error {
	q, _, err := a.stateOf(ctx, featuredAppTemplate)
	if err != nil {
		return err
	}
	return a.produceContracts(ctx, r, "featured_apps", q, func(c *contract) any { return c.answer() })
}

// featuredAppsOf serves the rights of one provider.
func (a *API) featuredAppsOf(ctx context.Context, r *query.Request) error {
	provider, err := r.Path("provider_party_id")
	if err != nil {
		return err
	}
	q, _, err := a.stateOf(ctx, featuredAppTemplate)
	if err != nil {
		return err
	}
	q.Observer = provider
	return a.produceContracts(ctx, r, "featured_apps", q, func(c *contract) any { return c.answer() })
}

// featuredApp serves one right, {} when there is none. narrow says which one, by the
// path parameter.
func (a *API) featuredApp(parameter string, narrow func(q *history.StateQuery, value string)) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		value, err := r.Path(parameter)
		if err != nil {
			return err
		}
		q, _, err := a.stateOf(ctx, featuredAppTemplate)
		if err != nil {
			return err
		}
		q.Limit = 1
		narrow(&q, value)
		list, err := a.contracts(ctx, q)
		if err != nil {
			return err
		}
		answer := map[string]any{}
		if len(list) > 0 {
			answer["featured_app_right"] = list[0].answer()
		}
		return r.JSON(answer)
	}
}

// fundCoupons serves coupons of the development fund that nobody has claimed.
func (a *API) fundCoupons(ctx context.Context, r *query.Request) error {
	q, _, err := a.stateOf(ctx, fundCouponTemplate)
	if err != nil {
		return err
	}
	return a.produceContracts(ctx, r, "unclaimed-development-fund-coupons", q, func(c *contract) any { return c.withState() })
}
