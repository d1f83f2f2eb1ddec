package app

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/query/auth"
)

// TokenRequest says whom a token is for.
type TokenRequest struct {
	User string
	// Validator makes it one for the validator interface, else it is for the ledger interface.
	Validator bool
	// Participant is the one whose default audience it names, "" for none.
	Participant string
	// Lasting is how long it is good, 0 for ever.
	Lasting time.Duration
}

// Token mints a token of a user with the shared secret of an interface, for development.
func Token(cfg *settings.Config, r TokenRequest) (string, error) {
	claims, secret := auth.Claims{User: r.User, Audience: cfg.ValidatorAuthAudience}, cmp.Or(cfg.ValidatorAuthSecret, DevelopmentSecret)
	switch {
	case r.Validator && (r.User == "" || r.Lasting < 0):
		return "", settings.Usage("token needs --user, the user's id, and --expires-in must not be negative")
	case r.Validator:
	case cfg.LedgerAuthSecret == "":
		return "", settings.Usage("token needs --ledger-auth-secret (or LEDGERLAKE_LEDGER_AUTH_SECRET), with which the ledger interface checks tokens")
	case r.User == "":
		return "", settings.Usage("token needs --user, the user's id")
	case r.Lasting < 0:
		return "", settings.Usage("--expires-in must not be negative, it is %s", r.Lasting)
	default:
		secret = cfg.LedgerAuthSecret
		if _, err := auth.Secret([]byte(secret)); err != nil {
			return "", settings.Usage("--ledger-auth-secret: %w", err)
		}
		claims.Audience, claims.Scope = ledgerAudience(cfg, r.Participant)
	}
	claims.Issued = time.Now()
	if r.Lasting > 0 {
		claims.Expires = claims.Issued.Add(r.Lasting)
	}
	token, err := auth.Mint([]byte(secret), claims)
	if err != nil {
		return "", fmt.Errorf("signing a token for user %s: %w", r.User, err)
	}
	return token, nil
}

// ledgerAudience returns the audience and the scope of tokens for the ledger interface.
func ledgerAudience(cfg *settings.Config, participant string) (audience, scope string) {
	audience, scope = cfg.LedgerAuthAudience, cfg.LedgerAuthScope
	if audience == "" && participant != "" {
		audience = auth.Audience(participant)
	}
	if audience == "" && scope == "" {
		scope = auth.DefaultScope
	}
	return audience, scope
}
