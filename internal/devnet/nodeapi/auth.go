package nodeapi

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
)

// NodeAuth says who may use the node, by tokens signed with a shared secret.
type NodeAuth struct {
	// Secret signs tokens (HS256).
	Secret []byte
	// Audience must be among a token's audiences, if given.
	Audience string
	// Scope must be among the words of a token's scope, if given.
	Scope string
	// Users are the users that the node has from the start, besides participant_admin:
	// their rights by id, the subject of their tokens. Others are created over the API.
	Users map[string][]ledger.Right
	// Now is the clock by which tokens expire; time.Now when nil.
	Now func() time.Time
}

func (a *NodeAuth) now() time.Time {
	if a.Now != nil {
		return a.Now()
	}
	return time.Now()
}

// principal is who asks. The zero value is nobody.
type principal struct {
	everything bool // no authorization is configured
	user       string
	rights     []ledger.Right
	expires    time.Time       // zero for never
	changed    <-chan struct{} // closed when the rights are no longer these; nil for never
}

// authenticate finds out who sent a request.
func (n *nodeServer) authenticate(r *http.Request) (principal, error) {
	auth := n.options.Auth
	if auth == nil {
		return principal{everything: true, user: AdminUser}, nil
	}
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(tokenOf(r), claims, func(*jwt.Token) (any, error) { return auth.Secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Name}), jwt.WithTimeFunc(auth.now))
	if err != nil {
		return principal{}, unauthenticated()
	}
	user, err := auth.userOf(claims)
	if err != nil {
		return principal{}, unauthenticated()
	}
	p, ok := n.users.principal(user)
	if !ok {
		return principal{}, unauthenticated()
	}
	if expires, err := claims.GetExpirationTime(); err == nil && expires != nil {
		p.expires = expires.Time
	}
	return p, nil
}

// userOf returns the user of a token that is meant for this node.
func (a *NodeAuth) userOf(claims jwt.MapClaims) (string, error) {
	user, err := claims.GetSubject()
	if err != nil {
		return "", err
	}
	audience, err := claims.GetAudience()
	scope, _ := claims["scope"].(string)
	switch {
	case err != nil:
		return "", err
	case a.Audience != "" && !slices.Contains(audience, a.Audience):
		return "", errors.New("token for another audience")
	case a.Scope != "" && !slices.Contains(strings.Fields(scope), a.Scope):
		return "", errors.New("token for another scope")
	}
	return user, nil
}

// tokenOf returns the token of a request: from the Authorization header, else the first
// websocket subprotocol that carries one; "" without.
func tokenOf(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	for _, offered := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(offered, ",") {
			if token, ok := strings.CutPrefix(strings.TrimSpace(protocol), "jwt.token."); ok {
				return token
			}
		}
	}
	return ""
}

// mayReadAny checks the right to read what any party sees.
func (p principal) mayReadAny() error {
	if p.everything || p.has("CanReadAsAnyParty") {
		return nil
	}
	return permissionDenied()
}

// mayActAs checks the right to submit for each of some parties.
func (p principal) mayActAs(parties []string) error {
	return p.mayAs(parties, "CanActAs")
}

// mayExecuteAs checks the right to hand in what each of some parties has signed.
func (p principal) mayExecuteAs(parties []string) error {
	if p.has("CanExecuteAsAnyParty") {
		return nil
	}
	return p.mayAs(parties, "CanActAs", "CanExecuteAs")
}

// mayAs checks for each party that one of some kinds of rights is there.
func (p principal) mayAs(parties []string, kinds ...string) error {
	for _, name := range parties {
		if !p.everything && !slices.ContainsFunc(p.rights, func(r ledger.Right) bool {
			return r.Party == name && slices.Contains(kinds, r.Kind)
		}) {
			return permissionDenied()
		}
	}
	return nil
}

// mayReadAs checks the right to read what one party sees.
func (p principal) mayReadAs(party string) error {
	if slices.ContainsFunc(p.rights, func(r ledger.Right) bool {
		return (r.Kind == "CanReadAs" || r.Kind == "CanActAs") && r.Party == party
	}) {
		return nil
	}
	return p.mayReadAny()
}

func (p principal) mayReadEvents(f *eventFormat) error {
	if f == nil {
		return nil
	}
	if f.any != nil {
		if err := p.mayReadAny(); err != nil {
			return err
		}
	}
	for _, name := range f.named {
		if err := p.mayReadAs(name); err != nil {
			return err
		}
	}
	return nil
}

func (p principal) mayReadUpdates(f *updateFormat) error {
	for _, events := range []*eventFormat{f.transactions, f.reassignments} {
		if err := p.mayReadEvents(events); err != nil {
			return err
		}
	}
	switch {
	case f.topology == nil:
		return nil
	case f.topology.parties == nil:
		return p.mayReadAny()
	}
	for name := range f.topology.parties {
		if err := p.mayReadAs(name); err != nil {
			return err
		}
	}
	return nil
}
