package validator

import (
	"context"
	"errors"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// users are the operations on who has a wallet.
type users struct{ accounts *accounts }

func (u *users) operations() []operation {
	return []operation{
		{method: "GET", path: "/v0/validator-user", name: "validator_user", access: public, handle: u.validatorUser},
		{method: "GET", path: "/v0/wallet/user-status", name: "user_status", access: anyUser, handle: u.userStatus},
		{method: "POST", path: "/v0/register", name: "register", access: anyUser, write: true, handle: u.register},
		{method: "POST", path: "/v0/admin/users", name: "onboard", access: operatorOnly, write: true, handle: u.onboard},
		{method: "GET", path: "/v0/admin/users", name: "users", access: operatorOnly, handle: u.list},
		{method: "POST", path: "/v0/admin/users/offboard", name: "offboard", access: operatorOnly, write: true, handle: u.offboard},
	}
}

func (u *users) validatorUser(ctx context.Context, c *caller) error {
	operator, err := u.accounts.operator.Get(ctx)
	if err != nil {
		return err
	}
	featured, err := u.accounts.isFeatured(ctx, operator.Party)
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

// userStatus serves whether the caller, who may be unknown here, has a wallet.
func (u *users) userStatus(ctx context.Context, c *caller) error {
	rights, err := u.accounts.rightsOf(ctx, c.user)
	if errors.Is(err, auth.ErrUnauthenticated) || err == nil && (rights.Deactivated || rights.PrimaryParty == "") {
		return c.JSON(userStatus{})
	}
	if err != nil {
		return err
	}
	installed, err := u.accounts.has(ctx, rights.PrimaryParty, c.user)
	if err != nil {
		return err
	}
	if !installed {
		return c.JSON(userStatus{})
	}
	status := userStatus{Party: rights.PrimaryParty, Onboarded: true, Installed: true}
	if status.Featured, err = u.accounts.isFeatured(ctx, rights.PrimaryParty); err != nil {
		return err
	}
	return c.JSON(status)
}

// register gives the caller a wallet.
func (u *users) register(ctx context.Context, c *caller) error {
	if err := optionalBody(c); err != nil {
		return err
	}
	if err := checkUserName(c.user); err != nil {
		return err
	}
	return u.onboarded(ctx, c, wallet.OnboardRequest{User: c.user})
}

// checkUserName refuses what cannot be the id of a ledger user.
func checkUserName(user string) error {
	if user == "" || len(user) > maxUserName {
		return query.Errorf(query.Invalid, "The name of a user has from 1 to %d bytes.", maxUserName)
	}
	_, err := query.Segment("The name of a user", user) // the node has it in paths
	return err
}

func (u *users) onboard(ctx context.Context, c *caller) error {
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
	return u.onboarded(ctx, c, r)
}

func (u *users) onboarded(ctx context.Context, c *caller, r wallet.OnboardRequest) error {
	party, err := c.commands.Users.Onboard(ctx, r)
	u.accounts.forget(r.User) // also after a failure: some of it may have been done
	if err != nil {
		return refused(err)
	}
	return c.JSON(map[string]string{"party_id": party})
}

// list lists the users of wallets by name.
func (u *users) list(ctx context.Context, c *caller) error {
	wallets, err := u.accounts.all(ctx)
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

func (u *users) offboard(ctx context.Context, c *caller) error {
	p := c.Query()
	user := p.Text("username")
	if err := p.Err(); err != nil {
		return err
	}
	if err := checkUserName(user); err != nil {
		return err
	}
	err := c.commands.Users.Offboard(ctx, user)
	u.accounts.forget(user)
	if err != nil {
		return refused(err)
	}
	return c.Empty(200)
}
