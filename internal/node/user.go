package node

import (
	"context"
	"net/url"
	"strconv"
)

const (
	usersOperation = "/v2/users"
	userOperation  = "/v2/users/{user-id}"
	rightOperation = "/v2/users/{user-id}/rights"
)

// User is a ledger user.
type User struct {
	ID           string `json:"id"`
	PrimaryParty string `json:"primaryParty,omitempty"`
	Deactivated  bool   `json:"isDeactivated,omitempty"`
}

// RightKind is what a right lets its holder do.
type RightKind string

// The kinds of rights. The first three are of one party, the others of none.
const (
	CanActAs         RightKind = "CanActAs"
	CanReadAs        RightKind = "CanReadAs"
	CanExecuteAs     RightKind = "CanExecuteAs"
	ParticipantAdmin RightKind = "ParticipantAdmin"
	ReadAsAnyParty   RightKind = "CanReadAsAnyParty"
	ExecuteAsAny     RightKind = "CanExecuteAsAnyParty"
)

// Right is something that a user may do.
type Right struct {
	Kind  RightKind
	Party string
}

// wireRight is {"kind": {"CanActAs": {"value": {"party": ".."}}}}.
type wireRight struct {
	Kind map[RightKind]valueOf[rightValue] `json:"kind"`
}

type rightValue struct {
	Party string `json:"party,omitempty"`
}

func wireRights(rights []Right) []wireRight {
	wire := make([]wireRight, len(rights))
	for i, r := range rights {
		wire[i].Kind = map[RightKind]valueOf[rightValue]{r.Kind: {rightValue{r.Party}}}
	}
	return wire
}

func plainRights(wire []wireRight) []Right {
	var rights []Right
	for _, w := range wire {
		for kind, value := range w.Kind {
			rights = append(rights, Right{kind, value.Value.Party})
		}
	}
	return rights
}

// userCall is a call of an operation of one user.
func userCall(method, operation, user, tail string, body any) *call {
	return &call{method: method, operation: operation, path: usersOperation + "/" + url.PathEscape(user) + tail, body: body}
}

// User returns a user; ok is false if there is none.
func (c *Client) User(ctx context.Context, id string) (u User, ok bool, err error) {
	var answer struct {
		User User `json:"user"`
	}
	err = c.do(ctx, userCall("GET", userOperation, id, "", nil), &answer)
	if HasCode(err, CodeUserNotFound) {
		return User{}, false, nil
	}
	return answer.User, err == nil, err
}

// CreateUser makes a user with rights. Its error has CodeUserExists if there is one.
func (c *Client) CreateUser(ctx context.Context, u User, rights []Right) error {
	return c.post(ctx, usersOperation, map[string]any{"user": u, "rights": wireRights(rights)}, nil)
}

// UserExists reports whether err says that a user to be made is there already.
func UserExists(err error) bool { return HasCode(err, CodeUserExists) }

// SetPrimaryParty gives a user another primary party.
func (c *Client) SetPrimaryParty(ctx context.Context, id, party string) error {
	body := map[string]any{"user": User{ID: id, PrimaryParty: party}, "updateMask": map[string]any{"paths": []string{"primary_party"}}}
	return c.do(ctx, userCall("PATCH", userOperation, id, "", body), nil)
}

// DeleteUser removes a user.
func (c *Client) DeleteUser(ctx context.Context, id string) error {
	return c.do(ctx, userCall("DELETE", userOperation, id, "", nil), nil)
}

// Users calls take with each user, in the node's order.
func (c *Client) Users(ctx context.Context, take func(User) error) error {
	query := url.Values{"pageSize": {strconv.Itoa(c.cfg.PageSize)}}
	for {
		var page struct {
			Users []User `json:"users"`
			Next  string `json:"nextPageToken"`
		}
		if err := c.get(ctx, usersOperation, query, &page); err != nil {
			return err
		}
		for _, u := range page.Users {
			if err := take(u); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query.Set("pageToken", page.Next)
	}
}

// Rights returns those of a user.
func (c *Client) Rights(ctx context.Context, user string) ([]Right, error) {
	var answer struct {
		Rights []wireRight `json:"rights"`
	}
	err := c.do(ctx, userCall("GET", rightOperation, user, "/rights", nil), &answer)
	return plainRights(answer.Rights), err
}

// GrantRights gives a user rights; those that it has are no error.
func (c *Client) GrantRights(ctx context.Context, user string, rights ...Right) error {
	return c.do(ctx, userCall("POST", rightOperation, user, "/rights", rightsOf(user, rights)), nil)
}

// RevokeRights takes rights from a user; those that it has not are no error.
func (c *Client) RevokeRights(ctx context.Context, user string, rights ...Right) error {
	return c.do(ctx, userCall("PATCH", rightOperation, user, "/rights", rightsOf(user, rights)), nil)
}

func rightsOf(user string, rights []Right) map[string]any {
	return map[string]any{"userId": user, "rights": wireRights(rights), "identityProviderId": ""}
}
