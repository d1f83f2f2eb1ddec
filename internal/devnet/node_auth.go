package devnet

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// NodeAuth says who may read from the node, by tokens signed with a shared secret.
type NodeAuth struct {
	// Secret signs tokens (HS256).
	Secret []byte
	// Audience must be among a token's audiences, if given.
	Audience string
	// Scope must be among the words of a token's scope, if given.
	Scope string
	// Users are the rights of users by id, the subject of their tokens.
	Users map[string][]Right
	// Now is the clock by which tokens expire; time.Now when nil.
	Now func() time.Time
}

// Right is something that a user may do.
type Right struct {
	// Kind is CanActAs, CanReadAs, CanReadAsAnyParty or ParticipantAdmin.
	Kind string
	// Party is the party of CanActAs and CanReadAs.
	Party string
}

// Token mints a token that expires then, or never if expires is zero.
func (a *NodeAuth) Token(user string, expires time.Time) (string, error) {
	claims := jwt.MapClaims{"sub": user}
	if a.Audience != "" {
		claims["aud"] = a.Audience
	}
	if a.Scope != "" {
		claims["scope"] = a.Scope
	}
	if !expires.IsZero() {
		claims["exp"] = expires.Unix()
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(a.Secret)
	if err != nil {
		return "", fmt.Errorf("signing a token for user %s: %w", user, err)
	}
	return token, nil
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
	rights     []Right
	expires    time.Time // zero for never
}

// authenticate finds out who sent a request.
func (a *NodeAuth) authenticate(r *http.Request) (principal, error) {
	if a == nil {
		return principal{everything: true}, nil
	}
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(tokenOf(r), claims, func(*jwt.Token) (any, error) { return a.Secret, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Name}), jwt.WithTimeFunc(a.now))
	if err != nil {
		return principal{}, unauthenticated()
	}
	p, err := a.principal(claims)
	if err != nil {
		return principal{}, unauthenticated()
	}
	return p, nil
}

func (a *NodeAuth) principal(claims jwt.MapClaims) (principal, error) {
	user, err := claims.GetSubject()
	if err != nil {
		return principal{}, err
	}
	rights, ok := a.Users[user]
	audience, err := claims.GetAudience()
	scope, _ := claims["scope"].(string)
	switch {
	case err != nil:
		return principal{}, err
	case !ok:
		return principal{}, errors.New("unknown user")
	case a.Audience != "" && !slices.Contains(audience, a.Audience):
		return principal{}, errors.New("token for another audience")
	case a.Scope != "" && !slices.Contains(strings.Fields(scope), a.Scope):
		return principal{}, errors.New("token for another scope")
	}
	p := principal{rights: rights}
	if expires, err := claims.GetExpirationTime(); err == nil && expires != nil {
		p.expires = expires.Time
	}
	return p, nil
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
	if p.everything || slices.ContainsFunc(p.rights, func(r Right) bool { return r.Kind == "CanReadAsAnyParty" }) {
		return nil
	}
	return permissionDenied()
}

// mayReadAs checks the right to read what one party sees.
func (p principal) mayReadAs(party string) error {
	if slices.ContainsFunc(p.rights, func(r Right) bool {
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
