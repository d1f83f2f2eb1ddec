package state

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// featuredApps serves the rights of featured apps, and the coupons of the development fund.
type featuredApps struct{ contracts *contracts }

// all serves all rights of featured apps, oldest first.
func (f *featuredApps) all(ctx context.Context, r *query.Request) error {
	q, _, err := f.contracts.of(ctx, template.FeaturedAppRight)
	if err != nil {
		return err
	}
	return f.contracts.answer(ctx, r, "featured_apps", q, func(c *contract) any { return c.answer() })
}

// ofProvider serves the rights of one provider.
func (f *featuredApps) ofProvider(ctx context.Context, r *query.Request) error {
	provider, err := r.Path("provider_party_id")
	if err != nil {
		return err
	}
	q, _, err := f.contracts.of(ctx, template.FeaturedAppRight)
	if err != nil {
		return err
	}
	q.Observer = provider
	return f.contracts.answer(ctx, r, "featured_apps", q, func(c *contract) any { return c.answer() })
}

// one serves one right, {} when there is none. narrow says which one, by the
// path parameter.
func (f *featuredApps) one(parameter string, narrow func(q *history.StateQuery, value string)) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		value, err := r.Path(parameter)
		if err != nil {
			return err
		}
		q, _, err := f.contracts.of(ctx, template.FeaturedAppRight)
		if err != nil {
			return err
		}
		q.Limit = 1
		narrow(&q, value)
		list, err := f.contracts.read(ctx, q)
		if err != nil {
			return err
		}
		answer := map[string]any{}
		if len(list) > 0 {
			if err := f.contracts.findBlobs(ctx, template.FeaturedAppRight, providerOf(&list[0]), list); err != nil {
				return err
			}
			answer["featured_app_right"] = list[0].answer()
		}
		return r.JSON(answer)
	}
}

// rightOf returns the oldest right of a provider, nil for none.
func (f *featuredApps) rightOf(ctx context.Context, provider string) (*contract, error) {
	q, _, err := f.contracts.of(ctx, template.FeaturedAppRight)
	if err != nil {
		return nil, err
	}
	q.Limit, q.Observer = 1, provider
	list, err := f.contracts.read(ctx, q)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], f.contracts.findBlobs(ctx, template.FeaturedAppRight, provider, list)
}

// providerOf is the provider of a right, who is its one observer.
func providerOf(right *contract) string {
	if len(right.Event.Observers) != 1 {
		return ""
	}
	return right.Event.Observers[0]
}

// fundCoupons serves coupons of the development fund that nobody has claimed.
func (f *featuredApps) fundCoupons(ctx context.Context, r *query.Request) error {
	q, _, err := f.contracts.of(ctx, template.UnclaimedDevelopmentFundCoupon)
	if err != nil {
		return err
	}
	return f.contracts.answer(ctx, r, "unclaimed-development-fund-coupons", q, func(c *contract) any { return c.withState() })
}
