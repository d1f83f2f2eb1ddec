package validator

import (
	"context"
	"errors"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// userOperations say who has a wallet.
func (a *API) userOperations() []operation {
	return []operation{
		{method: "GET", path: "/v0/validator-user", name: "validator_user", access: public, handle: a.validatorUser},
		{method: "GET", path: "/v0/wallet/user-status", name: "user_status", access: anyUser, handle: a.userStatus},
		{method: "POST", path: "/v0/register", name: "register", access: anyUser, write: true, handle: a.register},
		{method: "POST", path: "/v0/admin/users", name: "onboard", access: operatorOnly, write: true, handle: a.onboard},
		{method: "GET", path: "/v0/admin/users", name: "users", access: operatorOnly, handle: a.users},
		{method: "POST", path: "/v0/admin/users/offboard", name: "offboard", access: operatorOnly, write: true, handle: a.offboard},
	}
}

func (a *API) validatorUser(ctx context.Context, c *caller) error {
	operator, err := a.operator(ctx)
	if err != nil {
		return err
	}
	featured, err := a.isFeatured(ctx, operator.Party)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		Party    string `json:"party_id"`
		User     string `json:"user_name"`
		Featured bool   `json:"featured"`
	}{operator.Party, operator.User, featured})
}

type userStatus struct {
	Party     string `json:"party_id"`
	Onboarded bool   `json:"user_onboarded"`
	Installed bool   `json:"user_wallet_installed"`
	Featured  bool   `json:"has_featured_app_right"`
}

// userStatus tells a user who may be nobody here how they stand.
func (a *API) userStatus(ctx context.Context, c *caller) error {
	rights, err := a.rightsOf(ctx, c.user)
	if errors.Is(err, auth.ErrUnauthenticated) || err == nil && (rights.Deactivated || rights.PrimaryParty == "") {
		return c.JSON(userStatus{})
	}
	if err != nil {
		return err
	}
	installed, err := a.hasWallet(ctx, rights.PrimaryParty, c.user)
	if err != nil {
		return err
	}
	if !installed {
		return c.JSON(userStatus{})
	}
	status := userStatus{Party: rights.PrimaryParty, Onboarded: true, Installed: true}
	if status.Featured, err = a.isFeatured(ctx, rights.PrimaryParty); err != nil {
		return err
	}
	return c.JSON(status)
}

// register gives the caller a wallet.
func (a *API) register(ctx context.Context, c *caller) error {
	if err := optionalBody(c); err != nil {
		return err
	}
	if err := checkUserName(c.user); err != nil {
		return err
	}
	return a.onboarded(ctx, c, wallet.OnboardRequest{User: c.user})
}

// checkUserName refuses what cannot be the id of a ledger user.
func checkUserName(user string) error {
	if user == "" || len(user) > maxUserName {
		return query.Errorf(query.Invalid, "The name of a user has from 1 to %d bytes.", maxUserName)
	}
	_, err := query.Segment("The name of a user", user) // the node has it in paths
	return err
}

func (a *API) onboard(ctx context.Context, c *caller) error {
	p := c.Body()
	r := wallet.OnboardRequest{User: textOf(p, "name", 1, maxUserName)}
	if party, ok := p.OptionalText("party_id"); ok {
		checkIdentity(p, "Member party_id", party)
		r.Party = party
	}
	r.CreateParty = p.Bool("createPartyIfMissing")
	if err := p.Err(); err != nil {
		return err
	}
	if err := checkUserName(r.User); err != nil {
		return err
	}
	return a.onboarded(ctx, c, r)
}

func (a *API) onboarded(ctx context.Context, c *caller, r wallet.OnboardRequest) error {
	party, err := c.commands.Onboard(ctx, r)
	a.forgetUser(r.User) // also after a failure: some of it may have been done
	if err != nil {
		return refused(err)
	}
	return c.JSON(map[string]string{"party_id": party})
}

// users lists the users of wallets by name.
func (a *API) users(ctx context.Context, c *caller) error {
	wallets, err := a.wallets(ctx)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(wallets))
	for _, w := range wallets {
		names = append(names, w.User)
	}
	slices.Sort(names)
	return c.JSON(map[string][]string{"usernames": slices.Compact(names)})
}

func (a *API) offboard(ctx context.Context, c *caller) error {
	p := c.Query()
	user := p.Text("username")
	if err := p.Err(); err != nil {
		return err
	}
	if err := checkUserName(user); err != nil {
		return err
	}
	err := c.commands.Offboard(ctx, user)
	a.forgetUser(user)
	if err != nil {
		return refused(err)
	}
	return c.Empty(200)
}

// forgetUser has everything about a user asked anew.
func (a *API) forgetUser(user string) {
	a.cfg.Users.Forget(user)
	a.seen.RemoveFunc(func(w installed) bool { return w.User == user })
}
