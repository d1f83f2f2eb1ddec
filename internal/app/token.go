package app

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// tokenKey returns the secret that signs page tokens: the configured one, or one that
// is made once and kept beside the data.
func (s *servers) tokenKey() ([]byte, error) {
	if s.p.cfg.TokenKey != "" {
		if len(s.p.cfg.TokenKey) < 16 {
			return nil, errors.New("--token-key must have at least 16 characters")
		}
		return []byte(s.p.cfg.TokenKey), nil
	}
	path := filepath.Join(s.p.cfg.Data, "token.key")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := makeTokenKey(path); err != nil {
			return nil, fmt.Errorf("making a key for page tokens: %w", err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key for page tokens: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	if len(key) < 16 {
		return nil, fmt.Errorf("%s contains no key: delete the file to get a new one", path)
	}
	return []byte(key), nil
}

// makeTokenKey writes a new key to path, whole or not at all. When another process is
// faster, its key stands.
func makeTokenKey(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".token-*") // readable by the owner only
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = fmt.Fprintln(file, rand.Text()+rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
