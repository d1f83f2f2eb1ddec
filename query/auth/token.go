package auth

import (
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TokenProtocol is the prefix of the websocket subprotocol that carries a token.
const TokenProtocol = "jwt.token."

// Protocols are the websocket subprotocols that a server agrees to beside the token: the
// network's own name first, then the neutral one.
var Protocols = [...]string{"daml.ws.auth", "contract.ws.auth"}

// TokenOf returns the token of a request from its header Authorization or else from the
// first subprotocol in its header Sec-WebSocket-Protocol that carries one; "" without.
// A header Authorization of another scheme counts as none.
func TokenOf(authorization, protocols string) string {
	const scheme = "Bearer "
	if len(authorization) > len(scheme) && strings.EqualFold(authorization[:len(scheme)], scheme) {
		return strings.TrimSpace(authorization[len(scheme):])
	}
	for offered := range strings.SplitSeq(protocols, ",") {
		if token, ok := strings.CutPrefix(strings.TrimSpace(offered), TokenProtocol); ok {
			return token
		}
	}
	return ""
}

// Claims say for whom a token is minted.
type Claims struct {
	// User is the subject.
	User string
	// Audience and Scope are left out when "".
	Audience, Scope string
	// Issued and Expires are left out when zero.
	Issued, Expires time.Time
}

// Mint makes a token that is signed with a shared secret (HS256), for development.
func Mint(secret []byte, c Claims) (string, error) {
	claims := jwt.MapClaims{"sub": c.User}
	if c.Audience != "" {
		claims["aud"] = c.Audience
	}
	if c.Scope != "" {
		claims["scope"] = c.Scope
	}
	if !c.Issued.IsZero() {
		claims["iat"] = c.Issued.Unix()
	}
	if !c.Expires.IsZero() {
		claims["exp"] = c.Expires.Unix()
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}
