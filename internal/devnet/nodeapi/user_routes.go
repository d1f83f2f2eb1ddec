package nodeapi

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// fieldMask says which members of a request are to be taken over.
type fieldMask struct {
	Paths []string `json:"paths"`
}

// page says which part of a list a request wants.
type page struct {
	after string // the last element of the page before
	limit int
}

// pageOf reads the parameters of a list with pages of at most most elements.
func pageOf(r *http.Request, most int) (page, error) {
	p := page{limit: most}
	query := r.URL.Query()
	if text := query.Get("pageSize"); text != "" {
		size, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return p, reply.BadRequest("Invalid value for: query parameter pageSize")
		}
		if size < 0 {
			return p, invalidArgument("page_size %d is negative", size)
		}
		if size > 0 {
			p.limit = int(min(size, int64(most)))
		}
	}
	after, err := base64.RawURLEncoding.DecodeString(query.Get("pageToken"))
	if err != nil {
		return p, invalidArgument("page_token is not one of this operation")
	}
	p.after = string(after)
	return p, nil
}

// nextPage is the token of the page behind an element.
func nextPage(last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last))
}

func (n *userServer) listUsers(r *http.Request) (any, error) {
	p, err := pageOf(r, maxUsersPage)
	if err != nil {
		return nil, err
	}
	users, more := n.users.list(p.after, p.limit)
	answer := map[string]any{"users": users, "nextPageToken": ""}
	if more {
		answer["nextPageToken"] = nextPage(users[len(users)-1].ID)
	}
	return answer, nil
}

type createUserRequest struct {
	User   *ledger.WireUser `json:"user"`
	Rights []WireRight      `json:"rights"`
}

func (n *userServer) createUser(r *http.Request, q *createUserRequest) (any, error) {
	who := principalOf(r.Context())
	if q.User == nil {
		return nil, reply.BadRequest("invalid body: user is required")
	}
	if err := n.checkIdentityProvider(q.User.IdentityProviderID); err != nil {
		return nil, err
	}
	rights, err := decodeRights(q.Rights)
	if err != nil {
		return nil, err
	}
	if err := who.mayGrant(rights); err != nil {
		return nil, err
	}
	user, err := n.users.create(*q.User, rights)
	return map[string]any{"user": user}, err
}

// getUser answers with a user; one's own may be read without further rights.
func (n *userServer) getUser(r *http.Request) (any, error) {
	user, _, err := n.readableUser(r, r.PathValue("user"))
	return map[string]any{"user": user}, err
}

func (n *userServer) authenticatedUser(r *http.Request) (any, error) {
	user, _, err := n.readableUser(r, principalOf(r.Context()).user)
	return map[string]any{"user": user}, err
}

func (n *userServer) userRights(r *http.Request) (any, error) {
	_, rights, err := n.readableUser(r, r.PathValue("user"))
	return map[string]any{"rights": WireRights(rights)}, err
}

func (n *userServer) readableUser(r *http.Request, id string) (ledger.WireUser, []ledger.Right, error) {
	who := principalOf(r.Context())
	if id != who.user {
		if err := who.mayManage(); err != nil {
			return ledger.WireUser{}, nil, err
		}
	}
	if err := n.checkIdentityProvider(r.URL.Query().Get("identity-provider-id")); err != nil {
		return ledger.WireUser{}, nil, err
	}
	return n.users.get(id)
}

type updateUserRequest struct {
	User *ledger.WireUser `json:"user"`
	Mask *fieldMask       `json:"updateMask"`
}

func (n *userServer) updateUser(r *http.Request, q *updateUserRequest) (any, error) {
	who := principalOf(r.Context())
	id := r.PathValue("user")
	switch {
	case q.User == nil:
		return nil, reply.BadRequest("invalid body: user is required")
	case q.Mask == nil || len(q.Mask.Paths) == 0:
		return nil, missingField("update_mask")
	case q.User.ID != "" && q.User.ID != id:
		return nil, invalidArgument("user.id %q is not the user of the path, %q", q.User.ID, id)
	}
	q.User.ID = id
	user, err := n.users.update(*q.User, q.Mask.Paths, who.user)
	return map[string]any{"user": user}, err
}

func (n *userServer) deleteUser(r *http.Request) (any, error) {
	who := principalOf(r.Context())
	if err := n.users.remove(r.PathValue("user"), who.user); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

func (n *userServer) grantRights(r *http.Request, q *rightsRequest) (any, error) {
	changed, err := n.changeRights(r, q, n.users.grant)
	return map[string]any{"newlyGrantedRights": WireRights(changed)}, err
}

func (n *userServer) revokeRights(r *http.Request, q *rightsRequest) (any, error) {
	changed, err := n.changeRights(r, q, n.users.revoke)
	return map[string]any{"newlyRevokedRights": WireRights(changed)}, err
}

// rightsRequest grants or revokes rights.
type rightsRequest struct {
	UserID             string      `json:"userId"`
	Rights             []WireRight `json:"rights"`
	IdentityProviderID string      `json:"identityProviderId"`
}

// changeRights checks a request that grants or revokes rights and has change do it.
func (n *userServer) changeRights(r *http.Request, q *rightsRequest, change func(id string, rights []ledger.Right) ([]ledger.Right, error)) ([]ledger.Right, error) {
	id := r.PathValue("user")
	if q.UserID != "" && q.UserID != id {
		return nil, invalidArgument("userId %q is not the user of the path, %q", q.UserID, id)
	}
	if err := n.checkIdentityProvider(q.IdentityProviderID); err != nil {
		return nil, err
	}
	rights, err := decodeRights(q.Rights)
	if err != nil {
		return nil, err
	}
	if err := principalOf(r.Context()).mayGrant(rights); err != nil {
		return nil, err
	}
	return change(id, rights)
}

// mayManage checks the right to manage users and parties.
func (p principal) mayManage() error {
	if p.everything || p.has("ParticipantAdmin") || p.has("IdentityProviderAdmin") {
		return nil
	}
	return permissionDenied()
}

// mayGrant checks that nobody makes a participant administrator who is none.
func (p principal) mayGrant(rights []ledger.Right) error {
	if p.everything || p.has("ParticipantAdmin") || !slices.Contains(rights, ledger.Right{Kind: "ParticipantAdmin"}) {
		return nil
	}
	return permissionDenied()
}

func (p principal) has(kind string) bool {
	return slices.ContainsFunc(p.rights, func(r ledger.Right) bool { return r.Kind == kind })
}
