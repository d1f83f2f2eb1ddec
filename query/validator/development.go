package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
)

// development is what only development networks offer.
type development struct{ enabled bool }

// operations are those that only development networks have, and giving up a right that
// others grant elsewhere.
func (d *development) operations() []operation {
	return []operation{
		{method: "POST", path: "/v0/wallet/tap", name: "tap", write: true, handle: d.tap},
		{method: "POST", path: "/v0/wallet/self-grant-feature-app-right", name: "grant_featured_right", write: true, handle: d.grantFeaturedRight},
		{method: "DELETE", path: "/v0/wallet/cancel-featured-app-rights", name: "cancel_featured_rights", write: true, handle: cancelFeaturedRights},
	}
}

// errNoDevelopment refuses what is not for a network in use.
func errNoDevelopment() error {
	return query.Errorf(query.Denied, "This is offered on development networks only.")
}

func (d *development) tap(ctx context.Context, c *caller) error {
	p := c.Body()
	dollars, id := amountOf(p, "amount"), optionalTextOf(p, "command_id", maxTrackingID)
	if p.Err() == nil && p.Has("command_id") && id == "" {
		p.Fail("Member command_id must have from 1 to %d bytes.", maxTrackingID)
	}
	if err := p.Err(); err != nil {
		return err
	}
	if !d.enabled {
		return errNoDevelopment()
	}
	done, err := c.commands.Coins.Tap(ctx, c.actor(), dollars, id)
	return contractAnswer(c, "contract_id", done, err)
}

func (d *development) grantFeaturedRight(ctx context.Context, c *caller) error {
	if err := optionalBody(c); err != nil {
		return err
	}
	if !d.enabled {
		return errNoDevelopment()
	}
	done, err := c.commands.Rewards.GrantFeaturedRight(ctx, c.actor())
	return contractAnswer(c, "contract_id", done, err)
}

func cancelFeaturedRights(ctx context.Context, c *caller) error {
	done, err := c.commands.Rewards.CancelFeaturedRights(ctx, c.actor())
	return empty(c, done, err)
}

// optionalBody refuses a body that is neither empty, nor null, nor an object.
func optionalBody(c *caller) error {
	if text := string(c.RawBody()); text == "" || text == "null" {
		return nil
	}
	return c.Body().Err()
}
